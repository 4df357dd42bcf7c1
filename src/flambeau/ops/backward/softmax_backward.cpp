// Gradients of softmax and of its logarithm, and of what picks one score of many: the negative log
// likelihood.
#include <cmath>

#include "flambeau/kernels/math/vector_math.h"
#include "flambeau/ops/backward/packed.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

using parts::kMean;
using parts::kNone;

template <typename N>
Info<N> softmax_gradient_shape(const Info<N>& gradient, const Info<N>& output, Size dim, DType input_dtype) {
  require_same_sizes("softmax_backward", gradient.sizes, output.sizes);
  wrap_dim(dim, gradient.dim());
  if (input_dtype != gradient.dtype) {
    throw Error(ErrorCode::kUnsupported, "softmax with half to float conversion is not supported on CPU");
  }
  return contiguous<N>(gradient.dtype, gradient.sizes, gradient.device);
}

// A line of elements, or `inner` lines beside one another.
template <bool kLog, typename T>
void softmax_lines(const T* gradient, const T* output, T* to, int64_t length, int64_t inner, T* sums) {
  std::fill_n(sums, inner, T(0));
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t k = 0; k < inner; ++k) {
      const int64_t at = i * inner + k;
      sums[k] += kLog ? gradient[at] : gradient[at] * output[at];
    }
  }
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t k = 0; k < inner; ++k) {
      const int64_t at = i * inner + k;
      to[at] = kLog ? gradient[at] - to[at] * sums[k] : (gradient[at] - sums[k]) * output[at];
    }
  }
}
template <bool kLog, typename T>
void softmax_line(const T* gradient, const T* output, T* to, int64_t length) {
  // Several sums at once, so that an addition need not wait for the one before.
  T sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= length; i += 8) {
    for (int64_t k = 0; k < 8; ++k) sums[k] += kLog ? gradient[i + k] : gradient[i + k] * output[i + k];
  }
  T sum = ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
  for (; i < length; ++i) sum += kLog ? gradient[i] : gradient[i] * output[i];
  for (i = 0; i < length; ++i) {
    to[i] = kLog ? gradient[i] - to[i] * sum : (gradient[i] - sum) * output[i];
  }
}

template <bool kLog>
void softmax_gradient_kernel(Context& context, const Tensor& gradient, const Tensor& output, Size dim, DType,
                             Tensor& out) {
  with_floats(kLog ? "log_softmax_backward" : "softmax_backward", out.dtype(),
              [&]<typename T>(T, DType wide) {
                const Tensor grad = packed_as(context, gradient, wide);
                const Tensor result = packed_as(context, output, wide);
                PackedOutput made(context, out, wide);
                const size_t d = wrap_dim(dim, out.dim());
                const int64_t length = out.dim() == 0 ? 1 : out.sizes()[d];
                const int64_t inner = out.dim() == 0 ? 1 : product_of(out.sizes(), d + 1, out.dim());
                const int64_t outer = out.element_count() / (length * inner);
                for_each_part(context, outer, length * inner * 2, [&](int64_t i) {
                  const int64_t at = i * length * inner;
                  const T* const from = grad.data<T>() + at;
                  const T* const of = result.data<T>() + at;
                  T* const to = made.data<T>() + at;
                  if constexpr (kLog) kernels::vector_math::exp(of, to, static_cast<size_t>(length * inner));
                  if (inner == 1) return softmax_line<kLog>(from, of, to, length);
                  std::vector<T> sums(static_cast<size_t>(inner));
                  softmax_lines<kLog>(from, of, to, length, inner, sums.data());
                });
                made.finish();
              });
}

Tensor softmax_gradient_parts(Context& c, const Tensor& gradient, const Tensor& output, Size dim, DType) {
  const Tensor product = parts::mul(c, gradient, output);
  const Tensor sum = call(c, "aten::sum.dim_IntList", product, Dims{dim}, true);
  return parts::sub(c, product, parts::mul(c, output, sum));
}
Tensor log_softmax_gradient_parts(Context& c, const Tensor& gradient, const Tensor& output, Size dim, DType) {
  const Tensor sum = call(c, "aten::sum.dim_IntList", gradient, Dims{dim}, true);
  return parts::sub(c, gradient, parts::mul(c, call(c, "aten::exp", output), sum));
}

// ---- negative log likelihood: the classes are dimension 1 of 2 or 4, or the only one

