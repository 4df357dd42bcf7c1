// Pickles from strangers: each must give a typed error that names the opcode and its byte, or a tree, in
// bounded memory and time.
#include "flambeau/archive/pickle/globals.h"
#include "flambeau/archive/pickle/test_util.h"
#include "flambeau/archive/pickle/writer.h"

namespace flambeau::pickle {
namespace {

TEST(PickleBadInput, GlobalsAreInertAndListed) {
  const Parsed parsed = parse_text("(cos\nsystem\n(Vrm -rf /\ntRcbuiltins\nprint\ncos\nsystem\nt.");
  EXPECT_EQ(show(parsed.tree.root()), "(reduce os.system('rm -rf /'), builtins.print, os.system)");
  const std::vector<GlobalUse> uses = list_globals(parsed.tree);
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].name.dotted(), "os.system");
  EXPECT_TRUE(uses[0].called);
  EXPECT_EQ(uses[1].name.dotted(), "builtins.print");
  EXPECT_FALSE(uses[1].called);
}

TEST(PickleBadInput, GlobalsWhoseResultIsThrownAwayAreListed) {
  const Parsed parsed = parse_text("cos\nsystem\n)R0(ios\nabort\n0N.");
  EXPECT_EQ(show(parsed.tree.root()), "None");
  const std::vector<GlobalUse> uses = list_globals(parsed.tree);
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_TRUE(uses[0].called);
  EXPECT_EQ(uses[1].name.dotted(), "os.abort");
  EXPECT_TRUE(uses[1].called);
}

TEST(PickleBadInput, NamesAreShort) {
  const Failure failure = parse_failure("c" + std::string(1025, 'm') + "\nf\n.");
  EXPECT_EQ(failure.code, ErrorCode::kLimit);
  EXPECT_EQ(failure.text, "byte 0: opcode GLOBAL: a name of more than 1024 bytes");
  EXPECT_NO_THROW(parse_text("c" + std::string(1024, 'm') + "\nf\n."));
}

