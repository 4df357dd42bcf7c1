#include "flambeau/script/ir/graph.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/walk.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::ir {
namespace {

Node* constant(Graph& graph, int64_t number) {
  return graph.insert(graph.make_constant(number, TypeKind::kInt));
}

TEST(GraphNames, TheOlderValueIsRenamed) {
  Graph graph;
  Value* first = graph.block().add_input(TypeKind::kTensor, "x");
  Value* second = graph.block().add_input(TypeKind::kTensor, "x");
  Value* third = graph.block().add_input(TypeKind::kTensor, "x");
  EXPECT_EQ(first->name(), "x.1");
  EXPECT_EQ(second->name(), "x.3");
  EXPECT_EQ(third->name(), "x");
  EXPECT_EQ(second->base_name(), "x");
  EXPECT_EQ(third->base_name(), "x");
}

TEST(GraphNames, NumbersBehindADotCountOn) {
  Graph graph;
  Value* first = graph.block().add_input(TypeKind::kTensor, "x.7");
  Value* second = graph.block().add_input(TypeKind::kTensor, "x.7");
  EXPECT_EQ(first->name(), "x.8");
  EXPECT_EQ(second->name(), "x.7");
  EXPECT_EQ(graph.block().add_input(TypeKind::kTensor, "a.b")->base_name(), "a.b");
  EXPECT_EQ(graph.block().add_input(TypeKind::kTensor, "a.")->base_name(), "a.");
}

TEST(GraphNames, HugeNumbersAreLetters) {
  Graph graph;
  const std::string name = "x.99999999999999999999";
  Value* first = graph.block().add_input(TypeKind::kTensor, name);
  graph.block().add_input(TypeKind::kTensor, name);
  EXPECT_EQ(first->name(), name + ".1");
}

TEST(GraphNames, GoneNamesAreFree) {
  Graph graph;
  Value* first = graph.block().add_input(TypeKind::kTensor, "x");
  first->set_name("");
  Value* second = graph.block().add_input(TypeKind::kTensor, "x");
  EXPECT_FALSE(first->has_name());
  EXPECT_EQ(second->name(), "x");
  graph.block().remove_input(1);
  EXPECT_EQ(graph.block().add_input(TypeKind::kTensor, "x")->name(), "x");
  EXPECT_THROW(first->set_name("12"), Error);
}

TEST(GraphUses, FollowTheInputs) {
  Graph graph;
  Value* a = constant(graph, 1)->output();
  Value* b = constant(graph, 2)->output();
  Node* tuple = graph.insert(graph.make(NodeKind::kTupleConstruct, std::array{a, b, a}));
  EXPECT_EQ(a->uses().size(), 2U);
  tuple->insert_input(0, b);
  ASSERT_EQ(tuple->inputs().size(), 4U);
  graph.check();
  tuple->remove_input(1);
  EXPECT_EQ(a->uses().size(), 1U);
  EXPECT_EQ(a->uses()[0].index, 2U);
  graph.check();
  tuple->reorder_inputs(std::array<size_t, 3>{2, 0, 1});
  EXPECT_EQ(a->uses()[0].index, 0U);
  graph.check();
  a->replace_uses_with(b);
  EXPECT_FALSE(a->has_uses());
  EXPECT_EQ(b->uses().size(), 3U);
  tuple->destroy();
  EXPECT_FALSE(b->has_uses());
  graph.check();
}

TEST(GraphUses, OfOneValueAreManyAndQuick) {
  Graph graph;
  Value* a = constant(graph, 1)->output();
  std::vector<Node*> users;
  for (int i = 0; i < 200'000; ++i) {
    users.push_back(graph.insert(graph.make(NodeKind::kTupleConstruct, std::array{a})));
  }
  for (Node* user : users) user->destroy();
  EXPECT_FALSE(a->has_uses());
  graph.check();
}

TEST(GraphUses, BehindANodeAlone) {
  Graph graph;
  Value* a = constant(graph, 1)->output();
  Node* before = graph.insert(graph.make(NodeKind::kTupleConstruct, std::array{a}));
  Node* here = graph.insert(graph.make(NodeKind::kUncheckedCast, std::array{a}));
  Node* after = graph.insert(graph.make(NodeKind::kTupleConstruct, std::array{a}));
  a->replace_uses_after(here, here->output());
  EXPECT_EQ(before->input(0), a);
  EXPECT_EQ(here->input(0), a);
  EXPECT_EQ(after->input(0), here->output());
}

TEST(GraphOrder, HoldsWhereverNodesAreInserted) {
  Graph graph;
  std::mt19937 random(7);
  std::vector<Node*> nodes = {constant(graph, 0)};
  for (int i = 1; i < 3000; ++i) {
    graph.set_insert_point(nodes[random() % nodes.size()]);
    nodes.push_back(constant(graph, i));
  }
  std::vector<const Node*> order;
  for (const Node* node = graph.block().first(); node != nullptr; node = node->next()) order.push_back(node);
  ASSERT_EQ(order.size(), nodes.size());
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    EXPECT_TRUE(order[i]->is_before(order[i + 1]));
    EXPECT_FALSE(order[i + 1]->is_before(order[i]));
  }
  EXPECT_TRUE(graph.block().parameter_node()->is_before(order.front()));
  EXPECT_TRUE(order.back()->is_before(graph.block().return_node()));
}

