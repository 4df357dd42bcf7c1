// TorchScript archives whose values and records were made to harm: pickles, tensors, states, classes.
#include "support/hostile_archives.h"

namespace flambeau::script::hostile {
namespace {

// A state with one attribute, and a module that declares it.
std::string one(const std::string& value) { return object("}" + pickled("a") + value + "s"); }
Records holds(const std::string& type, const std::string& value) {
  return archive("class M(Module):\n  a : " + type + "\n", one(value));
}
Records with(Records records, const std::string& name, const std::string& contents) {
  records.emplace_back(name, contents);
  return records;
}
std::string called(std::string_view function, const std::string& arguments) {
  return fmt::format("ctorch.jit._pickle\n{}\n({}tR", function, arguments);
}
std::string tagged(const std::string& value, std::string_view type) {
  return called("restore_type_tag",
                value + "X" + static_cast<char>(type.size()) + std::string(3, '\0') + std::string(type));
}
// A number of eight bytes.
std::string wide(int64_t number) {
  std::string text("\x8a\x08");
  for (int i = 0; i < 8; ++i)
    text += static_cast<char>(static_cast<uint64_t>(number) >> static_cast<unsigned>(8 * i));
  return text;
}
std::string storage(std::string_view type, std::string_view key, const std::string& count,
                    std::string_view place = "cpu") {
  return "(" + pickled("storage") + fmt::format("ctorch\n{}\n", type) + pickled(key) + pickled(place) +
         count + "tQ";
}
std::string tensor(const std::string& of, const std::string& offset, const std::string& sizes,
                   const std::string& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + of + offset + sizes + strides +
         "\x89"
         "ccollections\nOrderedDict\n)RtR";
}
// Four floats.
std::string four() { return storage("FloatStorage", "0", "K\x04"); }
Records with_tensor(const std::string& value) {
  return with(holds("Tensor", value), "data/0", std::string(16, '\1'));
}
std::string native(std::string_view name, const std::string& state) {
  return object(state, fmt::format("__torch__.torch.classes.{}", name));
}
// Of an attribute that is such an object.
Records holds_native(std::string_view space, std::string_view name, const std::string& state) {
  return holds(fmt::format("__torch__.torch.classes.{}.{}", space, name),
               native(fmt::format("{}\n{}", space, name), state));
}

TEST(HostileScriptValues, Pickles) {
  const auto raw = [](const std::string& pickle) {
    Records records = archive(forward(""));
    records[0].second = pickle;
    return records;
  };
  check({
      {"nothing", raw(""), "data.pkl"},
      {"no end", raw("\x80\x02}"), "data.pkl"},
      {"an empty stack", raw("\x80\x02."), "data.pkl"},
      {"no mark", raw("\x80\x02t."), "data.pkl"},
      {"a long text", raw(std::string("\x80\x02X\xff\xff\xff\x7f", 7) + "a."), "data.pkl"},
      {"a memo that is not there", raw("\x80\x02h\x07."), "data.pkl"},
      {"a far memo", raw(std::string("\x80\x02}r\xff\xff\xff\x7f.", 9)), "data.pkl"},
      {"a build of nothing", raw("\x80\x02K\x01}b."), "data.pkl"},
      {"an item of a number", raw("\x80\x02K\x01K\x02K\x03s."), "data.pkl"},
      {"an unknown opcode", raw("\x80\x02\xff."), "data.pkl"},
      {"something behind", raw(data(object("}")) + "cos\nsystem\n(X\x02" + std::string(3, '\0') + "lstR."),
       ""},
      {"doubling lists", archive("class M(Module):\n  a : List[Any]\n", one([] {
                                   std::string text = "]q" + std::string(1, '\1');
                                   for (int i = 1; i < 60; ++i) {
                                     const auto now = static_cast<char>(i);
                                     text += std::string("](h") + now + "h" + now + "eq" +
                                             static_cast<char>(i + 1);
                                   }
                                   return text;
                                 }())),
       ""},
      {"a root that is a list", archive(forward(""), "]"), "module"},
      {"a root of no class", archive(forward(""), object("}", "__torch__\nNone")), "None"},
      {"a state that is a list", archive(forward(""), object("]")), "state"},
      {"an attribute that is no text", archive(forward(""), object("}K\x01K\x02s")), ""},
  });
}

TEST(HostileScriptValues, Types) {
  check({
      {"a list of texts as numbers", holds("List[int]", called("build_intlist", "]" + pickled("a") + "a")),
       "int"},
      {"numbers of a text", holds("List[int]", called("build_intlist", pickled("a"))),
       "a list is expected, found a string"},
      {"numbers of nothing", holds("List[int]", called("build_intlist", "")), "a list takes 1 arguments"},
      {"an unknown maker", holds("List[int]", called("build_anything", "]")), "build_anything"},
      {"a type that is no type", holds("List[Any]", tagged("]", "List[")),
       "expected a type, found the end of the text"},
      {"a type of the attribute's neighbour", holds("List[int]", tagged("]", "List[str]")), "List[str]"},
      {"a dict that is tagged as a list", holds("List[str]", tagged("}", "List[str]")), "List[str]"},
      {"a deep type",
       holds("List[Any]",
             called("restore_type_tag", "]X\xa0\x86\x01" + std::string(1, '\0') + times(20'000, "List["))),
       "the most that is read is 65536"},
      {"an unhashable key",
       holds("Dict[str, int]", tagged("}](K\x01"
                                      "esK\x01s",
                                      "Dict[str, int]")),
       ""},
      {"keys of another type", holds("Dict[str, int]", tagged("}K\x01K\x02s", "Dict[str, int]")), "str"},
      {"a wide int", holds("int", "\x8a\x10" + std::string(16, '\x7f')), "int"},
      {"a float for an int", holds("int", std::string("G\x3f\xf8") + std::string(6, '\0')), "int"},
      {"None for a tensor", holds("Tensor", "N"), ""},
      {"a device of no name", holds("Device", "ctorch\ndevice\n(" + pickled("nowhere") + "tR"), "fine"},
      {"a device of a number", holds("Device", "ctorch\ndevice\n(K\x01tR"), "expected string, found int"},
      {"a complex number of texts",
       holds("complex", "cbuiltins\ncomplex\n(" + pickled("a") + pickled("b") + "tR"),
       "expected float, found string"},
      {"an enumerator that is not there",
       archive("class E(Enum):\n  A = 1\nclass M(Module):\n  a : __torch__.E\n",
               one("c__torch__\nE\nK\x07R")),
       "__torch__.E"},
      {"a tuple that is too short", holds("Tuple[int, int]", "K\x01\x85"), "Tuple"},
      {"an object of another class",
       archive("class N:\n  b : int\nclass M(Module):\n  a : int\n",
               one("c__torch__\nN\n)\x81}" + pickled("b") + "K\x01sb")),
       "'a'"},
      {"an interface that is made",
       archive("class I(Interface):\n  def f(self, x: int) -> int:\n    pass\nclass M(Module):\n"
               "  a : __torch__.I\n",
               one("c__torch__\nI\n)\x81}b")),
       "__torch__.I"},
  });
}

TEST(HostileScriptValues, Tensors) {
  const std::string zero("K\0", 2);
  const std::string two = "K\x02\x85", ones = "K\x01\x85";
  check({
      {"a good one", with_tensor(tensor(four(), zero, two, ones)), "fine"},
      {"beyond its storage", with_tensor(tensor(four(), zero, "K\x08\x85", ones)), "storage"},
      {"an offset beyond it", with_tensor(tensor(four(), "K\x04", two, ones)), "storage"},
      {"a stride beyond it", with_tensor(tensor(four(), zero, two, "K\x08\x85")), "storage"},
      {"a negative size", with_tensor(tensor(four(), zero, wide(-1) + "\x85", ones)), "data.pkl"},
      {"a negative stride", with_tensor(tensor(four(), zero, two, wide(-1) + "\x85")), "data.pkl"},
      {"a negative offset", with_tensor(tensor(four(), wide(-1), two, ones)), "data.pkl"},
      {"sizes that wrap",
       with_tensor(tensor(four(), zero, wide(int64_t{1} << 62) + "K\x08\x86", "K\x01K\x01\x86")), "data.pkl"},
      {"strides that wrap", with_tensor(tensor(four(), zero, two, wide((int64_t{1} << 62) + 1) + "\x85")),
       "data.pkl"},
      {"sizes without strides", with_tensor(tensor(four(), zero, two, ")")), "data.pkl"},
      {"sizes that are a text", with_tensor(tensor(four(), zero, pickled("a"), ones)), "data.pkl"},
      {"no record", holds("Tensor", tensor(four(), zero, two, ones)), "data/0"},
      {"a short record", with(holds("Tensor", tensor(four(), zero, two, ones)), "data/0", "abc"), "data/0"},
      {"another key", with_tensor(tensor(storage("FloatStorage", "../x", "K\x04"), zero, two, ones)), "../x"},
      {"another storage", with_tensor(tensor(storage("NoStorage", "0", "K\x04"), zero, two, ones)),
       "NoStorage"},
      {"a place that is none",
       with_tensor(tensor(storage("FloatStorage", "0", "K\x04", "moon"), zero, two, ones)), "fine"},
      {"no storage", with_tensor(tensor("N", zero, two, ones)), "data.pkl"},
      {"a storage of a number", with_tensor(tensor("K\x01Q", zero, two, ones)), "data.pkl"},
      {"too few arguments", with_tensor("ctorch._utils\n_rebuild_tensor_v2\n(" + four() + "tR"), "data.pkl"},
      {"a huge storage",
       with_tensor(tensor(storage("FloatStorage", "0", wide(int64_t{1} << 61)), zero, two, ones)),
       "the size of a storage does not fit"},
      {"a quantized one of nothing",
       with_tensor("ctorch._utils\n_rebuild_qtensor\n(" + four() + zero + two + ones + "N\x89NtR"),
       "data.pkl"},
      {"a sparse one of nothing", with_tensor("ctorch._utils\n_rebuild_sparse_tensor\n(K\x01)tR"),
       "data.pkl"},
  });
}

TEST(HostileScriptValues, ObjectsOfPyTorchsOwn) {
  const std::string zero("K\0", 2);
  const std::string weight = tensor(four(), zero, "K\x02K\x02\x86", "K\x02K\x01\x86");
  const auto packed = [&](std::string_view space, std::string_view name, const std::string& state) {
    return with(holds_native(space, name, state), "data/0", std::string(16, '\1'));
  };
  check({
      {"no state", packed("quantized", "LinearPackedParamsBase", "N"), "LinearPackedParamsBase"},
      {"a number", packed("quantized", "LinearPackedParamsBase", "K\x01"), "LinearPackedParamsBase"},
      {"a weight without a bias", packed("quantized", "LinearPackedParamsBase", "(" + weight + "t"),
       "LinearPackedParamsBase"},
      {"a convolution of texts", packed("quantized", "Conv2dPackedParamsBase", "(" + pickled("2") + "]]t"),
       "Conv2dPackedParamsBase"},
      {"a cell of nothing", packed("rnn", "CellParamsBase", ")"), "CellParamsBase"},
      {"a layer for XNNPACK", packed("xnnpack", "LinearOpContext", "(" + weight + "NNNt"), "fine"},
      {"one of nothing", packed("xnnpack", "LinearOpContext", ")"), "LinearOpContext"},
      {"one with texts",
       packed("xnnpack", "Conv2dOpContext",
              "(" + weight + "N" + pickled("a") + pickled("b") + pickled("c") + "K\x01NNt"),
       "Conv2dOpContext"},
      {"one with odd bounds",
       packed("xnnpack", "LinearOpContext", "(" + weight + "N" + pickled("a") + pickled("b") + "t"),
       "LinearOpContext"},
      {"a delegate", packed("__backends__", "demo", ")"), "fine"},
      {"a class that nobody has", packed("mine", "Thing", ")"), "fine"},
  });
}

TEST(HostileScriptValues, Classes) {
  const std::string module = "class M(Module):\n";
  check({
      {"a parameter that is not there",
       archive(module + "  __parameters__ = [\"w\", ]\n  a : int\n", one("K\x01")), ""},
      {"parameters of a number", archive(module + "  __parameters__ = 1\n"), "__parameters__"},
      {"hooks that are not there", archive(module + "  __forward_hooks__ = [\"h\", ]\n"), ""},
      {"an enum of lists",
       archive("class E(Enum):\n  A = [1]\n" + forward("    x = (__torch__.E.A).value\n")),
       "this is no value"},
      {"an enum of two types",
       archive("class E(Enum):\n  A = 1\n  B = \"b\"\n" + forward("    x = (__torch__.E.A).value\n")),
       "this is no value"},
      {"a named tuple with methods",
       archive("class N(NamedTuple):\n  def f(self) -> int:\n    return 1\n" +
               forward("    y = annotate(Optional[__torch__.N], None)\n")),
       ""},
      {"a constant of another type", archive(module + "  a : Final[int] = \"b\"\n"),
       "a value of type int is expected, this is of type str"},
      {"a constant that calls", archive(module + "  a : Final[int] = torch.add(1, 2)\n"),
       "a default or constant is a literal"},
      {"a default of another type",
       archive(module + "  def forward(self: __torch__.M, x: int=\"a\") -> int:\n    return x\n"),
       "a value of type int is expected, this is of type str"},
      {"a default in a list",
       archive(module + "  def forward(self: __torch__.M, x: List[int]=[1, \"a\"]) -> int:\n    return 1\n"),
       "a value of type List[int] is expected"},
      {"a default that runs",
       archive(module + "  def forward(self: __torch__.M, x: int=torch.len([1])) -> int:\n    return x\n"),
       "a default or constant is a literal"},
      {"a state method of two arguments",
       archive(module +
                   "  def __getstate__(self: __torch__.M) -> int:\n    return 1\n"
                   "  def __setstate__(self: __torch__.M, x: int, y: int) -> NoneType:\n    return None\n",
               kState),
       ""},
      {"a state method alone",
       archive(module + "  def __setstate__(self: __torch__.M, x: int) -> NoneType:\n    return None\n",
               kState),
       ""},
      {"a slot that nobody fills",
       archive(module + "  a : int\n"
                        "  def __getstate__(self: __torch__.M) -> int:\n    return 1\n"
                        "  def __setstate__(self: __torch__.M, x: int) -> NoneType:\n    return None\n",
               kState),
       "'a'"},
      {"an attribute that is a method",
       archive(module + "  forward : int\n  def forward(self: __torch__.M, x: int) -> int:\n    return x\n",
               object("}" + pickled("forward") + "K\x01s")),
       "forward"},
      {"self of another class", archive(module + "  def forward(self: int, x: int) -> int:\n    return x\n"),
       ""},
      {"no self", archive(module + "  def forward() -> int:\n    return 1\n"), ""},
  });
}

TEST(HostileScriptValues, Records) {
  check({
      {"a shared library among them",
       with(archive(forward("")), "extra/evil.so",
            "\x7f"
            "ELF"),
       "fine"},
      {"constants that are a list",
       {{"data.pkl", data(object("}"))},
        {"code/__torch__.py", forward("")},
        {"constants.pkl", data("]")},
        {"version", "3\n"}},
       "the archive's constants should be a tuple"},
      {"two versions", with(archive(forward("")), ".data/version", "10\n"), ""},
      {"a folder in code",
       with(archive(forward("")), "code/__torch__/M/x.py", "def f(x: int) -> int:\n  return x\n"), "fine"},
      {"code that is a pickle", with(archive(forward("")), "code/os.py", "cos\nsystem\n"), ""},
  });
}

}  // namespace
}  // namespace flambeau::script::hostile
