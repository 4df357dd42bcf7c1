// The engine of elementwise work: rows of numbers over operands of any strides and types.
//
// A row function sees packed arrays of few types (float, double, int64_t, uint64_t, complex of both, and
// bytes for bool): operands of other types, or that do not lie packed, are converted a block at a time, in
// the first-level cache. So a new operator is one loop over packed arrays, and works for all types and
// strides. Threads share the work above kGrain elements.
#pragma once

#include <cstddef>
#include <span>

#include "flambeau/ops/engines/body.h"
#include "flambeau/ops/mechanism/context.h"

namespace flambeau::ops {

struct Output {
  const Tensor* tensor;
  DType row;  // what the row writes; converted to the tensor's type
};

inline Output computed_result(const Tensor& tensor) { return {&tensor, compute_dtype(tensor.dtype())}; }

// How many elements a thread should have at least: read and written, they take some kPieceTime.
constexpr int64_t kGrain = 16384;

// The inputs broadcast to the first output's sizes; all outputs have these sizes. `cost` is about how many
// cycles an element takes, 1 for an addition: dear rows are shared among threads earlier.
void run_elementwise(Context& context, std::span<const Input> inputs, std::span<const Output> outputs,
                     const Rows& rows, const void* parameters = nullptr, int cost = 1);

// What the body says, by itself. `out` has the sizes that its inputs broadcast to.
void run_body(Context& context, const Body& body, const Tensor& out);

// Copies values, broadcast to the sizes of `to`, with conversion as PyTorch's copy_ has it.
void copy_into(Context& context, const Tensor& from, const Tensor& to);
// Sets every element, converted from the number.
void fill(Context& context, const Tensor& to, const Scalar& value);

// Packed elements of one type to packed ones of another; strided on one side. Any plain or complex types.
void load_packed(DType from, const uint8_t* source, int64_t step, size_t count, DType to, void* packed);
void store_packed(DType from, const void* packed, size_t count, DType to, uint8_t* target, int64_t step);

// The number as an element of that type.
void store_number(const Scalar& value, DType dtype, uint8_t* to);

// A one-element tensor that promotes as a Python number does; or as a tensor of that type.
Tensor wrapped_number(const Scalar& value);
Tensor scalar_tensor(const Scalar& value, DType dtype);
// The number in a tensor of one element. Throws Error(kInvalidArgument) for another one.
Scalar item(const Tensor& tensor);

}  // namespace flambeau::ops
