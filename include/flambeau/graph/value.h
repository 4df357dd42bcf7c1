// One name of a graph: an input, an output of a node, or a constant that is only mentioned. And the
// references to it, which register themselves, so that uses are right after every edit without anybody's
// help.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "flambeau/graph/meta.h"

namespace flambeau::graph {

class Graph;
class Node;
class Value;

// A reference to a value, held by an argument, a graph's output or a signature. Moves, never copies: a copy
// would be another use. Not thread-safe: a graph that threads share is only read.
class ValueRef {
 public:
  enum class Role : uint8_t {
    kMention,     // a signature, or an argument that is in no node yet
    kDefinition,  // a node's output, or a graph's input
    kUse,         // a node's input, or a graph's output
  };

  ValueRef() = default;
  explicit ValueRef(Value& value) { link(&value); }
  ValueRef(ValueRef&& other) noexcept { take(other); }
  ValueRef& operator=(ValueRef&& other) noexcept {
    if (this != &other) {
      unlink();
      take(other);
    }
    return *this;
  }
  ~ValueRef() { unlink(); }

  explicit operator bool() const { return value_ != nullptr; }
  Value* get() const { return value_; }
  Value& operator*() const { return *value_; }
  Value* operator->() const { return value_; }
  Role role() const { return role_; }
  // The node whose input this is; null for a graph's output and for everything that is no use.
  Node* user() const { return user_; }

  // Refers to another value from now on, in the same role. Null for none.
  void set(Value* value);
  // Called by whoever takes an argument in.
  void attach(Role role, Node* user);

 private:
  friend class Value;
  void link(Value* value);
  void unlink();
  void take(ValueRef& other);

  Value* value_ = nullptr;
  Node* user_ = nullptr;
  ValueRef* previous_ = nullptr;
  ValueRef* next_ = nullptr;
  Role role_ = Role::kMention;
};

class Value {
 public:
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  // References that are left then refer to nothing.
  ~Value();

  const std::string& name() const { return name_; }
  const Meta& meta() const { return meta_; }
  ValueKind kind() const { return kind_of(meta_); }
  // Null unless it is a tensor that is described.
  const TensorMeta* tensor() const { return std::get_if<TensorMeta>(&meta_); }
  TensorMeta* tensor() { return std::get_if<TensorMeta>(&meta_); }

  // The node that gives it; null for inputs and for what nothing defines.
  Node* producer() const { return producer_; }
  bool is_input() const { return is_input_; }
  bool is_defined() const { return is_input_ || producer_ != nullptr; }

  // Everything that refers to it, in order of registration; look at the role.
  class RefIterator {
   public:
    using value_type = ValueRef;
    using difference_type = std::ptrdiff_t;
    RefIterator() = default;
    explicit RefIterator(ValueRef* at) : at_(at) {}
    ValueRef& operator*() const { return *at_; }
    RefIterator& operator++() {
      at_ = at_->next_;
      return *this;
    }
    RefIterator operator++(int) {
      const RefIterator old = *this;
      ++*this;
      return old;
    }
    bool operator==(const RefIterator&) const = default;

   private:
    ValueRef* at_ = nullptr;
  };
  struct Refs {
    RefIterator first;
    RefIterator begin() const { return first; }
    RefIterator end() const { return RefIterator(); }
  };
  Refs refs() const { return {RefIterator(first_)}; }
  size_t use_count() const { return use_count_; }
  bool has_uses() const { return use_count_ != 0; }
  // Every use and every mention now refers to `other`; the definition stays.
  void replace_uses_with(Value& other);

 private:
  friend class Graph;
  friend class ValueRef;
  explicit Value(std::string name) : name_(std::move(name)) {}

  std::string name_;
  Meta meta_;
  Node* producer_ = nullptr;
  bool is_input_ = false;
  ValueRef* first_ = nullptr;
  ValueRef* last_ = nullptr;
  size_t use_count_ = 0;
  // The list of all values of the same kind, in the order in which a file names them.
  Value* previous_ = nullptr;
  Value* next_ = nullptr;
};

}  // namespace flambeau::graph
