// Connectionist temporal classification: the likelihood of a sequence over all its alignments, and its
// gradient.
#include <cmath>
#include <limits>

#include "flambeau/ops/backward/packed.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::ops {
namespace {

using Numbers = std::span<const Size>;

template <typename N>
void check_ctc(const Info<N>& log_probs, const Info<N>& targets, Numbers input_lengths,
               Numbers target_lengths, Size blank) {
  require(log_probs.dim() == 3, "ctc_loss: expected log_probs of time, batch and classes");
  require(is_floating(log_probs.dtype) && dtype_size(log_probs.dtype) >= 4,
          "ctc_loss: expected log_probs of float32 or float64");
  require(targets.dtype == DType::kInt64 || targets.dtype == DType::kInt32,
          "ctc_loss: expected targets of integers");
  require(targets.dim() == 1 || targets.dim() == 2,
          "ctc_loss: expected targets in one line, or in one for each");
  require(blank >= 0 && N(blank) < log_probs.sizes[2], "blank must be in label range");
  const N batch = log_probs.sizes[1];
  require(N(static_cast<int64_t>(input_lengths.size())) == batch, "input_lengths must be of size batch_size");
  require(N(static_cast<int64_t>(target_lengths.size())) == batch,
          "target_lengths must be of size batch_size");
  Size total = 0;
  for (size_t i = 0; i < input_lengths.size(); ++i) {
    require(input_lengths[i] >= 0 && !(log_probs.sizes[0] < N(input_lengths[i])),
            "Expected input_lengths to have value at most the length of log_probs, and none negative");
    require(target_lengths[i] >= 0, "Expected target_lengths to have no negative value");
    total += target_lengths[i];
    require(targets.dim() == 1 || !(targets.sizes[1] < N(target_lengths[i])),
            "Expected targets to be as long as target_lengths say");
  }
  require(targets.dim() == 2 ? targets.sizes[0] == batch : targets.sizes[0] == N(total),
          "Expected targets to have as many elements as target_lengths say");
}
Size longest_of(Numbers lengths) {
  Size most = 0;
  for (const Size length : lengths) most = max(most, length);
  return most;
}
template <typename N>
std::tuple<Info<N>, Info<N>> ctc_shape(const Info<N>& log_probs, const Info<N>& targets,
                                       Numbers input_lengths, Numbers target_lengths, Size blank, bool) {
  check_ctc(log_probs, targets, input_lengths, target_lengths, blank);
  const N states = N(2) * N(longest_of(target_lengths)) + N(1);
  return {contiguous<N>(log_probs.dtype, {log_probs.sizes[1]}, log_probs.device),
          contiguous<N>(log_probs.dtype, {log_probs.sizes[1], log_probs.sizes[0], states}, log_probs.device)};
}

// The targets of one sequence with blanks around each: 2 * length + 1 states.
class Alignment {
 public:
  Alignment(const std::vector<int64_t>& targets, int64_t first, int64_t length, int64_t blank,
            int64_t classes)
      : targets_(targets.data() + first), length_(length), blank_(blank) {
    for (int64_t i = 0; i < length; ++i) {
      if (targets_[i] < 0 || targets_[i] >= classes) {
        fail_argument("ctc_loss: target " + std::to_string(targets_[i]) + " is out of bounds");
      }
    }
  }
  int64_t states() const { return 2 * length_ + 1; }
  int64_t label(int64_t state) const { return state % 2 == 0 ? blank_ : targets_[state / 2]; }
  // Whether a label may follow the one two states before without a blank.
  bool skips(int64_t state) const { return state > 1 && label(state) != label(state - 2); }

