// Gradients of smooth activation functions, made of exponentials.
#include <cmath>
#include <numbers>

#include "flambeau/kernels/math/vector_math.h"
#include "flambeau/ops/backward/gradients.h"

namespace flambeau::ops {
namespace {

namespace vector_math = kernels::vector_math;

constexpr size_t kPiece = 512;

// A gradient of a function with a dear part: F::prepare_rows(x, parts, n) fills that of n elements, and
// F::join(gradient, x, part) gives the result.
template <typename F, typename T>
void rows_in_pieces(const F& function, const T* gradient, const T* x, T* y, size_t n) {
  T part[kPiece];
  for (size_t done = 0; done < n; done += kPiece) {
    const size_t count = std::min(kPiece, n - done);
    function.dear(x + done, part, count);
    for (size_t i = 0; i < count; ++i) y[done + i] = function.join(gradient[done + i], x[done + i], part[i]);
  }
}
#define FLAMBEAU_ROWS_IN_PIECES                                    \
  template <RealNumber T>                                          \
  void rows(const T* gradient, const T* x, T* y, size_t n) const { \
    rows_in_pieces(*this, gradient, x, y, n);                      \
  }

struct GeluGradient {
  static constexpr std::string_view kName = "gelu_backward";
  static constexpr int kCost = 10;
  template <RealNumber T>
  void rows(const T* gradient, const T* x, T* y, size_t n) const {
    T cumulative[kPiece], density[kPiece];
    for (size_t done = 0; done < n; done += kPiece) {
      const size_t count = std::min(kPiece, n - done);
      const T* const at = x + done;
      for (size_t i = 0; i < count; ++i) {
        cumulative[i] = at[i] * T(std::numbers::sqrt2 / 2);
        density[i] = at[i] * at[i] * T(-0.5);
      }
      vector_math::erf(cumulative, cumulative, count);
      vector_math::exp(density, density, count);
      constexpr T kScale = T(std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2);
      for (size_t i = 0; i < count; ++i) {
        y[done + i] = gradient[done + i] * (T(0.5) * (T(1) + cumulative[i]) + at[i] * (density[i] * kScale));
      }
    }
  }
};
struct GeluTanhGradient {
  static constexpr std::string_view kName = "gelu_tanh_backward";
  static constexpr int kCost = 8;
  template <RealNumber T>
  static constexpr T kBeta = T(std::numbers::sqrt2 * 2 * std::numbers::inv_sqrtpi / 2);
  template <RealNumber T>
  void dear(const T* x, T* part, size_t n) const {
    for (size_t i = 0; i < n; ++i) part[i] = kBeta<T> * (x[i] + T(0.044715) * (x[i] * x[i] * x[i]));
    vector_math::tanh(part, part, n);
  }
  template <typename T>
  T join(T gradient, T x, T tanh) const {
    const T inner = kBeta<T> * (T(1) + T(3 * 0.044715) * x * x);
    return gradient * (T(0.5) * (T(1) + tanh) + T(0.5) * x * (T(1) - tanh * tanh) * inner);
  }
  FLAMBEAU_ROWS_IN_PIECES
};
struct SiluGradient {
  static constexpr std::string_view kName = "silu_backward";
  static constexpr int kCost = 5;
  template <RealNumber T>
  void dear(const T* x, T* part, size_t n) const {
    vector_math::sigmoid(x, part, n);
  }
  template <typename T>
  T join(T gradient, T x, T sigmoid) const {
    return gradient * sigmoid * (T(1) + x * (T(1) - sigmoid));
  }
  FLAMBEAU_ROWS_IN_PIECES
  template <typename T>
  std::complex<T> operator()(std::complex<T> gradient, std::complex<T> x) const {
    const std::complex<T> sigmoid = T(1) / (T(1) + std::exp(-x));
    return gradient * sigmoid * (T(1) + x * (T(1) - sigmoid));
  }
};
struct MishGradient {
  static constexpr std::string_view kName = "mish_backward";
  static constexpr int kCost = 12;
  template <RealNumber T>
  void rows(const T* gradient, const T* x, T* y, size_t n) const {
    T tanh[kPiece], sigmoid[kPiece];
    for (size_t done = 0; done < n; done += kPiece) {
      const size_t count = std::min(kPiece, n - done);
      const T* const at = x + done;
      vector_math::softplus(at, tanh, count, 1, 20);
      vector_math::tanh(tanh, tanh, count);
      vector_math::sigmoid(at, sigmoid, count);
      for (size_t i = 0; i < count; ++i) {
        const T slope = T(1) - tanh[i] * tanh[i];
        y[done + i] = gradient[done + i] * (tanh[i] + at[i] * sigmoid[i] * slope);
      }
    }
  }
};
struct SoftplusGradient {
  static constexpr std::string_view kName = "softplus_backward";
  static constexpr int kCost = 5;
  double beta;
  double threshold;
  template <RealNumber T>
  void dear(const T* x, T* part, size_t n) const {
    for (size_t i = 0; i < n; ++i) part[i] = x[i] * static_cast<T>(beta);
    vector_math::exp(part, part, n);
  }
  template <typename T>
  T join(T gradient, T x, T power) const {
    return x * static_cast<T>(beta) > static_cast<T>(threshold) ? gradient
                                                                : gradient * power / (power + T(1));
  }
  FLAMBEAU_ROWS_IN_PIECES
};
struct EluGradient {
  static constexpr std::string_view kName = "elu_backward";
  static constexpr int kCost = 5;
  double negative;
  double scale;
  double input_scale;
  template <RealNumber T>
  void dear(const T* x, T* part, size_t n) const {
    for (size_t i = 0; i < n; ++i) part[i] = x[i] * static_cast<T>(input_scale);
    vector_math::exp(part, part, n);
  }
  template <typename T>
  T join(T gradient, T x, T power) const {
    if (x <= T(0)) return gradient * static_cast<T>(input_scale) * static_cast<T>(negative) * power;
    return gradient * static_cast<T>(scale);
  }
  FLAMBEAU_ROWS_IN_PIECES
};
struct EluResultGradient {
  static constexpr std::string_view kName = "elu_result_backward";
  double negative;
  double scale;
  double input_scale;
  template <RealNumber T>
  T operator()(T gradient, T result) const {
    if (result <= T(0)) return gradient * static_cast<T>(input_scale) * (result + static_cast<T>(negative));
    return gradient * static_cast<T>(scale);
  }
};
#undef FLAMBEAU_ROWS_IN_PIECES

// ---- of results

template <typename T>
T conjugate(T x) {
  if constexpr (kIsComplex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}
struct SigmoidGradient {
  static constexpr std::string_view kName = "sigmoid_backward";
  template <FloatingNumber T>
  T operator()(T gradient, T result) const {
    return gradient * conjugate((T(1) - result) * result);
  }
};
struct TanhGradient {
  static constexpr std::string_view kName = "tanh_backward";
  template <FloatingNumber T>
  T operator()(T gradient, T result) const {
    return gradient * conjugate(T(1) - result * result);
  }
};
Body gelu_backward(const Tensor& gradient, const Tensor& self, std::string_view approximate,
                   const Tensor& out) {
  if (approximate == "none") return of_floats(GeluGradient{}, gradient, self, out);
  if (approximate == "tanh") return of_floats(GeluTanhGradient{}, gradient, self, out);
  fail_argument("approximate argument must be either none or tanh.");
}
Body softplus_backward(const Tensor& gradient, const Tensor& self, Scalar beta, Scalar threshold,
                       const Tensor& out) {
  return of_floats(SoftplusGradient{beta.to_double(), threshold.to_double()}, gradient, self, out);
}
Body elu_backward(const Tensor& gradient, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result,
                  const Tensor& self_or_result, const Tensor& out) {
  const double negative = alpha.to_double() * scale.to_double();
  if (!is_result) {
    return of_floats(EluGradient{negative, scale.to_double(), input_scale.to_double()}, gradient,
                     self_or_result, out);
  }
  require(!(alpha.to_double() < 0),
          "In-place elu backward calculation is triggered with a negative slope which is not supported.");
  return of_floats(EluResultGradient{negative, scale.to_double(), input_scale.to_double()}, gradient,
                   self_or_result, out);
}
// ---- as other operators

Tensor sigmoid_parts(Context& c, const Tensor& gradient, const Tensor& result) {
  return parts::mul(c, gradient, conj_of(c, parts::mul(c, result, one_minus(c, result))));
}
Tensor tanh_parts(Context& c, const Tensor& gradient, const Tensor& result) {
  return parts::mul(c, gradient, conj_of(c, one_minus(c, call(c, "aten::pow.Tensor_Scalar", result, 2))));
}
Tensor silu_parts(Context& c, const Tensor& gradient, const Tensor& self) {
  const Tensor sigmoid = call(c, "aten::sigmoid", self);
  const Tensor rise = parts::add(c, parts::mul(c, self, one_minus(c, sigmoid)), 1);
  return parts::mul(c, parts::mul(c, gradient, sigmoid), rise);
}
Tensor mish_parts(Context& c, const Tensor& gradient, const Tensor& self) {
  const Tensor tanh = call(c, "aten::tanh", call(c, "aten::softplus", self));
  const Tensor sigmoid = call(c, "aten::sigmoid", self);
  const Tensor slope = one_minus(c, parts::mul(c, tanh, tanh));
  const Tensor rest = parts::mul(c, parts::mul(c, self, sigmoid), slope);
  return parts::mul(c, gradient, parts::add(c, tanh, rest));
}
Tensor gelu_slope(Context& c, const Tensor& self, std::string_view approximate) {
  const double root = std::numbers::sqrt2;
  Tensor slope;
  if (approximate == "tanh") {
    const double beta = root * std::numbers::inv_sqrtpi;
    const Tensor square = parts::mul(c, self, self);
    const Tensor inner =
        scaled(c, parts::add(c, self, scaled(c, parts::mul(c, square, self), 0.044715)), beta);
    const Tensor tanh = call(c, "aten::tanh", inner);
    const Tensor left = scaled(c, parts::add(c, tanh, 1), 0.5);
    const Tensor bend = parts::mul(c, scaled(c, self, 0.5), one_minus(c, parts::mul(c, tanh, tanh)));
    const Tensor inner_slope = scaled(c, parts::add(c, scaled(c, square, 3 * 0.044715), 1), beta);
    slope = parts::add(c, left, parts::mul(c, bend, inner_slope));
  } else {
    const Tensor erf = call(c, "aten::erf", scaled(c, self, root / 2));
    const Tensor cumulative = scaled(c, parts::add(c, erf, 1), 0.5);
    const Tensor density = scaled(c, call(c, "aten::exp", scaled(c, parts::mul(c, self, self), -0.5)),
                                  std::numbers::inv_sqrtpi * root / 2);
    slope = parts::add(c, cumulative, parts::mul(c, self, density));
  }
  return slope;
}
Tensor gelu_parts(Context& c, const Tensor& gradient, const Tensor& self, std::string_view approximate) {
  return parts::mul(c, gradient, gelu_slope(c, self, approximate));
}
Tensor softplus_parts(Context& c, const Tensor& gradient, const Tensor& self, Scalar beta, Scalar threshold) {
  const Tensor at = scaled(c, self, beta);
  const Tensor power = call(c, "aten::exp", at);
  const Tensor soft = parts::div(c, parts::mul(c, gradient, power), parts::add(c, power, 1));
  return parts::where(c, call(c, "aten::gt.Scalar", at, threshold), gradient, soft);
}
Tensor elu_parts(Context& c, const Tensor& gradient, Scalar alpha, Scalar scale, Scalar input_scale,
                 bool is_result, const Tensor& given) {
  const double negative = alpha.to_double() * scale.to_double();
  Tensor below;
  if (is_result) {
    below = parts::mul(c, scaled(c, gradient, input_scale), parts::add(c, given, negative));
  } else {
    const Tensor power = call(c, "aten::exp", scaled(c, given, input_scale));
    below = parts::mul(c, scaled(c, gradient, input_scale.to_double() * negative), power);
  }
  return parts::where(c, call(c, "aten::le.Scalar", given, 0), below, scaled(c, gradient, scale));
}
// One that can be differentiated again, for all that it is made of can.
Tensor endless_gelu(Context& c, const Tensor& gradient, const Tensor& self) {
  return parts::mul(c, gelu_slope(c, self, "none"), gradient);
}

}  // namespace

void define_smooth_backward(Library& library) {
  using P = PromotedType;
  elementwise<P, plain_gradient<SigmoidGradient>>(
      library, "aten::sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor")
      .core_decomposition<sigmoid_parts>();
  elementwise<P, plain_gradient<TanhGradient>>(
      library, "aten::tanh_backward(Tensor grad_output, Tensor output) -> Tensor")
      .core_decomposition<tanh_parts>();
  elementwise<P, plain_gradient<SiluGradient>>(
      library, "aten::silu_backward(Tensor grad_output, Tensor self) -> Tensor")
      .composite<silu_parts>();
  elementwise<P, plain_gradient<MishGradient>>(
      library, "aten::mish_backward(Tensor grad_output, Tensor self) -> Tensor")
      .composite<mish_parts>();
  elementwise<P, gelu_backward>(
      library, "aten::gelu_backward(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> Tensor")
      .core_decomposition<gelu_parts>();
  elementwise<P, softplus_backward>(
      library,
      "aten::softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor")
      .core_decomposition<softplus_parts>();
  elementwise<P, elu_backward>(
      library,
      "aten::elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool "
      "is_result, Tensor self_or_result) -> Tensor")
      .core_decomposition<elu_parts>();
  library.define("aten::infinitely_differentiable_gelu_backward(Tensor grad, Tensor self) -> Tensor")
      .composite<endless_gelu>();
}

}  // namespace flambeau::ops