TEST(GraphOrder, OneNarrowPlaceIsQuickToo) {
  Graph graph;
  Node* first = constant(graph, 0);
  Node* last = constant(graph, 1);
  graph.set_insert_point(last);
  for (int i = 0; i < 100'000; ++i) constant(graph, i);
  Node* place = first->next();
  for (int i = 0; i < 100'000; ++i) {
    graph.set_insert_point(place);
    place = constant(graph, i);
  }
  EXPECT_TRUE(first->is_before(place));
  EXPECT_TRUE(place->is_before(last));
  graph.set_insert_point(graph.block());
  graph.check();
}

TEST(GraphOrder, BlocksAreInsideOfTheirNode) {
  Graph graph;
  Value* condition = graph.block().add_input(TypeKind::kBool, "c");
  Node* branch = graph.insert(graph.make(NodeKind::kIf, std::array{condition}, 0));
  branch->add_block();
  branch->add_block();
  Node* after = constant(graph, 3);
  graph.set_insert_point(*branch->block(0));
  Node* yes = constant(graph, 1);
  graph.set_insert_point(*branch->block(1));
  Node* no = constant(graph, 2);
  EXPECT_TRUE(branch->is_before(yes));
  EXPECT_FALSE(yes->is_before(branch));
  EXPECT_TRUE(yes->is_before(no));
  EXPECT_FALSE(no->is_before(yes));
  EXPECT_TRUE(no->is_before(after));
  EXPECT_TRUE(yes->is_inside(branch));
  EXPECT_FALSE(branch->is_inside(branch));
  EXPECT_FALSE(after->is_inside(branch));
  EXPECT_EQ(yes->block()->depth(), 1);
  int count = 0;
  for_each_node(graph.block(), [&](Node&) { ++count; });
  EXPECT_EQ(count, 4);
  graph.check();
}

TEST(GraphCopy, IsApartFromItsOriginal) {
  Graph graph;
  Value* x = graph.block().add_input(TypeKind::kInt, "x");
  Node* loop = graph.insert(graph.make(NodeKind::kLoop, std::array{x, constant(graph, 1)->output(), x}));
  Block* body = loop->add_block();
  body->add_input(TypeKind::kInt);
  Value* carried = body->add_input(TypeKind::kInt, "y");
  body->add_output(loop->input(1));
  body->add_output(carried);
  graph.block().add_output(loop->output());
  graph.check();
  const std::shared_ptr<Graph> copy = graph.copy();
  copy->check();
  EXPECT_EQ(copy->inputs()[0]->name(), "x");
  EXPECT_EQ(copy->block().last()->block(0)->input(1)->name(), "y");
  copy->block().last()->replace_input(2, copy->block().first()->output());
  graph.check();
  EXPECT_EQ(loop->input(2), x);
}

TEST(GraphCopy, InliningNamesAndFrames) {
  Graph callee;
  Value* x = callee.block().add_input(TypeKind::kTensor, "x");
  Node* made = callee.insert(callee.make(NodeKind::kTupleConstruct, std::array{x}));
  made->output()->set_name("x.2");
  made->frame = std::make_shared<CallFrame>(CallFrame{"inner", {}, {}, nullptr});
  callee.block().add_output(made->output());

  Graph graph;
  Value* argument = graph.block().add_input(TypeKind::kTensor, "x.2");
  const auto frame = std::make_shared<CallFrame>(CallFrame{"outer", {}, {}, nullptr});
  const std::vector<Value*> outputs = graph.inline_graph(callee, std::array{argument}, frame);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0]->name(), "x.2");
  EXPECT_EQ(argument->name(), "x.3");
  EXPECT_EQ(outputs[0]->node()->input(0), argument);
  EXPECT_EQ(outputs[0]->node()->frame->function, "inner");
  EXPECT_EQ(outputs[0]->node()->frame->outer, frame);
  graph.check();
  EXPECT_THROW(graph.inline_graph(callee, {}), Error);
}

TEST(GraphCheck, FindsWhatIsWrong) {
  Graph graph;
  Node* first = constant(graph, 1);
  Node* tuple = graph.insert(graph.make(NodeKind::kTupleConstruct, std::array{first->output()}));
  graph.check();
  first->move_after(tuple);
  try {
    graph.check();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "graph: prim::TupleConstruct: input 0 '' is not visible");
  }
  first->move_before(tuple);
  graph.check();
  graph.insert(graph.make(NodeKind::kIf, std::array{first->output()}, 0));
  EXPECT_THROW(graph.check(), Error);
}

TEST(GraphMake, OperatorsGiveWhatTheirSchemaSays) {
  const SchemaTable table;
  Graph graph;
  Value* x = graph.block().add_input(TypeKind::kTensor, "x");
  Node* node = graph.insert(graph.make_operator(table.get("aten::max", "dim"), std::array{x}));
  EXPECT_EQ(node->outputs().size(), 2U);
  EXPECT_TRUE(node->is("aten::max"));
  EXPECT_EQ(node_kind_name(NodeKind::kReturn), "prim::Return");
  EXPECT_EQ(node_kind_name(NodeKind::kIf), "prim::If");
}

TEST(GraphInsert, GoesOnWhereADestroyedNodeStood) {
  Graph graph;
  Node* first = constant(graph, 1);
  Node* last = constant(graph, 2);
  graph.set_insert_point(first);
  first->destroy();
  EXPECT_EQ(constant(graph, 3)->next(), last);
  graph.set_insert_point(last);
  last->destroy();
  EXPECT_EQ(constant(graph, 4)->next(), nullptr);
}

}  // namespace
}  // namespace flambeau::script::ir
