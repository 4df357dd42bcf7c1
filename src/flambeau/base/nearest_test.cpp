#include "flambeau/base/nearest.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <vector>

namespace flambeau {
namespace {

const std::vector<std::string> kCommands = {"inspect", "list", "extract", "convert", "diff", "check"};

TEST(Nearest, CountsInsertionsRemovalsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("inspct", "inspect"), 1);
  EXPECT_EQ(edit_distance("ispnect", "inspect"), 2);
  EXPECT_EQ(edit_distance("lsit", "list"), 1);
  EXPECT_EQ(edit_distance("Diff", "diff"), 0);
}

TEST(Nearest, NamesWhatIsNearAndNothingElse) {
  EXPECT_EQ(did_you_mean("inspct", kCommands), "did you mean 'inspect'?");
  EXPECT_EQ(did_you_mean("lits", kCommands, "see --help"), "did you mean 'list'? see --help");
  EXPECT_EQ(did_you_mean("frobnicate", kCommands), "");
  EXPECT_EQ(did_you_mean("frobnicate", kCommands, "see --help"), "see --help");
  EXPECT_EQ(did_you_mean("", kCommands), "");
  EXPECT_EQ(did_you_mean("x", {}), "");
  EXPECT_EQ(did_you_mean("y", std::vector<std::string>{"x"}), "");
}

// What is near is found without the whole distance, which is the measure all the same.
TEST(Nearest, SlipsAreCountedByDistance) {
  std::mt19937 random(1);
  const auto text = [&](size_t longest) {
    std::string made(random() % (longest + 1), 'x');
    for (char& c : made) c = static_cast<char>('a' + random() % 3);
    return made;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = text(12);
    std::string other = text(12);
    if (i % 2 == 0) {
      other = name;
      for (int k = 0; k < 3 && !other.empty(); ++k)
        other.replace(random() % other.size(), random() % 2, text(2));
    }
    const bool is_near = edit_distance(name, other) <= name.size() / 3 ||
                         (name.size() >= 4 && other.find(name) != std::string::npos);
    const bool is_asked = !name.empty() && !other.empty();
    EXPECT_EQ(!did_you_mean(name, std::vector<std::string>{other}).empty(), is_asked && is_near)
        << name << " " << other;
  }
}

// A stranger's file may name thousands of things that nobody knows.
TEST(Nearest, IsQuickWhereNothingIsNear) {
  std::vector<std::string> names;
  for (int i = 0; i < 10'000; ++i) names.push_back(std::string(150, static_cast<char>('b' + i % 20)));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(did_you_mean(std::string(150, 'a'), names), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Nearest, FindsANameByItsLastPart) {
  const std::vector<std::string> records = {"model/data.pkl", "model/version", "model/data/0"};
  EXPECT_EQ(did_you_mean("archive/version", records), "did you mean 'model/version'?");
  EXPECT_EQ(did_you_mean("verson", records), "did you mean 'model/version'?");
  EXPECT_EQ(did_you_mean("version", records), "did you mean 'model/version'?");
}

TEST(Nearest, ShowsThreePrintableNamesAtMost) {
  const std::vector<std::string> names = {"layer.10", "layer.11", "layer.12", "layer.13",
                                          std::string(5000, 'l')};
  EXPECT_EQ(did_you_mean("layer.1", names), "did you mean 'layer.10' or 'layer.11' or 'layer.12'?");
  EXPECT_EQ(did_you_mean(std::string(5000, 'l'), names), "");
  EXPECT_EQ(did_you_mean("abc", std::vector<std::string>{"ab\n"}), "did you mean 'ab\\x0a'?");
}

}  // namespace
}  // namespace flambeau
