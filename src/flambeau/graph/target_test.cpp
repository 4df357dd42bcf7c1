#include "flambeau/graph/target.h"

#include <gtest/gtest.h>

#include "flambeau/graph/graph.h"

namespace flambeau::graph {
namespace {

TEST(Target, IsReadOnce) {
  const Target add{"torch.ops.aten.add.Tensor"};
  EXPECT_EQ(add.kind(), TargetKind::kOperator);
  EXPECT_EQ(add.op()->to_string(), "aten::add.Tensor");
  EXPECT_TRUE(add.is_in_torch_ops());
  const Target relu{"torch.ops.aten.relu.default"};
  EXPECT_EQ(relu.op()->overload, "");
  const Target cond{"torch.ops.higher_order.cond"};
  EXPECT_TRUE(cond.is_higher_order());
  EXPECT_EQ(cond.name(), "cond");
  EXPECT_EQ(cond.higher_order()->arguments, "pGGl");
  EXPECT_EQ(cond.op(), nullptr);
  const Target mine{"torch.ops.higher_order.mine"};
  EXPECT_TRUE(mine.is_higher_order());
  EXPECT_EQ(mine.higher_order(), nullptr);
  EXPECT_EQ(Target("_operator.mul").kind(), TargetKind::kFunction);
  EXPECT_EQ(Target("_operator.mul").name(), "_operator.mul");
  EXPECT_EQ(Target("torch.ops.aten.add").kind(), TargetKind::kMalformed);
  EXPECT_EQ(Target("#mine:scale").op()->to_string(), "mine::scale");
  EXPECT_EQ(Target("#mine:").kind(), TargetKind::kMalformed);
  EXPECT_EQ(Target("#:scale").kind(), TargetKind::kMalformed);
  EXPECT_EQ(Target().text(), "");
  EXPECT_EQ(higher_order_target("scan"), "torch.ops.higher_order.scan");
}

TEST(Target, IsSharedInAGraph) {
  Graph graph;
  const Node& first = graph.append("torch.ops.aten.relu.default");
  Node& second = graph.append(std::string("torch.ops.aten.relu.default"));
  EXPECT_EQ(first.target.op(), second.target.op());
  second.target = "_operator.neg";
  EXPECT_EQ(second.target, "_operator.neg");
  EXPECT_EQ(first.target, "torch.ops.aten.relu.default");
}

}  // namespace
}  // namespace flambeau::graph
