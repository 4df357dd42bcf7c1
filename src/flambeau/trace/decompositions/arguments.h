// The arguments of a call that is taken apart, and what decompositions are written with: sizes that may be
// symbols, and calls of operators by their names.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "flambeau/ops/call.h"
#include "flambeau/trace/fake.h"

namespace flambeau::trace {

using ops::call;
using ops::call_with;

// All of a kind that takes both: numbers and symbols.
SymInt to_sym(const Value& value);
SymIntList to_syms(const Value& value);

// Of a tensor of either kind.
SymIntList sizes_of(const Tensor& tensor);
SymInt size_of(const Tensor& tensor, int64_t dim);
int64_t rank_of(const Tensor& tensor);
SymInt count_of(const Tensor& tensor);
bool is_row_major(const Tensor& tensor);
bool can_view(ops::Context& context, const Tensor& tensor, const SymIntList& sizes);
// The same with one more in front of that place.
SymIntList inserted(const SymIntList& list, size_t place, const SymInt& number);
// From 0 on; counted from the end when negative.
int64_t wrapped_dim(int64_t dim, int64_t rank);

// The operators of that name with .Tensor.
Tensor add(ops::Context& context, const Value& a, const Value& b);
Tensor sub(ops::Context& context, const Value& a, const Value& b);
Tensor mul(ops::Context& context, const Value& a, const Value& b);
Tensor div(ops::Context& context, const Value& a, const Value& b);

// An interceptor that takes calls apart. While it is quiet, arithmetic on sizes is not the model's own:
// products that only check something must not become nodes.
class TakesApart : public ops::Interceptor {
 public:
  explicit TakesApart(bool& is_quiet) : is_quiet_(is_quiet) {}
  bool& is_quiet() { return is_quiet_; }

 private:
  bool& is_quiet_;
};

// Makes the interceptor of a context quiet while it lives.
class Quietly {
 public:
  explicit Quietly(ops::Context& context);
  ~Quietly();
  Quietly(const Quietly&) = delete;
  Quietly& operator=(const Quietly&) = delete;

 private:
  bool* flag_ = nullptr;
  bool before_ = false;
};

class Arguments {
 public:
  explicit Arguments(std::span<const Value> values) : values_(values) {}

  size_t size() const { return values_.size(); }
  const Value& operator[](size_t index) const { return values_[index]; }
  std::span<const Value> values() const { return values_; }

  bool has(size_t index) const { return index < values_.size() && !values_[index].is_none(); }
  const Tensor& tensor(size_t index) const { return values_[index].tensor(); }
  const TensorList& tensors(size_t index) const { return values_[index].get<TensorList>(); }
  int64_t integer(size_t index) const { return values_[index].get<int64_t>(); }
  bool flag(size_t index) const { return values_[index].get<bool>(); }
  double real(size_t index) const { return values_[index].scalar().to_double(); }
  const std::string& text(size_t index) const { return values_[index].get<std::string>(); }
  SymInt number(size_t index) const { return to_sym(values_[index]); }
  SymIntList numbers(size_t index) const { return to_syms(values_[index]); }
  // A list of dimensions, from 0 on; all of them where none are given.
  std::vector<int64_t> dims(size_t index, int64_t rank) const;

 private:
  std::span<const Value> values_;
};

// A decomposition's results.
template <typename... T>
std::vector<Value> gives(T&&... results) {
  std::vector<Value> values;
  (values.emplace_back(std::forward<T>(results)), ...);
  return values;
}

Value integers(const std::vector<int64_t>& numbers);
// Symbols where there are any.
Value numbers(const SymIntList& list);

}  // namespace flambeau::trace
