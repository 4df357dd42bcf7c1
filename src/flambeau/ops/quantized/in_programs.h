// Quantized tensors while a program is traced. A program has integers alone, and says at each place what they
// mean: what is quantized becomes integers by an operator, is real again by another one, and what happens
// between them is done to real numbers, as PyTorch's own export of quantized models writes it. A quantized
// tensor without elements shares its storage with the integers that the tracer knows.
#pragma once

#include "flambeau/ops/quantized/packed.h"

namespace flambeau::ops {

Tensor quantized_in_program(Context& context, const Tensor& real, DType dtype, const Quantizer& quantizer);
// Also of a tensor that has elements: its integers become a constant of the program.
Tensor dequantized_in_program(Context& context, const Tensor& quantized);

// Of 8-bit integers whose scale the numbers themselves choose, when the program runs.
struct ChosenScale {
  Tensor scale, zero_point;
  int64_t most;
};
ChosenScale chosen_in_program(Context& context, const Tensor& real, bool reduce_range);
// What is left of real numbers that go through such integers.
Tensor rounded_in_program(Context& context, const Tensor& real, const ChosenScale& chosen);

// Of real numbers, which may have elements, with weights that are made real.
Tensor linear_in_program(Context& context, const PackedLinear& linear, const Tensor& real);
Tensor convolution_in_program(Context& context, const PackedConvolution& convolution, const Tensor& real);

}  // namespace flambeau::ops