template <typename N>
Info<N> nll_gradient_shape(const Info<N>& gradient, const Info<N>& self, const Info<N>& target,
                           const Info<N>* weight, Size reduction, N, const Info<N>& total) {
  if (self.dim() == 0 || self.dim() > 2) fail_argument("input tensor should be 1D or 2D");
  if (target.dim() > 1) fail_argument("0D or 1D target tensor expected, multi-target not supported");
  if (self.dim() == 2 && !(target.dim() == 1 && target.sizes[0] == self.sizes[0])) {
    fail_argument("size mismatch (got input: [" + number_text(self.sizes[0]) + ", " +
                  number_text(self.sizes[1]) + "], target of " + number_text(target.element_count()) +
                  " elements)");
  }
  if (self.dim() == 1 && !(target.element_count() == N(1))) {
    fail_argument("For 1D input, 1D target must have size 1");
  }
  if (!(total.element_count() == N(1))) fail_argument("expected total_weight to be a single element tensor");
  if (weight != nullptr && !(weight->element_count() == self.sizes[self.dim() - 1])) {
    fail_argument("weight tensor should be defined either for all or no classes");
  }
  if (reduction == kNone && self.dim() == 2) {
    require_same_sizes("nll_loss_backward", gradient.sizes, target.sizes);
  } else if (!(gradient.element_count() == N(1))) {
    fail_argument("Expected a single element grad_output tensor, but got " +
                  number_text(gradient.element_count()) + " elements");
  }
  return contiguous<N>(self.dtype, self.sizes, self.device);
}
template <typename N>
Info<N> nll2d_gradient_shape(const Info<N>& gradient, const Info<N>& self, const Info<N>& target,
                             const Info<N>* weight, Size reduction, N, const Info<N>& total) {
  if (target.dim() != 3) {
    fail_argument("only batches of spatial targets supported (3D tensors) but got targets of dimension: " +
                  std::to_string(target.dim()));
  }
  if (self.dim() != 4) {
    fail_argument("only batches of spatial inputs supported (4D tensors), but got input of dimension: " +
                  std::to_string(self.dim()));
  }
  require_same_sizes("nll_loss2d_backward", target.sizes,
                     ShortList<N>{self.sizes[0], self.sizes[2], self.sizes[3]});
  if (!(total.element_count() == N(1))) fail_argument("expected total_weight to be a single element tensor");
  if (weight != nullptr && !(weight->element_count() == self.sizes[1])) {
    fail_argument("weight tensor should be defined either for all or no classes");
  }
  if (reduction == kNone) {
    require_same_sizes("nll_loss2d_backward", gradient.sizes, target.sizes);
  } else if (!(gradient.element_count() == N(1))) {
    fail_argument("Expected a single element grad_output tensor, but got " +
                  number_text(gradient.element_count()) + " elements");
  }
  return contiguous<N>(self.dtype, self.sizes, self.device);
}

void nll_gradient_kernel(Context& context, const Tensor& gradient, const Tensor& self, const Tensor& target,
                         const Tensor* weight, Size reduction, Size ignored, const Tensor& total,
                         Tensor& out) {
  with_floats("nll_loss_backward", self.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor grad = packed_as(context, gradient, wide);
    const Tensor weights = weight == nullptr ? Tensor() : packed_as(context, *weight, wide);
    const std::vector<int64_t> targets = read_indices(target);
    const T whole = packed_as(context, total, wide).data<T>()[0];
    PackedOutput made(context, out, wide);
    T* const to = made.zeros<T>();
    const size_t channel = self.dim() == 1 ? 0 : 1;
    const int64_t classes = self.sizes()[channel];
    const int64_t places = product_of(self.sizes(), channel + 1, self.dim());
    const bool is_each = reduction == kNone && self.dim() > 1;
    WorkPoller poll;
    for (size_t i = 0; i < targets.size(); ++i) {
      poll();
      const int64_t wanted = targets[i];
      if (wanted == ignored) continue;
      if (wanted < 0 || wanted >= classes) {
        fail_argument("Target " + std::to_string(wanted) + " is out of bounds.");
      }
      const auto at = static_cast<int64_t>(i);
      T value = is_each ? -grad.data<T>()[i] : -grad.data<T>()[0];
      if (reduction == kMean) value /= whole;
      if (weight != nullptr) value *= weights.data<T>()[wanted];
      to[(at / places * classes + wanted) * places + at % places] = value;
    }
    made.finish();
  });
}

Tensor nll_gradient_parts(Context& c, const Tensor& gradient, const Tensor& self, const Tensor& target,
                          const Tensor* weight, Size reduction, SymInt ignored, const Tensor& total) {
  const int64_t rank = rank_of(self);
  const int64_t channel = rank < 2 ? 0 : 1;
  Tensor grad = reduction == kMean ? parts::div(c, gradient, total) : gradient;
  const Tensor wanted = call(c, "aten::unsqueeze", target, channel);
  const Tensor is_counted = call(c, "aten::ne.Scalar", wanted, ignored);
  const Tensor safe = parts::where(c, is_counted, wanted, parts::scalar(c, 0, wanted));
  const Tensor picked =
      call(c, "aten::scatter.value", call(c, "aten::zeros_like", self), channel, safe, -1.0);
  if (rank_of(grad) > 0 && rank_of(grad) < rank) grad = call(c, "aten::unsqueeze", grad, channel);
  if (weight != nullptr) {
    SymIntList shape(static_cast<size_t>(rank), SymInt(1));
    shape[static_cast<size_t>(channel)] = count_of(*weight);
    grad = parts::mul(c, grad, call(c, "aten::view", *weight, shape));
  }
  grad = parts::where(c, is_counted, grad, parts::scalar(c, 0, grad));
  return parts::mul(c, picked, grad);
}

}  // namespace

void define_softmax_backward(Library& library) {
  library
      .define(
          "aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) "
          "-> Tensor")
      .shape<softmax_gradient_shape<Size>, softmax_gradient_shape<SymInt>>()
      .kernel<softmax_gradient_kernel<false>>()
      .core_decomposition<softmax_gradient_parts>();
  library
      .define(
          "aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType "
          "input_dtype) -> Tensor")
      .shape<softmax_gradient_shape<Size>, softmax_gradient_shape<SymInt>>()
      .kernel<softmax_gradient_kernel<true>>()
      .core_decomposition<log_softmax_gradient_parts>();
  library
      .define(
          "aten::nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int "
          "reduction, SymInt ignore_index, Tensor total_weight) -> Tensor")
      .shape<nll_gradient_shape<Size>, nll_gradient_shape<SymInt>>()
      .kernel<nll_gradient_kernel>()
      .core_decomposition<nll_gradient_parts>();
  library
      .define(
          "aten::nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int "
          "reduction, SymInt ignore_index, Tensor total_weight) -> Tensor")
      .shape<nll2d_gradient_shape<Size>, nll2d_gradient_shape<SymInt>>()
      .kernel<nll_gradient_kernel>()
      .core_decomposition<nll_gradient_parts>();
}

}  // namespace flambeau::ops
