// Random numbers of a distribution in the shape of a tensor: uniform, normal, bernoulli, exponential,
// multinomial.
#include <fmt/format.h>

#include <cmath>

#include "flambeau/kernels/random/random.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/random/draw.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> like(const Info<N>& self) {
  return {.dtype = self.dtype,
          .sizes = self.sizes,
          .strides = like_strides(self, MemoryFormat::kPreserve),
          .device = self.device};
}

// ---- with two numbers
template <typename N>
Info<N> two_shape(const Info<N>& self, double, double, const Value&) {
  return like(self);
}

void uniform_kernel(Context& context, const Tensor&, double from, double to, const Value& generator,
                    Tensor& out) {
  draw_uniform(context, generator, out, from, to);
}

void normal_kernel(Context& context, const Tensor&, double mean, double std, const Value& generator,
                   Tensor& out) {
  draw_normal(context, generator, out, mean, std);
}

Tensor normal_in_place(Context& context, const Tensor& self, double mean, double std,
                       const Value& generator) {
  draw_normal(context, generator, self, mean, std);
  return self;
}

Tensor normal_into(Context& context, const Tensor& self, double mean, double std, const Value& generator,
                   const Tensor& out) {
  const Tensor to = out.sizes() == self.sizes() ? out : context.allocate(out.dtype(), self.sizes());
  draw_normal(context, generator, to, mean, std);
  return to;
}

void log_normal_kernel(Context& context, const Tensor&, double mean, double std, const Value& given,
                       Tensor& out) {
  if (!(std > 0)) fail_view(fmt::format("log_normal_ expects std > 0.0, but found std={}", std));
  kernels::Generator& generator = generator_of(context, given);
  draw(context, "log_normal_cpu", out, [&](void* memory, DType dtype, size_t count, bool) {
    kernels::log_normal(generator, mean, std, dtype, memory, count);
  });
}

void cauchy_kernel(Context& context, const Tensor&, double median, double sigma, const Value& given,
                   Tensor& out) {
  if (!(sigma > 0)) fail_view(fmt::format("cauchy_ expects sigma > 0.0, but found sigma={}", sigma));
  kernels::Generator& generator = generator_of(context, given);
  draw(context, "cauchy", out, [&](void* memory, DType dtype, size_t count, bool) {
    kernels::cauchy(generator, median, sigma, dtype, memory, count);
  });
}

// ---- with one number
template <typename N>
Info<N> one_shape(const Info<N>& self, double, const Value&) {
  return like(self);
}

void exponential_kernel(Context& context, const Tensor&, double lambda, const Value& given, Tensor& out) {
  if (!(lambda > 0)) fail_view(fmt::format("exponential_ expects lambda > 0.0, but found lambda={}", lambda));
  kernels::Generator& generator = generator_of(context, given);
  draw(context, "exponential", out, [&](void* memory, DType dtype, size_t count, bool) {
    kernels::exponential(generator, lambda, dtype, memory, count);
  });
}

void geometric_kernel(Context& context, const Tensor&, double p, const Value& given, Tensor& out) {
  if (!(p > 0 && p < 1)) fail_view(fmt::format("geometric_ expects p to be in (0, 1), but got p={}", p));
  kernels::Generator& generator = generator_of(context, given);
  draw(context, "geometric_cpu", out, [&](void* memory, DType dtype, size_t count, bool) {
    kernels::geometric(generator, p, dtype, memory, count);
  });
}

// ---- 0 or 1
template <typename N>
Info<N> bernoulli_p_shape(const Info<N>& self, double, const Value&) {
  return contiguous(self.dtype, self.sizes, self.device);
}
void bernoulli_p_kernel(Context& context, const Tensor&, double p, const Value& generator, Tensor& out) {
  draw_bernoulli(context, generator, out, p);
}
Tensor bernoulli_in_place(Context& context, const Tensor& self, double p, const Value& generator) {
  draw_bernoulli(context, generator, self, p);
  return self;
}

void bernoulli_each(Context& context, const Value& given, const Tensor& p, const Tensor& out) {
  if (!is_floating(p.dtype())) {
    fail_view(
        fmt::format("expected probabilities tensor to have floating type, got {}", dtype_name(p.dtype())));
  }
  kernels::Generator& generator = generator_of(context, given);
  // Laid out as the result's elements are drawn.
  Info<Size> info = info_of(out);
  info.dtype = p.dtype();
  info.offset = 0;
  info.strides = like_strides(info, MemoryFormat::kPreserve);
  const Tensor each = context.allocate(info);
  copy_into(context, p, each);
  draw(context, "bernoulli_tensor_cpu_self_", out, [&](void* memory, DType dtype, size_t count, bool) {
    kernels::bernoulli(generator, p.dtype(), each.data(), dtype, memory, count);
  });
}

template <typename N>
Info<N> bernoulli_shape(const Info<N>& self, const Value&) {
  return contiguous(self.dtype, self.sizes, self.device);
}
void bernoulli_kernel(Context& context, const Tensor& self, const Value& generator, Tensor& out) {
  bernoulli_each(context, generator, self, out);
}

