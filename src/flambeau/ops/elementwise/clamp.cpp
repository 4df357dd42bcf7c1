// What lies between bounds: clamp, clip.
#include <cmath>
#include <limits>

#include "flambeau/ops/elementwise/shared.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

struct Clamp {
  static constexpr std::string_view kName = "clamp";
  static constexpr Hot kHot = Hot::kClamp;
  static constexpr bool kTakesBool = false;
  HotNumbers range;
  HotNumbers numbers() const { return range; }
  auto operator()(uint64_t a) const {
    const auto low = static_cast<uint64_t>(range.integer_x < 0 ? 0 : range.integer_x);
    const auto high = static_cast<uint64_t>(range.integer_y < 0 ? 0 : range.integer_y);
    const uint64_t raised = a < low ? low : a;
    return raised > high && range.integer_y != std::numeric_limits<int64_t>::max() ? high : raised;
  }
};

bool is_nan(const std::optional<Scalar>& number) {
  return number && number->is_float() && std::isnan(number->to_double());
}

Body clamp(const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max, const Tensor& out) {
  if (!min && !max) {
    throw Error(ErrorCode::kInvalidArgument, "torch.clamp: At least one of 'min' or 'max' must not be None");
  }
  if (is_nan(min) || is_nan(max)) return copy_body(Scalar(std::numeric_limits<double>::quiet_NaN()), out);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Clamp function{.range = {.x = min ? min->to_double() : -kInfinity,
                           .y = max ? max->to_double() : kInfinity,
                           .integer_x = min ? min->to_int() : std::numeric_limits<int64_t>::min(),
                           .integer_y = max ? max->to_int() : std::numeric_limits<int64_t>::max()}};
  return body_of(Clamp::kName, function, out.dtype(), out, self);
}
Body clamp_min(const Tensor& self, Scalar min, const Tensor& out) {
  return clamp(self, min, std::nullopt, out);
}
Body clamp_max(const Tensor& self, Scalar max, const Tensor& out) {
  return clamp(self, std::nullopt, max, out);
}

struct ClampBetween {
  static constexpr std::string_view kName = "clamp";
  static constexpr std::string_view kBody = "clamp_between";
  static constexpr bool kTakesBool = false;
  template <OrderedNumber T>
  T operator()(T a, T low, T high) const {
    if (a != a) return a;
    if (low != low) return low;
    if (high != high) return high;
    const T raised = a < low ? low : a;
    return raised > high ? high : raised;
  }
};
Body clamp_tensors(const Tensor& self, const Tensor* min, const Tensor* max, const Tensor& out) {
  if (min == nullptr && max == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "torch.clamp: At least one of 'min' or 'max' must not be None");
  }
  if (max == nullptr) return pick<Max>(self, *min, out);
  if (min == nullptr) return pick<Min>(self, *max, out);
  return body_of(ClampBetween::kName, ClampBetween{}, out.dtype(), out, self, *min, *max);
}

// ---- as other operators
Tensor clamp_min_parts(Context& c, const Tensor& self, const Value& min) {
  return call(c, "aten::clamp", self, min);
}
Tensor clamp_max_parts(Context& c, const Tensor& self, const Value& max) {
  return call(c, "aten::clamp", self, Value(), max);
}
Tensor clamp_min_tensor_parts(Context& c, const Tensor& self, const Tensor& min) {
  return call(c, "aten::clamp.Tensor", self, min);
}
Tensor clamp_max_tensor_parts(Context& c, const Tensor& self, const Tensor& max) {
  return call(c, "aten::clamp.Tensor", self, Value(), max);
}

}  // namespace

void define_clamp(Library& library) {
  elementwise<NumberType, clamp>(library,
                                 "aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor");
  elementwise<NumberType, clamp>(library,
                                 "aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor")
      .alias("aten::clamp");
  elementwise<PromotedType, clamp_tensors>(
      library, "aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor");
  elementwise<PromotedType, clamp_tensors>(
      library, "aten::clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor")
      .alias("aten::clamp.Tensor");
  elementwise<NumberType, clamp_min>(library, "aten::clamp_min(Tensor self, Scalar min) -> Tensor")
      .core_decomposition<clamp_min_parts>();
  elementwise<NumberType, clamp_max>(library, "aten::clamp_max(Tensor self, Scalar max) -> Tensor")
      .core_decomposition<clamp_max_parts>();
  elementwise<PromotedType, pick<Max>>(library, "aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor")
      .core_decomposition<clamp_min_tensor_parts>();
  elementwise<PromotedType, pick<Min>>(library, "aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor")
      .core_decomposition<clamp_max_tensor_parts>();
}

}  // namespace flambeau::ops
