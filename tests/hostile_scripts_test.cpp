// TorchScript archives that were made to harm: each is refused with a clear error, in little time and memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "flambeau/archive/zip/writer.h"
#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/base/work.h"
#include "flambeau/error.h"
#include "flambeau/script.h"
#include "support/patience.h"
#include "support/temporary_folder.h"

namespace flambeau::script {
namespace {

using Records = std::vector<std::pair<std::string, std::string>>;

std::string times(size_t count, std::string_view text) {
  std::string all;
  all.reserve(count * text.size());
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}
// The same with the number of the turn in place of each '#', and the next one in place of each '@'.
std::string count_up(size_t count, std::string_view text) {
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    for (const char c : text) {
      if (c == '#') {
        all += std::to_string(i);
      } else if (c == '@') {
        all += std::to_string(i + 1);
      } else {
        all += c;
      }
    }
  }
  return all;
}

// Pickles by hand: a short text, and an object of __torch__.M with such a state.
std::string pickled(std::string_view text) {
  return std::string("X") + static_cast<char>(text.size()) + std::string(3, '\0') + std::string(text);
}
std::string object(const std::string& state, std::string_view name = "__torch__\nM") {
  return fmt::format("c{}\n)\x81{}b", name, state);
}
std::string data(const std::string& root) { return "\x80\x02" + root + "."; }

Records archive(const std::string& code, const std::string& root = object("}"),
                const std::string& version = "3\n") {
  return {{"data.pkl", data(root)},
          {"code/__torch__.py", code},
          {"constants.pkl", data(")")},
          {"version", version}};
}
// A module whose method `forward` has this body, indented by four.
std::string forward(const std::string& body, const std::string& before = "") {
  return before +
         "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
         "  def forward(self: __torch__.M, x: int) -> int:\n" +
         body + "    return x\n";
}
// The same that runs while the file is loaded.
std::string set_state(const std::string& body, const std::string& before = "") {
  return before +
         "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
         "  def __getstate__(self: __torch__.M) -> int:\n    return 1\n"
         "  def __setstate__(self: __torch__.M, x: int) -> NoneType:\n" +
         body + "    return None\n";
}
const std::string kState = object("K\x01");

ScriptModule loaded(const Records& records, const ScriptLoadOptions& options) {
  MemorySink sink;
  zip::Writer writer(sink, {});
  for (const auto& [name, contents] : records) writer.add_text(name, contents);
  writer.finish();
  return load_script(Mapping::from_buffer(sink.take()), options);
}
// Nothing of it runs.
ScriptModule inert(const Records& records) {
  ScriptLoadOptions options;
  options.run_set_state = false;
  return loaded(records, options);
}

// Loads, looks at everything, runs and saves; the first refusal, or "fine".
std::string outcome(const Records& records) {
  const flambeau::testing::TemporaryFolder folder;
  const WorkScope scope({.seconds = 20 * patience(), .bytes = uint64_t{256} << 20});
  try {
    ScriptLoadOptions load;
    load.most_steps = 100'000;
    const ScriptModule module = loaded(records, load);
    module.modules();
    module.parameters();
    for (const ModuleAttribute& attribute : module.attributes()) to_text(module.attribute(attribute.name));
    module.methods();
    module.operators();
    module.outside_calls();
    for (const CodeFinding& problem : module.problems()) {
      return "problem: " + problem.place + ": " + problem.message;
    }
    for (const ModuleMethod& method : module.methods()) {
      module.graph(method.name);
      module.code(method.name);
      module.original_code(method.name);
    }
    save_script(module, folder / "again.pt");
    ScriptRunOptions run;
    run.most_steps = 100'000;
    for (const ModuleMethod& method : module.methods()) {
      if (method.name == "forward") module.run_method("forward", {1}, {}, run);
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "fine";
}

struct Case {
  std::string name;
  Records records;
  std::string expected;  // a part of the refusal
};

void check(const std::vector<Case>& cases) {
  for (const Case& given : cases) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string found = outcome(given.records);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    EXPECT_NE(found.find(given.expected), std::string::npos) << given.name << ":\n" << found.substr(0, 2000);
    EXPECT_LT(found.size(), 20'000U) << given.name;
    EXPECT_LT(taken.count(), 3 * patience()) << given.name;
  }
}

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
       "line 9: there is no type '__torch__.A'"},
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
       "line 18: a type is made of over 16384 types"},
      {"tuples that double, of a constant", archive(forward("    t0 = (1, 1)\n" + tuples)),
       "line 18: a type is made of over 16384 types"},
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

TEST(HostileScripts, CodeThatRunsWhileItIsLoaded) {
  const auto state = [](const std::string& body, const std::string& before = "") {
    return archive(set_state(body, before), kState);
  };
  check({
      {"for ever", state("    while True:\n      x = torch.add(x, 1)\n"), "more than 100000 steps"},
      {"recursion", state("    self.__setstate__(x)\n"), "deep"},
      {"recursion of a function",
       state("    y = __torch__.f(x)\n", "def f(x: int) -> int:\n  return __torch__.f(x)\n"), "__torch__.f"},
      {"a huge tensor",
       state("    y = torch.zeros([1099511627776], dtype=None, layout=None, device=None, pin_memory=None)\n"
             "    print(y)\n"),
       "memory"},
      {"a huge view",
       state("    y = torch.clone(torch.expand(torch.rand([1]), [1099511627776]))\n    print(y)\n"),
       "memory"},
      {"a list for ever", state("    y = [1]\n    while True:\n      z = torch.append(y, 1)\n"), "steps"},
      {"a list that doubles", state("    y = [1]\n    while True:\n      torch.extend(y, y)\n"), "steps"},
      {"a text that doubles", state("    y = \"abcdefgh\"\n    while True:\n      y = torch.add(y, y)\n"),
       "memory"},
      {"forks in no way that archives have",
       state("    while True:\n      f = torch.jit.fork(__torch__.f, x)\n",
             "def f(x: int) -> int:\n  return x\n"),
       "there is no attribute 'fork'"},
      {"prints for ever", state("    while True:\n      print(\"abc\")\n"), "steps"},
      {"a tensor that doubles",
       state("    y = torch.rand([1])\n    while True:\n      y = torch.cat([y, y])\n"),
       "operator 'aten::cat': the run needs more than"},
      {"a file", state("    y = torch.from_file(\"/etc/passwd\", False, 4, dtype=0)\n    print(y)\n"),
       "aten::from_file"},
      {"a file to write", state("    torch.save(x, \"/tmp/flambeau-hostile\")\n"), "files"},
      {"a seed", state("    torch.manual_seed(1)\n"), "seed"},
      {"another argument", archive(set_state(""), object(pickled("a"))), "__setstate__"},
      {"an exception", state("    ops.prim.RaiseException(\"no\", \"builtins.ValueError\")\n"), "no"},
  });
}

TEST(HostileScripts, CodeThatRuns) {
  check({
      {"2 ** 63 turns",
       archive(forward("    for i in range(9223372036854775807):\n      x = torch.add(x, 1)\n")), "steps"},
      {"empty turns",
       archive(forward("    for i in range(9223372036854775807):\n      pass\n    x = torch.add(x, 1)\n")),
       ""},
      {"prints for ever", archive(forward("    while True:\n      print(\"abc\")\n")), "steps"},
      {"a file",
       archive(forward("    y = torch.from_file(\"/etc/passwd\", False, 4, dtype=0)\n    print(y)\n")),
       "code/__torch__.py:5: nothing here runs aten::from_file"},
      {"a file to write", archive(forward("    torch.save(x, \"/tmp/flambeau-hostile\")\n")), "files"},
      {"a seed", archive(forward("    torch.manual_seed(1)\n")), "seed"},
      {"division by zero", archive(forward("    x = torch.floordiv(x, 0)\n")), "division by 0"},
      {"the smallest by -1",
       archive(forward("    x = torch.floordiv(torch.sub(-9223372036854775807, x), -1)\n")),
       "beyond an int of 64 bits"},
      {"the remainder of it",
       archive(forward("    x = torch.remainder(torch.sub(-9223372036854775807, x), -1)\n")), "fine"},
      {"a range without steps",
       archive(forward("    for i in range(0, 10, torch.sub(x, 1)):\n      x = 1\n")),
       "range() arg 3 must not be zero"},
      {"an index too far", archive(forward("    y = [1]\n    x = y[9223372036854775807]\n")), "range"},
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

TEST(HostileScripts, NamesWhatTouchesTheOutside) {
  const std::string body =
      "    y = torch.from_file(\"/etc/passwd\", False, 4, dtype=0)\n    print(y)\n"
      "    torch.save(x, \"/tmp/flambeau-hostile\")\n    torch.manual_seed(1)\n";
  for (const Records& records : {archive(forward(body)), archive(set_state(body), kState)}) {
    const std::vector<CodeFinding> found = inert(records).outside_calls();
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].message, "aten::from_file reads or writes files");
    EXPECT_EQ(found[1].message, "aten::save reads or writes files");
    EXPECT_EQ(found[2].message, "aten::manual_seed seeds the generator of random numbers");
    EXPECT_NE(found[0].place.find("code/__torch__.py:"), std::string::npos);
  }
}

TEST(HostileScripts, EachCallHasItsOwnSteps) {
  const ScriptModule module = inert(archive(forward("    for i in range(x):\n      x = torch.add(x, i)\n")));
  ScriptRunOptions run;
  run.most_steps = 50'000;
  for (int turn = 0; turn < 5; ++turn) module.run_method("forward", {10'000}, {}, run);
  run.most_steps = 100;
  EXPECT_THROW(module.run_method("forward", {10'000}, {}, run), Error);
  EXPECT_NO_THROW(module.run_method("forward", {10'000}));
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
}  // namespace flambeau::script
