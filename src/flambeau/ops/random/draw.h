// Random numbers into tensors, in the order in which PyTorch draws them: that of memory.
#pragma once

#include <functional>
#include <string_view>

#include "flambeau/kernels/random/generator.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/value/value.h"

namespace flambeau::ops {

// The generator that a call was given, or the context's. Throws Error(kInvalidArgument) where there is none.
kernels::Generator& generator_of(Context& context, const Value& given);

// Fills memory with that many numbers.
using Fill = std::function<void(void* memory, DType dtype, size_t count, bool is_contiguous)>;
// Calls fill(memory, element type, count, is the tensor row-major) for memory that becomes the tensor's
// elements. Throws Error(kUnsupported) for complex ones, in the operator's name.
void draw(Context& context, std::string_view name, const Tensor& out, const Fill& fill);
// The same, with complex numbers as pairs of their parts: twice as many.
void draw_parts(Context& context, const Tensor& out, const Fill& fill);

// Into all elements: uniform in [from, to), normal, 0 or 1.
void draw_uniform(Context& context, const Value& generator, const Tensor& out, double from, double to);
void draw_normal(Context& context, const Value& generator, const Tensor& out, double mean, double deviation);
void draw_bernoulli(Context& context, const Value& generator, const Tensor& out, double p);

}  // namespace flambeau::ops
