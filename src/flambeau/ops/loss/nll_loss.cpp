// Negative log likelihood, and cross entropy made of it.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/engines/reduction.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/norm/row_access.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

using parts::kMean;
using parts::kNone;
using parts::kSum;

// Scores [batch, classes, places]; one target for each of a batch's places.
void run_nll(const Tensor& self, int64_t batch, int64_t classes, int64_t places, const Tensor& target,
             const Tensor* weight, int64_t reduction, int64_t ignored, Tensor& out, Tensor& total) {
  if (!is_floating(self.dtype())) fail_dtype("nll_loss_out_frame", self.dtype());
  const Tensor packed = self.to_contiguous();
  const bool is_plain = target.dtype() == DType::kInt64 && target.is_contiguous();
  const std::vector<int64_t> converted = is_plain ? std::vector<int64_t>() : read_indices(target);
  const int64_t* const targets = is_plain ? target.data<int64_t>() : converted.data();
  const std::vector<double> weights = read_all<double>(weight);
  const auto size = static_cast<int64_t>(packed.element_size());
  double sum = 0;
  double weight_sum = 0;
  const float* const floats = packed.dtype() == DType::kFloat32 ? packed.data<float>() : nullptr;
  WorkPoller poll;
  size_t next = 0;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t place = 0; place < places; ++place, ++next) {
      poll();
      const int64_t wanted = targets[next];
      double loss = 0;
      if (wanted != ignored) {
        if (wanted < 0 || wanted >= classes) {
          throw Error(ErrorCode::kInvalidArgument, fmt::format("Target {} is out of bounds.", wanted));
        }
        double score = 0;
        const int64_t at = (b * classes + wanted) * places + place;
        if (floats != nullptr) {
          score = floats[at];
        } else {
          load_packed(packed.dtype(), packed.data() + at * size, 0, 1, DType::kFloat64, &score);
        }
        const double w = weights.empty() ? 1 : weights[static_cast<size_t>(wanted)];
        loss = -score * w;
        weight_sum += w;
      }
      if (reduction == kNone) {
        store_packed(DType::kFloat64, &loss, 1, out.dtype(),
                     out.mutable_data() + static_cast<int64_t>(next) * size, 0);
      }
      sum += loss;
    }
  }
  if (reduction == kNone) {
    if (self.dim() > 1) weight_sum = 0;
  } else {
    const double result = reduction == kMean ? sum / weight_sum : sum;
    store_packed(DType::kFloat64, &result, 1, out.dtype(), out.mutable_data(), 0);
  }
  store_packed(DType::kFloat64, &weight_sum, 1, total.dtype(), total.mutable_data(), 0);
}

