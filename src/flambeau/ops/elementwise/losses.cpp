// Losses between elements, and their sum or mean.
#include "flambeau/base/error.h"
#include "flambeau/ops/call.h"
#include "flambeau/ops/elementwise/kernels.h"

namespace flambeau::ops {
namespace {

// The numbers of PyTorch's Reduction.
Tensor reduced(Context& context, const Tensor& loss, int64_t reduction) {
  if (reduction == 1) return call(context, "aten::mean", loss);
  if (reduction == 2) return call(context, "aten::sum", loss);
  return loss;
}

Tensor mse_loss(Context& context, const Tensor& self, const Tensor& target, Size reduction) {
  const Tensor error = call(context, "aten::sub.Tensor", self, target);
  return reduced(context, call(context, "aten::pow.Tensor_Scalar", error, 2), reduction);
}
Tensor l1_loss(Context& context, const Tensor& self, const Tensor& target, Size reduction) {
  return reduced(context, call(context, "aten::abs", call(context, "aten::sub.Tensor", self, target)),
                 reduction);
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
    return reduced(context, out, reduction);
  }
};

template <typename N>
Info<N> bent_shape(const Info<N>& self, const Info<N>& target, Size reduction, double) {
  const Info<N> each = elementwise_info<N>(result_type(self, target), self, target);
  return reduction == 0 ? each : contiguous<N>(each.dtype, {}, each.device);
}

Tensor weighted(Context& context, const Tensor& loss, const Tensor* weight) {
  return weight == nullptr ? loss : call(context, "aten::mul.Tensor", loss, *weight);
}

// Logarithms are held above -100, so that no loss is infinite.
Tensor binary_cross_entropy(Context& context, const Tensor& self, const Tensor& target, const Tensor* weight,
                            Size reduction) {
  if (self.sizes() != target.sizes()) {
    throw Error(ErrorCode::kInvalidArgument, "Using a target size (" + Value(target.sizes()).summary() +
                                                 ") that is different to the input size (" +
                                                 Value(self.sizes()).summary() + ")");
  }
  const Tensor log_one = call(context, "aten::clamp_min", call(context, "aten::log", self), -100);
  const Tensor log_zero =
      call(context, "aten::clamp_min", call(context, "aten::log1p", call(context, "aten::neg", self)), -100);
  const Tensor of_zero =
      call(context, "aten::mul.Tensor", call(context, "aten::sub.Scalar", target, 1), log_zero);
  const Tensor loss =
      call(context, "aten::sub.Tensor", of_zero, call(context, "aten::mul.Tensor", target, log_one));
  return reduced(context, weighted(context, loss, weight), reduction);
}

Tensor binary_cross_entropy_with_logits(Context& context, const Tensor& self, const Tensor& target,
                                        const Tensor* weight, const Tensor* pos_weight, Size reduction) {
  Tensor log_one = call(context, "aten::log_sigmoid", self);
  if (pos_weight != nullptr) {
    const Tensor more =
        call(context, "aten::mul.Tensor", call(context, "aten::sub.Scalar", *pos_weight, 1), target);
    log_one = call(context, "aten::mul.Tensor", log_one, call(context, "aten::add.Scalar", more, 1));
  }
  const Tensor of_zero =
      call(context, "aten::mul.Tensor", call(context, "aten::rsub.Scalar", target, 1), self);
  const Tensor loss = call(context, "aten::sub.Tensor", of_zero, log_one);
  return reduced(context, weighted(context, loss, weight), reduction);
}

Tensor soft_margin_loss(Context& context, const Tensor& self, const Tensor& target, Size reduction) {
  const Tensor product = call(context, "aten::neg", call(context, "aten::mul.Tensor", self, target));
  return reduced(context, call(context, "aten::log1p", call(context, "aten::exp", product)), reduction);
}

Tensor kl_div(Context& context, const Tensor& self, const Tensor& target, Size reduction, bool log_target) {
  Tensor loss;
  if (log_target) {
    loss = call(context, "aten::mul.Tensor", call(context, "aten::exp", target),
                call(context, "aten::sub.Tensor", target, self));
  } else {
    loss = call(context, "aten::sub.Tensor", call(context, "aten::xlogy.Tensor", target, target),
                call(context, "aten::mul.Tensor", target, self));
  }
  return reduced(context, loss, reduction);
}

Tensor margin_ranking_loss(Context& context, const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin, Size reduction) {
  const Tensor difference = call(context, "aten::sub.Tensor", input1, input2);
  const Tensor product = call(context, "aten::mul.Tensor", call(context, "aten::neg", target), difference);
  const Tensor loss = call(context, "aten::clamp_min", call(context, "aten::add.Scalar", product, margin), 0);
  return reduced(context, loss, reduction);
}

}  // namespace

void define_losses(Library& library) {
  library.define("aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")
      .decomposition<mse_loss>();
  library.define("aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")
      .decomposition<l1_loss>();
  library.define("aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor")
      .shape<bent_shape<Size>, bent_shape<SymInt>>()
      .function<BentLoss<false>::loss>();
  library.define("aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor")
      .shape<bent_shape<Size>, bent_shape<SymInt>>()
      .function<BentLoss<true>::loss>();
  library
      .define(
          "aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> "
          "Tensor")
      .decomposition<binary_cross_entropy>();
  library
      .define(
          "aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? "
          "pos_weight=None, int reduction=1) -> Tensor")
      .decomposition<binary_cross_entropy_with_logits>();
  library.define("aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")
      .decomposition<soft_margin_loss>();
  library
      .define("aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor")
      .decomposition<kl_div>();
  library
      .define(
          "aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int "
          "reduction=1) -> Tensor")
      .decomposition<margin_ranking_loss>();
}

}  // namespace flambeau::ops
