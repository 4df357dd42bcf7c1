// The operators of programs that were quantized after export: plain integers, with scales and zero points as
// arguments. Each is made of a few others, in the order in which PyTorch rounds.
#include <fmt/format.h>

#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/quantized.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

void check_bounds(const Value& least, const Value& most, DType dtype) {
  if (!least.is<int64_t>() || !most.is<int64_t>() || !is_integral(dtype)) return;
  const size_t bits = dtype_size(dtype) * 8;
  if (bits == 64) return;
  const bool is_signed = dtype_info(dtype).is_signed;
  const int64_t lower = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  const int64_t upper = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  if (least.get<int64_t>() < lower || most.get<int64_t>() > upper) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the range from {} to {} does not fit into {}", least.get<int64_t>(),
                            most.get<int64_t>(), dtype_name(dtype)));
  }
}

void check_type(const Tensor& input, DType dtype) {
  if (input.dtype() == dtype) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("a tensor of {} is expected, not {}", dtype_name(dtype), input.summary()));
}

Tensor as_float(Context& c, const Tensor& input) {
  if (input.dtype() == DType::kFloat16 || input.dtype() == DType::kBFloat16)
    return parts::to_dtype(c, input, DType::kFloat32);
  check_type(input, DType::kFloat32);
  return input;
}

Tensor rounded(Context& c, const Tensor& scaled, const Value& zero_point, const Value& least,
               const Value& most, DType dtype) {
  check_bounds(least, most, dtype);
  const Tensor shifted = parts::add(c, call(c, "aten::round", scaled), zero_point);
  const bool has_tensors = least.is_tensor();
  return parts::to_dtype(c, call(c, has_tensors ? "aten::clamp.Tensor" : "aten::clamp", shifted, least, most),
                         dtype);
}

// One number for the whole tensor, or a tensor that broadcasts.
Tensor quantize_parts(Context& c, const Tensor& input, double scale, Size zero_point, Size least, Size most,
                      DType dtype) {
  return rounded(c, parts::mul(c, as_float(c, input), 1.0 / scale), zero_point, least, most, dtype);
}

