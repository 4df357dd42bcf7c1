// Losses of scores that should lead by a margin, and their gradients; and of pairs of vectors.
#include <fmt/format.h>

#include <cmath>

#include "flambeau/ops/backward/packed.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

using parts::kMean;
using parts::kNone;

// One row of scores, or several: [rows, classes].
template <typename N>
void check_scores(std::string_view what, const Info<N>& self, const ShortList<N>& target, bool has_labels) {
  const bool fits = self.dim() <= 2 && (self.dim() == 0 || self.sizes[self.dim() - 1] > N(0));
  if (!fits) {
    fail_argument(std::string(what) + ": expected non-empty vector or matrix with optional 0-dim batch size");
  }
  ShortList<N> expected;
  if (has_labels) {
    expected = self.sizes;
  } else if (self.dim() == 2) {
    expected.push_back(self.sizes[0]);
  }
  if (!has_labels && self.dim() < 2 && target.size() <= 1) {
    require(target.empty() || target[0] == N(1), "multi_margin_loss: inconsistent target size");
    return;
  }
  if (has_labels && self.dim() == 1 && target.empty() && self.sizes[0] == N(1)) return;
  require_same_sizes(what, target, expected);
}
template <typename N>
Info<N> margin_info(const Info<N>& self, int64_t reduction) {
  ShortList<N> sizes;
  if (reduction == kNone && self.dim() == 2) sizes.push_back(self.sizes[0]);
  return contiguous<N>(self.dtype, std::move(sizes), self.device);
}
int64_t rows_of(const Tensor& self) { return self.dim() == 2 ? self.sizes()[0] : 1; }
int64_t classes_of(const Tensor& self) { return self.dim() == 0 ? 1 : self.sizes().back(); }

void require_class(int64_t wanted, int64_t classes) {
  if (wanted < 0 || wanted >= classes) {
    fail_argument("multi_margin_loss: target " + std::to_string(wanted) + " is out of range");
  }
}

// ---- one class is right

template <typename N>
Info<N> multi_margin_shape(const Info<N>& self, const Info<N>& target, Scalar p, Scalar,
                           const Info<N>* weight, Size reduction) {
  require(p.to_double() == 1 || p.to_double() == 2, "multi_margin_loss: Invalid p, expected 1 or 2");
  check_scores("multi_margin_loss", self, target.sizes, false);
  if (weight != nullptr) {
    require(weight->dim() <= 1 &&
                weight->element_count() == (self.dim() == 0 ? N(1) : self.sizes[self.dim() - 1]),
            "multi_margin_loss: inconsistent weight size");
  }
  return margin_info(self, reduction);
}
void multi_margin_kernel(Context& context, const Tensor& self, const Tensor& target, Scalar p, Scalar margin,
                         const Tensor* weight, Size reduction, Tensor& out) {
  with_floats("multi_margin_loss", self.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor x = packed_as(context, self, wide);
    const Tensor weights = weight == nullptr ? Tensor() : packed_as(context, *weight, wide);
    const std::vector<int64_t> targets = read_indices(target);
    const int64_t rows = rows_of(self), classes = classes_of(self);
    PackedOutput made(context, out, wide);
    T* const to = made.data<T>();
    double total = 0;
    WorkPoller poll;
    for (int64_t row = 0; row < rows; ++row) {
      poll(static_cast<size_t>(classes));
      const int64_t wanted = targets[static_cast<size_t>(row)];
      require_class(wanted, classes);
      const T* const scores = x.data<T>() + row * classes;
      double sum = 0;
      for (int64_t k = 0; k < classes; ++k) {
        const T lead = static_cast<T>(margin.to_double()) - scores[wanted] + scores[k];
        if (k == wanted || !(lead > T(0))) continue;
        const T loss = p.to_double() == 1 ? lead : lead * lead;
        sum += static_cast<double>(weight == nullptr ? loss : loss * weights.data<T>()[wanted]);
      }
      sum /= static_cast<double>(classes);
      if (reduction == kNone) to[row] = static_cast<T>(sum);
      total += sum;
    }
    if (reduction != kNone)
      to[0] = static_cast<T>(reduction == kMean ? total / static_cast<double>(rows) : total);
    made.finish();
  });
}

