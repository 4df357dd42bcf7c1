// A value that several ways give: both sides of a branch, each turn of a loop. What is the same on all of
// them stays what it is; tensors, numbers that differ, and the containers of such are made of tensors, which
// an operator of the program can give.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "flambeau/migrate/traced_calls.h"
#include "flambeau/nn/tree.h"
#include "flambeau/ops/mechanism/info.h"

namespace flambeau::migration {

class Joint {
 public:
  enum class Kind { kConstant, kTensor, kBool, kInt, kFloat, kTuple, kList, kDict, kObject };

  // The same on every way, until another is joined to it.
  explicit Joint(const IValue& value) : example_(value) {}

  // The value of one more way. Throws Error(kUnsupported) where the two have nothing in common that tensors
  // can say.
  void join(const IValue& value);
  bool is_constant() const { return kind_ == Kind::kConstant; }
  const IValue& example() const { return example_; }
  bool operator==(const Joint& other) const;
  // How many tensors it takes.
  size_t leaf_count() const;

  // The tensors that say this value, one of those that were joined. `copies`: none of them is a tensor from
  // outside of the graph that is being traced, nor any twice.
  void add_leaves(const IValue& value, bool copies, TensorList& leaves) const;
  // As they would be, without being computed.
  void add_pretended(const IValue& value, TensorList& leaves) const;
  // The value that tensors say; takes those that it needs off the front.
  IValue value(std::span<const Value>& leaves) const;

 private:
  void open(const IValue& value);
  void join_items(std::span<const IValue> items);
  void set_leaf(Kind kind) { kind_ = kind; }

  Kind kind_ = Kind::kConstant;
  IValue example_;
  std::vector<Joint> items_;
  std::optional<ops::Info<SymInt>> info_;  // of a tensor
};

// "a tensor float32[2, 3]", "None", "a list of 3": for messages.
std::string said_of(const IValue& value);
// The number that a value stands for, where data or sizes decide.
bool is_data_bool(const IValue& value);
bool is_data_float(const IValue& value);
bool is_data_int(const IValue& value);

}  // namespace flambeau::migration
