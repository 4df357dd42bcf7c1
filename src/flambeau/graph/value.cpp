#include "flambeau/graph/value.h"

namespace flambeau::graph {

void ValueRef::link(Value* value) {
  value_ = value;
  if (value == nullptr) return;
  previous_ = value->last_;
  next_ = nullptr;
  (previous_ != nullptr ? previous_->next_ : value->first_) = this;
  value->last_ = this;
  if (role_ == Role::kUse) ++value->use_count_;
}

void ValueRef::unlink() {
  if (value_ == nullptr) return;
  (previous_ != nullptr ? previous_->next_ : value_->first_) = next_;
  (next_ != nullptr ? next_->previous_ : value_->last_) = previous_;
  if (role_ == Role::kUse) --value_->use_count_;
  value_ = nullptr;
  previous_ = next_ = nullptr;
}

// Stands in the other's place, so that moving keeps the order of uses.
void ValueRef::take(ValueRef& other) {
  value_ = std::exchange(other.value_, nullptr);
  user_ = std::exchange(other.user_, nullptr);
  role_ = std::exchange(other.role_, Role::kMention);
  previous_ = std::exchange(other.previous_, nullptr);
  next_ = std::exchange(other.next_, nullptr);
  if (value_ == nullptr) return;
  (previous_ != nullptr ? previous_->next_ : value_->first_) = this;
  (next_ != nullptr ? next_->previous_ : value_->last_) = this;
}

void ValueRef::set(Value* value) {
  if (value == value_) return;
  unlink();
  link(value);
}

void ValueRef::attach(Role role, Node* user) {
  if (value_ != nullptr) {
    if (role_ == Role::kUse) --value_->use_count_;
    if (role == Role::kUse) ++value_->use_count_;
  }
  role_ = role;
  user_ = user;
}

Value::~Value() {
  for (ValueRef* ref = first_; ref != nullptr;) {
    ValueRef* const next = ref->next_;
    ref->value_ = nullptr;
    ref->previous_ = ref->next_ = nullptr;
    ref = next;
  }
}

void Value::replace_uses_with(Value& other) {
  if (&other == this) return;
  for (ValueRef* ref = first_; ref != nullptr;) {
    ValueRef* const next = ref->next_;
    if (ref->role_ != ValueRef::Role::kDefinition) ref->set(&other);
    ref = next;
  }
}

}  // namespace flambeau::graph
