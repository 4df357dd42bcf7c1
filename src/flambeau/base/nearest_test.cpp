#include "flambeau/base/nearest.h"

#include <gtest/gtest.h>

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
