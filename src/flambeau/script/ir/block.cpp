// Blocks: the inputs and outputs that their two end nodes stand for, and their nodes.

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

}  // namespace flambeau::script::ir