template <typename N>
Info<N> multi_margin_gradient_shape(const Info<N>&, const Info<N>& self, const Info<N>& target, Scalar p,
                                    Scalar margin, const Info<N>* weight, Size reduction) {
  multi_margin_shape(self, target, p, margin, weight, reduction);
  return contiguous<N>(self.dtype, self.sizes, self.device);
}
// The share of the gradient that a row's loss has.
template <typename T>
T row_share(const Tensor& gradient, int64_t row, int64_t rows, int64_t classes, int64_t reduction) {
  const bool is_each = reduction == kNone && gradient.element_count() > 1;
  T share = gradient.data<T>()[is_each ? row : 0] / static_cast<T>(classes);
  if (reduction == kMean) share /= static_cast<T>(rows);
  return share;
}
void require_gradient(const Tensor& gradient, int64_t rows, int64_t reduction) {
  const int64_t count = gradient.element_count();
  if (count != 1 && !(reduction == kNone && count == rows)) {
    fail_argument("margin_loss_backward: expected a gradient for each row, or a single one, but got " +
                  std::to_string(count));
  }
}
void multi_margin_gradient_kernel(Context& context, const Tensor& gradient, const Tensor& self,
                                  const Tensor& target, Scalar p, Scalar margin, const Tensor* weight,
                                  Size reduction, Tensor& out) {
  with_floats("multi_margin_loss_backward", self.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor x = packed_as(context, self, wide), g = packed_as(context, gradient, wide);
    const Tensor weights = weight == nullptr ? Tensor() : packed_as(context, *weight, wide);
    const std::vector<int64_t> targets = read_indices(target);
    const int64_t rows = rows_of(self), classes = classes_of(self);
    require_gradient(gradient, rows, reduction);
    PackedOutput made(context, out, wide);
    T* const to = made.zeros<T>();
    WorkPoller poll;
    for (int64_t row = 0; row < rows; ++row) {
      poll(static_cast<size_t>(classes));
      const int64_t wanted = targets[static_cast<size_t>(row)];
      require_class(wanted, classes);
      const T* const scores = x.data<T>() + row * classes;
      const T share = row_share<T>(g, row, rows, classes, reduction) *
                      (weight == nullptr ? T(1) : weights.data<T>()[wanted]);
      for (int64_t k = 0; k < classes; ++k) {
        const T lead = static_cast<T>(margin.to_double()) - scores[wanted] + scores[k];
        if (k == wanted || !(lead > T(0))) continue;
        const T change = p.to_double() == 1 ? share : T(2) * share * lead;
        to[row * classes + k] = change;
        to[row * classes + wanted] -= change;
      }
    }
    made.finish();
  });
}

// ---- several are: a row's targets end at the first negative one

template <typename N>
std::tuple<Info<N>, Info<N>> multilabel_shape(const Info<N>& self, const Info<N>& target, Size reduction) {
  check_scores("multilabel_margin_loss", self, target.sizes, true);
  return {margin_info(self, reduction), contiguous<N>(self.dtype, target.sizes, self.device)};
}
// For each class of a row whether it is a target.
std::vector<bool> labels_of(const int64_t* targets, int64_t classes, int64_t& count) {
  std::vector<bool> labels(static_cast<size_t>(classes), false);
  for (count = 0; count < classes && targets[count] >= 0; ++count) {
    if (targets[count] >= classes) fail_argument("multilabel_margin_loss: argument target is out of range");
    labels[static_cast<size_t>(targets[count])] = true;
  }
  if (count < classes && targets[count] < -1) {
    fail_argument("multilabel_margin_loss: argument target is out of range");
  }
  return labels;
}
void multilabel_kernel(Context& context, const Tensor& self, const Tensor& target, Size reduction,
                       Tensor& out, Tensor& is_target) {
  with_floats("multilabel_margin_loss_forward_out_frame", self.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor x = packed_as(context, self, wide);
    const std::vector<int64_t> targets = read_indices(target);
    const int64_t rows = rows_of(self), classes = classes_of(self);
    PackedOutput made(context, out, wide), flags(context, is_target, wide);
    T* const to = made.data<T>();
    T* const flag = flags.data<T>();
    double total = 0;
    WorkPoller poll;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t count = 0;
      const int64_t* const wanted = targets.data() + row * classes;
      const std::vector<bool> labels = labels_of(wanted, classes, count);
      const T* const scores = x.data<T>() + row * classes;
      for (int64_t k = 0; k < classes; ++k)
        flag[row * classes + k] = labels[static_cast<size_t>(k)] ? T(1) : T(0);
      double sum = 0;
      for (int64_t i = 0; i < count; ++i) {
        poll(static_cast<size_t>(classes));
        for (int64_t k = 0; k < classes; ++k) {
          const T lead = T(1) - scores[wanted[i]] + scores[k];
          if (!labels[static_cast<size_t>(k)] && lead > T(0)) sum += static_cast<double>(lead);
        }
      }
      sum /= static_cast<double>(classes);
      if (reduction == kNone) to[row] = static_cast<T>(sum);
      total += sum;
    }
    if (reduction != kNone)
      to[0] = static_cast<T>(reduction == kMean ? total / static_cast<double>(rows) : total);
    made.finish();
    flags.finish();
  });
}
Tensor multilabel_loss(Context& c, const Tensor& self, const Tensor& target, Size reduction) {
  return parts::first_of(c, "aten::multilabel_margin_loss_forward", self, target, reduction);
}

