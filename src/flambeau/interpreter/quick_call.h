// A call whose arguments are described as those of the last one at its place, of an operator that then does
// the same to other memory: a loop over the elements of small tensors, also in place, or a view. Arguments
// are compared and used where they lie.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "flambeau/interpreter/builtins/builtin.h"
#include "flambeau/interpreter/spare_results.h"
#include "flambeau/ops/engines/body.h"
#include "flambeau/value/value.h"

namespace flambeau::ops {
struct Operator;
}

namespace flambeau::interpreter {

struct OperatorSite;

class QuickCall {
 public:
  explicit QuickCall(const OperatorSite& site) : site_(site) {}
  // The pointers to what is known would be another call's.
  QuickCall(const QuickCall&) = delete;
  QuickCall& operator=(const QuickCall&) = delete;

  bool is_ready() const { return kind_ != Kind::kNone; }
  void forget() { kind_ = Kind::kNone; }

  // Each is told the last call's arguments, which stay where they are and keep their descriptions until
  // forget(); and does nothing where the call is of another kind.
  void learn_body(std::span<const Value> arguments, const ops::Body& body, const Tensor& result,
                  size_t bytes);
  void learn_in_place(std::span<const Value> arguments);
  void learn_view(std::span<const Value> arguments, const Tensor& result);
  // Of an operator that gives a view where the description of its one tensor lets it: reshape, contiguous.
  void learn_alias(std::span<const Value> arguments, const Value& result);
  // Of an operator that asks how its tensors are described: a number that is the same for the same ones.
  void learn_answer(std::span<const Value> arguments, const Value& result);

  // False, and nothing was done, where the arguments are others. Throws what the operator throws.
  bool run(ops::Context& context, Call& call);

 private:
  enum class Kind : uint8_t { kNone, kBody, kInPlace, kView, kAnswer };
  struct Given {
    size_t index = 0;
    const Value* known = nullptr;
  };
  // An input of the row: the memory of an argument, or a number.
  struct Source {
    size_t argument = 0;
    const void* number = nullptr;
  };
  bool learn_arguments(std::span<const Value> arguments);
  bool learn_row(std::span<const Value> arguments, const ops::Body& body, const Tensor& out);
  bool is_apart(const Call& call) const;
  void run_row(const Call& call, void* to) const;

  const OperatorSite& site_;
  Kind kind_ = Kind::kNone;
  std::vector<Given> given_;  // arguments that are no constants
  std::array<Source, ops::Body::kMostInputs> sources_;
  size_t source_count_ = 0;
  ops::Body body_;
  ops::Row row_ = nullptr;
  size_t count_ = 0;
  size_t base_ = 0;  // of a view
  Tensor result_;    // without memory
  IValue answer_;
  size_t bytes_ = 0;
  SpareResults spares_;
};

}  // namespace flambeau::interpreter
