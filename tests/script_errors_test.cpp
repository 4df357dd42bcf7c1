// What the compiler says of texts that are wrong: script_errors.txt has each text, and the place, the message
// and the suggestion of every error that it has.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "flambeau/files.h"
#include "flambeau/script_build.h"

namespace flambeau::script {
namespace {

struct Case {
  std::string text;
  std::string expected;
};

std::vector<Case> cases_of(std::string_view all) {
  constexpr std::string_view kEnd = "====\n";
  constexpr std::string_view kExpected = "----\n";
  std::vector<Case> cases;
  all.remove_prefix(all.find(kEnd) + kEnd.size());
  while (!all.empty()) {
    const std::string_view one = all.substr(0, all.find(kEnd));
    const size_t expected = one.find(kExpected);
    cases.push_back(
        {std::string(one.substr(0, expected)), std::string(one.substr(expected + kExpected.size()))});
    all.remove_prefix(std::min(one.size() + kEnd.size(), all.size()));
  }
  return cases;
}

// "2:10: what is wrong (what may be meant)", a line for each; of messages the first line.
std::string errors_of(const std::string& text) {
  try {
    CompilationUnit unit(text);
  } catch (const CompileError& error) {
    std::string said;
    for (const Diagnostic& found : error.diagnostics()) {
      said += std::to_string(found.line) + ":" + std::to_string(found.column) + ": " +
              found.message.substr(0, found.message.find('\n'));
      if (!found.remedy.empty()) said += " (" + found.remedy + ")";
      said += "\n";
    }
    return said;
  }
  return "it compiled\n";
}

TEST(ScriptErrors, SayWhereAndWhatAndWhatWasMeant) {
  const auto bytes = Mapping::open(FLAMBEAU_GOLDEN_DIR "/../script_errors.txt");
  const std::vector<Case> cases = cases_of(as_text(bytes->bytes()));
  EXPECT_GE(cases.size(), 100U);
  for (const Case& one : cases) EXPECT_EQ(errors_of(one.text), one.expected) << one.text;
}

TEST(ScriptErrors, AreShownAsCompilersDo) {
  try {
    CompilationUnit unit("def f(value: int):\n  return valu + 1\n", "model.py");
    FAIL() << "it compiled";
  } catch (const CompileError& error) {
    EXPECT_EQ(std::string(error.what()),
              "model.py:2:10: there is no 'valu' here\n"
              "  2 |   return valu + 1\n"
              "    |          ^~~~\n"
              "    = did you mean 'value'?");
  }
}

TEST(ScriptErrors, AreToldUpToTwenty) {
  std::string text = "def f(x: int):\n";
  for (int i = 0; i < 50; ++i) text += "  a" + std::to_string(i) + " = nothing" + std::to_string(i) + "\n";
  try {
    CompilationUnit unit(text + "  return x\n");
    FAIL() << "it compiled";
  } catch (const CompileError& error) {
    EXPECT_EQ(error.diagnostics().size(), 20U);
    EXPECT_NE(std::string(error.what()).find("there may be more"), std::string::npos);
  }
}

TEST(ScriptErrors, LeaveTheUnitAsItWas) {
  CompilationUnit unit("def f(x: int):\n  return x\n");
  EXPECT_THROW(unit.define("def g(x: int):\n  return nothing\nclass A:\n  pass\n"), CompileError);
  EXPECT_EQ(unit.functions(), std::vector<std::string>{"f"});
  EXPECT_TRUE(unit.classes().empty());
  unit.define("def g(x: int):\n  return f(x) + 1\n");
  EXPECT_EQ(unit.run("g", {2}).as_int(), 3);
  ScriptModule module = unit.make_module("M");
  EXPECT_THROW(module.define("def forward(self):\n  return self.x\n"), CompileError);
  EXPECT_TRUE(module.methods().empty());
  module.add_attribute("x", "int", 4);
  module.define("def forward(self):\n  return g(self.x)\n");
  EXPECT_EQ(module.run_method("forward").as_int(), 5);
}

TEST(ScriptErrors, EndAtTheEndOfTheText) {
  for (const char* text :
       {"    def f(x):\n  y = 1\n   z = (\n", "def f(x):\n    if x:\n        y = 1\n      z = )",
        "class A:\n   def f(self):\n  return [\n", "def f(x):\n  @\n", "def f(", "@", "from",
        "def f():\n  f\"{"})
    EXPECT_NE(errors_of(text), "it compiled\n") << text;
}

// Each function calls the one before twice; the first has an error.
TEST(ScriptErrors, DoNotMultiplyWithCallers) {
  std::string text = "def f0(x: int):\n  return nothing\n";
  for (int i = 1; i < 60; ++i) {
    const std::string before = "f" + std::to_string(i - 1) + "(x)";
    text += "def f" + std::to_string(i) + "(x: int):\n  a = " + before + "\n  b = " + before +
            "\n  return a + b\n";
  }
  try {
    CompilationUnit unit(text);
    FAIL() << "it compiled";
  } catch (const CompileError& error) {
    EXPECT_EQ(error.diagnostics().size(), 1U);
  }
}

}  // namespace
}  // namespace flambeau::script