template <typename N>
std::tuple<Info<N>, Info<N>> nll_shape(const Info<N>& self, const Info<N>& target, const Info<N>* weight,
                                       Size reduction, N) {
  if (self.dim() < 1 || self.dim() > 2) {
    throw Error(ErrorCode::kInvalidArgument, "input tensor should be 1D or 2D");
  }
  if (target.dim() > 1) {
    throw Error(ErrorCode::kInvalidArgument, "0D or 1D target tensor expected, multi-target not supported");
  }
  if (self.dim() == 1 && !(target.element_count() == N(1))) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("For 1D input, 1D target must have size 1, but got target of {} elements",
                            number_text(target.element_count())));
  }
  if (self.dim() == 2 && !(target.dim() == 1 && self.sizes[0] == target.sizes[0])) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("size mismatch (got input: [{}, {}], target of {} elements)", number_text(self.sizes[0]),
                    number_text(self.sizes[1]), number_text(target.element_count())));
  }
  if (weight != nullptr && !(weight->dim() == 1 && weight->sizes[0] == self.sizes[self.dim() - 1])) {
    throw Error(ErrorCode::kInvalidArgument,
                "weight tensor should be defined either for all classes or no classes");
  }
  const Info<N> scalar = contiguous<N>(self.dtype, {}, self.device);
  if (reduction == kNone && self.dim() == 2)
    return {contiguous<N>(self.dtype, {self.sizes[0]}, self.device), scalar};
  return {scalar, scalar};
}
void nll_kernel(Context&, const Tensor& self, const Tensor& target, const Tensor* weight, Size reduction,
                Size ignored, Tensor& out, Tensor& total) {
  const int64_t batch = self.dim() == 2 ? self.sizes()[0] : 1;
  run_nll(self, batch, self.sizes().back(), 1, target, weight, reduction, ignored, out, total);
}
template <typename N>
std::tuple<Info<N>, Info<N>> nll2d_shape(const Info<N>& self, const Info<N>& target, const Info<N>* weight,
                                         Size reduction, N) {
  const bool fits = self.dim() == 4 && target.dim() == 3 && self.sizes[0] == target.sizes[0] &&
                    self.sizes[2] == target.sizes[1] && self.sizes[3] == target.sizes[2];
  if (!fits) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "only batches of spatial inputs supported (4D tensors) with targets of the same batch and space "
        "(3D tensors)");
  }
  if (weight != nullptr && !(weight->element_count() == self.sizes[1])) {
    throw Error(ErrorCode::kInvalidArgument, "weight tensor should be defined either for all or no classes");
  }
  const Info<N> scalar = contiguous<N>(self.dtype, {}, self.device);
  if (reduction == kNone) return {contiguous<N>(self.dtype, target.sizes, self.device), scalar};
  return {scalar, scalar};
}
void nll2d_kernel(Context&, const Tensor& self, const Tensor& target, const Tensor* weight, Size reduction,
                  Size ignored, Tensor& out, Tensor& total) {
  run_nll(self, self.sizes()[0], self.sizes()[1], self.sizes()[2] * self.sizes()[3], target, weight,
          reduction, ignored, out, total);
}

// The scores of the targets picked, and the weight of all together.
std::tuple<Tensor, Tensor> nll_parts(Context& c, const Tensor& given, const Tensor& target,
                                     const Tensor* weight, Size reduction, SymInt ignored) {
  Tensor self = given;
  const int64_t rank = rank_of(self);
  const int64_t channel = rank < 2 ? 0 : 1;
  Tensor along;
  if (weight != nullptr) {
    along = *weight;
    if (rank > 1) {
      SymIntList shape(static_cast<size_t>(rank), SymInt(1));
      shape[1] = size_of(*weight, 0);
      along = call(c, "aten::view", along, shape);
    }
    self = parts::mul(c, self, along);
  }
  const auto counts = [&] { return call(c, "aten::ne.Scalar", target, ignored); };
  const Tensor is_counted = counts();
  const Tensor safe = parts::where(c, is_counted, target, parts::scalar(c, 0, target));
  const Tensor place = call(c, "aten::unsqueeze", safe, channel);
  const auto picked = [&](const Tensor& from) {
    return call(c, "aten::squeeze.dim", call(c, "aten::gather", from, channel, place), channel);
  };
  const Tensor scores = call(c, "aten::neg", picked(self));
  Tensor result = parts::where(c, counts(), scores, parts::scalar(c, 0, self));
  if (reduction == kNone && rank > 1) return {result, parts::full(c, {}, 0.0, self)};
  Tensor total;
  if (weight != nullptr) {
    const Tensor wide = call(c, "aten::expand", along, sizes_of(self));
    total = call(c, "aten::sum", parts::where(c, counts(), picked(wide), parts::scalar(c, 0, self)));
  } else {
    total = call(c, "aten::sum", counts());
    if (total.dtype() != self.dtype())
      total = call_with(c, "aten::_to_copy", {total}, {{"dtype", self.dtype()}, {"device", self.device()}});
  }
  result = call(c, "aten::sum", result);
  if (reduction == kMean) result = parts::div(c, result, total);
  return {result, total};
}

