// Losses between elements, and their sum or mean.
#include <numbers>

#include "flambeau/base/error.h"
#include "flambeau/ops/elementwise/kernels.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

Tensor mse_loss(Context& c, const Tensor& self, const Tensor& target, Size reduction) {
  const Tensor error = parts::sub(c, self, target);
  return parts::reduce(c, call(c, "aten::pow.Tensor_Scalar", error, 2), reduction);
}
Tensor distance_of(Context& c, const Tensor& self, const Tensor& target) {
  return call(c, "aten::abs", parts::sub(c, self, target));
}
Tensor l1_loss(Context& c, const Tensor& self, const Tensor& target, Size reduction) {
  return parts::reduce(c, distance_of(c, self, target), reduction);
}

// Squared near zero, straight beyond `bend`; the square's factor is 1/2 over `scale`.
struct Bent {
  static constexpr std::string_view kName = "huber_loss";
  double bend;
  double square_factor;
  double slope;
  template <RealNumber T>
  auto prepare() const {
    return [at = T(bend), square = T(square_factor), straight = T(slope)](T a, T b) {
      const T error = a - b < T(0) ? b - a : a - b;
      return error < at ? square * error * error : straight * (error - T(0.5) * at);
    };
  }
};
template <bool kIsHuber>
struct BentLoss {
  static void kernel(Context& context, const Tensor& self, const Tensor& target, double bend, Tensor& out) {
    const Bent function = kIsHuber ? Bent{bend, 0.5, bend} : Bent{bend, bend == 0 ? 0 : 0.5 / bend, 1.0};
    map(context, Bent::kName, function, out.dtype(), out, self, target);
  }
  static Tensor loss(Context& context, const Tensor& self, const Tensor& target, Size reduction,
                     double bend) {
    if (kIsHuber ? !(bend > 0) : bend < 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  kIsHuber ? "huber_loss does not support non-positive values for delta."
                           : "smooth_l1_loss does not support negative values for beta.");
    }
    const Info<Size> info = elementwise_info<Size>(result_type(self, target), info_of(self), info_of(target));
    Tensor out = context.allocate(info);
    if (out.element_count() > 0 && !out.is_meta()) kernel(context, self, target, bend, out);
    return parts::reduce(context, out, reduction);
  }
};

template <typename N>
Info<N> bent_shape(const Info<N>& self, const Info<N>& target, Size reduction, double) {
  const Info<N> each = elementwise_info<N>(result_type(self, target), self, target);
  return reduction == 0 ? each : contiguous<N>(each.dtype, {}, each.device);
}

Tensor smooth_l1_parts(Context& c, const Tensor& self, const Tensor& target, Size reduction, double beta) {
  const Tensor far = distance_of(c, self, target);
  if (beta == 0) return parts::reduce(c, far, reduction);
  const Tensor is_near = call(c, "aten::lt.Scalar", far, beta);
  const Tensor square = call(c, "aten::pow.Tensor_Scalar", far, 2);
  const Tensor near = parts::div(c, parts::mul(c, square, 0.5), beta);
  return parts::reduce(c, parts::where(c, is_near, near, parts::sub(c, far, 0.5 * beta)), reduction);
}
Tensor huber_parts(Context& c, const Tensor& self, const Tensor& target, Size reduction, double delta) {
  const Tensor far = distance_of(c, self, target);
  const Tensor is_near = call(c, "aten::lt.Scalar", far, delta);
  const Tensor near = parts::mul(c, parts::mul(c, far, 0.5), far);
  const Tensor straight = parts::mul(c, parts::sub(c, far, 0.5 * delta), delta);
  return parts::reduce(c, parts::where(c, is_near, near, straight), reduction);
}

Tensor weighted_loss(Context& c, const Tensor& loss, const Tensor* weight, int64_t reduction) {
  return parts::reduce(c, weight == nullptr ? loss : parts::mul(c, loss, *weight), reduction);
}

// Logarithms are held above -100, so that no loss is infinite.
Tensor binary_cross_entropy(Context& c, const Tensor& self, const Tensor& target, const Tensor* weight,
                            Size reduction) {
  if (!(sizes_of(target) == sizes_of(self))) {  // in PyTorch's order, in which it becomes a guard
    throw Error(ErrorCode::kInvalidArgument, "Using a target size (" + sizes_text(sizes_of(target)) +
                                                 ") that is different to the input size (" +
                                                 sizes_text(sizes_of(self)) + ")");
  }
  const auto bounded = [&](const Tensor& logarithm) {
    return call(c, "aten::maximum", logarithm, parts::full(c, {}, -100, self));
  };
  const Tensor log_zero = bounded(call(c, "aten::log1p", call(c, "aten::neg", self)));
  const Tensor of_zero = parts::mul(c, parts::sub(c, target, 1), log_zero);
  const Tensor of_one = parts::mul(c, target, bounded(call(c, "aten::log", self)));
  return weighted_loss(c, parts::sub(c, of_zero, of_one), weight, reduction);
}

Tensor binary_cross_entropy_with_logits(Context& c, const Tensor& self, const Tensor& target,
                                        const Tensor* weight, const Tensor* pos_weight, Size reduction) {
  Tensor log_one = call(c, "aten::log_sigmoid", self);
  if (pos_weight != nullptr) {
    const Tensor more = parts::mul(c, parts::sub(c, *pos_weight, 1), target);
    log_one = parts::mul(c, parts::add(c, more, 1), log_one);
  }
  const Tensor of_zero = parts::mul(c, parts::sub(c, 1, target), self);
  return weighted_loss(c, parts::sub(c, of_zero, log_one), weight, reduction);
}

