// Gradients of activation functions with bends, of those with weights, and of dropout.
#include <limits>

#include "flambeau/ops/backward/gradients.h"

namespace flambeau::ops {
namespace {

// Some lie as the argument does, whatever the order of the gradient: PyTorch has it first.
template <typename N>
Info<N> after_self(const Info<N>& gradient, const Info<N>& self) {
  return elementwise_info<N>(result_type(gradient, self), self, gradient);
}
template <typename N>
Info<N> threshold_shape(const Info<N>& gradient, const Info<N>& self, Scalar) {
  return after_self(gradient, self);
}
template <typename N>
Info<N> leaky_relu_shape(const Info<N>& gradient, const Info<N>& self, Scalar, bool) {
  return after_self(gradient, self);
}

struct HardSwishGradient {
  static constexpr std::string_view kName = "hardswish_backward";
  template <RealNumber T>
  T operator()(T gradient, T x) const {
    return x <= T(-3) ? T(0) : x < T(3) ? gradient * (x / T(3) + T(0.5)) : gradient;
  }
};
struct HardSigmoidGradient {
  static constexpr std::string_view kName = "hardsigmoid_backward";
  template <RealNumber T>
  T operator()(T gradient, T x) const {
    return x > T(-3) && x < T(3) ? gradient * T(1.0 / 6) : T(0);
  }
};
struct LogSigmoidGradient {
  static constexpr std::string_view kName = "log_sigmoid_backward";
  template <RealNumber T>
  T operator()(T gradient, T x, T power) const {
    const T share = power / (T(1) + power);
    return gradient * (x < T(0) ? T(1) - share : share);
  }
};

// The gradient, or nothing where the argument is in [low, high], or outside of it.
struct OutsideGradient {
  static constexpr std::string_view kName = "shrink_backward";
  double low;
  double high;
  template <RealNumber T>
  T operator()(T gradient, T x) const {
    return x >= static_cast<T>(low) && x <= static_cast<T>(high) ? T(0) : gradient;
  }
};
struct InsideGradient {
  static constexpr std::string_view kName = "hardtanh_backward";
  double low;
  double high;
  template <RealNumber T>
  T operator()(T gradient, T x) const {
    return x <= static_cast<T>(low) || x >= static_cast<T>(high) ? T(0) : gradient;
  }
};
struct AboveGradient {
  static constexpr std::string_view kName = "threshold_backward";
  static constexpr bool kTakesBool = false;
  KnownNumber threshold;
  template <OrderedNumber T>
  auto prepare() const {
    return [at = number<T>(threshold)](T gradient, T x) { return x <= at ? T(0) : gradient; };
  }
};
struct SlopeGradient {
  static constexpr std::string_view kName = "leaky_relu_backward";
  double slope;
  template <RealNumber T>
  T operator()(T gradient, T x) const {
    return x > T(0) ? gradient : gradient * static_cast<T>(slope);
  }
};
struct LogitGradient {
  static constexpr std::string_view kName = "logit_backward";
  double epsilon;  // negative: none
  template <RealNumber T>
  T operator()(T gradient, T x) const {
    const T low = epsilon < 0 ? T(0) : static_cast<T>(epsilon);
    const T high = T(1) - low;
    if (x < low || x > high) return epsilon < 0 ? std::numeric_limits<T>::quiet_NaN() : T(0);
    if (x == T(0) || x == T(1)) return gradient * std::numeric_limits<T>::infinity();
    return gradient / (x * (T(1) - x));
  }
};

Body hardtanh_backward(const Tensor& gradient, const Tensor& self, Scalar low, Scalar high,
                       const Tensor& out) {
  return of_floats(InsideGradient{low.to_double(), high.to_double()}, gradient, self, out);
}
Body shrink_backward(const Tensor& gradient, const Tensor& self, Scalar lambda, const Tensor& out) {
  return of_floats(OutsideGradient{-lambda.to_double(), lambda.to_double()}, gradient, self, out);
}
Body threshold_backward(const Tensor& gradient, const Tensor& self, Scalar threshold, const Tensor& out) {
  return body_of(AboveGradient::kName, AboveGradient{threshold}, out.dtype(), out, gradient, self);
}
Body leaky_relu_backward(const Tensor& gradient, const Tensor& self, Scalar slope, bool self_is_result,
                         const Tensor& out) {
  require(!self_is_result || !(slope.to_double() < 0),
          "In-place leakyReLu backward calculation is triggered with a negative slope which is not "
          "supported.");
  return of_floats(SlopeGradient{slope.to_double()}, gradient, self, out);
}
Body logit_backward(const Tensor& gradient, const Tensor& self, std::optional<double> eps,
                    const Tensor& out) {
  return of_floats(LogitGradient{eps.value_or(-1)}, gradient, self, out);
}
Body log_sigmoid_backward(const Tensor& gradient, const Tensor& self, const Tensor& buffer,
                          const Tensor& out) {
  if (is_integral(out.dtype())) fail_dtype(LogSigmoidGradient::kName, out.dtype());
  return body_of(LogSigmoidGradient::kName, LogSigmoidGradient{}, out.dtype(), out, gradient, self, buffer);
}

// ---- as other operators

Tensor hardswish_parts(Context& c, const Tensor& gradient, const Tensor& self) {
  const Tensor bent = parts::mul(c, gradient, parts::add(c, parts::div(c, self, 3), 0.5));
  const Tensor upper = parts::where(c, call(c, "aten::lt.Scalar", self, 3), bent, gradient);
  return parts::where(c, call(c, "aten::le.Scalar", self, -3), nothing_like(c, gradient), upper);
}
Tensor hardsigmoid_parts(Context& c, const Tensor& gradient, const Tensor& self) {
  const Tensor is_bent =
      call(c, "aten::logical_and", call(c, "aten::gt.Scalar", self, -3), call(c, "aten::lt.Scalar", self, 3));
  return parts::where(c, is_bent, scaled(c, gradient, 1.0 / 6), nothing_like(c, gradient));
}
Tensor hardtanh_parts(Context& c, const Tensor& gradient, const Tensor& self, Scalar low, Scalar high) {
  const Tensor is_flat = call(c, "aten::logical_or", call(c, "aten::le.Scalar", self, low),
                              call(c, "aten::ge.Scalar", self, high));
  return parts::where(c, is_flat, nothing_like(c, gradient), gradient);
}
Tensor threshold_parts(Context& c, const Tensor& gradient, const Tensor& self, Scalar threshold) {
  const Tensor is_flat = call(c, "aten::le.Scalar", self, threshold);
  return parts::where(c, is_flat, nothing_like(c, gradient), gradient);
}
Tensor leaky_relu_parts(Context& c, const Tensor& gradient, const Tensor& self, Scalar slope, bool) {
  return parts::where(c, call(c, "aten::gt.Scalar", self, 0), gradient, scaled(c, gradient, slope));
}
Tensor logit_parts(Context& c, const Tensor& gradient, const Tensor& self, std::optional<double> eps) {
  const double low = eps.value_or(0);
  const Tensor inside = call(c, "aten::logical_and", call(c, "aten::ge.Scalar", self, low),
                             call(c, "aten::le.Scalar", self, 1.0 - low));
  const Tensor slope = parts::div(c, gradient, parts::mul(c, self, one_minus(c, self)));
  const double outside = eps ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  return parts::where(c, inside, slope, parts::scalar(c, outside, self));
}
Tensor log_sigmoid_parts(Context& c, const Tensor& gradient, const Tensor& self, const Tensor&) {
  const Tensor is_negative = call(c, "aten::lt.Scalar", self, 0);
  const Tensor power = call(c, "aten::exp", call(c, "aten::neg", call(c, "aten::abs", self)));
  const Tensor share = parts::div(c, power, parts::add(c, power, 1));
  return parts::mul(c, gradient, parts::where(c, is_negative, one_minus(c, share), share));
}

// ---- with weights

template <bool kIsOfWeight>
struct PreluGradient {
  static constexpr std::string_view kName = kIsOfWeight ? "prelu_weight_backward" : "prelu_backward";
  template <RealNumber T>
  T operator()(T gradient, T x, T weight) const {
    if constexpr (kIsOfWeight) return x > T(0) ? T(0) : x * gradient;
    return x > T(0) ? gradient : weight * gradient;
  }
};
template <typename N>
std::tuple<Info<N>, Info<N>> prelu_shape(const Info<N>& gradient, const Info<N>& self,
                                         const Info<N>& weight) {
  const Info<N> info = elementwise_info<N>(result_type(gradient, self, weight), self, weight, gradient);
  return {info, info};
}
void prelu_kernel(Context& context, const Tensor& gradient, const Tensor& self, const Tensor& weight,
                  Tensor& of_self, Tensor& of_weight) {
  if (!is_floating(of_self.dtype())) fail_dtype("prelu_backward", of_self.dtype());
  map(context, "prelu_backward", PreluGradient<false>{}, of_self.dtype(), of_self, gradient, self, weight);
  map(context, "prelu_backward", PreluGradient<true>{}, of_self.dtype(), of_weight, gradient, self, weight);
}
std::tuple<Tensor, Tensor> prelu_parts(Context& c, const Tensor& gradient, const Tensor& self,
                                       const Tensor& weight) {
  const Tensor is_positive = call(c, "aten::gt.Scalar", self, 0);
  const Tensor of_self = parts::where(c, is_positive, gradient, parts::mul(c, weight, gradient));
  const Tensor of_weight =
      parts::where(c, is_positive, nothing_like(c, gradient), parts::mul(c, self, gradient));
  return {of_self, of_weight};
}

// Of the two halves along a dimension; the gradient is as large as one.
template <typename N>
Info<N> glu_shape(const Info<N>& gradient, const Info<N>& self, Size dim) {
  if (self.dim() == 0) fail_argument("glu does not support 0-dimensional tensors");
  const size_t d = wrap_dim(dim, self.dim());
  if (!(modulo(self.sizes[d], N(2)) == N(0))) {
    fail_argument("Halving dimension must be even, but dimension " + std::to_string(d) + " is size " +
                  number_text(self.sizes[d]));
  }
  ShortList<N> half = self.sizes;
  half[d] = floor_div(self.sizes[d], N(2));
  require_same_sizes("glu_backward", gradient.sizes, half);
  return contiguous<N>(self.dtype, self.sizes, self.device);
}
Tensor glu_parts(Context& c, const Tensor& gradient, const Tensor& self, Size dim) {
  const int64_t d = wrapped_dim(dim, rank_of(self));
  const SymInt half = floor_div(size_of(self, d), SymInt(2));
  const Tensor first = call(c, "aten::narrow", self, d, SymInt(0), half);
  const Tensor second = call(c, "aten::narrow", self, d, half, half);
  const Tensor sigmoid = call(c, "aten::sigmoid", second);
  const Tensor of_first = parts::mul(c, sigmoid, gradient);
  const Tensor slope = parts::mul(c, one_minus(c, sigmoid), sigmoid);
  const Tensor of_second = parts::mul(c, parts::mul(c, slope, first), gradient);
  return call(c, "aten::cat", TensorList{of_first, of_second}, d);
}
// Rounded once, whatever the type.
void glu_kernel(Context& context, const Tensor& gradient, const Tensor& self, Size dim, Tensor& out) {
  if (!is_floating(self.dtype())) fail_dtype("glu_backward_cpu", self.dtype());
  Context inner = context.without_interceptor();
  const DType wide = compute_dtype(self.dtype());
  copy_into(context,
            glu_parts(inner, packed_as(context, gradient, wide), packed_as(context, self, wide), dim), out);
}

Tensor rrelu_parts(Context& c, const Tensor& gradient, const Tensor& self, const Tensor& noise, Scalar lower,
                   Scalar upper, bool training, bool self_is_result) {
  if (training && upper.to_double() - lower.to_double() > 1e-6) return parts::mul(c, noise, gradient);
  return call(c, "aten::leaky_relu_backward", gradient, self, (lower.to_double() + upper.to_double()) / 2,
              self_is_result);
}

struct DropoutGradient {
  static constexpr std::string_view kName = "native_dropout_backward";
  KnownNumber scale;
  template <FloatingNumber T>
  auto prepare() const {
    return [factor = number<T>(scale)](T gradient, T mask) { return gradient * mask * factor; };
  }
};
Body dropout_backward(const Tensor& gradient, const Tensor& mask, double scale, const Tensor& out) {
  if (mask.dtype() != DType::kBool) {
    fail_argument("Mask should be Bool Scalar Type, but got " + std::string(dtype_name(mask.dtype())));
  }
  return body_of(DropoutGradient::kName, DropoutGradient{Scalar(scale)}, out.dtype(), out, gradient, mask);
}
Tensor dropout_parts(Context& c, const Tensor& gradient, const Tensor& mask, double scale) {
  return parts::mul(c, gradient, scaled(c, parts::to_dtype(c, mask, gradient.dtype()), scale));
}

}  // namespace

void define_activation_backward(Library& library) {
  using P = PromotedType;
  elementwise<P, plain_gradient<HardSwishGradient>>(
      library, "aten::hardswish_backward(Tensor grad_output, Tensor self) -> Tensor")
      .core_decomposition<hardswish_parts>();
  elementwise<P, plain_gradient<HardSigmoidGradient>>(
      library, "aten::hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor")
      .core_decomposition<hardsigmoid_parts>();
  elementwise<P, hardtanh_backward>(
      library,
      "aten::hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor")
      .core_decomposition<hardtanh_parts>();
  elementwise<P, shrink_backward>(
      library, "aten::softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor");
  elementwise<P, shrink_backward>(
      library, "aten::hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor");
  library.define("aten::threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor")
      .shape<threshold_shape<Size>, threshold_shape<SymInt>>()
      .body<threshold_backward>()
      .elementwise()
      .core_decomposition<threshold_parts>();
  library
      .define(
          "aten::leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool "
          "self_is_result) -> Tensor")
      .shape<leaky_relu_shape<Size>, leaky_relu_shape<SymInt>>()
      .body<leaky_relu_backward>()
      .elementwise()
      .core_decomposition<leaky_relu_parts>();
  elementwise<P, logit_backward>(
      library, "aten::logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor")
      .core_decomposition<logit_parts>();
  elementwise<P, log_sigmoid_backward>(
      library, "aten::log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor")
      .core_decomposition<log_sigmoid_parts>();
  elementwise<FloatType, dropout_backward>(
      library, "aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor")
      .core_decomposition<dropout_parts>();
  library
      .define(
          "aten::_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)")
      .shape<prelu_shape<Size>, prelu_shape<SymInt>>()
      .kernel<prelu_kernel>()
      .core_decomposition<prelu_parts>();
  library.define("aten::glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor")
      .shape<glu_shape<Size>, glu_shape<SymInt>>()
      .kernel<glu_kernel>()
      .core_decomposition<glu_parts>();
  library
      .define(
          "aten::rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, "
          "Scalar upper, bool training, bool self_is_result) -> Tensor")
      .decomposition<rrelu_parts>();
}

}  // namespace flambeau::ops
