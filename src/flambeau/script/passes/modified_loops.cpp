// Loops with a count and a condition, which come of breaks in a for loop, have no form in code: they count by
// themselves.
#include <limits>

#include "flambeau/script/ir/walk.h"
#include "flambeau/script/passes/passes.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using ir::Block;
using ir::Graph;
using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

const IValue* constant_value(const Value* value, IValue::Tag tag) {
  const Node& node = *value->node();
  return node.is(NodeKind::kConstant) && node.constant.is(tag) ? &node.constant : nullptr;
}

bool is_constant_true(const Value* value) {
  const IValue* constant = constant_value(value, IValue::Tag::kBool);
  return constant != nullptr && constant->as_bool();
}

bool is_modified(const Node& loop) {
  const Block& body = *loop.block(0);
  const IValue* most = constant_value(loop.input(0), IValue::Tag::kInt);
  const bool is_counted =
      most == nullptr || most->as_int() != std::numeric_limits<int64_t>::max() || body.input(0)->has_uses();
  return is_counted && !(is_constant_true(loop.input(1)) && is_constant_true(body.output(0)));
}

class LoopCounter {
 public:
  LoopCounter(Graph& graph, const SchemaTable& operators) : graph_(graph), operators_(operators) {}

  void count(Node& loop) {
    Block& body = *loop.block(0);
    Node* place = &loop;
    Value* most = loop.input(0);
    Value* zero = constant(0, place);
    Value* one = constant(1, place);
    Value* condition = call("aten::gt", "int", most, zero, place);
    loop.replace_input(0, constant(std::numeric_limits<int64_t>::max(), place));
    if (!is_constant_true(loop.input(1))) {
      condition = call("aten::__and__", "bool", condition, loop.input(1), place);
    }
    loop.replace_input(1, condition);
    loop.add_output(TypeKind::kInt);
    loop.add_input(zero);
    Value* turn = body.add_input(TypeKind::kInt);
    // Its stand-in has no name either.
    body.input(0)->set_name({});
    body.input(0)->replace_uses_with(turn);
    place = body.return_node();
    Value* next = call("aten::add", "int", turn, one, place);
    body.add_output(next);
    Value* is_within = call("aten::lt", "int", next, most, place);
    body.replace_output(0, call("aten::__and__", "bool", is_within, body.output(0), place));
  }

 private:
  Value* constant(int64_t number, Node* place) {
    Node* node = graph_.make_constant(number, TypeKind::kInt);
    node->insert_before(place);
    return node->output();
  }

  Value* call(std::string_view name, std::string_view overload, Value* a, Value* b, Node* place) {
    const std::array inputs = {a, b};
    Node* node = graph_.make_operator(operators_.get(name, overload), inputs);
    node->insert_before(place);
    return node->output();
  }

  Graph& graph_;
  const SchemaTable& operators_;
};

}  // namespace

void canonicalize_modified_loops(Graph& graph, const Unit& unit) {
  LoopCounter counter(graph, unit.operators());
  std::vector<Node*> found;
  ir::for_each_node(graph.block(), [&](Node& node) {
    if (node.is(NodeKind::kLoop)) found.push_back(&node);
  });
  // Inner ones first: an outer one's condition may depend on what an inner one becomes.
  for (auto loop = found.rbegin(); loop != found.rend(); ++loop) {
    if (is_modified(**loop)) counter.count(**loop);
  }
}

}  // namespace flambeau::script