 private:
  const int64_t* targets_;
  int64_t length_;
  int64_t blank_;
};

template <typename T>
constexpr T kNever = -std::numeric_limits<T>::infinity();

template <typename T>
T log_sum(T a, T b, T c = kNever<T>) {
  const T most = std::max({a, b, c});
  if (most == kNever<T>) return most;
  return std::log(std::exp(a - most) + std::exp(b - most) + std::exp(c - most)) + most;
}

int64_t first_target(const Tensor& targets, Numbers lengths, int64_t sequence) {
  if (targets.dim() == 2) return sequence * targets.sizes()[1];
  Size first = 0;
  for (int64_t i = 0; i < sequence; ++i) first += lengths[static_cast<size_t>(i)];
  return first;
}

void ctc_kernel(Context& context, const Tensor& log_probs, const Tensor& targets, Numbers input_lengths,
                Numbers target_lengths, Size blank, bool, Tensor& loss, Tensor& log_alpha) {
  with_floats("ctc_loss_cpu", log_probs.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor probs = packed_as(context, log_probs, wide);
    const std::vector<int64_t> labels = read_indices(targets);
    fill(context, log_alpha, static_cast<double>(kNever<T>));
    const int64_t batch = probs.sizes()[1], classes = probs.sizes()[2];
    const int64_t times = probs.sizes()[0], width = log_alpha.sizes()[2];
    T* const losses = loss.mutable_data<T>();
    for_each_part(context, batch, times * width * 16, [&](int64_t n) {
      const auto at = static_cast<size_t>(n);
      const Alignment path(labels, first_target(targets, target_lengths, n), target_lengths[at], blank,
                           classes);
      const int64_t length = input_lengths[at], states = path.states();
      if (length == 0) {
        losses[n] = target_lengths[at] == 0 ? T(0) : -kNever<T>;
        return;
      }
      T* const alpha = log_alpha.mutable_data<T>() + n * times * width;
      const auto prob = [&](int64_t t, int64_t s) {
        return probs.data<T>()[(t * batch + n) * classes + path.label(s)];
      };
      for (int64_t s = 0; s < std::min<int64_t>(states, 2); ++s) alpha[s] = prob(0, s);
      WorkPoller poll;
      for (int64_t t = 1; t < length; ++t) {
        poll(static_cast<size_t>(states));
        const T* const before = alpha + (t - 1) * width;
        for (int64_t s = 0; s < states; ++s) {
          alpha[t * width + s] = log_sum(before[s], s > 0 ? before[s - 1] : kNever<T>,
                                         path.skips(s) ? before[s - 2] : kNever<T>) +
                                 prob(t, s);
        }
      }
      const T* const last = alpha + (length - 1) * width;
      losses[n] = -log_sum(last[states - 1], states > 1 ? last[states - 2] : kNever<T>);
    });
  });
}

template <typename N>
Info<N> ctc_gradient_shape(const Info<N>& gradient, const Info<N>& log_probs, const Info<N>& targets,
                           Numbers input_lengths, Numbers target_lengths, const Info<N>& loss,
                           const Info<N>& log_alpha, Size blank, bool) {
  const auto [expected, alphas] = ctc_shape(log_probs, targets, input_lengths, target_lengths, blank, false);
  require_same_sizes("ctc_loss_backward", gradient.sizes, expected.sizes);
  require_same_sizes("ctc_loss_backward", loss.sizes, expected.sizes);
  require_same_sizes("ctc_loss_backward", log_alpha.sizes, alphas.sizes);
  return contiguous<N>(log_probs.dtype, log_probs.sizes, log_probs.device);
}
void ctc_gradient_kernel(Context& context, const Tensor& gradient, const Tensor& log_probs,
                         const Tensor& targets, Numbers input_lengths, Numbers target_lengths,
                         const Tensor& loss, const Tensor& log_alpha, Size blank, bool zero_infinity,
                         Tensor& out) {
  with_floats("ctc_loss_backward_cpu", log_probs.dtype(), [&]<typename T>(T, DType wide) {
    const Tensor probs = packed_as(context, log_probs, wide), g = packed_as(context, gradient, wide);
    const Tensor losses = packed_as(context, loss, wide), alphas = packed_as(context, log_alpha, wide);
    const std::vector<int64_t> labels = read_indices(targets);
    const int64_t times = probs.sizes()[0], batch = probs.sizes()[1], classes = probs.sizes()[2];
    const int64_t width = alphas.sizes()[2];
    PackedOutput made(context, out, wide);
    T* const to = made.zeros<T>();
    for_each_part(context, batch, times * (width + classes) * 16, [&](int64_t n) {
      const auto at = static_cast<size_t>(n);
      const int64_t length = input_lengths[at];
      const T cost = losses.data<T>()[n];
      if (length == 0 || (zero_infinity && cost == -kNever<T>)) return;
      const Alignment path(labels, first_target(targets, target_lengths, n), target_lengths[at], blank,
                           classes);
      const int64_t states = path.states();
      const T* const alpha = alphas.data<T>() + n * times * width;
      std::vector<T> beta(static_cast<size_t>(states), kNever<T>), before;
      WorkPoller poll;
      for (int64_t t = length; t-- > 0;) {
        poll(static_cast<size_t>(states + classes));
        const T* const prob = probs.data<T>() + (t * batch + n) * classes;
        T* const row = to + (t * batch + n) * classes;
        before = beta;
        for (int64_t s = 0; s < states; ++s) {
          const auto state = static_cast<size_t>(s);
          T after = t == length - 1
                        ? (s + 2 >= states ? T(0) : kNever<T>)
                        : log_sum(before[state], s + 1 < states ? before[state + 1] : kNever<T>,
                                  s + 2 < states && path.skips(s + 2) ? before[state + 2] : kNever<T>);
          beta[state] = after + prob[path.label(s)];
        }
        std::fill_n(row, classes, kNever<T>);
        for (int64_t s = 0; s < states; ++s) {
          T& sum = row[path.label(s)];
          sum = log_sum(sum, alpha[t * width + s] + beta[static_cast<size_t>(s)]);
        }
        for (int64_t k = 0; k < classes; ++k) {
          row[k] = (std::exp(prob[k]) - std::exp(row[k] + cost - prob[k])) * g.data<T>()[n];
        }
      }
    });
    made.finish();
  });
}