template <typename N>
Info<N> bernoulli_tensor_shape(const Info<N>& self, const Info<N>& p, const Value&) {
  expand_info(p, self.sizes.span());
  return like(self);
}
void bernoulli_tensor_kernel(Context& context, const Tensor&, const Tensor& p, const Value& generator,
                             Tensor& out) {
  bernoulli_each(context, generator, p, out);
}

// ---- integers
template <typename N>
Info<N> random_shape(const Info<N>& self, const Value&) {
  return like(self);
}
void random_kernel(Context& context, const Tensor&, const Value& given, Tensor& out) {
  kernels::Generator& generator = generator_of(context, given);
  draw(context, "random_kernel_cpu", out, [&](void* memory, DType dtype, size_t count, bool) {
    kernels::random_integers(generator, dtype, memory, count);
  });
}

template <typename N>
Info<N> random_from_shape(const Info<N>& self, Size, std::optional<Size>, const Value&) {
  return like(self);
}
void random_from_kernel(Context& context, const Tensor&, Size from, std::optional<Size> to,
                        const Value& given, Tensor& out) {
  kernels::Generator& generator = generator_of(context, given);
  draw(context, "random_kernel_cpu", out, [&](void* memory, DType dtype, size_t count, bool) {
    kernels::random_integers(generator, from, to, dtype, memory, count);
  });
}

template <typename N>
Info<N> random_to_shape(const Info<N>& self, Size, const Value&) {
  return like(self);
}
void random_to_kernel(Context& context, const Tensor& self, Size to, const Value& given, Tensor& out) {
  random_from_kernel(context, self, 0, to, given, out);
}

// ---- normal numbers, each with a mean or deviation of its own
Tensor standard_normal(Context& context, const Value& generator, const Info<Size>& like_this, double std) {
  Tensor out = context.allocate(contiguous(like_this.dtype, like_this.sizes, like_this.device));
  draw_normal(context, generator, out, 0, std);
  return out;
}

template <typename N>
Info<N> normal_tensor_float_shape(const Info<N>& mean, double, const Value&) {
  return contiguous<N>(mean.dtype, mean.sizes, mean.device);
}
template <typename N>
Info<N> normal_float_tensor_shape(double, const Info<N>& std, const Value&) {
  return contiguous<N>(std.dtype, std.sizes, std.device);
}
template <typename N>
Info<N> normal_tensor_tensor_shape(const Info<N>& mean, const Info<N>& std, const Value&) {
  return contiguous<N>(mean.dtype, broadcast(mean.sizes, std.sizes), mean.device);
}

Tensor normal_tensor_float(Context& context, const Tensor& mean, double std, const Value& generator) {
  return call(context, "aten::add.Tensor", standard_normal(context, generator, info_of(mean), std), mean);
}

Tensor scaled(Context& context, const Value& generator, const Info<Size>& info, const Tensor& std) {
  return call(context, "aten::mul.Tensor", standard_normal(context, generator, info, 1), std);
}

Tensor normal_float_tensor(Context& context, double mean, const Tensor& std, const Value& generator) {
  return call(context, "aten::add.Tensor", scaled(context, generator, info_of(std), std), mean);
}

Tensor normal_tensor_tensor(Context& context, const Tensor& mean, const Tensor& std, const Value& generator) {
  Info<Size> info = info_of(mean);
  info.sizes = broadcast(mean.sizes(), std.sizes());
  return call(context, "aten::add.Tensor", scaled(context, generator, info, std), mean);
}

template <typename N>
Info<N> normal_size_shape(double, double, std::span<const N> size, const Value&, std::optional<DType> dtype,
                          std::optional<Layout>, std::optional<Device> device, std::optional<bool>) {
  return contiguous(dtype.value_or(kDefaultFloat), ShortList<N>(size), device.value_or(Device{}));
}
void normal_size_kernel(Context& context, double mean, double std, std::span<const Size>,
                        const Value& generator, std::optional<DType>, std::optional<Layout>,
                        std::optional<Device>, std::optional<bool>, Tensor& out) {
  draw_normal(context, generator, out, mean, std);
}

