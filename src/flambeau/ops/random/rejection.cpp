// Distributions drawn by rejection, each element with parameters of its own: gamma and Dirichlet (Marsaglia
// and Tsang 2000), Poisson and binomial (Hörmann 1993, transformed rejection). Numbers are drawn in PyTorch's
// order, so that the same seed gives the same ones.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/base/work.h"
#include "flambeau/kernels/math/special.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/variants.h"
#include "flambeau/ops/norm/row_access.h"
#include "flambeau/ops/random/draw.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

using kernels::Generator;

[[noreturn]] void refuse_draw(std::string text) { throw Error(ErrorCode::kInvalidArgument, std::move(text)); }

double log_factorial(double k) {
  double x = k + 1;
  kernels::special::lgamma(&x, &x, 1);
  return x;
}

// Both have a bounded expected count of rounds; the poller stops them all the same.
double draw_gamma(Generator& generator, double alpha, WorkPoller& poll) {
  // No round would ever be accepted.
  if (!(alpha >= 0)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(alpha) || alpha == 0) return alpha;
  double scale = 1;
  if (alpha < 1) {
    scale = std::pow(1 - generator.uniform_double(), 1 / alpha);
    alpha += 1;
  }
  const double d = alpha - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    poll(32);
    double x = 0;
    double y = 0;
    do {
      x = generator.normal_double();
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y;
    const double u = 1 - generator.uniform_double();
    const double square = x * x;
    if (u < 1 - 0.0331 * square * square) return scale * d * v;
    if (std::log(u) < 0.5 * square + d * (1 - v + std::log(v))) return scale * d * v;
  }
}

double draw_poisson(Generator& generator, double lambda, WorkPoller& poll) {
  if (lambda == 0) return 0;
  if (lambda < 10) {
    const double least = std::exp(-lambda);
    double count = 0;
    for (double product = generator.uniform_double(); product > least; product *= generator.uniform_double())
      ++count;
    return count;
  }
  const double root = std::sqrt(lambda);
  const double b = 0.931 + 2.53 * root;
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double inside = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    poll(32);
    const double u = generator.uniform_double() - 0.5;
    const double v = generator.uniform_double();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + lambda + 0.43);
    if (us >= 0.07 && v <= inside) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double bound = -lambda + k * std::log(lambda) - log_factorial(k);
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <= bound) return k;
  }
}

