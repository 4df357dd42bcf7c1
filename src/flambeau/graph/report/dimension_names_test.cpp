#include "flambeau/graph/report/dimension_names.h"

#include <gtest/gtest.h>

namespace flambeau::graph {
namespace {

const DimensionNames kNames = {{"s77", "batch"}, {"s27", "length"}};

TEST(DimensionNames, ComeBackAsTheyWereSet) {
  ExportedProgram program;
  EXPECT_TRUE(dimension_names(program).empty());
  set_dimension_names(program, kNames);
  EXPECT_EQ(dimension_names(program), kNames);
  ASSERT_EQ(program.metadata.size(), 1U);
  EXPECT_EQ(program.metadata[0].second, R"({"dimensions": {"s77": "batch", "s27": "length"}})");
  set_dimension_names(program, {{"s77", "batch"}, {"s77", "rows"}});
  EXPECT_EQ(dimension_names(program), (DimensionNames{{"s77", "batch"}}));
  set_dimension_names(program, {});
  EXPECT_TRUE(program.metadata.empty());
}

TEST(DimensionNames, OtherMetadataStays) {
  ExportedProgram program;
  program.metadata = {{"x", "y"}, {"custom", R"({"who": "me", "dimensions": 3})"}};
  EXPECT_TRUE(dimension_names(program).empty());
  set_dimension_names(program, {{"s0", "n"}});
  EXPECT_EQ(program.metadata[0].second, "y");
  EXPECT_EQ(program.metadata[1].second, R"({"who": "me", "dimensions": {"s0": "n"}})");
}

TEST(DimensionNames, WhatIsNoNameIsPassedOver) {
  ExportedProgram program;
  program.metadata = {{"custom", R"({"dimensions": {"s0": 3, "s 1": "a", "s2": "b c", "s3": "ok"}})"}};
  EXPECT_EQ(dimension_names(program), (DimensionNames{{"s3", "ok"}}));
  program.metadata = {{"custom", "{broken"}};
  EXPECT_TRUE(dimension_names(program).empty());
}

}  // namespace
}  // namespace flambeau::graph