// ---- with lengths in tensors, and reduced

Dims lengths_in(const Tensor& lengths) {
  require(!lengths.is_meta(), "ctc_loss: the lengths must be known");
  const std::vector<int64_t> numbers = read_indices(lengths);
  return Dims(std::span<const int64_t>(numbers));
}
std::tuple<Tensor, Tensor> ctc_of_tensors(Context& c, const Tensor& log_probs, const Tensor& targets,
                                          const Tensor& input_lengths, const Tensor& target_lengths,
                                          Size blank, bool zero_infinity) {
  return call<std::tuple<Tensor, Tensor>>(c, "aten::_ctc_loss", log_probs, targets, lengths_in(input_lengths),
                                          lengths_in(target_lengths), blank, zero_infinity);
}
Tensor ctc_gradient_of_tensors(Context& c, const Tensor& gradient, const Tensor& log_probs,
                               const Tensor& targets, const Tensor& input_lengths,
                               const Tensor& target_lengths, const Tensor& loss, const Tensor& log_alpha,
                               Size blank, bool zero_infinity) {
  return call(c, "aten::_ctc_loss_backward", gradient, log_probs, targets, lengths_in(input_lengths),
              lengths_in(target_lengths), loss, log_alpha, blank, zero_infinity);
}
// A single sequence is a batch of one.
Tensor ctc_reduced(Context& c, const Tensor& given, const Tensor& targets, const Dims& input_lengths,
                   const Dims& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  const bool is_batch = rank_of(given) == 3;
  const Tensor log_probs = is_batch ? given : call(c, "aten::unsqueeze", given, 1);
  Tensor loss = parts::first_of(c, "aten::_ctc_loss", log_probs, targets, input_lengths, target_lengths,
                                blank, zero_infinity);
  if (zero_infinity) {
    const Tensor is_endless = call(c, "aten::eq.Scalar", loss, std::numeric_limits<double>::infinity());
    loss = parts::where(c, is_endless, parts::scalar(c, 0, loss), loss);
  }
  if (reduction == parts::kMean) {
    const Tensor lengths = c.allocate(DType::kInt64, Dims{static_cast<int64_t>(target_lengths.size())});
    for (size_t i = 0; i < target_lengths.size(); ++i)
      lengths.mutable_data<int64_t>()[i] = std::max<int64_t>(target_lengths[i], 1);
    return call(c, "aten::mean", parts::div(c, loss, parts::to_dtype(c, lengths, loss.dtype())));
  }
  if (reduction == parts::kSum) return call(c, "aten::sum", loss);
  return is_batch ? loss : call(c, "aten::squeeze.dim", loss, 0);
}
Tensor ctc_loss(Context& c, const Tensor& log_probs, const Tensor& targets, Numbers input_lengths,
                Numbers target_lengths, Size blank, Size reduction, bool zero_infinity) {
  return ctc_reduced(c, log_probs, targets, Dims(input_lengths), Dims(target_lengths), blank, reduction,
                     zero_infinity);
}
Tensor ctc_loss_of_tensors(Context& c, const Tensor& log_probs, const Tensor& targets,
                           const Tensor& input_lengths, const Tensor& target_lengths, Size blank,
                           Size reduction, bool zero_infinity) {
  return ctc_reduced(c, log_probs, targets, lengths_in(input_lengths), lengths_in(target_lengths), blank,
                     reduction, zero_infinity);
}

}  // namespace

void define_ctc_loss(Library& library) {
  library
      .define(
          "aten::_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int "
          "blank=0, "
          "bool zero_infinity=False) -> (Tensor, Tensor)")
      .shape<ctc_shape<Size>, ctc_shape<SymInt>>()
      .kernel<ctc_kernel>();
  library
      .define(
          "aten::_ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor "
          "target_lengths, int "
          "blank=0, bool zero_infinity=False) -> (Tensor, Tensor)")
      .function<ctc_of_tensors>();
  library
      .define(
          "aten::_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, "
          "int[] "
          "target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) "
          "-> Tensor")
      .shape<ctc_gradient_shape<Size>, ctc_gradient_shape<SymInt>>()
      .kernel<ctc_gradient_kernel>();
  library
      .define(
          "aten::_ctc_loss_backward.Tensor(Tensor grad, Tensor log_probs, Tensor targets, Tensor "
          "input_lengths, Tensor "
          "target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) "
          "-> Tensor")
      .function<ctc_gradient_of_tensors>();
  library
      .define(
          "aten::ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] "
          "target_lengths, int "
          "blank=0, int reduction=1, bool zero_infinity=False) -> Tensor")
      .function<ctc_loss>();
  library
      .define(
          "aten::ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor "
          "target_lengths, int "
          "blank=0, int reduction=1, bool zero_infinity=False) -> Tensor")
      .function<ctc_loss_of_tensors>();
}

}  // namespace flambeau::ops
