#include "flambeau/ops/random/draw.h"

#include <fmt/format.h>

#include <cmath>

#include "flambeau/kernels/random/random.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {

kernels::Generator& generator_of(Context& context, const Value& given) {
  if (const Object* const object = given.get_if<Object>(); object != nullptr && object->pointer != nullptr) {
    return *static_cast<kernels::Generator*>(object->pointer.get());
  }
  return context.require_generator();
}

void draw(Context& context, std::string_view name, const Tensor& out, const Fill& fill) {
  if (is_complex(out.dtype())) fail_dtype(name, out.dtype());
  draw_parts(context, out, fill);
}

void draw_parts(Context& context, const Tensor& out, const Fill& fill) {
  if (out.element_count() == 0) return;
  const Info<Size> info = info_of(out);
  const auto fill_dense = [&](const Tensor& dense) {
    const bool is_pair = is_complex(dense.dtype());
    const auto count = static_cast<size_t>(dense.element_count()) * (is_pair ? 2 : 1);
    fill(dense.mutable_data(), is_pair ? to_real(dense.dtype()) : dense.dtype(), count, out.is_contiguous());
  };
  if (is_dense(info)) {
    fill_dense(out);
    return;
  }
  Info<Size> packed = info;
  packed.offset = 0;
  packed.strides = like_strides(info, MemoryFormat::kPreserve);
  const Tensor drawn = context.allocate(packed);
  fill_dense(drawn);
  copy_into(context, drawn, out);
}

void draw_uniform(Context& context, const Value& given, const Tensor& out, double from, double to) {
  if (!(from <= to)) {
    fail_view(
        fmt::format("uniform_ expects to return a [from, to) range, but found from={} > to={}", from, to));
  }
  kernels::Generator& generator = generator_of(context, given);
  draw_parts(context, out, [&](void* memory, DType dtype, size_t count, bool) {
    kernels::uniform(generator, from, to, dtype, memory, count);
  });
}

void draw_normal(Context& context, const Value& given, const Tensor& out, double mean, double deviation) {
  if (!(deviation >= 0)) fail_view(fmt::format("normal expects std >= 0.0, but found std {}", deviation));
  kernels::Generator& generator = generator_of(context, given);
  // Both parts of a complex number have half of the variance.
  const double own = is_complex(out.dtype()) ? deviation / std::sqrt(2.0) : deviation;
  draw_parts(context, out, [&](void* memory, DType dtype, size_t count, bool is_contiguous) {
    kernels::normal(generator, mean, own, dtype, memory, count, is_contiguous);
  });
}

void draw_bernoulli(Context& context, const Value& given, const Tensor& out, double p) {
  if (!(p >= 0 && p <= 1)) fail_view(fmt::format("bernoulli_ expects p to be in [0, 1], but got p={}", p));
  kernels::Generator& generator = generator_of(context, given);
  draw(context, "bernoulli_scalar_cpu_", out, [&](void* memory, DType dtype, size_t count, bool) {
    kernels::bernoulli(generator, p, dtype, memory, count);
  });
}

}  // namespace flambeau::ops
