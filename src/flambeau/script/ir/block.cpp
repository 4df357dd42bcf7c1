// Blocks: the inputs and outputs that their two end nodes stand for, and their nodes.
#include <array>

#include "flambeau/script/ir/graph.h"

namespace flambeau::script::ir {

Value* Block::add_input(Type type, const std::string& name) {
  Value* value = parameters_->add_output(std::move(type));
  if (!name.empty()) value->set_name(name);
  return value;
}

Value* Block::insert_input(size_t index, Type type) {
  return parameters_->insert_output(index, std::move(type));
}

void Block::remove_input(size_t index) { parameters_->remove_output(index); }
void Block::add_output(Value* value) { returns_->add_input(value); }
void Block::insert_output(size_t index, Value* value) { returns_->insert_input(index, value); }
void Block::replace_output(size_t index, Value* value) { returns_->replace_input(index, value); }
void Block::remove_output(size_t index) { returns_->remove_input(index); }

void Block::append(Node* node) { node->insert_before(returns_); }
void Block::prepend(Node* node) { node->insert_after(parameters_); }

void Block::clear() {
  returns_->remove_all_inputs();
  while (last_ != nullptr) last_->destroy();
  while (!inputs().empty()) parameters_->remove_output(inputs().size() - 1);
}

std::string_view node_kind_name(NodeKind kind) {
  static constexpr std::array<std::string_view, 38> kNames = {
      "",
      "prim::Constant",
      "prim::If",
      "prim::Loop",
      "prim::TupleConstruct",
      "prim::TupleUnpack",
      "prim::TupleIndex",
      "prim::TupleSlice",
      "prim::ListConstruct",
      "prim::ListUnpack",
      "prim::DictConstruct",
      "prim::GetAttr",
      "prim::SetAttr",
      "prim::CallMethod",
      "prim::CallFunction",
      "prim::CreateObject",
      "prim::isinstance",
      "prim::unchecked_cast",
      "prim::Uninitialized",
      "prim::fork",
      "prim::awaitable",
      "prim::Enter",
      "prim::Exit",
      "prim::RaiseException",
      "prim::Print",
      "prim::tolist",
      "prim::Store",
      "prim::Load",
      "prim::ReturnStmt",
      "prim::BreakStmt",
      "prim::ContinueStmt",
      "prim::LoopContinuation",
      "prim::Closure",
      "prim::ComprehensionScope",
      "prim::EmptyListLiteral",
      "prim::With",
      "prim::Param",
      "prim::Return",
  };
  static_assert(kNames.size() == static_cast<size_t>(NodeKind::kReturn) + 1);
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace flambeau::script::ir