TEST(PickleBadInput, SmallFilesCannotBecomeHugeOnes) {
  // Every STACK_GLOBAL names its 2 KiB with five bytes; GLOBAL has to spell them out.
  std::string text = raw("\x80\x04](X\0\x04\0\0") + std::string(1024, 'm') + raw("q\0") + "0";
  for (int i = 0; i < 40'000; ++i) text += raw("h\0h\0\x93");
  text += "e.";
  const Parsed names = parse_text(text);
  EXPECT_LT(write_python(*names.tree.root(), 2).size(), 1'000'000u);
  EXPECT_LT(write_python(*names.tree.root(), 4).size(), 1'000'000u);
  EXPECT_LT(write_torch(*names.tree.root()).size(), 1'000'000u);
  // 200 names in 40,000 pairs: here GLOBAL would have to spell out each pair.
  std::string pairs = raw("\x80\x04](");
  for (int i = 0; i < 200; ++i) {
    pairs += raw("X\0\x04\0\0") + std::string(1021, 'm') + std::to_string(100 + i) + "q" +
             static_cast<char>(i) + "0";
  }
  for (int i = 0; i < 40'000; ++i) {
    pairs += std::string("h") + static_cast<char>(i / 200) + "h" + static_cast<char>(i % 200) + "\x93";
  }
  pairs += "e.";
  const Parsed many = parse_text(pairs);
  EXPECT_EQ(failure_of([&] { write_python(*many.tree.root(), 2); }).text,
            "the names of globals take more than 16 MiB");
  // An id, a number or a string that is kept once and used often is written once.
  for (const std::string& kept :
       {"(" + std::string(20'000, 'N') + "t", raw("\x8b\xf0\0\0\0") + std::string(240, '\x7f'),
        raw("X\x20\x4e\0\0") + std::string(20'000, 'x')}) {
    std::string uses = "](" + kept + raw("q\0");
    for (int i = 0; i < 20'000; ++i) uses += raw("h\0Q");
    uses += "e.";
    const Parsed parsed = parse_text(uses);
    EXPECT_LT(write_python(*parsed.tree.root(), 2).size(), 200'000u);
  }
}

TEST(PickleBadInput, StackUnderflow) {
  for (const std::string text :
       {".",  "a.", "Na.",    "s.",    "NNs.", "R.",    "NR.",   "b.",  "\x81.", "\x85.", "N\x86.", "NN\x87.",
        "0.", "2.", "q\x01.", "\x94.", "Q.",   "\x93.", "\x92.", "(o.", "N(R.",  "](Na.", "(]N(a.", "N(."}) {
    const Failure failure = parse_failure(text);
    EXPECT_EQ(failure.code, ErrorCode::kCorrupt) << text;
    EXPECT_NE(failure.text.find(": the stack holds too few values"), std::string::npos) << failure.text;
  }
  EXPECT_EQ(parse_failure("\x80\x02NR.").text, "byte 3: opcode REDUCE: the stack holds too few values");
}

TEST(PickleBadInput, MarkUnderflow) {
  for (const std::string text :
       {"t.", "]e.", "}u.", "l.", "d.", "1.", "\x91.", "\x8f\x90.", "No.", "im\nn\n."}) {
    const Failure failure = parse_failure(text);
    EXPECT_EQ(failure.code, ErrorCode::kCorrupt) << text;
    EXPECT_NE(failure.text.find(": there is no MARK on the stack"), std::string::npos) << failure.text;
  }
  EXPECT_EQ(parse_failure("(e.").text, "byte 1: opcode APPENDS: the stack holds too few values");
}

TEST(PickleBadInput, LengthsPastTheInput) {
  EXPECT_EQ(parse_failure(raw("X\xff\xff\xff\xffhi")).text,
            "byte 0: opcode BINUNICODE: 4294967295 bytes expected, 2 left");
  for (const std::string& text :
       {raw("\x8c\x05hi"), raw("\x8d\xff\xff\xff\xff\xff\xff\xff\xff"), raw("C\x05"),
        raw("B\xff\xff\xff\xff"), raw("\x8e\xff\xff\xff\xff\xff\xff\xff\x7f"),
        raw("\x96\xff\xff\xff\xff\xff\xff\xff\xff"), raw("U\x05"), raw("T\xff\xff\xff\x7f"), raw("\x8a\xff"),
        raw("\x8b\xff\xff\xff\x7f"), raw("K"), raw("M\x01"), raw("J\x01\x01\x01"), raw("G\0"), raw("\x80"),
        raw("\x95\x01"), raw("\x95\x09\0\0\0\0\0\0\0N."), raw("q"), raw("Nr\0")}) {
    const Failure failure = parse_failure(text);
    EXPECT_EQ(failure.code, ErrorCode::kCorrupt);
    EXPECT_NE(failure.text.find(" left"), std::string::npos) << failure.text;
  }
  EXPECT_EQ(parse_failure("T\xff\xff\xff\xff").text, "byte 0: opcode BINSTRING: negative length -1");
  EXPECT_EQ(parse_failure(raw("\x8b\0\0\0\x80")).text, "byte 0: opcode LONG4: negative length -2147483648");
  EXPECT_EQ(parse_failure("cmodule").text, "byte 0: opcode GLOBAL: no end of line");
}

TEST(PickleBadInput, DanglingMemoIndex) {
  EXPECT_EQ(parse_failure("h\x05.").text, "byte 0: opcode BINGET: nothing was stored at memo index 5");
  EXPECT_EQ(parse_failure("Nq\x05h\x04.").text, "byte 3: opcode BINGET: nothing was stored at memo index 4");
  EXPECT_EQ(parse_failure("j\xff\xff\xff\xff.").text,
            "byte 0: opcode LONG_BINGET: nothing was stored at memo index 4294967295");
  EXPECT_EQ(parse_failure("g-1\n.").text, "byte 0: opcode GET: '-1' is not a memo index");
  EXPECT_EQ(parse_failure("Np99999999999999999999\n.").text,
            "byte 1: opcode PUT: '99999999999999999999' is not a memo index");
}

TEST(PickleBadInput, SparseMemoIndexTakesNoMemory) {
  EXPECT_EQ(show_pickle(raw("K\x07r\0\0\0\x80j\0\0\0\x80\x86.")), "(7, 7)");
  EXPECT_EQ(show_pickle("K\x07p18446744073709551615\ng18446744073709551615\n\x86."), "(7, 7)");
  // Later puts that fill the gap do not hide it.
  std::string text = "K\x07q\xff";
  for (int i = 0; i < 255; ++i) text += std::string("K\x01q") + static_cast<char>(i);
  EXPECT_EQ(parse_text(text + "h\xff.").tree.root()->as_int(), 7);
}

TEST(PickleBadInput, MemoBombSharesItsNodes) {
  std::string bomb = "]q";
  bomb += '\0';
  for (int level = 1; level < 100; ++level) {
    bomb += "](";
    for (int i = 0; i < 10; ++i) bomb += std::string("h") + static_cast<char>(level - 1);
    bomb += std::string("eq") + static_cast<char>(level);
  }
  const Parsed parsed = parse_text(bomb + ".");
  EXPECT_EQ(parsed.tree.node_count(), 100u);
}

TEST(PickleBadInput, TheTreeHasABudget) {
  const std::string lists(1000, ']');
  const Limits limits{.fixed_bytes = 4096, .bytes_per_input_byte = 1};
  const Failure failure = parse_failure(lists + ".", limits);
  EXPECT_EQ(failure.code, ErrorCode::kLimit);
  EXPECT_EQ(failure.text,
            "byte 212: opcode EMPTY_LIST: the pickle needs more than 5097 bytes of memory (raise the limit "
            "if the file is trusted)");
  // Fetching one node again and again costs no more than places in a container.
  std::string wide = "](";
  for (int i = 0; i < 1000; ++i) wide += "N";
  EXPECT_EQ(parse_failure(wide + "e.", limits).code, ErrorCode::kLimit);
  EXPECT_NO_THROW(parse_text(wide + "e."));
}

TEST(PickleBadInput, HugeLimitsDoNotWrap) {
  const Limits limits{.fixed_bytes = UINT64_MAX, .bytes_per_input_byte = UINT64_MAX};
  EXPECT_NO_THROW(parse_text("]N.", limits));
}

TEST(PickleBadInput, SelfReference) {
  const Parsed list = parse_text(raw("]q\0h\0a."));
  EXPECT_EQ(list.tree.root()->items()[0], list.tree.root());
  const Parsed dict = parse_text(raw("}q\0Nh\0s."));
  EXPECT_EQ(dict.tree.root()->pairs()[0].value, dict.tree.root());
  const Parsed call = parse_text(raw("cm\nf\n)Rq\0h\0b."));
  EXPECT_EQ(call.tree.root()->as_call().state, call.tree.root());
  const Parsed tuple =
      parse_text(raw("]q\0h\0\x85q\x01"
                     "ah\x01."));
  EXPECT_EQ(tuple.tree.root()->items()[0]->items()[0], tuple.tree.root());
}

TEST(PickleBadInput, DeepNesting) {
  constexpr size_t kDepth = 1'000'000;
  {
    const Parsed lists = parse_text(std::string(kDepth, ']') + std::string(kDepth - 1, 'a') + ".");
    EXPECT_EQ(lists.tree.node_count(), kDepth);
  }
  {
    const Parsed tuples = parse_text("N" + std::string(kDepth, '\x85') + ".");
    size_t depth = 0;
    for (const Node* node = tuples.tree.root(); node->is(Kind::kTuple); node = node->items()[0]) ++depth;
    EXPECT_EQ(depth, kDepth);
  }
  EXPECT_NO_THROW(parse_text(std::string(kDepth, '(') + std::string(kDepth, 't') + "."));
}

TEST(PickleBadInput, WrongTypes) {
  EXPECT_EQ(parse_failure("\x80\x02(NNtNNs.").text, "byte 8: opcode SETITEM on a tuple, a dict was expected");
  EXPECT_EQ(parse_failure("](NNu.").text, "byte 4: opcode SETITEMS on a list, a dict was expected");
  EXPECT_EQ(parse_failure("}Na.").text, "byte 2: opcode APPEND on a dict, a list was expected");
  EXPECT_EQ(parse_failure("K\x01(e.").text, "byte 3: opcode APPENDS on an int, a list was expected");
  EXPECT_EQ(parse_failure("](\x90.").text, "byte 2: opcode ADDITEMS on a list, a set was expected");
  EXPECT_EQ(parse_failure("}}b.").text,
            "byte 2: opcode BUILD on a dict, an object made by a call was expected");
  EXPECT_EQ(parse_failure("cm\nf\n)R}b}b.").text,
            "byte 10: opcode BUILD: the object was given a state before");
  EXPECT_EQ(parse_failure("cm\nf\nN\x81.").text,
            "byte 6: opcode NEWOBJ on None, a tuple of arguments was expected");
  EXPECT_EQ(parse_failure("cm\nf\n)N\x92.").text,
            "byte 7: opcode NEWOBJ_EX on None, a dict of arguments was expected");
  EXPECT_EQ(parse_failure("K\x01\x8c\x01x\x93.").text,
            "byte 5: opcode STACK_GLOBAL on an int, a string was expected");
  EXPECT_EQ(parse_failure("}(Nu.").text, "byte 3: opcode SETITEMS: a key without a value");
  EXPECT_EQ(parse_failure("(Nd.").text, "byte 2: opcode DICT: a key without a value");
}

TEST(PickleBadInput, NoStop) {
  EXPECT_EQ(parse_failure("").text, "byte 0: the pickle ends without the opcode STOP");
  EXPECT_EQ(parse_failure("\x80\x02N").text, "byte 3: the pickle ends without the opcode STOP");
}

TEST(PickleBadInput, PersistentIdsAreKeptAsTheyAre) {
  EXPECT_EQ(show_pickle("NQ."), "persistent None");
  EXPECT_EQ(show_pickle("(V../../etc/passwd\nNtQ."), "persistent ('../../etc/passwd', None)");
}

TEST(PickleBadInput, BrokenTexts) {
  EXPECT_EQ(parse_failure(raw("X\x01\0\0\0\xff.")).text, "byte 0: opcode BINUNICODE: the text is not UTF-8");
  EXPECT_EQ(parse_failure("cm\xff\nf\n.").text, "byte 0: opcode GLOBAL: the name is not UTF-8");
  EXPECT_EQ(parse_failure("Sopen'\n.").text, "byte 0: opcode STRING: the text is not in quotes");
  EXPECT_EQ(parse_failure("S'\n.").text, "byte 0: opcode STRING: the text is not in quotes");
  EXPECT_EQ(parse_failure("S'\\x4'\n.").text, "byte 0: opcode STRING: a broken escape in the text");
  EXPECT_EQ(parse_failure("V\\u12\n.").text, "byte 0: opcode UNICODE: a broken escape in the text");
  EXPECT_EQ(parse_failure("V\\U00110000\n.").text, "byte 0: opcode UNICODE: a broken escape in the text");
  EXPECT_EQ(parse_failure("I1x\n.").text, "byte 0: opcode INT: '1x' is not a number");
  EXPECT_EQ(parse_failure("L\n.").text, "byte 0: opcode LONG: '' is not a number");
  EXPECT_EQ(parse_failure("F1,5\n.").text, "byte 0: opcode FLOAT: '1,5' is not a number");
  EXPECT_EQ(parse_failure("F1e999\n.").text, "byte 0: opcode FLOAT: '1e999' is not a number");
  const Failure digits = parse_failure("L" + std::string(5000, '9') + "L\n.");
  EXPECT_EQ(digits.code, ErrorCode::kLimit);
  EXPECT_EQ(digits.text, "byte 0: opcode LONG: a number of more than 4300 digits");
}

TEST(PickleBadInput, UnknownOpcode) {
  EXPECT_EQ(parse_failure("N\xff.").text, "byte 1: opcode 0xff is not known");
}

TEST(PickleBadInput, EveryCutOfARealPickleIsAnError) {
  for (const std::string& pickle : golden_pickles("save-torch2.13.pickles")) {
    if (pickle.size() > 3000) continue;
    for (size_t size = 0; size < pickle.size(); ++size) {
      EXPECT_THROW(parse_text(std::string_view(pickle).substr(0, size)), Error);
    }
  }
}

}  // namespace
}  // namespace flambeau::pickle