// What Stirling's formula lacks of log(k!).
double stirling_tail(double k) {
  constexpr double kFirst[] = {
      0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
      0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kFirst[static_cast<size_t>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}
// For chances up to one half.
double draw_binomial_small(Generator& generator, double count, double chance, WorkPoller& poll) {
  if (count * chance < 10) {
    // Tries between two successes are geometric.
    const double factor = std::log1p(-chance);
    double sum = 0;
    for (double successes = 0;; ++successes) {
      poll(16);
      sum += std::ceil(std::log(generator.uniform_double()) / factor);
      if (sum > count) return successes;
    }
  }
  const double deviation = std::sqrt(count * chance * (1 - chance));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * chance;
  const double c = count * chance + 0.5;
  const double inside = 0.92 - 4.2 / b;
  const double odds = chance / (1 - chance);
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double m = std::floor((count + 1) * chance);
  for (;;) {
    poll(32);
    const double u = generator.uniform_double() - 0.5;
    double v = generator.uniform_double();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= inside) return k;
    if (k < 0 || k > count) continue;
    v = std::log(v * alpha / (a / (us * us) + b));
    const double bound = (m + 0.5) * std::log((m + 1) / (odds * (count - m + 1))) +
                         (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) + stirling_tail(m) +
                         stirling_tail(count - m) - stirling_tail(k) - stirling_tail(count - k);
    if (v <= bound) return k;
  }
}
double draw_binomial(Generator& generator, double count, double chance, WorkPoller& poll) {
  if (std::isnan(count) || std::isnan(chance)) return std::numeric_limits<double>::quiet_NaN();
  if (count <= 0 || chance <= 0) return 0;
  if (chance >= 1 || std::isinf(count)) return count;
  if (chance <= 0.5) return draw_binomial_small(generator, count, chance, poll);
  return count - draw_binomial_small(generator, count, 1 - chance, poll);
}

void store_all(std::span<const double> values, const Tensor& out) {
  if (!values.empty())
    store_packed(DType::kFloat64, values.data(), values.size(), out.dtype(), out.mutable_data(),
                 static_cast<int64_t>(out.element_size()));
}

// ---- the operators
template <typename N>
Info<N> each_shape(const Info<N>& self, const Value&) {
  return contiguous<N>(self.dtype, self.sizes, self.device);
}
template <double (*kDraw)(Generator&, double, WorkPoller&)>
std::vector<double> drawn(Context& context, const Tensor& self, const Value& given) {
  Generator& generator = generator_of(context, given);
  std::vector<double> values = read_all<double>(&self);
  WorkPoller poll;
  for (double& value : values) value = kDraw(generator, value, poll);
  return values;
}

void poisson_kernel(Context& context, const Tensor& self, const Value& given, Tensor& out) {
  if (!is_floating(self.dtype())) fail_dtype("poisson_cpu", self.dtype());
  for (const double lambda : read_all<double>(&self)) {
    if (!(lambda >= 0 && std::isfinite(lambda)))
      refuse_draw(
          fmt::format("invalid Poisson rate {}, expected rate to be non-negative and finite", lambda));
  }
  store_all(drawn<draw_poisson>(context, self, given), out);
}

// The least that a gamma number may be: none is 0.
double least_of(DType dtype) {
  return dtype == DType::kFloat64   ? std::numeric_limits<double>::min()
         : dtype == DType::kFloat16 ? 0x1p-14
                                    : static_cast<double>(std::numeric_limits<float>::min());
}
void gamma_kernel(Context& context, const Tensor& self, const Value& given, Tensor& out) {
  if (!is_floating(self.dtype())) fail_dtype("gamma_cpu", self.dtype());
  std::vector<double> values = drawn<draw_gamma>(context, self, given);
  for (double& value : values) value = std::max(value, least_of(self.dtype()));
  store_all(values, out);
}
void dirichlet_kernel(Context& context, const Tensor& self, const Value& given, Tensor& out) {
  if (!is_floating(self.dtype())) fail_dtype("dirichlet", self.dtype());
  std::vector<double> values = drawn<draw_gamma>(context, self, given);
  const auto length = static_cast<size_t>(self.dim() == 0 ? 1 : self.sizes().back());
  for (size_t start = 0; start < values.size(); start += length) {
    double sum = 0;
    for (size_t i = 0; i < length; ++i) sum += values[start + i];
    for (size_t i = 0; i < length; ++i)
      values[start + i] = std::max(values[start + i] / sum, least_of(self.dtype()));
  }
  store_all(values, out);
}

template <typename N>
Info<N> binomial_shape(const Info<N>& count, const Info<N>& prob, const Value&) {
  if (count.dtype != prob.dtype)
    refuse_draw(
        fmt::format("Found dtype {} but expected {}", dtype_name(prob.dtype), dtype_name(count.dtype)));
  return elementwise_info<N>(count.dtype, count, prob);
}
void binomial_kernel(Context& context, const Tensor& count, const Tensor& prob, const Value& given,
                     Tensor& out) {
  if (!is_floating(count.dtype())) fail_dtype("binomial_cpu", count.dtype());
  Generator& generator = generator_of(context, given);
  const Tensor counts_tensor = broadcast_view(count, out.sizes());
  const Tensor chances_tensor = broadcast_view(prob, out.sizes());
  std::vector<double> counts = read_all<double>(&counts_tensor);
  const std::vector<double> chances = read_all<double>(&chances_tensor);
  WorkPoller poll;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (chances[i] < 0 || chances[i] > 1)
      refuse_draw(fmt::format("invalid probability {}, expected it to be between 0 and 1", chances[i]));
    counts[i] = draw_binomial(generator, counts[i], chances[i], poll);
  }
  Tensor packed = context.allocate(out.dtype(), out.sizes());
  store_all(counts, packed);
  copy_into(context, packed, out);
}