template <typename N>
Info<N> multilabel_gradient_shape(const Info<N>&, const Info<N>& self, const Info<N>& target, Size,
                                  const Info<N>& is_target) {
  check_scores("multilabel_margin_loss", self, target.sizes, true);
  require_same_sizes("multilabel_margin_loss", is_target.sizes, target.sizes);
  return contiguous<N>(self.dtype, self.sizes, self.device);
}
void multilabel_gradient_kernel(Context& context, const Tensor& gradient, const Tensor& self,
                                const Tensor& target, Size reduction, const Tensor&, Tensor& out) {
  with_floats("multilabel_margin_loss_backward", self.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor x = packed_as(context, self, wide), g = packed_as(context, gradient, wide);
    const std::vector<int64_t> targets = read_indices(target);
    const int64_t rows = rows_of(self), classes = classes_of(self);
    require_gradient(gradient, rows, reduction);
    PackedOutput made(context, out, wide);
    T* const to = made.zeros<T>();
    WorkPoller poll;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t count = 0;
      const int64_t* const wanted = targets.data() + row * classes;
      const std::vector<bool> labels = labels_of(wanted, classes, count);
      const T* const scores = x.data<T>() + row * classes;
      const T share = row_share<T>(g, row, rows, classes, reduction);
      for (int64_t i = 0; i < count; ++i) {
        poll(static_cast<size_t>(classes));
        for (int64_t k = 0; k < classes; ++k) {
          if (labels[static_cast<size_t>(k)] || !(T(1) - scores[wanted[i]] + scores[k] > T(0))) continue;
          to[row * classes + k] += share;
          to[row * classes + wanted[i]] -= share;
        }
      }
    }
    made.finish();
  });
}

Tensor cosine_embedding_loss(Context& c, const Tensor& input1, const Tensor& input2, const Tensor& target,
                             double margin, Size reduction) {
  const int64_t rank = rank_of(target);
  if (rank > 1) fail_argument("0D or 1D target tensor expected, multi-target not supported");
  if (rank_of(input1) != rank + 1 || rank_of(input2) != rank + 1) {
    fail_argument(
        fmt::format("{}D target tensor expects {}D input tensors, but found inputs with sizes {} and {}",
                    rank, rank + 1, sizes_text(sizes_of(input1)), sizes_text(sizes_of(input2))));
  }
  constexpr double kLeast = 1e-12;
  const auto product = [&](const Tensor& a, const Tensor& b) {
    return call(c, "aten::sum.dim_IntList", parts::mul(c, a, b), Dims{rank});
  };
  const auto length = [&](const Tensor& a) { return call(c, "aten::add.Scalar", product(a, a), kLeast); };
  const Tensor both = product(input1, input2);
  const Tensor scale = call(c, "aten::sqrt", parts::mul(c, length(input1), length(input2)));
  const Tensor cosine = parts::div(c, both, scale);
  const Tensor zeros = call(c, "aten::zeros_like", cosine);
  const Tensor apart = call(c, "aten::rsub.Scalar", cosine, 1);
  const Tensor together = call(c, "aten::clamp_min", call(c, "aten::sub.Scalar", cosine, margin), 0);
  const Tensor positive = parts::where(c, call(c, "aten::eq.Scalar", target, 1), apart, zeros);
  const Tensor negative = parts::where(c, call(c, "aten::eq.Scalar", target, -1), together, zeros);
  return parts::reduce(c, parts::add(c, positive, negative), reduction);
}

}  // namespace

void define_margin_losses(Library& library) {
  library
      .define(
          "aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? "
          "weight=None, "
          "int reduction=1) -> Tensor")
      .shape<multi_margin_shape<Size>, multi_margin_shape<SymInt>>()
      .kernel<multi_margin_kernel>();
  library
      .define(
          "aten::multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar "
          "margin, Tensor? weight=None, int reduction=1) -> Tensor")
      .shape<multi_margin_gradient_shape<Size>, multi_margin_gradient_shape<SymInt>>()
      .kernel<multi_margin_gradient_kernel>();
  library
      .define(
          "aten::multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor "
          "output, "
          "Tensor is_target)")
      .shape<multilabel_shape<Size>, multilabel_shape<SymInt>>()
      .kernel<multilabel_kernel>();
  library.define("aten::multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")
      .composite<multilabel_loss>();
  library
      .define(
          "aten::multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int "
          "reduction, "
          "Tensor is_target) -> Tensor")
      .shape<multilabel_gradient_shape<Size>, multilabel_gradient_shape<SymInt>>()
      .kernel<multilabel_gradient_kernel>();
  library
      .define(
          "aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int "
          "reduction=1) -> Tensor")
      .composite<cosine_embedding_loss>();
}

}  // namespace flambeau::ops