// ---- multinomial
template <typename N>
Info<N> multinomial_shape(const Info<N>& self, N samples, bool replacement, const Value&) {
  if (self.dim() != 1 && self.dim() != 2) fail_view("prob_dist must be 1 or 2 dim");
  if (!is_floating(self.dtype)) {
    fail_view(fmt::format("multinomial only supports floating-point dtypes for input, got: {}",
                          dtype_name(self.dtype)));
  }
  if (samples <= N(0)) fail_view("cannot sample n_sample <= 0 samples");
  if (!replacement && samples > self.sizes.back()) {
    fail_view("cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  }
  ShortList<N> sizes = self.sizes;
  sizes.back() = samples;
  return contiguous(DType::kInt64, std::move(sizes), self.device);
}

void multinomial_kernel(Context& context, const Tensor& self, Size samples, bool replacement,
                        const Value& given, Tensor& out) {
  const Tensor weights = self.to_contiguous();
  kernels::multinomial(generator_of(context, given), weights.dtype(), weights.data(),
                       static_cast<size_t>(self.dim() == 2 ? self.sizes()[0] : 1),
                       static_cast<size_t>(self.sizes().back()), static_cast<size_t>(samples), replacement,
                       out.mutable_data<int64_t>());
}

// The same numbers by the operator without a beginning.
std::optional<Tensor> random_from_parts(Context& context, const Tensor& self, Size from,
                                        std::optional<Size> to, const Value& generator) {
  if (!to) return {};
  const Tensor drawn =
      call_with(context, "aten::random.to", {self, (*to - from).value()}, {{"generator", generator}});
  return call(context, "aten::add.Scalar", drawn, from.value());
}

}  // namespace

void define_distribution(Library& library) {
  // The in-place forms fill their argument's own memory, hence elementwise().
  library
      .define(
          "aten::uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor")
      .shape<two_shape<Size>, two_shape<SymInt>>()
      .kernel<uniform_kernel>()
      .elementwise()
      .random();
  library
      .define(
          "aten::normal_functional(Tensor self, float mean=0., float std=1., *, Generator? generator=None) "
          "-> "
          "Tensor")
      .shape<two_shape<Size>, two_shape<SymInt>>()
      .kernel<normal_kernel>()
      .random();
  library
      .define(
          "aten::normal.out(Tensor self, float mean=0., float std=1., *, Generator? generator=None, "
          "Tensor(a!) out) -> "
          "Tensor(a!)")
      .function<normal_into>()
      .random();
  library
      .define(
          "aten::normal_(Tensor(a!) self, float mean=0., float std=1., *, Generator? generator=None) -> "
          "Tensor(a!)")
      .function<normal_in_place>()
      .random();
  library
      .define(
          "aten::log_normal(Tensor self, float mean=1., float std=2., *, Generator? generator=None) -> "
          "Tensor")
      .shape<two_shape<Size>, two_shape<SymInt>>()
      .kernel<log_normal_kernel>()
      .elementwise()
      .random();
  library
      .define(
          "aten::cauchy(Tensor self, float median=0., float sigma=1., *, Generator? generator=None) -> "
          "Tensor")
      .shape<two_shape<Size>, two_shape<SymInt>>()
      .kernel<cauchy_kernel>()
      .elementwise()
      .random();
  library.define("aten::exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor")
      .shape<one_shape<Size>, one_shape<SymInt>>()
      .kernel<exponential_kernel>()
      .elementwise()
      .random();
  library.define("aten::geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor")
      .shape<one_shape<Size>, one_shape<SymInt>>()
      .kernel<geometric_kernel>()
      .elementwise()
      .random();
  library.define("aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor")
      .shape<bernoulli_shape<Size>, bernoulli_shape<SymInt>>()
      .kernel<bernoulli_kernel>()
      .random();
  library.define("aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor")
      .shape<bernoulli_p_shape<Size>, bernoulli_p_shape<SymInt>>()
      .kernel<bernoulli_p_kernel>()
      .random();
  library
      .define(
          "aten::bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)")
      .function<bernoulli_in_place>()
      .random();
  library.define("aten::bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor")
      .shape<bernoulli_tensor_shape<Size>, bernoulli_tensor_shape<SymInt>>()
      .kernel<bernoulli_tensor_kernel>()
      .elementwise()
      .random();
  library.define("aten::random(Tensor self, *, Generator? generator=None) -> Tensor")
      .shape<random_shape<Size>, random_shape<SymInt>>()
      .kernel<random_kernel>()
      .elementwise()
      .random();
  library.define("aten::random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor")
      .shape<random_from_shape<Size>, random_from_shape<SymInt>>()
      .kernel<random_from_kernel>()
      .decomposition<random_from_parts>()
      .elementwise()
      .random();
  library.define("aten::random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor")
      .shape<random_to_shape<Size>, random_to_shape<SymInt>>()
      .kernel<random_to_kernel>()
      .elementwise()
      .random();
  library
      .define("aten::normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor")
      .shape<normal_tensor_float_shape<Size>, normal_tensor_float_shape<SymInt>>()
      .function<normal_tensor_float>()
      .random();
  library.define("aten::normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor")
      .shape<normal_float_tensor_shape<Size>, normal_float_tensor_shape<SymInt>>()
      .function<normal_float_tensor>()
      .random();
  library
      .define("aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor")
      .shape<normal_tensor_tensor_shape<Size>, normal_tensor_tensor_shape<SymInt>>()
      .function<normal_tensor_tensor>()
      .random();
  library
      .define(
          "aten::normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, "
          "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
          "Tensor")
      .shape<normal_size_shape<Size>, normal_size_shape<SymInt>>()
      .kernel<normal_size_kernel>()
      .random();
  library
      .define(
          "aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? "
          "generator=None) -> Tensor")
      .shape<multinomial_shape<Size>, multinomial_shape<SymInt>>()
      .kernel<multinomial_kernel>()
      .is(Trait::kExactOut)
      .random();
}

}  // namespace flambeau::ops
