// Nodes: their inputs and outputs, and where they stand.
#include <cassert>

#include "flambeau/script/ir/graph.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::ir {

bool Node::is(std::string_view operator_name) const {
  return op != nullptr && kind_ == NodeKind::kOperator && op->schema.name.name == operator_name;
}

// The value's last use takes the place of the one that goes: no search, however many there are.
void Node::drop_use(size_t input) {
  std::vector<Use>& uses = inputs_[input]->uses_;
  const size_t place = places_[input];
  const Use moved = uses.back();
  uses.pop_back();
  if (place == uses.size()) return;
  uses[place] = moved;
  moved.user->places_[moved.index] = place;
}

void Node::note_use(size_t input) {
  std::vector<Use>& uses = inputs_[input]->uses_;
  places_[input] = uses.size();
  uses.push_back({this, input});
}

Value* Node::add_input(Value* value) {
  assert(value->node_->graph_ == graph_);
  inputs_.push_back(value);
  places_.push_back(0);
  note_use(inputs_.size() - 1);
  return value;
}

void Node::insert_input(size_t index, Value* value) {
  assert(index <= inputs_.size() && value->node_->graph_ == graph_);
  for (size_t later = index; later < inputs_.size(); ++later) {
    ++inputs_[later]->uses_[places_[later]].index;
  }
  inputs_.insert(inputs_.begin() + static_cast<std::ptrdiff_t>(index), value);
  places_.insert(places_.begin() + static_cast<std::ptrdiff_t>(index), 0);
  note_use(index);
}

void Node::replace_input(size_t index, Value* value) {
  assert(index < inputs_.size() && value->node_->graph_ == graph_);
  drop_use(index);
  inputs_[index] = value;
  note_use(index);
}

void Node::remove_input(size_t index) {
  assert(index < inputs_.size());
  drop_use(index);
  inputs_.erase(inputs_.begin() + static_cast<std::ptrdiff_t>(index));
  places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(index));
  for (size_t later = index; later < inputs_.size(); ++later) {
    --inputs_[later]->uses_[places_[later]].index;
  }
}

void Node::remove_all_inputs() {
  while (!inputs_.empty()) remove_input(inputs_.size() - 1);
}

void Node::reorder_inputs(std::span<const size_t> order) {
  std::vector<bool> is_kept(inputs_.size());
  for (const size_t index : order) is_kept.at(index) = true;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!is_kept[i]) drop_use(i);
  }
  std::vector<Value*> inputs;
  std::vector<size_t> places;
  for (const size_t index : order) {
    // Dropping a use may have moved this one: its place is known only now.
    Value* value = inputs_[index];
    value->uses_[places_[index]].index = inputs.size();
    inputs.push_back(value);
    places.push_back(places_[index]);
  }
  inputs_ = std::move(inputs);
  places_ = std::move(places);
}

void Node::reorder_outputs(std::span<const size_t> order) {
  std::vector<bool> is_kept(outputs_.size());
  for (const size_t index : order) is_kept.at(index) = true;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (is_kept[i]) continue;
    assert(!outputs_[i]->has_uses());
    outputs_[i]->set_name({});
  }
  std::vector<Value*> outputs;
  for (const size_t index : order) {
    outputs_[index]->index_ = outputs.size();
    outputs.push_back(outputs_[index]);
  }
  outputs_ = std::move(outputs);
}

Value* Node::add_output(Type type) {
  Value* value = graph_->make_value(this, std::move(type));
  value->index_ = outputs_.size();
  outputs_.push_back(value);
  return value;
}

Value* Node::insert_output(size_t index, Type type) {
  assert(index <= outputs_.size());
  Value* value = graph_->make_value(this, std::move(type));
  value->index_ = index;
  for (size_t later = index; later < outputs_.size(); ++later) ++outputs_[later]->index_;
  outputs_.insert(outputs_.begin() + static_cast<std::ptrdiff_t>(index), value);
  return value;
}

void Node::remove_output(size_t index) {
  assert(index < outputs_.size() && !outputs_[index]->has_uses());
  outputs_[index]->set_name({});
  outputs_.erase(outputs_.begin() + static_cast<std::ptrdiff_t>(index));
  for (size_t later = index; later < outputs_.size(); ++later) --outputs_[later]->index_;
}

Block* Node::add_block() {
  blocks_.push_back(graph_->make_block(this));
  return blocks_.back();
}

void Node::remove_block(size_t index) {
  assert(index < blocks_.size());
  blocks_[index]->clear();
  blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(index));
}

void Node::copy_fields(const Node& from) {
  op = from.op;
  constant = from.constant;
  name = from.name;
  types = from.types;
  begin = from.begin;
  end = from.end;
  subgraph = from.subgraph;
  warn_id = from.warn_id;
  range = from.range;
  frame = from.frame;
}

void Node::insert_before(Node* place) {
  assert(block_ == nullptr && place->block_ != nullptr && !place->is(NodeKind::kParameters));
  block_ = place->block_;
  const bool is_end = place->is(NodeKind::kReturn);
  previous_ = is_end ? block_->last_ : place->previous_;
  next_ = is_end ? nullptr : place;
  (previous_ != nullptr ? previous_->next_ : block_->first_) = this;
  (next_ != nullptr ? next_->previous_ : block_->last_) = this;
  take_position();
}

void Node::insert_after(Node* place) {
  assert(place->block_ != nullptr && !place->is(NodeKind::kReturn));
  Node* next = place->is(NodeKind::kParameters) ? place->block_->first_ : place->next_;
  insert_before(next != nullptr ? next : place->block_->returns_);
}

void Node::unlink() {
  if (block_ == nullptr) return;
  (previous_ != nullptr ? previous_->next_ : block_->first_) = next_;
  (next_ != nullptr ? next_->previous_ : block_->last_) = previous_;
  // Whoever inserts before this one goes on at the same place.
  if (graph_->insert_point_ == this) graph_->insert_point_ = next_ != nullptr ? next_ : block_->returns_;
  block_ = nullptr;
  next_ = nullptr;
  previous_ = nullptr;
}

void Node::move_before(Node* place) {
  if (place == this) return;
  unlink();
  insert_before(place);
}

void Node::move_after(Node* place) {
  if (place == this) return;
  unlink();
  insert_after(place);
}

void Node::destroy() {
  while (!outputs_.empty()) remove_output(outputs_.size() - 1);
  while (!blocks_.empty()) remove_block(blocks_.size() - 1);
  remove_all_inputs();
  unlink();
}

}  // namespace flambeau::script::ir
