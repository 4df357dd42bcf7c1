#include "flambeau/script/syntax/parser.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"

namespace flambeau::script::syntax {
namespace {

std::shared_ptr<const Source> made(std::string text) {
  return std::make_shared<Source>(std::move(text), "f.py");
}

std::string expression(std::string text) {
  const auto tree = parse_expression(made(std::move(text)));
  return to_string(*tree->definitions.at(0));
}

// The one statement of a function.
std::string statement(const std::string& text) {
  const auto tree = parse_file(made("def f(x):\n" + text));
  return to_string(tree->definitions.at(0)->child(2).child(0));
}

std::string message(std::string text) {
  try {
    parse_file(made(std::move(text)));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Parser, BindsAsPython) {
  EXPECT_EQ(expression("a or b and c"), "(or a (and b c))");
  EXPECT_EQ(expression("not a == b"), "(not (equal a b))");
  EXPECT_EQ(expression("a < b <= c"), "(and (less a b) (less-equal b c))");
  EXPECT_EQ(expression("~a + 1"), "(add (invert a) 1)");
  EXPECT_EQ(expression("-a ** 2"), "(negate (power a 2))");
  EXPECT_EQ(expression("2 ** -1 ** c"), "(power 2 (negate (power 1 c)))");
  EXPECT_EQ(expression("a - b - c * d"), "(subtract (subtract a b) (multiply c d))");
  EXPECT_EQ(expression("a | b ^ c & d << 1"), "(bit-or a (bit-xor b (bit-and c (shift-left d 1))))");
  EXPECT_EQ(expression("a if b else c if d else e"), "(conditional b a (conditional d c e))");
  EXPECT_EQ(expression("a not in b"), "(not (in a b))");
  EXPECT_EQ(expression("a is not None"), "(is-not a None)");
  EXPECT_EQ(expression("-1"), "-1");
  EXPECT_EQ(expression("2.5+3.j"), "(add 2.5 3.j)");
}

TEST(Parser, ReadsAtomsAndWhatFollowsThem) {
  EXPECT_EQ(expression("(self).f(a, b, )[0].x"), "(select x (subscript (call (select f self) a b) 0))");
  EXPECT_EQ(expression("f(a, *b, c=d, )"), "(call f a (starred b) (keyword c d))");
  EXPECT_EQ(expression("a[1:, ::2, ..., None, :b]"),
            "(subscript a (slice 1 _ _) (slice _ _ 2) ... None (slice _ b _))");
  EXPECT_EQ(expression("()"), "(tuple)");
  EXPECT_EQ(expression("(a,)"), "(tuple a)");
  EXPECT_EQ(expression("[a, 'b' \"c\", ]"), "(list a \"bc\")");
  EXPECT_EQ(expression("{a: b, c: d}"), "(dict a b c d)");
  EXPECT_EQ(expression("[a + 1 for a in b]"), "(comprehension (add a 1) a b)");
  EXPECT_EQ(expression("{a: b for a, b in c}"), "(dict-comprehension a b (tuple a b) c)");
  EXPECT_EQ(expression("f(a for a in b)"), "(call f (comprehension a a b))");
  EXPECT_EQ(expression("f'a{b.c}d{{'"), "(format \"a\" (select c b) \"d{\")");
  EXPECT_EQ(expression("Tuple[()]"), "(subscript Tuple (tuple))");
}

TEST(Parser, ReadsStatements) {
  EXPECT_EQ(statement("  a, b, = x\n"), "(assign _ x (tuple a b))");
  EXPECT_EQ(statement("  a : Optional[int] = None\n"), "(assign (subscript Optional int) None a)");
  EXPECT_EQ(statement("  a = b = c"), "(assign _ c a b)");
  EXPECT_EQ(statement("  a.b += c"), "(augment-add (select b a) c)");
  EXPECT_EQ(statement("  a <<= c"), "(augment-shift-left a c)");
  EXPECT_EQ(statement("  if a:\n    b\n  elif c:\n    d\n  else:\n    e\n"),
            "(if a (sequence (expression b)) (sequence (if c (sequence (expression d)) (sequence (expression "
            "e)))))");
  EXPECT_EQ(statement("  for i, j in zip(a, b):\n    pass"),
            "(for (sequence i j) (sequence (call zip a b)) (sequence (pass)))");
  EXPECT_EQ(statement("  while a:\n    break\n"), "(while a (sequence (break)))");
  EXPECT_EQ(statement("  with a as b, c:\n    continue\n"),
            "(with (sequence (item a b) (item c _)) (sequence (continue)))");
  EXPECT_EQ(statement("  return"), "(return None)");
  EXPECT_EQ(statement("  return a, b"), "(return (tuple a b))");
  EXPECT_EQ(statement("  assert a, 'b'"), "(assert a \"b\")");
  EXPECT_EQ(statement("  raise E('m')"), "(raise (call E \"m\"))");
  EXPECT_EQ(statement("  del a[0], b"), "(delete (subscript a 0) b)");
  EXPECT_EQ(statement("  def g():\n    return x\n"), "(def g (sequence) _ (sequence (return x)))");
}

TEST(Parser, ReadsFiles) {
  const auto tree = parse_file(made(
      "op_version_set = 1\nimport __torch__.a\nclass M(Module):\n  __parameters__ = [\"w\", ]\n  w : Tensor\n"
      "  def forward(self: __torch__.M,\n    x: Tensor,\n    *,\n    y: int=2) -> Tensor:\n    return x\n"
      "def f(a, b):\n  # type: (int, List[int]) -> int\n  return a\ndef g(x): return x"));
  ASSERT_EQ(tree->definitions.size(), 3U);
  EXPECT_EQ(to_string(*tree->definitions[0]),
            "(class M Module (sequence (assign _ (list \"w\") __parameters__) (assign Tensor _ w) (def "
            "forward (sequence "
            "(parameter self (select M __torch__) _) (parameter x Tensor _) (parameter y * int 2)) Tensor "
            "(sequence "
            "(return x)))))");
  EXPECT_EQ(to_string(*tree->definitions[1]),
            "(def f (sequence (parameter a int _) (parameter b (subscript List int) _)) int (sequence "
            "(return a)))");
  EXPECT_EQ(to_string(*tree->definitions[2]), "(def g (sequence (parameter x _ _)) _ (sequence (return x)))");
}

TEST(Parser, SaysWhatItExpected) {
  EXPECT_EQ(message("def f(x:\n  return x\n"),
            "f.py: line 2: expected an expression, found 'return':\n  File \"f.py\", line 2\ndef f(x:\n  "
            "return x\n  "
            "~~~~~~ <--- HERE\n");
  EXPECT_EQ(message("x = 1\n"),
            "f.py: line 1: expected 'class' or 'def', found a name:\n  File \"f.py\", line 1\nx = 1\n~ <--- "
            "HERE\n");
  for (const char* text :
       {"def f(x)\n  return x\n", "def f(x):\nreturn x\n", "class A:\n", "def f(x):\n  a b\n",
        "def f(x):\n  (a\n", "def f(x):\n  [a for b in c if d]\n", "def f(x):\n  {a}\n",
        "def f(x):\n  a : int = b = c\n", "def f(x):\n  # type: (int, int) -> int\n  return x\n",
        "def f(x):\n  f'{a:2}'\n", "def"}) {
    EXPECT_NE(message(text), "") << text;
  }
}

TEST(Parser, BoundsDepth) {
  const auto repeated = [](const std::string& text, size_t count) {
    std::string all;
    for (size_t i = 0; i < count; ++i) all += text;
    return all;
  };
  const size_t count = 100000;
  for (const std::string& text :
       {repeated("(", count), repeated("[", count), repeated("-", count), repeated("not ", count),
        "a" + repeated("+a", count), "a" + repeated(".a", count), "a" + repeated("[0]", count),
        repeated("List[", count), "a" + repeated(" if a else a", count), "2" + repeated("**2", count),
        repeated("f'{", 1000)}) {
    EXPECT_THROW(expression(text), Error) << text.substr(0, 10);
  }
  std::string chain = "def f(x):\n  if a:\n    pass\n" + repeated("  elif a:\n    pass\n", count);
  EXPECT_THROW(parse_file(made(chain)), Error);
}

}  // namespace
}  // namespace flambeau::script::syntax
