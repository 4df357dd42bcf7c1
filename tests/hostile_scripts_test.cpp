// TorchScript archives whose code was made to harm: each is refused with a clear error, in little time and
// memory.
#include "support/hostile_archives.h"

namespace flambeau::script::hostile {
namespace {

TEST(HostileScripts, AHarmlessOneIsFine) {
  check({{"plain", archive(forward("")), "fine"}, {"state", archive(set_state(""), kState), "fine"}});
}

TEST(HostileScripts, Depth) {
  constexpr size_t kDeep = 100'000;
  std::string indents;
  std::string loops;
  for (size_t i = 0; i < 2000; ++i) indents += std::string(4 + i, ' ') + "if bool(x):\n";
  for (size_t i = 0; i < 2000; ++i) loops += std::string(4 + i, ' ') + "for i in range(x):\n";
  const std::string in = std::string(2004, ' ') + "x = 1\n";
  check({
      {"parentheses", archive(forward("    y = " + times(kDeep, "(") + "x\n")), "deep"},
      {"brackets", archive(forward("    y = " + times(kDeep, "[") + "x\n")), "deep"},
      {"braces", archive(forward("    y = " + times(kDeep, "{1: ") + "x\n")), "deep"},
      {"minus", archive(forward("    y = " + times(kDeep, "-") + "x\n")), "deep"},
      {"not", archive(forward("    y = " + times(kDeep, "not ") + "x\n")), "deep"},
      {"attributes", archive(forward("    y = x" + times(kDeep, ".a") + "\n")), "deep"},
      {"calls", archive(forward("    y = x" + times(kDeep, "()") + "\n")), "deep"},
      {"subscripts", archive(forward("    y = x" + times(kDeep, "[0]") + "\n")), "deep"},
      {"sum", archive(forward("    y = x" + times(kDeep, " + x") + "\n")), "deep"},
      {"powers", archive(forward("    y = x" + times(kDeep, " ** x") + "\n")), "deep"},
      {"choices", archive(forward("    y = x" + times(kDeep, " if True else x") + "\n")), "deep"},
      {"types", archive(forward("    y = annotate(" + times(kDeep, "List[") + "int, x)\n")), "deep"},
      {"ifs", archive(forward(indents + in)), "line 404: this is indented more often"},
      {"loops", archive(forward(loops + in)), "line 404: this is indented more often"},
      {"elifs",
       archive(forward("    if bool(x):\n      pass\n" + times(5000, "    elif bool(x):\n      pass\n"))),
       "deep"},
      {"attribute types",
       archive("class M(Module):\n  a : " + times(kDeep, "Optional[") + "int" + times(kDeep, "]") + "\n"),
       "deep"},
      {"values", archive(forward(""), times(kDeep, "(") + times(kDeep, "t")), "deep"},
  });
}

TEST(HostileScripts, Text) {
  check({
      {"a huge integer", archive(forward("    y = " + times(100'000, "9") + "\n")), "__torch__.py"},
      {"2 ** 63", archive(forward("    y = 9223372036854775808\n")), "9223372036854775808"},
      {"a huge float", archive(forward("    y = 1e" + times(100'000, "9") + "\n")), "fine"},
      {"invalid UTF-8", archive(forward("    y = \"\xff\xfe\"\n")), "fine"},
      {"an invalid name", archive(forward("    \xff\xfe = 1\n")), "__torch__.py"},
      {"a zero byte", archive(forward(std::string("    y = 1") + '\0' + "\n")), "__torch__.py"},
      {"an open string", archive(forward("    y = \"abc\n")), "__torch__.py"},
      {"an open long string", archive(forward("    y = \"\"\"abc\n")), "__torch__.py"},
      {"a wrong escape", archive(forward("    y = \"\\x\"\n")), "__torch__.py"},
      {"tabs", archive(forward("\t\ty = 1\n")), "__torch__.py"},
      {"a lone dedent", archive(forward("   y = 1\n")), "__torch__.py"},
      {"nothing", archive(""), "__torch__.M"},
      {"an escape to the terminal", archive(forward("    y = \x1b[2J\n")), "__torch__.py"},
  });
}

TEST(HostileScripts, Circles) {
  const std::string module = "class M(Module):\n  a : ";
  check({
      {"a class of itself", archive(module + "__torch__.M\n"), "has no attribute 'a'"},
      {"a type of itself",
       archive("class N(NamedTuple):\n  a : __torch__.N\nclass M(Module):\n  a : __torch__.N\n"),
       "__torch__.N"},
      {"two of each other",
       archive("class A(NamedTuple):\n  a : __torch__.B\nclass B(NamedTuple):\n  b : __torch__.A\n" +
               forward("    y = annotate(Optional[__torch__.A], None)\n")),
       ".py:9: there is no type '__torch__.A'"},
      {"its own base", archive("class M(M):\n  a : int\n"), "__torch__.py"},
      {"files that import each other",
       {{"data.pkl", data(object("}", "__torch__.a\nM"))},
        {"code/__torch__/a.py",
         "class M(Module):\n  def forward(self: __torch__.a.M, x: int) -> int:\n"
         "    return __torch__.b.f(x)\n"
         "def f(x: int) -> int:\n  return __torch__.b.f(x)\n"},
        {"code/__torch__/b.py", "def f(x: int) -> int:\n  return __torch__.a.f(x)\n"},
        {"constants.pkl", data(")")},
        {"version", "3\n"}},
       "functions call each other more than 10000 deep"},
      {"a function of itself",
       archive(forward("    y = __torch__.f(x)\n", "def f(x: int) -> int:\n  return __torch__.f(x)\n")),
       "functions call each other more than 10000 deep"},
      {"a module in itself",
       archive(module + "__torch__.M\n",
               "c__torch__\nM\n)\x81q\x01}X\x01" + std::string(3, '\0') + "ah\x01sb"),
       "a value contains itself"},
      {"a list in itself", archive(module + "List[Any]\n", object("}" + pickled("a") + "]q\x01h\x01\x61s")),
       "a value contains itself"},
      {"a dict in itself",
       archive(module + "Dict[str, Any]\n", object("}" + pickled("a") + "}q\x01" + pickled("k") + "h\x01ss")),
       "a value contains itself"},
  });
}

TEST(HostileScripts, Bombs) {
  std::string ifs;
  for (size_t i = 0; i < 40; ++i) ifs += "    if bool(x):\n      x = x + 1\n    else:\n      x = x + 2\n";
  const std::string tuples = count_up(60, "    t@ = (t#, t#)\n");
  const std::string sums = count_up(60, "    t@ = torch.add(t#, t#)\n");
  const std::string calls =
      "def f0(x: int) -> int:\n  return x\n" +
      count_up(60, "def f@(x: int) -> int:\n  return torch.add(__torch__.f#(x), __torch__.f#(x))\n");
  const std::string classes = "class C0(NamedTuple):\n  a : int\n" +
                              count_up(60, "class C@(NamedTuple):\n  a : __torch__.C#\n  b : __torch__.C#\n");
  check({
      {"tuples that double", archive(forward("    t0 = (x, x)\n" + tuples)),
       ".py:18: a type is made of over 16384 types"},
      {"tuples that double, of a constant", archive(forward("    t0 = (1, 1)\n" + tuples)),
       ".py:18: a type is made of over 16384 types"},
      {"lists that double", archive(forward("    t0 = [x]\n" + count_up(60, "    t@ = [t#]\n"))), "fine"},
      {"sums that double", archive(forward("    t0 = x\n" + sums)), "fine"},
      {"texts that double", archive(forward("    t0 = \"ab\"\n" + sums)), "fine"},
      {"texts that double, and are used",
       archive(forward("    t0 = \"ab\"\n" + sums + "    x = torch.len(t60)\n")), "memory"},
      {"lists that double, and are used",
       archive(forward("    t0 = [1, 2]\n" + sums + "    x = torch.len(t60)\n")), "memory"},
      {"calls that double", archive(forward("    y = __torch__.f60(x)\n", calls)), "steps"},
      {"classes that double", archive(forward("    y = annotate(Optional[__torch__.C60], None)\n", classes)),
       "fine"},
      {"many ifs", archive(forward(ifs)), "fine"},
      {"many statements", archive(forward(times(20'000, "    x = torch.add(x, 1)\n"))), "fine"},
      {"many functions", archive(forward("", count_up(20'000, "def f#(x: int) -> int:\n  return x\n"))),
       "fine"},
      {"a union of many", archive("class M(Module):\n  a : Union[int" + times(20'000, ", List[int]") + "]\n"),
       "line 2: a union of over 256 types"},
      {"a Final of many",
       archive("class M(Module):\n  a : Final[List[int]] = [1" + times(50'000, ", 1") + "]\n" +
               "  def forward(self: __torch__.M, x: int) -> int:\n    return x\n"),
       ""},
      {"a repeated list", archive(forward("    y = torch.mul([1], 1099511627776)\n    x = torch.len(y)\n")),
       "memory"},
      {"a repeated text", archive(forward("    y = torch.mul(\"a\", 1099511627776)\n    x = torch.len(y)\n")),
       ""},
      {"a shift", archive(forward("    x = torch.__lshift__(1, 1099511627776)\n")), "fine"},
  });
}

TEST(HostileScripts, Declarations) {
  const std::string module = "class M(Module):\n";
  check({
      {"a missing slot", archive(module + "  a : int\n"),
       "record 'data.pkl': the state of __torch__.M has no attribute 'a'"},
      {"a slot of another type",
       archive(module + "  a : int\n", object("}" + pickled("a") + pickled("b") + "s")), "'a'"},
      {"a slot that is not declared", archive(forward(""), object("}" + pickled("a") + "K\x01s")), "fine"},
      {"a constant that is not there", archive(forward("    y = CONSTANTS.c7\n")), "c7"},
      {"a constant of no number", archive(forward("    y = CONSTANTS.c99999999999999999999\n")), "c9999"},
      {"a constant of no name", archive(forward("    y = CONSTANTS.x\n")), "CONSTANTS"},
      {"an unknown operator", archive(forward("    y = torch.no_such_operator(x)\n")), "no_such_operator"},
      {"wrong arguments", archive(forward("    y = torch.add(x, \"a\", [1])\n")), "add"},
      {"an unknown name", archive(forward("    y = z\n")), "z"},
      {"two arguments of a name",
       archive("class M(Module):\n  def forward(self: __torch__.M, x: int, x: int) -> int:\n    return x\n"),
       "x"},
      {"a default that does not fit",
       archive("class M(Module):\n  def forward(self: __torch__.M, x: int=\"a\") -> int:\n    return x\n"),
       ""},
      {"two methods of a name",
       archive(forward("") + "  def forward(self: __torch__.M, x: int) -> int:\n    return x\n"), "forward"},
      {"two classes of a name", archive(forward("") + forward("")), "fine"},
      {"two attributes of a name", archive(module + "  a : int\n  a : str\n"), "'a'"},
      {"a wrong result",
       archive("class M(Module):\n  def forward(self: __torch__.M, x: int) -> str:\n    return x\n"), "str"},
      {"an unknown type", archive(module + "  a : Nothing\n"), "Nothing"},
      {"no code",
       {{"data.pkl", data(object("}"))}, {"constants.pkl", data(")")}, {"version", "3\n"}},
       "__torch__.M"},
      {"code of another name",
       {{"data.pkl", data(object("}"))},
        {"code/other.py", forward("")},
        {"constants.pkl", data(")")},
        {"version", "3\n"}},
       "__torch__.M"},
      {"no constants",
       {{"data.pkl", data(object("}"))}, {"code/__torch__.py", forward("")}, {"version", "3\n"}},
       "constants.pkl"},
      {"no data",
       {{"code/__torch__.py", forward("")}, {"constants.pkl", data(")")}, {"version", "3\n"}},
       "data.pkl"},
      {"a class with dots", archive(forward(""), object("}", "__torch__\n../../M")), "../../M"},
      {"a class with odd characters", archive(forward(""), object("}", "__torch__\nM\x1b[2J")), "M"},
      {"a class of Python's", archive(forward(""), object("}", "os\nsystem")), "os"},
      {"a call", archive(forward(""), "cos\nsystem\n(" + pickled("ls") + "tR"), "os"},
      {"no module", archive(forward(""), "K\x01"), "module"},
  });
}

TEST(HostileScripts, Versions) {
  const auto version = [](const std::string& text) { return archive(forward(""), object("}"), text); };
  check({{"11", version("11\n"), "version 11"},
         {"0", version("0\n"), "version"},
         {"-1", version("-1\n"), "version"},
         {"text", version("new\n"), "version"},
         {"nothing", version(""), "version"},
         {"huge", version(times(1000, "9")), "version"}});
}

TEST(HostileScripts, DebugInformation) {
  const auto with = [](const std::string& debug) {
    Records records = archive(forward("    x = torch.floordiv(x, 0)\n"));
    records.emplace_back("code/__torch__.py.debug_pkl", debug);
    return records;
  };
  const std::string number = std::string("J\xff\xff\xff\x7f", 5);
  check({{"nothing", with(""), "division by 0"},
         {"no pickle", with("abc"), "division by 0"},
         {"a call", with(data("cos\nsystem\n(" + pickled("ls") + "tR")), "division by 0"},
         {"a number", with(data("K\x01")), "division by 0"},
         {"offsets too far",
          with(data("(" + pickled("FORMAT_WITH_STRING_TABLE") + "(" + pickled("a") + "t(" + number +
                    "K\x00(" + "(K\x05tK\x05K\x05" + number + number + "tttt")),
          "division by 0"},
         {"indices too far",
          with(data("(" + pickled("FORMAT_WITH_STRING_TABLE") + ")(K\x00(((" + number + "t" + number +
                    "K\x00K\x00K\x01ttttt")),
          "division by 0"},
         {"deep", with(data(times(100'000, "(") + times(100'000, "t"))), "division by 0"}});
}

}  // namespace
}  // namespace flambeau::script::hostile
