// Gradients of losses between elements.
#include <cmath>

#include "flambeau/ops/backward/gradients.h"

namespace flambeau::ops {
namespace {

using parts::kMean;
using parts::kNone;

double share_of_each(const Tensor& self, int64_t reduction) {
  return reduction == kMean ? 1.0 / static_cast<double>(self.element_count()) : 1.0;
}

struct MseGradient {
  static constexpr std::string_view kName = "mse_loss_backward";
  double factor;
  template <RealNumber T>
  T operator()(T gradient, T a, T b) const {
    return static_cast<T>(factor) * (a - b) * gradient;
  }
};
// As steep as `slope` beyond `bend`, and straight between.
struct BentGradient {
  static constexpr std::string_view kName = "smooth_l1_loss_backward";
  double bend;
  double slope;
  double inner;
  template <RealNumber T>
  T operator()(T gradient, T a, T b) const {
    const T error = a - b;
    if (error <= static_cast<T>(-bend)) return static_cast<T>(-slope) * gradient;
    if (error >= static_cast<T>(bend)) return static_cast<T>(slope) * gradient;
    return static_cast<T>(inner) * error * gradient;
  }
};
struct SoftMarginGradient {
  static constexpr std::string_view kName = "soft_margin_loss_backward";
  static constexpr int kCost = 10;
  double factor;
  template <RealNumber T>
  T operator()(T gradient, T a, T b) const {
    const T power = std::exp(-a * b);
    return static_cast<T>(factor) * -b * power / (T(1) + power) * gradient;
  }
};
struct EntropyGradient {
  static constexpr std::string_view kName = "binary_cross_entropy_backward";
  double factor;
  template <RealNumber T>
  T operator()(T gradient, T x, T target) const {
    const T spread = (T(1) - x) * x;
    return gradient * (x - target) / (spread > T(1e-12) ? spread : T(1e-12)) * static_cast<T>(factor);
  }
  template <RealNumber T>
  T operator()(T gradient, T x, T target, T weight) const {
    return operator()(gradient, x, target) * weight;
  }
};

template <typename F>
Body of_losses(const F& function, const Tensor& gradient, const Tensor& self, const Tensor& target,
               const Tensor& out) {
  if (is_integral(out.dtype())) fail_dtype(F::kName, out.dtype());
  return body_of(F::kName, function, out.dtype(), out, gradient, self, target);
}

Body mse_loss_backward(const Tensor& gradient, const Tensor& self, const Tensor& target, Size reduction,
                       const Tensor& out) {
  return of_losses(MseGradient{2 * share_of_each(self, reduction)}, gradient, self, target, out);
}
Body smooth_l1_loss_backward(const Tensor& gradient, const Tensor& self, const Tensor& target, Size reduction,
                             double beta, const Tensor& out) {
  const double share = share_of_each(self, reduction);
  return of_losses(BentGradient{beta, share, share / beta}, gradient, self, target, out);
}
Body huber_loss_backward(const Tensor& gradient, const Tensor& self, const Tensor& target, Size reduction,
                         double delta, const Tensor& out) {
  const double share = share_of_each(self, reduction);
  return of_losses(BentGradient{delta, share * delta, share}, gradient, self, target, out);
}
Body soft_margin_loss_backward(const Tensor& gradient, const Tensor& self, const Tensor& target,
                               Size reduction, const Tensor& out) {
  return of_losses(SoftMarginGradient{share_of_each(self, reduction)}, gradient, self, target, out);
}
Body binary_cross_entropy_backward(const Tensor& gradient, const Tensor& self, const Tensor& target,
                                   const Tensor* weight, Size reduction, const Tensor& out) {
  const EntropyGradient function{share_of_each(self, reduction)};
  if (weight == nullptr) return of_losses(function, gradient, self, target, out);
  Body body =
      body_of("binary_cross_entropy_backward", function, out.dtype(), out, gradient, self, target, *weight);
  body.name = "weighted_binary_cross_entropy_backward";
  return body;
}

// ---- as large as the argument, and of its type

template <typename N>
Info<N> packed_loss(const Info<N>& gradient, const Info<N>& self, const Info<N>& target) {
  require_same_sizes("loss_backward", broadcast(broadcast(self.sizes, target.sizes), gradient.sizes),
                     self.sizes);
  return contiguous<N>(self.dtype, self.sizes, self.device);
}
template <typename N>
Info<N> plain_loss_shape(const Info<N>& gradient, const Info<N>& self, const Info<N>& target, Size) {
  return packed_loss(gradient, self, target);
}
template <typename N>
Info<N> bent_loss_shape(const Info<N>& gradient, const Info<N>& self, const Info<N>& target, Size, double) {
  return packed_loss(gradient, self, target);
}
template <typename N>
Info<N> entropy_shape(const Info<N>& gradient, const Info<N>& self, const Info<N>& target,
                      const Info<N>* weight, Size) {
  Info<N> info = packed_loss(gradient, self, target);
  if (weight != nullptr)
    require_same_sizes("loss_backward", broadcast(weight->sizes, self.sizes), self.sizes);
  info.strides = like_strides(self, MemoryFormat::kPreserve);
  return info;
}

// ---- as other operators

Tensor share_of(Context& c, const Tensor& gradient, const Tensor& self, int64_t reduction,
                double factor = 1) {
  if (reduction == kMean) {
    const SymInt count = count_of(self);
    const Tensor share = parts::div(c, gradient, count);
    return factor == 1 ? share : parts::mul(c, share, factor);
  }
  return factor == 1 ? gradient : parts::mul(c, gradient, factor);
}

Tensor mse_parts(Context& c, const Tensor& gradient, const Tensor& self, const Tensor& target,
                 Size reduction) {
  return parts::mul(c, parts::sub(c, self, target), share_of(c, gradient, self, reduction, 2));
}
Tensor bent_parts(Context& c, const Tensor& gradient, const Tensor& self, const Tensor& target,
                  int64_t reduction, double bend, double slope, double inner) {
  const Tensor share = share_of(c, gradient, self, reduction);
  const Tensor error = parts::sub(c, self, target);
  const Tensor straight = parts::mul(c, parts::mul(c, call(c, "aten::sign", error), slope), share);
  const Tensor bent = parts::mul(c, parts::mul(c, error, inner), share);
  const Tensor is_near = call(c, "aten::lt.Scalar", call(c, "aten::abs", error), bend);
  return parts::where(c, is_near, bent, straight);
}
Tensor smooth_l1_parts(Context& c, const Tensor& gradient, const Tensor& self, const Tensor& target,
                       Size reduction, double beta) {
  return bent_parts(c, gradient, self, target, reduction, beta, 1, beta == 0 ? 0 : 1 / beta);
}
Tensor huber_parts(Context& c, const Tensor& gradient, const Tensor& self, const Tensor& target,
                   Size reduction, double delta) {
  return bent_parts(c, gradient, self, target, reduction, delta, delta, 1);
}
Tensor soft_margin_parts(Context& c, const Tensor& gradient, const Tensor& self, const Tensor& target,
                         Size reduction) {
  const Tensor sigmoid = call(c, "aten::sigmoid", parts::mul(c, call(c, "aten::neg", target), self));
  const Tensor slope = parts::mul(c, call(c, "aten::neg", target), sigmoid);
  return parts::mul(c, slope, share_of(c, gradient, self, reduction));
}
Tensor entropy_parts(Context& c, const Tensor& gradient, const Tensor& self, const Tensor& target,
                     const Tensor* weight, Size reduction) {
  const Tensor spread = call(c, "aten::clamp", parts::mul(c, self, one_minus(c, self)), 1e-12);
  Tensor result = parts::div(c, parts::mul(c, gradient, parts::sub(c, self, target)), spread);
  if (weight != nullptr) result = parts::mul(c, result, *weight);
  return reduction == kMean ? parts::div(c, result, count_of(result)) : result;
}

}  // namespace

void define_loss_backward(Library& library) {
  library
      .define(
          "aten::mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor")
      .shape<plain_loss_shape<Size>, plain_loss_shape<SymInt>>()
      .body<mse_loss_backward>()
      .elementwise()
      .core_decomposition<mse_parts>();
  library
      .define(
          "aten::smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, "
          "float "
          "beta) -> Tensor")
      .shape<bent_loss_shape<Size>, bent_loss_shape<SymInt>>()
      .body<smooth_l1_loss_backward>()
      .elementwise()
      .core_decomposition<smooth_l1_parts>();
  library
      .define(
          "aten::huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float "
          "delta) -> Tensor")
      .shape<bent_loss_shape<Size>, bent_loss_shape<SymInt>>()
      .body<huber_loss_backward>()
      .elementwise()
      .core_decomposition<huber_parts>();
  library
      .define(
          "aten::soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> "
          "Tensor")
      .shape<plain_loss_shape<Size>, plain_loss_shape<SymInt>>()
      .body<soft_margin_loss_backward>()
      .elementwise()
      .core_decomposition<soft_margin_parts>();
  library
      .define(
          "aten::binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? "
          "weight=None, int reduction=1) -> Tensor")
      .shape<entropy_shape<Size>, entropy_shape<SymInt>>()
      .body<binary_cross_entropy_backward>()
      .elementwise()
      .core_decomposition<entropy_parts>();
}

}  // namespace flambeau::ops
