#include "flambeau/script/printer/name_maker.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"

namespace flambeau::script {
namespace {

TEST(NameMaker, NumbersAreOfTheNameThatIsTaken) {
  NameMaker names;
  EXPECT_EQ(names.make("x"), "x");
  EXPECT_EQ(names.make("x"), "x0");
  EXPECT_EQ(names.make("x"), "x1");
  EXPECT_EQ(names.make("x0"), "x00");
  EXPECT_EQ(names.make("_"), "_0");
  EXPECT_EQ(names.make("_0"), "_00");
}

TEST(NameMaker, NumbersGoOnInTheNextFunction) {
  NameMaker names;
  EXPECT_EQ(names.make("_"), "_0");
  names.forget();
  EXPECT_EQ(names.make("_"), "_1");
  EXPECT_EQ(names.make("x"), "x");
}

TEST(NameMaker, WordsOfTheLanguageAreTaken) {
  NameMaker names;
  EXPECT_EQ(names.make("inf"), "inf0");
  EXPECT_EQ(names.make("attribute"), "attribute0");
  EXPECT_EQ(names.make("print"), "print");
}

TEST(NameMaker, DoesNotSearchForever) {
  NameMaker names;
  names.make("x");
  for (int i = 0; i < 20'000; ++i) names.make("x" + std::to_string(i));
  EXPECT_THROW(
      {
        for (int i = 0; i < 20'000; ++i) names.make("x");
      },
      Error);
}

TEST(NameMaker, Identifiers) {
  EXPECT_TRUE(is_identifier("a_1"));
  EXPECT_FALSE(is_identifier("1a"));
  EXPECT_FALSE(is_identifier(""));
  EXPECT_FALSE(is_identifier("a.b"));
  EXPECT_EQ(make_identifier("a.b-c"), "a_b_c");
  EXPECT_EQ(make_identifier("0"), "_0");
  EXPECT_EQ(make_identifier(""), "_");
}

}  // namespace
}  // namespace flambeau::script