Tensor soft_margin_loss(Context& c, const Tensor& self, const Tensor& target, Size reduction) {
  const Tensor product = parts::mul(c, call(c, "aten::neg", self), target);
  return parts::reduce(c, call(c, "aten::log1p", call(c, "aten::exp", product)), reduction);
}

Tensor kl_div(Context& c, const Tensor& self, const Tensor& target, Size reduction, bool log_target) {
  Tensor loss;
  if (log_target) {
    loss = parts::mul(c, call(c, "aten::exp", target), parts::sub(c, target, self));
  } else {
    const Tensor entropy = call(c, "aten::xlogy.Tensor", target, target);
    loss = parts::sub(c, entropy, parts::mul(c, target, self));
  }
  return parts::reduce(c, loss, reduction);
}

Tensor margin_ranking_loss(Context& c, const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin, Size reduction) {
  const Tensor product = parts::mul(c, call(c, "aten::neg", target), parts::sub(c, input1, input2));
  const Tensor loss = call(c, "aten::clamp_min", call(c, "aten::add.Scalar", product, margin), 0);
  return parts::reduce(c, loss, reduction);
}

Tensor hinge_embedding_loss(Context& c, const Tensor& self, const Tensor& target, double margin,
                            Size reduction) {
  const Tensor zeros =
      call_with(c, "aten::zeros_like", {self}, {{"memory_format", MemoryFormat::kContiguous}});
  const Tensor margins = call(c, "aten::fill.Scalar", call(c, "aten::empty_like", self), margin);
  const Tensor far = call(c, "aten::clamp_min", parts::sub(c, margins, self), 0);
  const Tensor negative = parts::where(c, call(c, "aten::ne.Scalar", target, 1), far, zeros);
  const Tensor positive = parts::where(c, call(c, "aten::ne.Scalar", target, -1), self, zeros);
  return parts::reduce(c, parts::add(c, negative, positive), reduction);
}

Tensor triplet_margin_loss(Context& c, const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, bool swap, Size reduction) {
  const auto far = [&](const Tensor& a, const Tensor& b) {
    return call(c, "aten::pairwise_distance", a, b, p, eps);
  };
  const Tensor to_positive = far(anchor, positive);
  Tensor to_negative = far(anchor, negative);
  if (swap) to_negative = call(c, "aten::minimum", to_negative, far(positive, negative));
  const Tensor loss = parts::sub(c, call(c, "aten::add.Scalar", to_positive, margin), to_negative);
  return parts::reduce(c, call(c, "aten::clamp_min", loss, 0), reduction);
}

Tensor poisson_nll_loss(Context& c, const Tensor& input, const Tensor& target, bool log_input, bool full,
                        double eps, Size reduction) {
  Tensor loss;
  if (log_input) {
    loss = parts::sub(c, call(c, "aten::exp", input), parts::mul(c, target, input));
  } else {
    const Tensor log = call(c, "aten::log", call(c, "aten::add.Scalar", input, eps));
    loss = parts::sub(c, input, parts::mul(c, target, log));
  }
  if (full) {  // Stirling's approximation of the constant part
    const Tensor circles = call(c, "aten::mul.Scalar", target, 2 * std::numbers::pi);
    const Tensor half = call(c, "aten::mul.Scalar", call(c, "aten::log", circles), 0.5);
    const Tensor entropy = parts::sub(c, parts::mul(c, target, call(c, "aten::log", target)), target);
    const Tensor constant = parts::add(c, entropy, half);
    const Tensor is_small = call(c, "aten::le.Scalar", target, 1);
    loss = parts::add(c, loss, call(c, "aten::masked_fill.Scalar", constant, is_small, 0.0));
  }
  return parts::reduce(c, loss, reduction);
}

}  // namespace

void define_losses(Library& library) {
  library.define("aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")
      .core_decomposition<mse_loss>();
  library.define("aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor").composite<l1_loss>();
  library.define("aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor")
      .shape<bent_shape<Size>, bent_shape<SymInt>>()
      .function<BentLoss<false>::loss>()
      .core_decomposition<smooth_l1_parts>();
  library.define("aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor")
      .shape<bent_shape<Size>, bent_shape<SymInt>>()
      .function<BentLoss<true>::loss>()
      .core_decomposition<huber_parts>();
  library
      .define(
          "aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> "
          "Tensor")
      .core_decomposition<binary_cross_entropy>();
  library
      .define(
          "aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? "
          "pos_weight=None, int reduction=1) -> Tensor")
      .core_decomposition<binary_cross_entropy_with_logits>();
  library.define("aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")
      .core_decomposition<soft_margin_loss>();
  library
      .define("aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor")
      .composite<kl_div>();
  library
      .define(
          "aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int "
          "reduction=1) -> Tensor")
      .composite<margin_ranking_loss>();
  library
      .define(
          "aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> "
          "Tensor")
      .composite<hinge_embedding_loss>();
  library
      .define(
          "aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float "
          "p=2., float eps=9.9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor")
      .composite<triplet_margin_loss>();
  library
      .define(
          "aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int "
          "reduction) -> Tensor")
      .composite<poisson_nll_loss>();
}

}  // namespace flambeau::ops
