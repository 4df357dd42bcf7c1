// The engine of work along one dimension: softmax, running sums, sorting. A line function sees one packed
// line of the input at a time, of a type that is computed in, and writes packed lines of the results; other
// types and strides are converted around it. Threads share the lines.
#pragma once

#include <cstddef>
#include <span>

#include "flambeau/ops/engines/elementwise.h"

namespace flambeau::ops {

using Line = void (*)(const void* input, size_t length, void* const* outputs, const void* parameters);

struct LineOutput {
  const Tensor* tensor;  // of the input's sizes, save along the dimension
  DType row;             // what the line function writes
};

// A tensor without dimensions is one line of one element. `cost` is about how many cycles an element takes.
void run_lines(Context& context, const Tensor& input, size_t dim, DType row, Line line,
               std::span<const LineOutput> outputs, const void* parameters = nullptr, int cost = 1);

// The tensor with a dimension of size 1 put in, for results that drop it; the same one when it has it
// (`rank` dimensions).
Tensor with_dim(const Tensor& tensor, size_t dim, size_t rank);

}  // namespace flambeau::ops
