// How quantized tensors go through operators. Their elements are integers that mean nothing without the scale
// beside them, so an operator takes one only where it says what that is: by a function of its own
// (Definition::quantized), by moving elements alone (Trait::kMovesElements), by being a view, or by being
// made of others. Every other one refuses them.
#pragma once

#include <span>
#include <vector>

#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::ops {

inline bool is_quantized(const Tensor& tensor) {
  return tensor.dtype() >= DType::kQInt8 && tensor.dtype() <= DType::kQUInt2x4 &&
         tensor.dtype() != DType::kBFloat16;
}
bool takes_quantized(std::span<const Value> arguments);

std::vector<Value> execute_quantized(Context& context, const Operator& op, std::span<const Value> arguments);

// A tensor of a trace: it has sizes and a type, and no elements. What is said of quantized tensors here then
// becomes calls of operators on their integers (quantized/in_programs.h).
bool lacks_elements(const Tensor& tensor);

// Is it about quantized tensors and nothing else? Its function then takes tensors of a trace, too.
bool is_for_quantized(const Operator& op);

// Throws Error(kInvalidArgument) where there is none.
const Quantizer& quantizer_of(const Tensor& tensor);
// The same scheme, scales and zero points?
bool is_same_quantizer(const Quantizer& a, const Quantizer& b);

// The integers of a quantized tensor, in its memory: int8, uint8 or int32, bytes of the packed types.
DType integer_dtype(DType quantized);
Tensor integers_of(const Tensor& quantized);
// Integers, in their memory, as a quantized tensor of that type.
Tensor quantized_over(const Tensor& integers, DType dtype, const Quantizer& quantizer);

// Copies a result to where it belongs: quantized ones by their integers, which need the same quantizer there.
void copy_quantized_or_plain(Context& context, const Tensor& from, const Tensor& to);

}  // namespace flambeau::ops