// ---- slopes of negative elements, drawn while training
template <typename N>
std::tuple<Info<N>, Info<N>> noise_shape(const Info<N>& self, const Info<N>& noise, Scalar lower,
                                         Scalar upper, bool, const Value&) {
  if (!(lower.to_double() <= upper.to_double()))
    refuse_draw("Lower bound should be less than or equal to the upper bound");
  if (!(self.sizes == noise.sizes))
    refuse_draw(
        fmt::format("noise tensor shape must match self tensor shape. Got self.shape = {} noise.shape = {}",
                    sizes_text(self.sizes), sizes_text(noise.sizes)));
  return {contiguous<N>(self.dtype, self.sizes, self.device),
          contiguous<N>(noise.dtype, self.sizes, self.device)};
}
void noise_kernel(Context& context, const Tensor& self, const Tensor& noise, Scalar lower, Scalar upper,
                  bool training, const Value& given, Tensor& out, Tensor& noise_out) {
  if (!is_floating(self.dtype())) fail_dtype("rrelu_with_noise_out_cpu", self.dtype());
  const double from = lower.to_double();
  const double to = upper.to_double();
  if (!training) {
    copy_into(context, noise, noise_out);
    Context plain = context.without_interceptor();
    copy_into(context, call(plain, "aten::leaky_relu", self, (from + to) / 2), out);
    return;
  }
  Generator& generator = generator_of(context, given);
  std::vector<double> values = read_all<double>(&self);
  std::vector<double> slopes(values.size(), 1);
  WorkPoller poll;
  for (size_t i = 0; i < values.size(); ++i) {
    poll(8);
    if (!(values[i] <= 0)) continue;
    slopes[i] = generator.uniform_double() * (to - from) + from;
    values[i] *= slopes[i];
  }
  store_all(values, out);
  store_all(slopes, noise_out);
}
Tensor noise_written(Context& context, const Tensor& self, const Tensor& noise, Scalar lower, Scalar upper,
                     bool training, const Value& given) {
  noise_shape<Size>(info_of(self), info_of(noise), lower, upper, training, given);
  Tensor out = context.allocate(self.dtype(), self.sizes());
  Tensor slopes = context.allocate(noise.dtype(), self.sizes());
  if (self.element_count() == 0) return out;
  noise_kernel(context, self, noise, lower, upper, training, given, out, slopes);
  copy_into(context, slopes, noise);
  return out;
}
// The noise is written, so that this form is not made from the other.
Tensor noise_to(Context& context, const Tensor& self, const Tensor& noise, Scalar lower, Scalar upper,
                bool training, const Value& given, const Tensor& out) {
  return written_to(context, noise_written(context, self, noise, lower, upper, training, given), out);
}

}  // namespace

void define_rejection(Library& library) {
  library.define("aten::poisson(Tensor self, Generator? generator=None) -> Tensor")
      .shape<each_shape<Size>, each_shape<SymInt>>()
      .kernel<poisson_kernel>()
      .random();
  library.define("aten::_standard_gamma(Tensor self, Generator? generator=None) -> Tensor")
      .shape<each_shape<Size>, each_shape<SymInt>>()
      .kernel<gamma_kernel>()
      .random();
  library.define("aten::_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor")
      .shape<each_shape<Size>, each_shape<SymInt>>()
      .kernel<dirichlet_kernel>()
      .random();
  library.define("aten::binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor")
      .shape<binomial_shape<Size>, binomial_shape<SymInt>>()
      .kernel<binomial_kernel>()
      .random();
  library
      .define(
          "aten::rrelu_with_noise_functional(Tensor self, Tensor noise, Scalar lower=0.125, Scalar "
          "upper=0.33333333333333331, bool training=False, Generator? generator=None) -> (Tensor, Tensor "
          "noise_out)")
      .shape<noise_shape<Size>, noise_shape<SymInt>>()
      .kernel<noise_kernel>()
      .random();
  library
      .define(
          "aten::rrelu_with_noise(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar "
          "upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor")
      .function<noise_written>()
      .random();
  library
      .define(
          "aten::rrelu_with_noise.out(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar "
          "upper=0.33333333333333331, bool training=False, Generator? generator=None, *, Tensor(a!) out) -> "
          "Tensor(a!)")
      .function<noise_to>()
      .random();
}

}  // namespace flambeau::ops
