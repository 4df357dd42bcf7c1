// A graph owns its nodes, values and blocks, and says where new nodes go.
#include "flambeau/script/ir/graph.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/names.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::ir {

Graph::Graph() : names_(std::make_unique<Names>()) {
  block_ = make_block(nullptr);
  insert_point_ = block_->returns_;
}

Graph::~Graph() = default;

Value* Graph::make_value(Node* node, Type type) {
  Value& value = values_.emplace_back();
  value.node_ = node;
  value.type_ = std::move(type);
  return &value;
}

Block* Graph::make_block(Node* owner) {
  Block& block = blocks_.emplace_back();
  block.graph_ = this;
  block.owner_ = owner;
  block.parameters_ = make(NodeKind::kParameters, {}, 0);
  block.returns_ = make(NodeKind::kReturn, {}, 0);
  block.parameters_->block_ = &block;
  block.returns_->block_ = &block;
  return &block;
}

Node* Graph::make(NodeKind kind, std::span<Value* const> inputs, size_t outputs) {
  if (nodes_.size() >= kMostNodes) {
    throw Error(ErrorCode::kLimit, fmt::format("a graph of more than {} nodes", kMostNodes));
  }
  Node& node = nodes_.emplace_back();
  node.kind_ = kind;
  node.graph_ = this;
  for (Value* input : inputs) node.add_input(input);
  for (size_t i = 0; i < outputs; ++i) node.add_output();
  return &node;
}

Node* Graph::make_operator(const OperatorEntry& op, std::span<Value* const> inputs) {
  Node* node = make(NodeKind::kOperator, inputs, 0);
  node->op = &op;
  for (const SchemaArgument& result : op.schema.returns) node->add_output(result.type);
  return node;
}

Node* Graph::make_constant(IValue value, Type type) {
  Node* node = make(NodeKind::kConstant, {}, 0);
  node->constant = std::move(value);
  node->add_output(std::move(type));
  return node;
}

Node* Graph::insert(Node* node) {
  node->insert_before(insert_point_);
  return node;
}

void Graph::set_insert_point(Node* before) { insert_point_ = before; }
void Graph::set_insert_point(Block& at_end_of) { insert_point_ = at_end_of.return_node(); }

}  // namespace flambeau::script::ir
