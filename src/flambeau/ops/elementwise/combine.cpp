// Functions of three tensors: sums of products, interpolation.
#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/ops/elementwise/kernels.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/type_names.h"

namespace flambeau::ops {
namespace {

struct AddProduct {
  static constexpr std::string_view kName = "addcmul";
  static constexpr Hot kHot = Hot::kAddProduct;
  KnownNumber value;
  HotNumbers numbers() const { return hot_numbers(value); }
  template <typename T>
  auto prepare() const {
    return [factor = number<T>(value)](T a, T b, T c) { return a + factor * b * c; };
  }
};
struct AddQuotient {
  static constexpr std::string_view kName = "addcdiv";
  static constexpr Hot kHot = Hot::kAddQuotient;
  KnownNumber value;
  HotNumbers numbers() const { return hot_numbers(value); }
  template <ComplexNumber T>
  auto prepare() const {
    return [factor = number<T>(value)](T a, T b, T c) { return a + factor * b / c; };
  }
};
struct Lerp {
  static constexpr std::string_view kName = "lerp";
  static constexpr Hot kHot = Hot::kLerp;
  template <ComplexNumber T>
  T operator()(T a, T b, T weight) const {
    using Part = typename T::value_type;
    return std::abs(weight) < Part(0.5) ? a + weight * (b - a) : b - (b - a) * (T(1) - weight);
  }
};

Body addcmul(const Tensor& self, const Tensor& a, const Tensor& b, Scalar value, const Tensor& out) {
  return body_of(AddProduct::kName, AddProduct{value}, out.dtype(), out, self, a, b);
}
Body addcdiv(const Tensor& self, const Tensor& a, const Tensor& b, Scalar value, const Tensor& out) {
  if (is_integral(a.dtype()) && is_integral(b.dtype())) {
    throw Error(ErrorCode::kUnsupported, "Integer division with addcdiv is no longer supported",
                "convert the tensors to a floating type first");
  }
  return body_of(AddQuotient::kName, AddQuotient{value}, out.dtype(), out, self, a, b);
}
void require_same(const Tensor& self, const Tensor& end) {
  if (self.dtype() == end.dtype()) return;
  throw Error(ErrorCode::kInvalidArgument, "expected dtype " + std::string(dtype_type_name(self.dtype())) +
                                               " for `end` but got dtype " +
                                               std::string(dtype_type_name(end.dtype())));
}
template <typename Weight>
Body between(const Tensor& self, const Tensor& end, const Weight& weight, const Tensor& out) {
  require_same(self, end);
  if (is_integral(self.dtype())) fail_dtype("lerp", self.dtype());
  const Input inputs[] = {computed(self, out.dtype()), computed(end, out.dtype()),
                          precise(weight, out.dtype())};
  return body_of_inputs(Lerp::kName, Lerp{}, out.dtype(), out, inputs);
}
Body lerp(const Tensor& self, const Tensor& end, const Tensor& weight, const Tensor& out) {
  return between(self, end, weight, out);
}
Body lerp_number(const Tensor& self, const Tensor& end, Scalar weight, const Tensor& out) {
  return between(self, end, weight, out);
}

// ---- as other operators
Tensor addcmul_parts(Context& c, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                     Scalar value) {
  return parts::add(c, self, parts::mul(c, parts::mul(c, tensor1, value), tensor2));
}
Tensor addcdiv_parts(Context& c, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                     Scalar value) {
  return parts::add(c, self, parts::div(c, parts::mul(c, tensor1, value), tensor2));
}
Tensor lerp_parts(Context& c, const Tensor& self, const Tensor& end, const Tensor& weight) {
  const Tensor is_far = call(c, "aten::ge.Scalar", call(c, "aten::abs", weight), 0.5);
  const Tensor share = parts::where(c, is_far, parts::sub(c, weight, 1), weight);
  const Tensor base = parts::where(c, is_far, end, self);
  return parts::add(c, parts::mul(c, share, parts::sub(c, end, self)), base);
}
Tensor lerp_number_parts(Context& c, const Tensor& self, const Tensor& end, Scalar weight) {
  return lerp_parts(c, self, end, parts::full(c, {}, weight, self));
}

}  // namespace

void define_combine(Library& library) {
  elementwise<PromotedType, addcmul>(
      library, "aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor")
      .core_decomposition<addcmul_parts>();
  elementwise<PromotedType, addcdiv>(
      library, "aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor")
      .core_decomposition<addcdiv_parts>();
  elementwise<SameType, lerp>(library, "aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor")
      .core_decomposition<lerp_parts>();
  elementwise<SameType, lerp_number>(library,
                                     "aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor")
      .core_decomposition<lerp_number_parts>();
}

}  // namespace flambeau::ops
