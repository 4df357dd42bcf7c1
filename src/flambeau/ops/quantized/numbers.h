// Between real numbers and quantized tensors: what every operator on them shares. A real number x is the
// integer round(x / scale + zero_point), within the range of its type.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/quantized.h"

namespace flambeau::ops {

struct IntegerRange {
  int64_t least;
  int64_t most;
};
IntegerRange integer_range(DType quantized);

// Throws Error(kInvalidArgument) for a type that is not quantized, a zero point outside of it, or a scale
// that is no positive number.
Quantizer checked_quantizer(double scale, int64_t zero_point, DType dtype);
// Throws Error(kInvalidArgument) unless it is quantized, per tensor and with whole bytes.
const Quantizer& per_tensor(const Tensor& tensor);

// The float32 tensor as integers. Its order of memory stays where it is dense.
Tensor quantize(Context& context, const Tensor& real, DType dtype, const Quantizer& quantizer);
// A float32 tensor, in the order of memory of the quantized one.
Tensor dequantized(Context& context, const Tensor& quantized);
// A packed copy, or the tensor itself; in channels-last order where `like` is.
Tensor packed_as(Context& context, const Tensor& tensor, const Tensor& like);
// Anything in it, with the sizes and the order of memory of another one.
Tensor fresh_quantized(Context& context, const Info<Size>& info, DType dtype, const Quantizer& quantizer);

// Each 8-bit integer replaced by that of its place in a table of 256, which is quantized as the result is.
Tensor mapped(Context& context, const Tensor& quantized, const Tensor& table);

// What a function of real numbers, one by one, gives of a quantized tensor, quantized anew.
Tensor apply_to_reals(Context& context, const Tensor& quantized, const Quantizer& result,
                      const std::function<Tensor(const Tensor& real)>& function);

// Rows of numbers by a quantizer of one scale.
struct Affine {
  explicit Affine(const Quantizer& quantizer);
  float scale, inverse;
  int32_t zero_point;
};
void quantize_numbers(const float* x, size_t count, const Affine& affine, DType dtype, uint8_t* q);
void dequantize_numbers(const uint8_t* q, DType dtype, size_t count, const Affine& affine, float* x);

// The scale and zero point with which [least, most] and 0 fit into the range.
struct QuantizationParameters {
  double scale;
  int64_t zero_point;
};
QuantizationParameters choose_parameters(float least, float most, int64_t range_least, int64_t range_most);
// Of all numbers of a float32 tensor; 0 and 0 of an empty one.
std::pair<float, float> extremes_of(Context& context, const Tensor& real);

// The numbers of a tensor as another type, packed.
template <typename T>
std::vector<T> numbers_of(const Tensor& tensor);

}  // namespace flambeau::ops
