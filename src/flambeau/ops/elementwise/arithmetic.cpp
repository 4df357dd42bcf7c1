// Sum, difference and product, with PyTorch's promotion.
#include "flambeau/ops/elementwise/shared.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/base/wrapping.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

struct Add {
  static constexpr std::string_view kName = "add";
  static constexpr Hot kHot = Hot::kAdd;
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Sub {
  static constexpr std::string_view kName = "sub";
  static constexpr Hot kHot = Hot::kSub;
  template <typename T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct AddScaled {
  KnownNumber alpha;
  static constexpr std::string_view kName = "add";
  static constexpr std::string_view kBody = "add_scaled";
  static constexpr Hot kHot = Hot::kAddScaled;
  HotNumbers numbers() const { return hot_numbers(alpha); }
  template <typename T>
  auto prepare() const {
    return [factor = number<T>(alpha)](T a, T b) { return a + factor * b; };
  }
};
struct Mul {
  static constexpr std::string_view kName = "mul";
  static constexpr Hot kHot = Hot::kMul;
  template <typename T>
  T operator()(T a, T b) const {
    return wrapping_multiply(a, b);
  }
};

// Loops over the stored type itself, where there is one: the operands need no conversion.
template <typename F>
Rows direct_rows(const Tensor& self, const Tensor& other, DType common) {
  if constexpr (std::is_empty_v<F>) {
    if (self.dtype() == common && common == DType::kInt32) return hot_rows(F::kHot, HotType::kInt32);
    if (common == DType::kBFloat16 && self.dtype() == common && other.dtype() == common && self.dim() > 0 &&
        other.dim() > 0) {
      return hot_rows(F::kHot, HotType::kBFloat16);
    }
  }
  return nullptr;
}
template <typename F>
Rows direct_rows(const Tensor& self, const Scalar&, DType common) {
  return std::is_empty_v<F> && self.dtype() == common && common == DType::kInt32
             ? hot_rows(F::kHot, HotType::kInt32)
             : nullptr;
}
template <typename F>
Rows direct_rows(const Scalar&, const Tensor&, DType) {
  return nullptr;
}

Input stored(const Tensor& tensor, DType dtype) { return {&tensor, dtype, dtype}; }
Input stored(const Scalar& number, DType dtype) { return {number, dtype, dtype}; }

// Of tensors and numbers.
template <typename F, typename First, typename Second>
Body arithmetic(const F& function, const First& self, const Second& other, const Tensor& out) {
  const DType common = out.dtype();
  if (const Rows rows = direct_rows<F>(self, other, common); rows.plain != nullptr) {
    Body body;
    body.name = body_name<F>(F::kName);
    body.rows = rows;
    body.row = common;
    body.code = hot_code(F::kHot);
    body.add(stored(self, common));
    body.add(stored(other, common));
    return body;
  }
  const Input inputs[] = {precise(self, common), precise(other, common)};
  return body_of_inputs(F::kName, function, common, out, inputs);
}

void check_alpha(const Tensor& out, const Scalar& alpha) {
  if (alpha.is_bool() && out.dtype() != DType::kBool) {
    throw Error(ErrorCode::kInvalidArgument, "Boolean alpha only supported for Boolean results.");
  }
  if (is_integral(out.dtype()) && (alpha.is_float() || alpha.is_complex())) {
    throw Error(ErrorCode::kInvalidArgument,
                "For integral input tensors, argument alpha must not be a floating point number.");
  }
  if (is_floating(out.dtype()) && alpha.is_complex()) {
    throw Error(ErrorCode::kInvalidArgument,
                "For non-complex input tensors, argument alpha must not be a complex number.");
  }
}

bool is_one(const Scalar& alpha) { return alpha.to_complex() == std::complex<double>(1); }

Scalar negative(const Scalar& alpha) {
  if (alpha.is_complex()) return -alpha.to_complex();
  if (alpha.is_float()) return -alpha.to_double();
  return static_cast<int64_t>(-static_cast<uint64_t>(alpha.to_int()));
}

template <typename Other>
Body sum(const Tensor& self, const Other& other, const Scalar& alpha, const Tensor& out) {
  check_alpha(out, alpha);
  if (is_one(alpha)) return arithmetic(Add{}, self, other, out);
  return arithmetic(AddScaled{alpha}, self, other, out);
}
Body add(const Tensor& self, const Tensor& other, Scalar alpha, const Tensor& out) {
  return sum(self, other, alpha, out);
}
Body add_number(const Tensor& self, Scalar other, Scalar alpha, const Tensor& out) {
  return sum(self, other, alpha, out);
}
std::optional<Epilogue> sum_epilogue(const Tensor& self, const Tensor& other, Scalar alpha) {
  if (!is_one(alpha)) return {};
  return Epilogue{{.kind = Epilogue::Kind::kSum, .alpha = 1}, &self, &other};
}

void require_no_bool(DType self, DType other) {
  if (self == DType::kBool && other == DType::kBool) {
    throw Error(ErrorCode::kUnsupported,
                "Subtraction, the `-` operator, with two bool tensors is not supported.",
                "use the `^` or `logical_xor()` operator instead");
  }
  if (self == DType::kBool || other == DType::kBool) {
    throw Error(ErrorCode::kUnsupported,
                "Subtraction, the `-` operator, with a bool tensor is not supported.",
                "to invert a mask, use the `~` or `logical_not()` operator instead");
  }
}
template <typename First, typename Second>
Body difference(const First& self, const Second& other, const Scalar& alpha, const Tensor& out) {
  require_no_bool(self.dtype(), other.dtype());
  check_alpha(out, alpha);
  if (is_one(alpha)) return arithmetic(Sub{}, self, other, out);
  return arithmetic(AddScaled{negative(alpha)}, self, other, out);
}
Body sub(const Tensor& self, const Tensor& other, Scalar alpha, const Tensor& out) {
  return difference(self, other, alpha, out);
}
Body sub_number(const Tensor& self, Scalar other, Scalar alpha, const Tensor& out) {
  return difference(self, other, alpha, out);
}
Body rsub(const Tensor& self, const Tensor& other, Scalar alpha, const Tensor& out) {
  return difference(other, self, alpha, out);
}
Body rsub_number(const Tensor& self, Scalar other, Scalar alpha, const Tensor& out) {
  return difference(other, self, alpha, out);
}

template <typename F>
Body plain(const Tensor& self, const Tensor& other, const Tensor& out) {
  return arithmetic(F{}, self, other, out);
}
template <typename F>
Body plain_number(const Tensor& self, Scalar other, const Tensor& out) {
  return arithmetic(F{}, self, other, out);
}

Tensor rsub_parts(Context& c, const Tensor& self, const Value& other, Scalar alpha) {
  return call_with(c, "aten::sub.Tensor", {other, self}, {{"alpha", alpha}});
}

Tensor add_relu_parts(Context& c, const Tensor& self, const Tensor& other, Scalar alpha) {
  return call(c, "aten::relu", call_with(c, "aten::add.Tensor", {self, other}, {{"alpha", alpha}}));
}
Tensor add_relu_number_parts(Context& c, const Tensor& self, Scalar other, Scalar alpha) {
  return call(c, "aten::relu", call(c, "aten::add.Scalar", self, Value(other), Value(alpha)));
}

}  // namespace

void require_computable(std::string_view what, DType dtype, bool takes_bool) {
  const DTypeInfo& info = dtype_info(dtype);
  const bool is_small_float = info.is_floating && info.size == 1;
  if (info.is_quantized || is_small_float || info.per_byte > 1 || (dtype == DType::kBool && !takes_bool)) {
    fail_dtype(what, dtype);
  }
}

void define_arithmetic(Library& library) {
  library.define("aten::_add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
      .decomposition<add_relu_parts>();
  library.define("aten::_add_relu.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor")
      .decomposition<add_relu_number_parts>();
  elementwise<InOrder<PromotedType>, add>(
      library, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
      .describe<sum_epilogue>();
  elementwise<FirstNumberType, add_number>(
      library, "aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor");
  elementwise<InOrder<PromotedType>, sub>(
      library, "aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  elementwise<FirstNumberType, sub_number>(
      library, "aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor");
  elementwise<PromotedType, sub>(
      library, "aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
      .alias("aten::sub.Tensor");
  elementwise<FirstNumberType, sub_number>(
      library, "aten::subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor")
      .alias("aten::sub.Scalar");
  elementwise<PromotedType, rsub>(library,
                                  "aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
      .core_decomposition<rsub_parts>();
  elementwise<FirstNumberType, rsub_number>(
      library, "aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor")
      .core_decomposition<rsub_parts>();
  elementwise<InOrder<PromotedType>, plain<Mul>>(library,
                                                 "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor");
  elementwise<NumberType, plain_number<Mul>>(library,
                                             "aten::mul.Scalar(Tensor self, Scalar other) -> Tensor");
  elementwise<PromotedType, plain<Mul>>(library, "aten::multiply.Tensor(Tensor self, Tensor other) -> Tensor")
      .alias("aten::mul.Tensor");
  elementwise<NumberType, plain_number<Mul>>(library,
                                             "aten::multiply.Scalar(Tensor self, Scalar other) -> Tensor")
      .alias("aten::mul.Scalar");
  elementwise<InOrder<PromotedFloatType>, plain<Div>>(
      library, "aten::div.Tensor(Tensor self, Tensor other) -> Tensor");
  elementwise<NumberFloatType, plain_number<Div>>(library,
                                                  "aten::div.Scalar(Tensor self, Scalar other) -> Tensor");
  elementwise<PromotedFloatType, plain<Div>>(library,
                                             "aten::divide.Tensor(Tensor self, Tensor other) -> Tensor")
      .alias("aten::div.Tensor");
  elementwise<NumberFloatType, plain_number<Div>>(library,
                                                  "aten::divide.Scalar(Tensor self, Scalar other) -> Tensor")
      .alias("aten::div.Scalar");
  elementwise<PromotedFloatType, plain<Div>>(library,
                                             "aten::true_divide.Tensor(Tensor self, Tensor other) -> Tensor")
      .alias("aten::div.Tensor");
  elementwise<NumberFloatType, plain_number<Div>>(
      library, "aten::true_divide.Scalar(Tensor self, Scalar other) -> Tensor")
      .alias("aten::div.Scalar");
}

}  // namespace flambeau::ops
