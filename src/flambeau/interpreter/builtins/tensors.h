// What builtins ask of tensors.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "flambeau/interpreter/builtins/boxing.h"
#include "flambeau/value/value.h"

namespace flambeau::interpreter {

// Calls an operator by its name: its first result.
Value call_op(Call& call, std::string_view name, std::span<const Value> arguments);
Tensor call_tensor(Call& call, std::string_view name, std::span<const Value> arguments);

// Whether the operator of ops/ gives a number that follows from how its tensors are described.
bool asks_description(std::string_view name);

// The number of a tensor of one element. Throws Error(kInvalidArgument) for another.
Scalar number_in(const Tensor& tensor);
// The same as a float or an int. Throw Error(kInvalidArgument) for what neither can be.
double float_in(const Tensor& tensor);
int64_t int_in(const Tensor& tensor);
// Whether `a == b` is true, for tensors whose comparison has one element.
bool all_equal(Call& call, const Tensor& a, const Tensor& b);
// The truth of a tensor of one element. Throws Error(kInvalidArgument) for another.
bool truth_of(const Tensor& tensor);

// As C++ prints one, over several lines.
std::string tensor_text(Call& call, const Tensor& tensor);
// Any value as print() and str() show it. Throws Error(kLimit) for text beyond all reason.
std::string text_of(Call& call, const IValue& value);
// A float as the scripts' str() has it: "1.", "0.10000000000000001".
std::string float_text(double value);

}  // namespace flambeau::interpreter
