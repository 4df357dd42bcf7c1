#include "flambeau/runtime/higher_order.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "flambeau/graph/higher_order.h"

namespace flambeau::runtime {
namespace {

TEST(HigherOrder, WhatRunsIsInTheTable) {
  std::vector<std::string_view> run;
  for (const graph::HigherOrder& each : graph::all_higher_order()) {
    if (find_higher_order_function(each.name) != nullptr) run.push_back(each.name);
  }
  EXPECT_EQ(
      run, (std::vector<std::string_view>{"auto_functionalized", "auto_functionalized_v2", "cond",
                                          "invoke_subgraph", "map_impl", "scan", "while_loop", "with_effects",
                                          "wrap_with_autocast", "wrap_with_set_grad_enabled"}));
  EXPECT_TRUE(std::ranges::is_sorted(graph::all_higher_order(), {}, &graph::HigherOrder::name));
  EXPECT_EQ(find_higher_order_function("condd"), nullptr);
}

}  // namespace
}  // namespace flambeau::runtime
