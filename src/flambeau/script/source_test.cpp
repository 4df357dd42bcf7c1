#include "flambeau/script/source.h"

#include <gtest/gtest.h>

namespace flambeau::script {
namespace {

std::shared_ptr<const Source> made(std::string text, std::string file = {}, size_t first_line = 1) {
  return std::make_shared<Source>(std::move(text), std::move(file), first_line);
}

TEST(Source, KnowsLines) {
  const auto source = made("a\nbc\n\nd", "f.py", 10);
  EXPECT_EQ(source->line_of(0), 10U);
  EXPECT_EQ(source->line_of(2), 11U);
  EXPECT_EQ(source->line_of(100), 13U);
  size_t begins = 0;
  EXPECT_EQ(source->line_text(3, &begins), "bc");
  EXPECT_EQ(begins, 2U);
  EXPECT_EQ(source->line_text(5), "");
  EXPECT_EQ(source->line_text(100), "d");
}

TEST(Source, ShowsAPlace) {
  const auto source = made("one\ntwo\nthree\nfour\nfive six\nseven\neight\nnine\n", "f.py");
  EXPECT_EQ(highlight({source, 24, 27}),
            "  File \"f.py\", line 5\ntwo\nthree\nfour\nfive six\n     ~~~ <--- HERE\nseven\neight\n");
  EXPECT_EQ(highlight({made("x"), 0, 0}), "x\n~ <--- HERE\n");
  EXPECT_EQ(highlight({made("x"), 900, 950}), "x\n ~ <--- HERE\n");
  EXPECT_EQ(highlight({}), "");
}

TEST(SourceRange, HasText) {
  const auto source = made("abcdef");
  EXPECT_EQ((SourceRange{source, 1, 3}).text(), "bc");
  EXPECT_EQ((SourceRange{source, 5, 30}).text(), "f");
  EXPECT_EQ((SourceRange{source, 9, 30}).text(), "");
}

}  // namespace
}  // namespace flambeau::script