Value only_number(Context& c, const Tensor& tensor, bool is_float) {
  if (!is_literally(count_of(tensor), 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a tensor of one element is expected, not {}", tensor.summary()));
  }
  Value number = call<std::vector<Value>>(c, "aten::item", tensor).at(0);
  if (!number.is_number()) return number;
  return is_float ? Value(number.scalar().to_double()) : Value(number.scalar().to_int());
}

Tensor quantize_by_tensors(Context& c, const Tensor& input, const Tensor& scale, const Tensor& zero_point,
                           Size least, Size most, DType dtype) {
  // While it is traced there is no number to take out.
  if (lacks_elements(scale))
    return rounded(c, parts::div(c, as_float(c, input), scale), zero_point, least, most, dtype);
  return call(c, "quantized_decomposed::quantize_per_tensor", input, only_number(c, scale, true),
              only_number(c, zero_point, false), least, most, dtype);
}
Tensor quantize_by_bounds(Context& c, const Tensor& input, const Tensor& scale, const Tensor& zero_point,
                          const Tensor& least, const Tensor& most, DType dtype) {
  return call(c, "quantized_decomposed::quantize_per_tensor", input, only_number(c, scale, true),
              only_number(c, zero_point, false), only_number(c, least, false), only_number(c, most, false),
              dtype);
}

Tensor dequantize_parts(Context& c, const Tensor& input, double scale, Size zero_point, Size, Size,
                        DType dtype, std::optional<DType> out_dtype) {
  check_type(input, dtype);
  const Tensor real = parts::to_dtype(c, input, out_dtype.value_or(DType::kFloat32));
  return parts::mul(c, parts::sub(c, real, zero_point), scale);
}
Tensor dequantize_by_tensors(Context& c, const Tensor& input, const Tensor& scale, const Tensor& zero_point,
                             Size least, Size most, DType dtype, std::optional<DType> out_dtype) {
  if (lacks_elements(scale)) {
    const Tensor real = parts::to_dtype(c, input, out_dtype.value_or(DType::kFloat32));
    const Tensor result = parts::mul(c, parts::sub(c, real, zero_point), scale);
    return parts::to_dtype(c, result, real.dtype());
  }
  return call_with(
      c, "quantized_decomposed::dequantize_per_tensor",
      {input, only_number(c, scale, true), only_number(c, zero_point, false), least, most, dtype},
      {{"out_dtype", out_dtype}});
}
Tensor dequantize_by_bounds(Context& c, const Tensor& input, const Tensor& scale, const Tensor& zero_point,
                            const Tensor& least, const Tensor& most, DType dtype,
                            std::optional<DType> out_dtype) {
  return call_with(c, "quantized_decomposed::dequantize_per_tensor",
                   {input, only_number(c, scale, true), only_number(c, zero_point, false),
                    only_number(c, least, false), only_number(c, most, false), dtype},
                   {{"out_dtype", out_dtype}});
}

// ---- by channel

Tensor along(Context& c, const Tensor& numbers, const Tensor& input, int64_t axis) {
  if (rank_of(input) == 0) fail_view("a tensor without dimensions has no channels");
  SymIntList sizes(static_cast<size_t>(rank_of(input)), SymInt(1));
  sizes[static_cast<size_t>(wrapped_dim(axis, rank_of(input)))] = -1;
  return call(c, "aten::view", numbers, sizes);
}

Tensor quantize_channels(Context& c, const Tensor& input, const Tensor& scales, const Tensor& zero_points,
                         Size axis, Size least, Size most, DType dtype) {
  const Tensor inverse = call(c, "aten::reciprocal", along(c, scales, input, axis));
  return rounded(c, parts::mul(c, as_float(c, input), inverse), along(c, zero_points, input, axis), least,
                 most, dtype);
}

Tensor dequantize_channels(Context& c, const Tensor& input, const Tensor& scales, const Tensor* zero_points,
                           Size axis, Size, Size, DType dtype, std::optional<DType> out_dtype) {
  check_type(input, dtype);
  Tensor real = input;
  if (zero_points != nullptr) real = parts::sub(c, real, along(c, *zero_points, input, axis));
  real = parts::mul(c, real, along(c, scales, input, axis));
  return parts::to_dtype(c, real, out_dtype.value_or(DType::kFloat32));
}

Tensor fake_quantize_channels(Context& c, const Tensor& input, const Tensor& scales,
                              const Tensor& zero_points, Size axis, Size least, Size most) {
  return call(c, "aten::fake_quantize_per_channel_affine", as_float(c, input), scales,
              parts::to_dtype(c, zero_points, DType::kInt32), axis, least, most);
}

// ---- by token, the rows of the last dimension

Tensor quantize_tokens(Context& c, const Tensor& input, const Tensor& scales, const Tensor& zero_points,
                       Size least, Size most, DType dtype) {
  const Tensor scaled = parts::mul(c, input, call(c, "aten::reciprocal", scales));
  check_bounds(least, most, dtype);
  const Tensor shifted = parts::add(c, scaled, zero_points);
  return parts::to_dtype(c, call(c, "aten::clamp", call(c, "aten::round", shifted), least, most), dtype);
}

Tensor dequantize_tokens(Context& c, const Tensor& input, const Tensor& scales, const Tensor& zero_points,
                         Size, Size, DType, DType output_dtype) {
  const Tensor shifted = parts::sub(c, input, zero_points);
  return parts::to_dtype(c, parts::mul(c, shifted, scales), output_dtype);
}

// ---- by groups of so many columns of a matrix

void check_groups(const Tensor& input, const Tensor& scales, Size group_size) {
  if (group_size < 2 || rank_of(input) != 2 || rank_of(scales) != 2) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("groups of {} of {} with scales {} are none of a matrix", group_size.value(),
                            input.summary(), scales.summary()));
  }
}

Tensor quantize_groups(Context& c, const Tensor& input, const Tensor& scales, const Tensor& zero_points,
                       Size least, Size most, DType dtype, Size group_size) {
  check_groups(input, scales, group_size);
  check_bounds(least, most, dtype);
  const Tensor rows = call(c, "aten::reshape", input, SymIntList{SymInt(-1), SymInt(group_size.value())});
  const Tensor flat_scales = call(c, "aten::reshape", scales, Dims{-1, 1});
  const Tensor flat_points = call(c, "aten::reshape", zero_points, Dims{-1, 1});
  const Tensor scaled = parts::mul(c, rows, call(c, "aten::reciprocal", flat_scales));
  const Tensor shifted = parts::add(c, scaled, flat_points);
  const Tensor integers =
      parts::to_dtype(c, call(c, "aten::clamp", call(c, "aten::round", shifted), least, most), dtype);
  return call(c, "aten::reshape", integers, sizes_of(input));
}

