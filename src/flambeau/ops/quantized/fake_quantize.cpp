// Real numbers as they would be behind quantization: rounded to a scale and cut off at its range.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

void check_range(Size zero_point, Size least, Size most) {
  if (least <= most && zero_point >= least && zero_point <= most) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("a zero point of {} is not between the least integer, {}, and the largest, {}",
                          zero_point.value(), least.value(), most.value()));
}

std::tuple<Tensor, Tensor> faked(Context& c, const Tensor& self, const Value& inverse, const Value& scale,
                                 const Value& zero_point, Size least, Size most) {
  if (least > most)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a range from {} to {}", least.value(), most.value()));
  const Tensor integers = parts::add(c, call(c, "aten::round", parts::mul(c, self, inverse)), zero_point);
  const Tensor mask = call(c, "aten::logical_and", call(c, "aten::ge.Scalar", integers, least),
                           call(c, "aten::le.Scalar", integers, most));
  const Tensor cut = call(c, "aten::clamp", integers, least, most);
  const Tensor result = parts::mul(c, parts::sub(c, cut, zero_point), scale);
  return {parts::to_dtype(c, result, self.dtype()), mask};
}

std::tuple<Tensor, Tensor> with_mask(Context& c, const Tensor& self, double scale, Size zero_point,
                                     Size least, Size most) {
  check_range(zero_point, least, most);
  const auto single = static_cast<float>(scale);
  return faked(c, self, static_cast<double>(1.0F / single), static_cast<double>(single), zero_point, least,
               most);
}
Tensor per_tensor_fake(Context& c, const Tensor& self, double scale, Size zero_point, Size least, Size most) {
  return parts::first_of(c, "aten::fake_quantize_per_tensor_affine_cachemask", self, scale, zero_point, least,
                         most);
}

Tensor one(Context& c, const Tensor& tensor) { return call(c, "aten::reshape", tensor, Dims{}); }

// Where it is not on, numbers stay as they are.
std::tuple<Tensor, Tensor> with_tensors(Context& c, const Tensor& self, const Tensor& scale,
                                        const Tensor& zero_point, const Tensor& is_on, Size least,
                                        Size most) {
  const Tensor by = one(c, scale);
  auto [result, mask] = faked(c, self, call(c, "aten::reciprocal", by), by, one(c, zero_point), least, most);
  const Tensor on = call(c, "aten::gt.Scalar", one(c, is_on), 0);
  return {parts::where(c, on, result, self),
          call(c, "aten::logical_or", mask, call(c, "aten::logical_not", on))};
}
Tensor by_tensors(Context& c, const Tensor& self, const Tensor& scale, const Tensor& zero_point, Size least,
                  Size most) {
  const Tensor on = call_with(c, "aten::ones", {Dims{1}}, {{"dtype", DType::kInt64}});
  return parts::first_of(c, "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", self, scale,
                         zero_point, on, least, most);
}

Tensor along_axis(Context& c, const Tensor& numbers, const Tensor& self, Size axis) {
  const int64_t rank = rank_of(self);
  if (axis < 0 || axis >= rank)
    fail_view(fmt::format("`axis` must be between 0 and number of dimensions of input"));
  if (rank_of(numbers) != 1) fail_view("scale and zero point should be 1-D tensors");
  SymIntList sizes(static_cast<size_t>(rank), SymInt(1));
  sizes[static_cast<size_t>(axis.value())] = -1;
  return call(c, "aten::view", numbers, sizes);
}
std::tuple<Tensor, Tensor> channels_with_mask(Context& c, const Tensor& self, const Tensor& scale,
                                              const Tensor& zero_point, Size axis, Size least, Size most) {
  const Tensor by = along_axis(c, scale, self, axis);
  return faked(c, self, call(c, "aten::reciprocal", by), by, along_axis(c, zero_point, self, axis), least,
               most);
}
Tensor per_channel_fake(Context& c, const Tensor& self, const Tensor& scale, const Tensor& zero_point,
                        Size axis, Size least, Size most) {
  return parts::first_of(c, "aten::fake_quantize_per_channel_affine_cachemask", self, scale, zero_point, axis,
                         least, most);
}

// Zero points that were learned are no integers yet.
Tensor whole_points(Context& c, const Tensor& zero_point, Size least, Size most) {
  const Tensor rounded = call(c, "aten::round", parts::to_dtype(c, zero_point, DType::kFloat32));
  return call(c, "aten::clamp", rounded, least, most);
}
Tensor learnable(Context& c, const Tensor& self, const Tensor& scale, const Tensor& zero_point, Size least,
                 Size most, double) {
  const Tensor by = one(c, scale);
  return std::get<0>(faked(c, self, call(c, "aten::reciprocal", by), by,
                           one(c, whole_points(c, zero_point, least, most)), least, most));
}
Tensor learnable_channels(Context& c, const Tensor& self, const Tensor& scale, const Tensor& zero_point,
                          Size axis, Size least, Size most, double) {
  const Tensor by = along_axis(c, scale, self, axis);
  const Tensor points = along_axis(c, whole_points(c, zero_point, least, most), self, axis);
  return std::get<0>(faked(c, self, call(c, "aten::reciprocal", by), by, points, least, most));
}

Tensor masked_gradient(Context& c, const Tensor& gradient, const Tensor& mask) {
  return parts::mul(c, gradient, mask);
}

}  // namespace

void define_fake_quantize(Library& library) {
  library
      .define(
          "aten::fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, "
          "int "
          "quant_max) -> Tensor")
      .composite<per_tensor_fake>();
  library
      .define(
          "aten::fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor "
          "zero_point, int quant_min, int quant_max) -> Tensor")
      .composite<by_tensors>();
  library
      .define(
          "aten::fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int "
          "quant_min, int quant_max) -> (Tensor output, Tensor mask)")
      .decomposition<with_mask>();
  library
      .define(
          "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, Tensor "
          "zero_point, Tensor fake_quant_enabled, int quant_min, int quant_max) -> (Tensor output, Tensor "
          "mask)")
      .decomposition<with_tensors>();
  library
      .define(
          "aten::fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, "
          "int "
          "quant_min, int quant_max) -> Tensor")
      .composite<per_channel_fake>();
  library
      .define(
          "aten::fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, "
          "int "
          "axis, int quant_min, int quant_max) -> (Tensor output, Tensor mask)")
      .decomposition<channels_with_mask>();
  library
      .define(
          "aten::_fake_quantize_learnable_per_tensor_affine(Tensor self, Tensor scale, Tensor zero_point, "
          "int "
          "quant_min, int quant_max, float grad_factor=1.) -> Tensor")
      .decomposition<learnable>();
  library
      .define(
          "aten::_fake_quantize_learnable_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, "
          "int axis, int quant_min, int quant_max, float grad_factor=1.) -> Tensor")
      .decomposition<learnable_channels>();
  library
      .define("aten::fake_quantize_per_tensor_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor")
      .composite<masked_gradient>();
  library
      .define("aten::fake_quantize_per_channel_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor")
      .composite<masked_gradient>();
}

}  // namespace flambeau::ops