Tensor nll_loss(Context& context, const Tensor& self, const Tensor& target, const Tensor* weight,
                Size reduction, SymInt ignored) {
  if (context.interceptor == nullptr && !self.is_meta()) {  // with nobody to see the call
    const std::optional<Info<Size>> weight_info = weight ? std::optional(info_of(*weight)) : std::nullopt;
    const auto [out_info, total_info] =
        nll_shape<Size>(info_of(self), info_of(target), weight_info ? &*weight_info : nullptr, reduction, 0);
    Tensor out = context.allocate(out_info), total = context.allocate(total_info);
    if (out.element_count() > 0)
      nll_kernel(context, self, target, weight, reduction, fixed(ignored), out, total);
    return out;
  }
  return parts::first_of(context, "aten::nll_loss_forward", self, target, weight, reduction, ignored);
}
Tensor nll_loss2d(Context& context, const Tensor& self, const Tensor& target, const Tensor* weight,
                  Size reduction, SymInt ignored) {
  return parts::first_of(context, "aten::nll_loss2d_forward", self, target, weight, reduction, ignored);
}
template <typename N>
Info<N> nll_loss_nd_shape(const Info<N>& self, const Info<N>& target, const Info<N>*, Size reduction, N) {
  if (self.dim() == 0) {
    throw Error(ErrorCode::kInvalidArgument, "Expected 1 or more dimensions (got 0)");
  }
  ShortList<N> expected = self.sizes;
  expected.erase(self.dim() == 1 ? 0 : 1);
  if (!(target.sizes == expected)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("Expected target size {}, got {}",
                                                         sizes_text(expected), sizes_text(target.sizes)));
  }
  return contiguous<N>(self.dtype, reduction == kNone ? target.sizes : ShortList<N>(), self.device);
}

Tensor nll_loss_nd(Context& context, const Tensor& self, const Tensor& target, const Tensor* weight,
                   Size reduction, SymInt ignored) {
  const int64_t rank = rank_of(self);
  if (rank == 0) {
    throw Error(ErrorCode::kInvalidArgument, "Expected 1 or more dimensions (got 0)");
  }
  if (rank <= 2) return nll_loss(context, self, target, weight, reduction, ignored);
  if (rank == 4) return nll_loss2d(context, self, target, weight, reduction, ignored);
  SymIntList expected = sizes_of(self);
  const SymInt batch = expected[0];
  const SymInt classes = expected[1];
  expected.erase(1);
  if (!(sizes_of(target) == expected)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("Expected target size {}, got {}",
                                                         sizes_text(expected), sizes_text(sizes_of(target))));
  }
  // What is left is found by itself, unless there is nothing.
  const SymInt places = is_literally(count_of(target), 0) ? SymInt(0) : SymInt(-1);
  const Tensor scores = call(context, "aten::reshape", self, SymIntList{batch, classes, SymInt(1), places});
  const Tensor wanted = call(context, "aten::reshape", target, SymIntList{batch, SymInt(1), places});
  const Tensor loss = nll_loss2d(context, scores, wanted, weight, reduction, ignored);
  return reduction == kNone ? call(context, "aten::reshape", loss, expected) : loss;
}

// ---- cross entropy
Tensor along_classes(Context& context, const Tensor& weight, const Tensor& self) {
  if (rank_of(self) <= 1) return weight;
  SymIntList sizes(static_cast<size_t>(rank_of(self)), SymInt(1));
  sizes[1] = count_of(weight);
  return call(context, "aten::reshape", weight, sizes);
}

double share_of(double smoothing, const Tensor& self, int64_t class_dim) {
  return smoothing / static_cast<double>(fixed(size_of(self, class_dim)));
}

Tensor with_probabilities(Context& context, const Tensor& self, Tensor target, const Tensor* weight,
                          int64_t reduction, double smoothing, int64_t class_dim) {
  if (smoothing > 0) {
    target = call(context, "aten::add.Scalar", call(context, "aten::mul.Scalar", target, 1 - smoothing),
                  share_of(smoothing, self, class_dim));
  }
  Tensor product =
      parts::mul(context, call(context, "aten::log_softmax.int", self, class_dim, self.dtype()), target);
  if (weight != nullptr) product = parts::mul(context, product, along_classes(context, *weight, self));
  if (reduction == kNone) {
    return call(context, "aten::neg", call(context, "aten::sum.dim_IntList", product, Dims{class_dim}));
  }
  Tensor sum = call(context, "aten::neg", call(context, "aten::sum", product));
  if (reduction == kSum) return sum;
  SymInt samples = 1;
  for (int64_t d = 0; d < rank_of(self); ++d) {
    if (d != class_dim) samples *= size_of(self, d);
  }
  return call(context, "aten::div.Scalar", sum, samples);
}

