#include "flambeau/script/syntax/lexer.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"

namespace flambeau::script::syntax {
namespace {

std::string lexed(std::string text) {
  const auto source = std::make_shared<Source>(std::move(text), "f.py");
  std::string result;
  for (const Token& token : lex(source)) {
    const std::string name = token.kind == TokenKind::kNewline  ? "NEWLINE"
                             : token.kind == TokenKind::kIndent ? "INDENT"
                             : token.kind == TokenKind::kDedent ? "DEDENT"
                             : token.kind == TokenKind::kEnd
                                 ? "END"
                                 : std::string(SourceRange{source, token.start, token.end}.text());
    result += name + " ";
  }
  return result;
}

TEST(Lexer, SplitsSignsAndWords) {
  EXPECT_EQ(lexed("a**=b//c->d is not e not in f...\n"),
            "a **= b // c -> d is not e not in f ... NEWLINE END ");
  EXPECT_EQ(lexed("x is nothing"), "x is nothing NEWLINE END ");
  EXPECT_EQ(lexed("forward = format"), "forward = format NEWLINE END ");
}

TEST(Lexer, TakesNumbersAsC) {
  EXPECT_EQ(lexed("1 1. .5 1e3 1e-05 2j 0x1p3 0x1F 1e x.5"),
            "1 1. .5 1e3 1e-05 2j 0x1p3 0x1F 1 e x .5 NEWLINE END ");
  EXPECT_EQ(lexed("1+3"), "1 + 3 NEWLINE END ");
}

TEST(Lexer, TakesStrings) {
  EXPECT_EQ(lexed(R"('a\'b' "c" """d
e""" f"x")"),
            "'a\\'b' \"c\" \"\"\"d\ne\"\"\" f\"x\" NEWLINE END ");
}

TEST(Lexer, IndentsBlocks) {
  EXPECT_EQ(lexed("a:\n  b\n\n  # comment\n  c:\n    d\ne"),
            "a : INDENT b NEWLINE c : INDENT d NEWLINE DEDENT DEDENT e NEWLINE END ");
  // The first line says where the margin is, and the last one's blanks do not count.
  EXPECT_EQ(lexed("\n    a:\n      b\n  "), "a : INDENT b NEWLINE DEDENT END ");
  EXPECT_EQ(lexed("f(a,\nb)\nc"), "f ( a , b ) NEWLINE c NEWLINE END ");
  EXPECT_EQ(lexed("a + \\\n b # c\nd"), "a + b NEWLINE d NEWLINE END ");
}

TEST(Lexer, KeepsTypeComments) {
  EXPECT_EQ(lexed("def f(a):\n  # type: (int) -> int\n  return a"),
            "def f ( a ) : INDENT # type: ( int ) -> int NEWLINE return a NEWLINE DEDENT END ");
}

TEST(Lexer, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"a ; b", "'abc", "\"\"\"abc", "a:\n    b\n  c", "\xff", "$"}) {
    EXPECT_THROW(lexed(text), Error) << text;
  }
  try {
    lexed("x = 1\ny = $\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "f.py: line 2: '$' begins no word, number or sign of TorchScript:\n  File \"f.py\", line "
                 "2\nx = 1\ny = "
                 "$\n    ~ <--- HERE\n");
  }
}

TEST(Lexer, BoundsIndentation) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::string(static_cast<size_t>(i), ' ') + "if a:\n";
  EXPECT_THROW(lexed(text), Error);
}

}  // namespace
}  // namespace flambeau::script::syntax
