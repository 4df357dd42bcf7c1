#include "flambeau/graph/graph.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/clone.h"
#include "flambeau/graph/program.h"

namespace flambeau::graph {
namespace {

using Names = std::vector<std::string>;
using Problems = std::vector<std::string>;

// x -> a = sin(x) -> b = add(a, a) -> output b.
struct Chain3 {
  Graph graph;
  Value& x = graph.add_value("x", TensorMeta());
  Value& a = graph.add_value("a", TensorMeta());
  Value& b = graph.add_value("b", TensorMeta());
  Node* sin = nullptr;
  Node* add = nullptr;

  Chain3() {
    graph.add_input(Argument::tensor(x));
    sin = &graph.append("torch.ops.aten.sin.default");
    sin->add_input("self", Argument::tensor(x));
    sin->add_output(Argument::tensor(a));
    add = &graph.append("torch.ops.aten.add.Tensor");
    add->add_input("self", Argument::tensor(a));
    add->add_input("other", Argument::tensor(a));
    add->add_output(Argument::tensor(b));
    graph.add_output(Argument::tensor(b));
  }
};

Names node_targets(const Graph& graph) {
  Names names;
  for (const Node& node : graph.nodes()) names.push_back(node.target.text());
  return names;
}

Names names_of(const Graph& graph, ValueKind kind) {
  Names names;
  for (const Value* value : graph.values_of(kind)) names.push_back(value->name());
  return names;
}

template <typename Body>
std::string edit_error(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.message();
  }
  return "no error";
}

TEST(Graph, KnowsWhoGivesAndWhoUses) {
  Chain3 c;
  EXPECT_TRUE(c.x.is_input());
  EXPECT_EQ(c.x.producer(), nullptr);
  EXPECT_EQ(c.a.producer(), c.sin);
  EXPECT_FALSE(c.a.is_input());
  EXPECT_EQ(c.x.use_count(), 1U);
  EXPECT_EQ(c.a.use_count(), 2U);
  EXPECT_EQ(c.b.use_count(), 1U);  // the graph's output
  std::vector<Node*> users;
  for (const ValueRef& ref : c.a.refs()) {
    if (ref.role() == ValueRef::Role::kUse) users.push_back(ref.user());
  }
  EXPECT_EQ(users, (std::vector<Node*>{c.add, c.add}));
  EXPECT_EQ(c.graph.lint(), Problems{});
  EXPECT_EQ(c.graph.node_count(), 2U);
  EXPECT_EQ(c.graph.value_count(), 3U);
}

TEST(Graph, UsesFollowEveryEdit) {
  Chain3 c;
  c.add->set_input(1, Argument::tensor(c.x));
  EXPECT_EQ(c.a.use_count(), 1U);
  EXPECT_EQ(c.x.use_count(), 2U);
  c.add->remove_input(0);
  EXPECT_FALSE(c.a.has_uses());
  c.add->add_input("alpha", Argument::make<ArgumentKind::kInt>(2), PassedBy::kKeyword);
  ASSERT_NE(c.add->input("alpha"), nullptr);
  EXPECT_EQ(c.add->input("alpha")->get<ArgumentKind::kInt>(), 2);
  EXPECT_EQ(c.add->input("self"), nullptr);
  EXPECT_EQ(c.graph.lint(), Problems{});
}

TEST(Graph, ReplacingUsesLeavesTheDefinition) {
  Chain3 c;
  c.a.replace_uses_with(c.x);
  EXPECT_FALSE(c.a.has_uses());
  EXPECT_EQ(c.a.producer(), c.sin);
  EXPECT_EQ(c.x.use_count(), 3U);
  EXPECT_EQ(c.add->inputs()[0].argument.value(), &c.x);
  EXPECT_EQ(c.graph.lint(), Problems{});
}

TEST(Graph, ErasesANodeWithItsValuesOnlyWhenUnused) {
  Chain3 c;
  EXPECT_EQ(edit_error([&] { c.graph.erase(*c.sin); }),
            "node 'a' cannot be removed: its value 'a' is still used");
  c.a.replace_uses_with(c.x);
  c.graph.erase(*c.sin);
  EXPECT_EQ(c.graph.find("a"), nullptr);
  EXPECT_EQ(node_targets(c.graph), Names{"torch.ops.aten.add.Tensor"});
  EXPECT_EQ(c.graph.lint(), Problems{});
}

TEST(Graph, ErasesAValueOnlyWhenNothingRefersToIt) {
  Chain3 c;
  EXPECT_EQ(edit_error([&] { c.graph.erase(c.x); }),
            "the value 'x' cannot be removed: it is still referred to");
  Value& spare = c.graph.add_value("spare", SymInt(3));
  c.graph.erase(spare);
  EXPECT_EQ(c.graph.find("spare"), nullptr);
  EXPECT_EQ(names_of(c.graph, ValueKind::kSymInt), Names{});
}

TEST(Graph, InsertsAndMovesNodes) {
  Chain3 c;
  Node& first = c.graph.insert_before(*c.sin, "first");
  EXPECT_EQ(node_targets(c.graph),
            (Names{"first", "torch.ops.aten.sin.default", "torch.ops.aten.add.Tensor"}));
  c.graph.move_before(first, nullptr);
  EXPECT_EQ(c.graph.last_node(), &first);
  c.graph.move_before(first, c.add);
  EXPECT_EQ(node_targets(c.graph),
            (Names{"torch.ops.aten.sin.default", "first", "torch.ops.aten.add.Tensor"}));
  c.graph.move_before(first, &first);
  EXPECT_EQ(c.graph.node_count(), 3U);
  c.graph.number_nodes();
  EXPECT_EQ(c.sin->position(), 0U);
  EXPECT_EQ(first.position(), 1U);
  EXPECT_EQ(c.add->position(), 2U);
  EXPECT_EQ(first.previous(), c.sin);
  EXPECT_EQ(first.next(), c.add);
}

TEST(Graph, NamesAreUniqueAndCanChange) {
  Chain3 c;
  EXPECT_EQ(edit_error([&] { c.graph.add_value("a", TensorMeta()); }), "the graph has a value 'a' already");
  c.graph.rename(c.a, "sine");
  EXPECT_EQ(c.graph.find("a"), nullptr);
  EXPECT_EQ(c.graph.find("sine"), &c.a);
  EXPECT_EQ(edit_error([&] { c.graph.rename(c.a, "b"); }), "the graph has a value 'b' already");
  // All at once, so that two may swap.
  c.graph.rename_all({{&c.x, "b"}, {&c.b, "x"}});
  EXPECT_EQ(c.graph.find("b"), &c.x);
  EXPECT_EQ(c.graph.find("x"), &c.b);
}

TEST(Graph, AFailedRenameLosesNoValue) {
  Chain3 c;
  EXPECT_THROW(c.graph.rename_all({{&c.x, "same"}, {&c.a, "same"}}), Error);
  EXPECT_EQ(c.graph.value_count(), 3U);
  EXPECT_EQ(c.graph.find(c.x.name()), &c.x);
  EXPECT_EQ(c.graph.find(c.a.name()), &c.a);
  EXPECT_EQ(c.graph.find(c.b.name()), &c.b);
}

TEST(Graph, UniqueNamesCountAsPyTorchCounts) {
  Graph graph;
  EXPECT_EQ(graph.unique_name("add"), "add");
  graph.value("add");
  EXPECT_EQ(graph.unique_name("add"), "add_1");
  graph.value("add_1");
  EXPECT_EQ(graph.unique_name("add"), "add_2");
  EXPECT_EQ(graph.unique_name("add_1"), "add_2");
  graph.value("add_7");
  EXPECT_EQ(graph.unique_name("add_7"), "add_8");
  graph.value("_1");
  EXPECT_EQ(graph.unique_name("_1"), "_1_1");
}

TEST(Graph, ListsValuesByKindInTheOrderOfTheirDescription) {
  Graph graph;
  graph.add_value("t1", TensorMeta());
  graph.add_value("s1", SymInt(1));
  graph.add_value("t0", TensorMeta());
  EXPECT_EQ(names_of(graph, ValueKind::kTensor), (Names{"t1", "t0"}));
  graph.set_meta(*graph.find("t1"), SymInt(2));
  EXPECT_EQ(names_of(graph, ValueKind::kTensor), (Names{"t0"}));
  EXPECT_EQ(names_of(graph, ValueKind::kSymInt), (Names{"s1", "t1"}));
  graph.set_meta(*graph.find("s1"), SymInt(3));  // the same kind: it stays where it is
  EXPECT_EQ(names_of(graph, ValueKind::kSymInt), (Names{"s1", "t1"}));
  graph.add_value("a", SymInt(0));
  graph.sort_values_by_name();
  EXPECT_EQ(names_of(graph, ValueKind::kSymInt), (Names{"a", "s1", "t1"}));
  EXPECT_EQ(graph.value("new").kind(), ValueKind::kUnknown);
}

TEST(Graph, InputsAndOutputsCanBeTaken) {
  Chain3 c;
  std::vector<Argument> inputs = c.graph.take_inputs();
  EXPECT_FALSE(c.x.is_defined());
  EXPECT_EQ(c.graph.inputs().size(), 0U);
  std::vector<Argument> outputs = c.graph.take_outputs();
  EXPECT_FALSE(c.b.has_uses());
  c.graph.add_input(std::move(inputs[0]));
  c.graph.add_output(std::move(outputs[0]));
  EXPECT_TRUE(c.x.is_input());
  EXPECT_EQ(c.graph.lint(), Problems{});
}

TEST(Graph, LintSaysWhatIsWrong) {
  Chain3 c;
  c.graph.move_before(*c.add, c.sin);
  const Problems moved = c.graph.lint();
  ASSERT_EQ(moved.size(), 2U);
  EXPECT_NE(moved[0].find("'a'"), std::string::npos) << moved[0];
  c.graph.move_before(*c.add, nullptr);
  c.add->set_input(0, Argument::tensor(c.graph.value("nobody")));
  ASSERT_EQ(c.graph.lint().size(), 1U);
  EXPECT_NE(c.graph.lint()[0].find("'nobody'"), std::string::npos) << c.graph.lint()[0];
  c.add->set_input(0, Argument::tensor(c.x));
  c.add->add_output(Argument::tensor(c.a));
  ASSERT_EQ(c.graph.lint().size(), 1U);
  EXPECT_EQ(c.a.producer(), c.sin);  // the first stays
}

TEST(Graph, LabelsANodeByNameValueOrTarget) {
  Chain3 c;
  EXPECT_EQ(c.sin->label(), "a");
  c.sin->name = "sine";
  EXPECT_EQ(c.sin->label(), "sine");
  EXPECT_EQ(c.graph.append("torch.ops.aten._assert_async.default").label(),
            "torch.ops.aten._assert_async.default");
}

// Chain3 inside a cond.
std::unique_ptr<Graph> nested() {
  auto graph = std::make_unique<Graph>();
  Value& x = graph->add_value("x", TensorMeta());
  graph->add_input(Argument::tensor(x));
  Node& cond = graph->append("torch.ops.higher_order.cond");
  cond.name = "cond";
  cond.metadata = {{"stack_trace", "here"}};
  cond.is_hop_single_tensor_return = false;
  GraphArgument inner;
  inner.name = "true_graph_0";
  inner.graph = std::make_unique<Graph>();
  Value& y = inner.graph->add_value("y", TensorMeta());
  inner.graph->add_input(Argument::tensor(y));
  inner.graph->add_output(Argument::tensor(y));
  cond.add_input("", Argument::make<ArgumentKind::kGraph>(std::move(inner)));
  auto dict = std::make_unique<ArgumentDict>();
  dict->emplace_back("key", Argument::tensor(x));
  cond.add_input("", Argument::make<ArgumentKind::kStringToArgument>(std::move(dict)));
  std::vector<SymArgument<int64_t>> list;
  list.emplace_back(int64_t{5});
  list.emplace_back(graph->add_value("s", SymInt(4)));
  cond.add_input("sizes", Argument::make<ArgumentKind::kSymInts>(std::move(list)), PassedBy::kKeyword);
  Value& z = graph->add_value("z", TensorMeta());
  cond.add_output(Argument::tensor(z));
  graph->add_output(Argument::tensor(z));
  return graph;
}

TEST(Graph, CloneIsDeep) {
  std::unique_ptr<Graph> graph = nested();
  const std::unique_ptr<Graph> copy = graph->clone();
  graph.reset();
  EXPECT_EQ(copy->lint(), (Problems{"node 'cond' uses 's', which nothing gives"}));
  const Node& cond = *copy->nodes().begin();
  EXPECT_EQ(cond.name, "cond");
  EXPECT_EQ(*cond.find_metadata("stack_trace"), "here");
  EXPECT_EQ(cond.is_hop_single_tensor_return, false);
  const GraphArgument& inner = cond.inputs()[0].argument.get<ArgumentKind::kGraph>();
  EXPECT_EQ(inner.name, "true_graph_0");
  EXPECT_EQ(inner.graph->inputs()[0].value(), inner.graph->find("y"));
  const auto& dict = *cond.inputs()[1].argument.get<ArgumentKind::kStringToArgument>();
  EXPECT_EQ(dict[0].second.value(), copy->find("x"));
  const auto& sizes = cond.inputs()[2].argument.get<ArgumentKind::kSymInts>();
  EXPECT_EQ(sizes[0].literal, 5);
  EXPECT_EQ(sizes[1].ref.get(), copy->find("s"));
  EXPECT_EQ(cond.inputs()[2].passed_by, PassedBy::kKeyword);
  EXPECT_EQ(copy->find("x")->use_count(), 1U);
}

TEST(Graph, VisitsTheGraphsInsideOutermostFirst) {
  const std::unique_ptr<Graph> graph = nested();
  std::vector<size_t> nodes;
  graph->for_each_graph([&](const Graph& each) { nodes.push_back(each.node_count()); });
  EXPECT_EQ(nodes, (std::vector<size_t>{1, 0}));
}

TEST(Graph, AnArgumentMovesWithItsUses) {
  Chain3 c;
  Argument argument = Argument::tensor(c.a);
  EXPECT_EQ(c.a.use_count(), 2U);  // a mention is no use
  Argument moved = std::move(argument);
  c.add->set_input(0, std::move(moved));
  EXPECT_EQ(c.a.use_count(), 2U);
  EXPECT_EQ(c.graph.lint(), Problems{});
}

TEST(Program, CloneSharesNothingOfTheGraph) {
  ExportedProgram program;
  Value& x = program.graph().add_value("x", TensorMeta());
  program.graph().add_input(Argument::tensor(x));
  InputSpec spec;
  spec.argument = Argument::tensor(x);
  program.signature.inputs.push_back(std::move(spec));
  ExportedProgram copy = program.clone();
  program.graph().rename(x, "renamed");
  EXPECT_EQ(copy.signature.inputs[0].argument.value(), copy.graph().find("x"));
  EXPECT_EQ(program.signature.inputs[0].argument.value()->name(), "renamed");
  program = std::move(copy);
  EXPECT_EQ(program.signature.inputs[0].argument.value()->name(), "x");
}

}  // namespace
}  // namespace flambeau::graph
