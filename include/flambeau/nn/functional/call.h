// How the functions of nn call operators: each knows the line it was called from, and calls one operator of
// the thread's current context by PyTorch's name.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <string_view>
#include <vector>

#include "flambeau/nn/session.h"
#include "flambeau/value/results.h"
#include "flambeau/value/value.h"

namespace flambeau::nn {

// The first tensor of a function, and the line of the call.
struct Input {
  Input(const Tensor& x, std::source_location line = std::source_location::current())  // NOLINT
      : tensor(x), where(line) {}
  const Tensor& tensor;
  std::source_location where;
};

// A number where PyTorch takes an int, a float, a bool or a size.
class Number {
 public:
  Number(int number) : value_(number) {}            // NOLINT(google-explicit-constructor): a number is one
  Number(int64_t number) : value_(number) {}        // NOLINT
  Number(double number) : value_(number) {}         // NOLINT
  Number(bool number) : value_(number) {}           // NOLINT
  Number(const Scalar& number) : value_(number) {}  // NOLINT
  Number(const SymInt& number);                     // NOLINT
  const Value& value() const { return value_; }

 private:
  Value value_;
};

using Sizes = std::vector<SymInt>;

// A size as an operator takes it: a plain number where it is one.
Value int_value(const SymInt& number);
Value ints_value(const Sizes& numbers);
Value ints_value(const SymIntList& numbers);
Value optional_int(const std::optional<SymInt>& number);

// A tensor that may be left out.
inline Tensor or_none(const std::optional<Tensor>& tensor) { return tensor ? *tensor : Tensor(); }

std::vector<Value> call_values(const std::source_location& where, std::string_view name,
                               const std::vector<Value>& positional, const KeywordArguments& keywords = {});
template <typename Result = Tensor>
Result call(const std::source_location& where, std::string_view name, const std::vector<Value>& positional,
            const KeywordArguments& keywords = {}) {
  return take_result<Result>(call_values(where, name, positional, keywords));
}
template <typename Result = Tensor>
Result call(const Input& x, std::string_view name, const std::vector<Value>& positional,
            const KeywordArguments& keywords = {}) {
  return call<Result>(x.where, name, positional, keywords);
}

// Sizes of any tensor, numbers or symbols. Models ask these, never the tensor, so that they can be traced.
SymIntList sizes(const Tensor& x);
SymInt size(const Tensor& x, int64_t dim);  // counted from the end when negative
int64_t dim(const Tensor& x);
SymInt numel(const Tensor& x);

}  // namespace flambeau::nn
