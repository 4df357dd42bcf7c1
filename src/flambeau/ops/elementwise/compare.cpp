// Comparisons and tests: results are bool.
#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/ops/elementwise/kernels.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/tensor/dtype_words.h"

namespace flambeau::ops {
namespace {

// Float, double and int64 have hot loops; these expressions serve the other types.
#define FLAMBEAU_COMPARISON(Name, text, Concept, op) \
  struct Name {                                      \
    static constexpr std::string_view kName = text;  \
    static constexpr Hot kHot = Hot::k##Name;        \
    template <Concept T>                             \
    bool operator()(T a, T b) const {                \
      return a op b;                                 \
    }                                                \
  };
template <typename T>
concept AnyNumber = true;
FLAMBEAU_COMPARISON(Eq, "eq", AnyNumber, ==)
FLAMBEAU_COMPARISON(Ne, "ne", AnyNumber, !=)
FLAMBEAU_COMPARISON(Lt, "lt", OrderedNumber, <)
FLAMBEAU_COMPARISON(Le, "le", OrderedNumber, <=)
FLAMBEAU_COMPARISON(Gt, "gt", OrderedNumber, >)
FLAMBEAU_COMPARISON(Ge, "ge", OrderedNumber, >=)
#undef FLAMBEAU_COMPARISON

struct IsNan {
  static constexpr std::string_view kName = "isnan";
  static constexpr Hot kHot = Hot::kIsNan;
  template <typename T>
  bool operator()(T a) const {
    return a != a;
  }
};
struct IsInf {
  static constexpr std::string_view kName = "isinf";
  static constexpr Hot kHot = Hot::kIsInf;
  template <typename T>
  bool operator()(std::complex<T> a) const {
    return std::isinf(a.real()) || std::isinf(a.imag());
  }
};
struct IsFinite {
  static constexpr std::string_view kName = "isfinite";
  static constexpr Hot kHot = Hot::kIsFinite;
  template <typename T>
  bool operator()(std::complex<T> a) const {
    return std::isfinite(a.real()) && std::isfinite(a.imag());
  }
};
struct IsPositiveInf {
  static constexpr std::string_view kName = "isposinf";
  template <RealNumber T>
  bool operator()(T a) const {
    return a == std::numeric_limits<T>::infinity();
  }
};
struct IsNegativeInf {
  static constexpr std::string_view kName = "isneginf";
  template <RealNumber T>
  bool operator()(T a) const {
    return a == -std::numeric_limits<T>::infinity();
  }
};
struct IsReal {
  static constexpr std::string_view kName = "isreal";
  template <typename T>
  bool operator()(std::complex<T> a) const {
    return a.imag() == T(0);
  }
};
struct SignBit {
  static constexpr std::string_view kName = "signbit";
  template <RealNumber T>
  bool operator()(T a) const {
    return std::signbit(a);
  }
  template <IntegerNumber T>
  bool operator()(T a) const {
    return a < T(0);
  }
};

// Integers have neither NaN nor infinities: the answer is the same for all.
template <typename F, bool kOfIntegers>
Body test_floats(const Tensor& self, const Tensor& out) {
  if (is_integral(self.dtype())) return copy_body(Scalar(kOfIntegers), out);
  return test<F>(self, out);
}
Body is_real(const Tensor& self, const Tensor& out) {
  if (!is_complex(self.dtype())) return copy_body(Scalar(true), out);
  return test<IsReal>(self, out);
}

Tensor is_close(Context& context, const Tensor& self, const Tensor& other, double rtol, double atol,
                bool equal_nan) {
  if (self.dtype() != other.dtype()) {
    throw Error(ErrorCode::kInvalidArgument, std::string(dtype_word(self.dtype())) + " did not match " +
                                                 std::string(dtype_word(other.dtype())));
  }
  if (rtol < 0 || atol < 0) {
    throw Error(ErrorCode::kInvalidArgument, "rtol and atol must be greater than or equal to zero");
  }
  Tensor close = call(context, "aten::eq.Tensor", self, other);
  if (equal_nan && !is_integral(self.dtype())) {
    close = call(context, "aten::bitwise_or.Tensor", close,
                 call(context, "aten::bitwise_and.Tensor", call(context, "aten::isnan", self),
                      call(context, "aten::isnan", other)));
  }
  if (rtol == 0 && atol == 0) return close;
  // Integers are compared as floats, so that products with rtol are none of theirs.
  const Tensor a = is_integral(self.dtype()) ? call(context, "aten::mul.Scalar", self, 1.0) : self;
  const Tensor b = is_integral(other.dtype()) ? call(context, "aten::mul.Scalar", other, 1.0) : other;
  const Tensor allowed = call(context, "aten::add.Scalar",
                              call(context, "aten::abs", call(context, "aten::mul.Scalar", b, rtol)), atol);
  const Tensor error = call(context, "aten::abs", call(context, "aten::sub.Tensor", a, b));
  const Tensor is_small = call(context, "aten::le.Tensor", error, allowed);
  const Tensor is_finite = call(context, "aten::isfinite", error);
  const Tensor is_near = call(context, "aten::bitwise_and.Tensor", is_finite, is_small);
  return call(context, "aten::bitwise_or.Tensor", close, is_near);
}

Tensor is_finite_parts(Context& c, const Tensor& self) {
  const Tensor is_bounded =
      call(c, "aten::ne.Scalar", call(c, "aten::abs", self), std::numeric_limits<double>::infinity());
  return parts::mul(c, call(c, "aten::eq.Tensor", self, self), is_bounded);
}
template <bool kPositive>
Tensor is_infinity_parts(Context& c, const Tensor& self) {
  const double infinity = std::numeric_limits<double>::infinity();
  return call(c, "aten::eq.Scalar", self, kPositive ? infinity : -infinity);
}
std::optional<Tensor> is_real_parts(Context& c, const Tensor& self) {
  if (is_complex(self.dtype())) return std::nullopt;
  return call_with(
      c, "aten::full_like", {self, true},
      {{"dtype", DType::kBool}, {"pin_memory", false}, {"memory_format", MemoryFormat::kPreserve}});
}

#define FLAMBEAU_COMPARISON(name, F)                                                                        \
  elementwise<BoolType, compare<F>>(library, "aten::" name ".Tensor(Tensor self, Tensor other) -> Tensor"); \
  elementwise<NumberBoolType, compare_number<F>>(                                                           \
      library, "aten::" name ".Scalar(Tensor self, Scalar other) -> Tensor")
#define FLAMBEAU_COMPARISON_ALIAS(name, of, F)                                                             \
  elementwise<BoolType, compare<F>>(library, "aten::" name ".Tensor(Tensor self, Tensor other) -> Tensor") \
      .alias("aten::" of ".Tensor");                                                                       \
  elementwise<NumberBoolType, compare_number<F>>(                                                          \
      library, "aten::" name ".Scalar(Tensor self, Scalar other) -> Tensor")                               \
      .alias("aten::" of ".Scalar")

}  // namespace

void define_compare(Library& library) {
  FLAMBEAU_COMPARISON("eq", Eq);
  FLAMBEAU_COMPARISON("ne", Ne);
  FLAMBEAU_COMPARISON("lt", Lt);
  FLAMBEAU_COMPARISON("le", Le);
  FLAMBEAU_COMPARISON("gt", Gt);
  FLAMBEAU_COMPARISON("ge", Ge);
  FLAMBEAU_COMPARISON_ALIAS("not_equal", "ne", Ne);
  FLAMBEAU_COMPARISON_ALIAS("less", "lt", Lt);
  FLAMBEAU_COMPARISON_ALIAS("less_equal", "le", Le);
  FLAMBEAU_COMPARISON_ALIAS("greater", "gt", Gt);
  FLAMBEAU_COMPARISON_ALIAS("greater_equal", "ge", Ge);
  elementwise<BoolType, test_floats<IsNan, false>>(library, "aten::isnan(Tensor self) -> Tensor");
  elementwise<BoolType, test_floats<IsInf, false>>(library, "aten::isinf(Tensor self) -> Tensor");
  elementwise<BoolType, test_floats<IsFinite, true>>(library, "aten::isfinite(Tensor self) -> Tensor")
      .composite<is_finite_parts>();
  elementwise<BoolType, test_floats<IsPositiveInf, false>>(library, "aten::isposinf(Tensor self) -> Tensor")
      .core_decomposition<is_infinity_parts<true>>();
  elementwise<BoolType, test_floats<IsNegativeInf, false>>(library, "aten::isneginf(Tensor self) -> Tensor")
      .core_decomposition<is_infinity_parts<false>>();
  elementwise<BoolType, is_real>(library, "aten::isreal(Tensor self) -> Tensor").composite<is_real_parts>();
  elementwise<BoolType, test<SignBit>>(library, "aten::signbit(Tensor self) -> Tensor");
  library
      .define(
          "aten::isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, "
          "bool "
          "equal_nan=False) -> Tensor")
      .composite<is_close>();
}

}  // namespace flambeau::ops
