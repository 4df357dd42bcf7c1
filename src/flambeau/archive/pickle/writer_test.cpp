#include "flambeau/archive/pickle/writer.h"

#include "flambeau/archive/pickle/test_util.h"

namespace flambeau::pickle {
namespace {

uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

TEST(PickleWriterPython, WritesWhatPythonWrites) {
  Tree tree;
  const Node* bytes = tree.bytes(as_bytes("a\xff"));
  EXPECT_EQ(write_python(*bytes, 2),
            raw("\x80\x02"
                "c_codecs\nencode\nq\0X\x03\0\0\0a\xc3\xbfq\x01X\x06\0\0\0latin1q\x02\x86q\x03Rq\x04."));
  EXPECT_EQ(write_python(*bytes, 3), raw("\x80\x03"
                                         "C\x02"
                                         "a\xffq\0."));
  EXPECT_EQ(write_python(*tree.set({tree.integer(1)}), 2), raw("\x80\x02"
                                                               "c__builtin__\nset\nq\0]q\x01K\x01"
                                                               "a\x85q\x02Rq\x03."));
  EXPECT_EQ(write_python(*tree.byte_array({}), 4), raw("\x80\x04\x95\x1d\0\0\0\0\0\0\0\x8c\x08"
                                                       "builtins\x94\x8c\tbytearray\x94\x93\x94)R\x94."));
  EXPECT_EQ(write_python(*tree.none(), 4), "\x80\x04N.");
}

TEST(PickleWriterPython, InternsNamesOfGlobals) {
  Tree tree;
  Node* globals = tree.list({tree.global("m", "a"), tree.global("m", "b")});
  EXPECT_EQ(write_python(*globals, 4), raw("\x80\x04\x95\x17\0\0\0\0\0\0\0]\x94(\x8c\x01m\x94\x8c\x01"
                                           "a\x94\x93\x94h\x01\x8c\x01"
                                           "b\x94\x93\x94"
                                           "e."));
}

TEST(PickleWriterPython, AsksForAPersistentIdEachTime) {
  Tree tree;
  Node* storage = tree.persistent(tree.tuple({tree.string("key")}));
  EXPECT_EQ(write_python(*tree.tuple({storage, storage}), 2),
            raw("\x80\x02X\x03\0\0\0keyq\0\x85q\x01Qh\0\x85q\x02Q\x86q\x03."));
}

TEST(PickleWriterPython, CutsFramesWhereCPythonDoes) {
  // Lengths and hashes come from CPython 3.11: pickle.dumps of the same objects.
  Tree tree;
  Node* numbers = tree.list();
  for (int i = 0; i < 200'000; ++i) tree.append(numbers, tree.integer(i));
  const std::string framed = write_python(*numbers, 4);
  EXPECT_EQ(framed.size(), 869203u);
  EXPECT_EQ(fnv1a(framed), 0xc752ecf2dcd5cd34u);
  Node* texts = tree.list({tree.string(std::string(65535, 'x')), tree.string(std::string(65536, 'y')),
                           tree.bytes(as_bytes(std::string(70000, 'z'))), tree.string("end")});
  const std::string outside = write_python(*texts, 5);
  EXPECT_EQ(outside.size(), 201120u);
  EXPECT_EQ(fnv1a(outside), 0x92b18e24d238b09fu);
}

TEST(PickleWriterPython, RefusesWhatAProtocolCannotSay) {
  Tree tree;
  EXPECT_EQ(failure_of([&] { write_python(*tree.none(), 6); }).text, "protocol 6, 2 to 5 was expected");
  EXPECT_EQ(failure_of([&] { write_python(*tree.none(), 1); }).code, ErrorCode::kInvalidArgument);
  const Node* object = tree.call_with_keywords(tree.global("m", "C"), tree.tuple(), tree.dict());
  EXPECT_EQ(failure_of([&] { write_python(*object, 2); }).text,
            "an object made with keyword arguments needs protocol 4");
  EXPECT_EQ(failure_of([&] { write_python(*tree.global("m", "a\nb"), 2); }).text,
            "the global 'm.a\\x0ab' holds a line break, which needs protocol 4");
}

TEST(PickleWriterPython, AnyDepth) {
  Tree tree;
  Node* node = tree.none();
  for (int i = 0; i < 100'000; ++i) {
    node = i % 4 == 0   ? tree.list({node})
           : i % 4 == 1 ? tree.tuple({node})
           : i % 4 == 2 ? tree.dict({{tree.none(), node}})
                        : tree.call(tree.global("m", "f"), tree.tuple({node}));
  }
  for (int protocol = 2; protocol <= 5; ++protocol) {
    const std::string text = write_python(*node, protocol);
    const Parsed again = parse_text(text);
    EXPECT_EQ(write_python(*again.tree.root(), protocol), text);
  }
  const std::string torch = write_torch(*node);
  EXPECT_EQ(write_torch(*parse_text(torch).tree.root()), torch);
}

TEST(PickleWriterPython, TuplesThatContainThemselves) {
  // t = ([t],), as CPython writes it.
  const std::string text =
      raw("\x80\x02]q\0h\0\x85q\x01"
          "a0h\x01.");
  EXPECT_EQ(write_python(*parse_text(text).tree.root(), 2), text);
  // A set in protocol 2 is made from a list, which leads back to the tuple forever: CPython gives up too.
  Tree tree;
  Node* set = tree.set();
  tree.append(set, tree.tuple({set}));
  EXPECT_EQ(failure_of([&] { write_python(*set, 2); }).text,
            "a tuple or call contains itself too many times");
  EXPECT_NO_THROW(write_python(*set, 4));
}

TEST(PickleWriterTorch, MemoizesByContent) {
  Tree tree;
  Node* list = tree.list({tree.string("a"), tree.string("a"), tree.global("m", "g"), tree.global("m", "g")});
  EXPECT_EQ(write_torch(*list), raw("\x80\x02](X\x01\0\0\0aq\0h\0cm\ng\nq\x01h\x01"
                                    "e."));
}

TEST(PickleWriterTorch, MemoizesWhatIsSharedOnceItIsComplete) {
  Tree tree;
  Node* shared = tree.list();
  EXPECT_EQ(write_torch(*tree.tuple({shared, shared})), raw("\x80\x02](eq\0h\0\x86."));
  Node* owned = tree.list();
  Tree::set_memoized(owned);
  EXPECT_EQ(write_torch(*owned), raw("\x80\x02](eq\0."));
}

TEST(PickleWriterTorch, WritesIntegersAsPyTorchDoes) {
  Tree tree;
  EXPECT_EQ(write_torch(*tree.integer(255)), "\x80\x02K\xff.");
  EXPECT_EQ(write_torch(*tree.integer(65535)), "\x80\x02M\xff\xff.");
  EXPECT_EQ(write_torch(*tree.integer(-1)), "\x80\x02J\xff\xff\xff\xff.");
  EXPECT_EQ(write_torch(*tree.integer(int64_t{1} << 31)), raw("\x80\x02\x8a\x08\0\0\0\x80\0\0\0\0."));
}

TEST(PickleWriterTorch, MarksTheTuplesOfTensors) {
  Tree tree;
  Node* storage = tree.persistent(tree.tuple({tree.string("storage")}));
  Node* sizes = tree.tuple({tree.integer(2)});
  Node* call = tree.call(tree.global("torch._utils", "_rebuild_tensor_v2"),
                         tree.tuple({storage, sizes, tree.tuple()}));
  EXPECT_EQ(write_torch(*call),
            raw("\x80\x02"
                "ctorch._utils\n_rebuild_tensor_v2\nq\0((X\x07\0\0\0storageq\x01tQq\x02(K\x02t(ttR."));
  Node* ints = tree.call(tree.global("torch.jit._pickle", "build_intlist"),
                         tree.tuple({tree.list({tree.integer(1)})}));
  EXPECT_EQ(write_torch(*ints), raw("\x80\x02"
                                    "ctorch.jit._pickle\nbuild_intlist\nq\0(](K\x01"
                                    "etR."));
}

TEST(PickleWriterTorch, RefusesWhatPyTorchCannotWrite) {
  Tree tree;
  EXPECT_EQ(failure_of([&] { write_torch(*tree.set()); }).text,
            "a set, which PyTorch's C++ pickler has no form for");
  Node* list = tree.list();
  tree.append(list, list);
  EXPECT_EQ(failure_of([&] { write_torch(*list); }).text,
            "a list that contains itself, which PyTorch's C++ pickler has no form for");
  Node* call = tree.call(tree.global("collections", "OrderedDict"), tree.tuple());
  tree.set_item(call, tree.none(), tree.none());
  EXPECT_EQ(failure_of([&] { write_torch(*call); }).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(failure_of([&] { write_torch(*tree.string("a\xc3")); }).text,
            "'a\\xc3' is not UTF-8, as texts in files are");
}

}  // namespace
}  // namespace flambeau::pickle