Tensor with_smoothing(Context& context, const Tensor& self, const Tensor& target, const Tensor* weight,
                      int64_t reduction, const SymInt& ignored, double smoothing, int64_t class_dim) {
  const Tensor input = call(context, "aten::log_softmax.int", self, class_dim, self.dtype());
  const Tensor nll = call(context, "aten::nll_loss_nd", input, target, weight, reduction, ignored);
  Tensor smooth = input;
  if (weight != nullptr) smooth = parts::mul(context, smooth, along_classes(context, *weight, self));
  smooth = call(context, "aten::neg", call(context, "aten::sum.dim_IntList", smooth, Dims{class_dim}));
  const Tensor is_ignored = call(context, "aten::eq.Scalar", target, ignored);
  smooth = call(context, "aten::masked_fill.Scalar", smooth, is_ignored, 0.0);
  if (reduction == kSum) {
    smooth = call(context, "aten::sum", smooth);
  } else if (reduction == kMean) {
    Tensor total = call(context, "aten::bitwise_not", is_ignored);
    if (weight != nullptr) {
      const Tensor kept = call(context, "aten::masked_select", target, total);
      total = call(context, "aten::index_select", *weight, 0, kept);
    }
    total = call(context, "aten::sum", total);
    smooth = parts::div(context, call(context, "aten::sum", smooth), total);
  }
  const Tensor share = call(context, "aten::mul.Scalar", smooth, share_of(smoothing, self, class_dim));
  return parts::add(context, call(context, "aten::mul.Scalar", nll, 1 - smoothing), share);
}

Tensor cross_entropy(Context& context, const Tensor& self, const Tensor& target, const Tensor* weight,
                     Size reduction, SymInt ignored, double smoothing) {
  const int64_t class_dim = rank_of(self) == 1 ? 0 : 1;
  wrap_dim(class_dim, rank_of(self));  // a number has no classes
  if (sizes_of(self) == sizes_of(target)) {
    if (!is_floating(target.dtype())) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("Expected floating point type for target with class probabilities, got {}",
                              dtype_name(target.dtype())));
    }
    return with_probabilities(context, self, target, weight, reduction, smoothing, class_dim);
  }
  if (smoothing > 0) {
    return with_smoothing(context, self, target, weight, reduction, ignored, smoothing, class_dim);
  }
  const Tensor input = call(context, "aten::log_softmax.int", self, class_dim, self.dtype());
  return call(context, "aten::nll_loss_nd", input, target, weight, reduction, ignored);
}

}  // namespace

void define_nll_loss(Library& library) {
  library
      .define(
          "aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt "
          "ignore_index) -> (Tensor output, Tensor total_weight)")
      .shape<nll_shape<Size>, nll_shape<SymInt>>()
      .kernel<nll_kernel>()
      .core_decomposition<nll_parts>();
  library
      .define(
          "aten::nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt "
          "ignore_index) -> (Tensor output, Tensor total_weight)")
      .shape<nll2d_shape<Size>, nll2d_shape<SymInt>>()
      .kernel<nll2d_kernel>()
      .core_decomposition<nll_parts>();
  library
      .define(
          "aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
          "ignore_index=-100) -> Tensor")
      .composite<nll_loss>();
  library
      .define(
          "aten::nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
          "ignore_index=-100) -> Tensor")
      .composite<nll_loss2d>();
  library
      .define(
          "aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
          "ignore_index=-100) -> Tensor")
      .shape<nll_loss_nd_shape<Size>, nll_loss_nd_shape<SymInt>>()
      .composite<nll_loss_nd>();
  library
      .define(
          "aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
          "ignore_index=-100, float label_smoothing=0.) -> Tensor")
      .composite<cross_entropy>();
}

}  // namespace flambeau::ops