Tensor dequantize_groups(Context& c, const Tensor& input, const Tensor& scales, const Tensor* zero_points,
                         Size, Size, DType, Size group_size, DType output_dtype) {
  check_groups(input, scales, group_size);
  Tensor rows = call(c, "aten::reshape", input, SymIntList{SymInt(-1), SymInt(group_size.value())});
  if (zero_points != nullptr) rows = parts::sub(c, rows, call(c, "aten::reshape", *zero_points, Dims{-1, 1}));
  rows = parts::mul(c, rows, call(c, "aten::reshape", scales, Dims{-1, 1}));
  return parts::to_dtype(c, call(c, "aten::reshape", rows, sizes_of(input)), output_dtype);
}

Tensor convert_parts(Context& c, const Tensor& input, DType dtype) {
  return parts::to_dtype(c, input, dtype);
}

// ---- choosing scales

std::tuple<Tensor, Tensor> chosen(Context& c, Tensor least, Tensor most, Size lower, Size upper, double eps,
                                  bool is_symmetric, DType dtype) {
  const auto steps = static_cast<double>((upper - lower).value());
  least = call(c, "aten::clamp_max", least, 0);
  most = call(c, "aten::clamp_min", most, 0);
  Tensor scale, zero_point;
  if (is_symmetric) {
    const Tensor reach = call(c, "aten::maximum", call(c, "aten::neg", least), most);
    scale = call(c, "aten::clamp_min", parts::div(c, reach, steps / 2), eps);
    const int64_t middle = dtype == DType::kUInt8 ? (lower.value() + upper.value() + 1) / 2 : 0;
    zero_point = call_with(c, "aten::full_like", {scale, middle}, {{"dtype", DType::kInt64}});
  } else {
    scale = call(c, "aten::clamp_min", parts::div(c, parts::sub(c, most, least), steps), eps);
    zero_point = parts::sub(c, lower, call(c, "aten::round", parts::div(c, least, scale)));
    zero_point = parts::to_dtype(c, call(c, "aten::clamp", zero_point, lower, upper), DType::kInt64);
  }
  return {call(c, "aten::reshape", parts::to_dtype(c, scale, DType::kFloat64), Dims{1}),
          call(c, "aten::reshape", zero_point, Dims{1})};
}

std::tuple<Tensor, Tensor> choose(Context& c, const Tensor& input, Size lower, Size upper, double eps,
                                  DType dtype, bool is_symmetric) {
  if (!(lower < upper))
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a range from {} to {}", lower.value(), upper.value()));
  const auto extremes = call<std::tuple<Tensor, Tensor>>(c, "aten::aminmax", input);
  return chosen(c, std::get<0>(extremes), std::get<1>(extremes), lower, upper, eps, is_symmetric, dtype);
}
std::tuple<Tensor, Tensor> choose_affine(Context& c, const Tensor& input, Size lower, Size upper, double eps,
                                         DType dtype) {
  return choose(c, input, lower, upper, eps, dtype, false);
}
std::tuple<Tensor, Tensor> choose_symmetric(Context& c, const Tensor& input, Size lower, Size upper,
                                            double eps, DType dtype) {
  return choose(c, input, lower, upper, eps, dtype, true);
}

std::tuple<Tensor, Tensor> choose_tokens(Context& c, const Tensor& input, DType) {
  Tensor scales = call(c, "aten::amax", call(c, "aten::abs", input), Dims{-1}, true);
  if (scales.dtype() == DType::kFloat16) scales = parts::to_dtype(c, scales, DType::kFloat32);
  constexpr double kMost = 127;
  const Tensor least = call(c, "aten::clamp_min", scales, 1e-5);
  scales = parts::to_dtype(c, parts::div(c, least, kMost), DType::kFloat32);
  return {scales, call(c, "aten::zeros_like", scales)};
}

