#include "flambeau/script/compiler/text.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/printer/printer.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::compiler {
namespace {

std::shared_ptr<const OperatorTable> known_operators() {
  static const auto table = std::make_shared<const OperatorTable>(std::make_shared<const SchemaTable>());
  return table;
}

// What an archive would hold of the text's functions. The expected texts are PyTorch 2.13's.
std::string compiled(const std::string& text) {
  Unit unit(known_operators());
  const auto functions = define_text(unit, std::make_shared<Source>(text, "<string>"));
  ConstantTable constants;
  Dependencies dependencies;
  CodePrinter printer(unit, constants, dependencies, {});
  for (const auto& function : functions) printer.print(*function);
  return printer.text();
}

std::string refused(const std::string& text) {
  try {
    compiled(text);
  } catch (const Error& error) {
    return error.message().substr(0, error.message().find('\n'));
  }
  return "it compiled";
}

TEST(CompileText, WritesSignsAsOperators) {
  EXPECT_EQ(compiled("def f(a, b):\n  return -a * b + 2\n"),
            "def f(a: Tensor,\n    b: Tensor) -> Tensor:\n  _0 = torch.add(torch.mul(torch.neg(a), b), 2)\n"
            "  return _0\n");
}

TEST(CompileText, MergesBranches) {
  EXPECT_EQ(compiled("def f(a: int):\n  if a > 1:\n    b = 1\n  elif a > 0:\n    b = 2\n  else:\n    b = 3\n "
                     " return b\n"),
            "def f(a: int) -> int:\n  if torch.gt(a, 1):\n    b = 1\n  else:\n    if torch.gt(a, 0):\n      "
            "b0 = 2\n"
            "    else:\n      b0 = 3\n    b = b0\n  return b\n");
}

TEST(CompileText, LeavesLoopsByFlags) {
  EXPECT_EQ(compiled("def f(a: int):\n  while a > 0:\n    a -= 1\n    if a == 5:\n      break\n  return a\n"),
            "def f(a: int) -> int:\n  a0 = a\n  _0 = torch.gt(a, 0)\n  while _0:\n    a1 = torch.sub(a0, 1)\n"
            "    if torch.eq(a1, 5):\n      _1 = False\n    else:\n      _1 = torch.gt(a1, 0)\n    _0, a0 = "
            "_1, a1\n"
            "  return a0\n");
}

TEST(CompileText, WalksLists) {
  EXPECT_EQ(compiled("def f(a: List[int]):\n  b = 0\n  for x in a:\n    b += x\n  return b\n"),
            "def f(a: List[int]) -> int:\n  b = 0\n  for _0 in range(torch.len(a)):\n    x = a[_0]\n"
            "    b = torch.add(b, x)\n  return b\n");
}

TEST(CompileText, KnowsWhatIsNotNone) {
  EXPECT_EQ(
      compiled("def f(a: Optional[int]):\n  if a is not None:\n    return a + 1\n  return 0\n"),
      "def f(a: Optional[int]) -> int:\n  if torch.__isnot__(a, None):\n    a0 = unchecked_cast(int, a)\n"
      "    _0 = torch.add(a0, 1)\n  else:\n    _0 = 0\n  return _0\n");
}

TEST(CompileText, DefinesClasses) {
  Unit unit(known_operators());
  define_text(
      unit,
      std::make_shared<Source>("class P(NamedTuple):\n  x : int\n  y : Tensor\n"
                               "class E(Enum):\n  A = 1\n  B = 2\n"
                               "class C:\n  n : int\n  def get(self, k: int) -> int:\n    return self.n + k\n"
                               "def f(c: C, p: P) -> int:\n  return c.get(p.x)\n",
                               "<string>"),
      "m");
  EXPECT_EQ(unit.get_class("m.P").attributes.size(), 2U);
  EXPECT_EQ(unit.get_class("m.E").enumerators.size(), 2U);
  const auto* method = unit.get_class("m.C").find_method("get");
  ASSERT_NE(method, nullptr);
  EXPECT_FALSE((*method)->is_compiled());
  unit.get_function("m.f").graph();
  EXPECT_FALSE((*method)->is_compiled());
  EXPECT_EQ((*method)->signature().returns[0], Type(TypeKind::kInt));
  EXPECT_NE((*method)->graph(), nullptr);
}

TEST(CompileText, SaysWhatIsWrong) {
  EXPECT_EQ(refused("def f(a):\n  return b\n"), "there is no 'b' here:");
  EXPECT_EQ(refused("def f(a: int):\n  if a > 0:\n    b = 1\n  return b\n"),
            "there is no 'b' here: 'b' is not set where the condition is false:");
  EXPECT_EQ(refused("def f(a: int) -> str:\n  return a\n"),
            "the function is annotated to return str, but this is int:");
  EXPECT_EQ(refused("def f(a: int):\n  break\n"), "'break' stands outside of a loop:");
  EXPECT_EQ(refused("def f(a: Strange):\n  return a\n"), "there is no type 'Strange':");
  EXPECT_EQ(refused("def f(x):\n  return torch.nn.functional.fold(x, x)\n"),
            "torch.nn.functional.fold is a function of Python's, not an operator:");
  EXPECT_EQ(refused("def f(x):\n  return f(x)\n"), "the function f calls itself before its result is known");
}

TEST(CompileText, BoundsDepth) {
  std::string text = "def f(a: int):\n  return " + std::string(390, '-') + "a\n";
  EXPECT_NE(compiled(text).find("torch.neg"), std::string::npos);
  text = "def f(a: bool):\n  return a";
  for (int i = 0; i < 390; ++i) text += " and a";
  EXPECT_NE(compiled(text + "\n"), "");
}

}  // namespace
}  // namespace flambeau::script::compiler