std::tuple<Tensor, Tensor> choose_tokens_affine(Context& c, const Tensor& input, DType) {
  constexpr double kLower = -128, kUpper = 127;
  const Tensor least = call(c, "aten::clamp_max", call(c, "aten::amin", input, Dims{-1}, true), 0);
  const Tensor most = call(c, "aten::clamp_min", call(c, "aten::amax", input, Dims{-1}, true), 0);
  const double eps = std::numeric_limits<float>::epsilon();
  const Tensor scale =
      call(c, "aten::clamp_min", parts::div(c, parts::sub(c, most, least), kUpper - kLower), eps);
  // The end that is met more closely says where zero lies.
  const Tensor low = parts::div(c, least, scale), high = parts::div(c, most, scale);
  const Tensor error = parts::add(c, parts::add(c, low, kLower), parts::add(c, high, kUpper));
  const Tensor zero = parts::where(c, call(c, "aten::gt.Scalar", error, 0), parts::sub(c, kLower, low),
                                   parts::sub(c, kUpper, high));
  const Tensor point = call(c, "aten::round", call(c, "aten::clamp", zero, kLower, kUpper));
  return {parts::to_dtype(c, scale, DType::kFloat64), parts::to_dtype(c, point, DType::kInt64)};
}

}  // namespace

void define_decomposed(Library& library) {
  library
      .define(
          "quantized_decomposed::quantize_per_tensor(Tensor input, float scale, int zero_point, int "
          "quant_min, int quant_max, ScalarType dtype) -> Tensor")
      .decomposition<quantize_parts>();
  library
      .define(
          "quantized_decomposed::quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, "
          "int quant_min, int quant_max, ScalarType dtype) -> Tensor")
      .decomposition<quantize_by_tensors>();
  library
      .define(
          "quantized_decomposed::quantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, "
          "Tensor quant_min, Tensor quant_max, ScalarType dtype) -> Tensor")
      .decomposition<quantize_by_bounds>();
  library
      .define(
          "quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int zero_point, int "
          "quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor")
      .decomposition<dequantize_parts>();
  library
      .define(
          "quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, "
          "int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor")
      .decomposition<dequantize_by_tensors>();
  library
      .define(
          "quantized_decomposed::dequantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor "
          "zero_point, Tensor quant_min, Tensor quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) "
          "-> Tensor")
      .decomposition<dequantize_by_bounds>();
  library
      .define(
          "quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int "
          "axis, int quant_min, int quant_max, ScalarType dtype) -> Tensor")
      .decomposition<quantize_channels>();
  library
      .define(
          "quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, "
          "int axis, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> "
          "Tensor")
      .decomposition<dequantize_channels>();
  library
      .define(
          "quantized_decomposed::fake_quant_per_channel(Tensor input, Tensor scales, Tensor zero_points, int "
          "axis, int quant_min, int quant_max) -> Tensor")
      .decomposition<fake_quantize_channels>();
  library
      .define(
          "quantized_decomposed::quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int "
          "quant_min, int quant_max, ScalarType dtype) -> Tensor")
      .decomposition<quantize_tokens>();
  library
      .define(
          "quantized_decomposed::dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int "
          "quant_min, int quant_max, ScalarType dtype, ScalarType output_dtype) -> Tensor")
      .decomposition<dequantize_tokens>();
  library
      .define(
          "quantized_decomposed::quantize_per_channel_group(Tensor input, Tensor scales, Tensor zero_points, "
          "int quant_min, int quant_max, ScalarType dtype, int group_size) -> Tensor")
      .decomposition<quantize_groups>();
  library
      .define(
          "quantized_decomposed::dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? "
          "zero_points, int quant_min, int quant_max, ScalarType dtype, int group_size, ScalarType "
          "output_dtype) -> Tensor")
      .decomposition<dequantize_groups>();
  library
      .define("quantized_decomposed::convert_element_type.no_fuse(Tensor input, ScalarType dtype) -> Tensor")
      .decomposition<convert_parts>();
  library
      .define(
          "quantized_decomposed::choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float "
          "eps, ScalarType dtype) -> (Tensor, Tensor)")
      .decomposition<choose_affine>();
  library
      .define(
          "quantized_decomposed::choose_qparams_symmetric.tensor(Tensor input, int quant_min, int quant_max, "
          "float eps, ScalarType dtype) -> (Tensor, Tensor)")
      .decomposition<choose_symmetric>();
  library
      .define(
          "quantized_decomposed::choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, "
          "Tensor)")
      .decomposition<choose_tokens>();
  library
      .define(
          "quantized_decomposed::choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> "
          "(Tensor, Tensor)")
      .decomposition<choose_tokens_affine>();
  library
      .define(
          "quantized_decomposed::_choose_qparams_per_token_asymmetric_impl(Tensor input, ScalarType dtype) "
          "-> (Tensor, Tensor)")
      .decomposition<choose_tokens_affine>();
}

}  // namespace flambeau::ops
