// Fresh tensors of random numbers: rand, randn, randint, randperm.
#include <fmt/format.h>

#include "flambeau/kernels/random/random.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/random/draw.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

using OptionalDType = std::optional<DType>;
using OptionalLayout = std::optional<Layout>;
using OptionalDevice = std::optional<Device>;
using OptionalBool = std::optional<bool>;
using OptionalFormat = std::optional<MemoryFormat>;

template <typename N>
Info<N> made(std::span<const N> sizes, DType dtype, OptionalDevice device) {
  for (const N& size : sizes) {
    if (size < N(0)) {
      fail_view("Trying to create tensor with negative dimension " + number_text(size) + ": " +
                sizes_text(sizes));
    }
  }
  return contiguous(dtype, ShortList<N>(sizes), device.value_or(Device{}));
}

template <typename N>
Info<N> like(const Info<N>& self, OptionalDType dtype, OptionalDevice device, OptionalFormat format) {
  return {.dtype = dtype.value_or(self.dtype),
          .sizes = self.sizes,
          .strides = like_strides(self, format.value_or(MemoryFormat::kPreserve)),
          .device = device.value_or(self.device)};
}

enum class Numbers { kUniform, kNormal };

template <Numbers kNumbers>
void draw_numbers(Context& context, const Tensor& out) {
  if constexpr (kNumbers == Numbers::kUniform) {
    draw_uniform(context, {}, out, 0, 1);
  } else {
    draw_normal(context, {}, out, 0, 1);
  }
}

template <typename N>
Info<N> rand_shape(std::span<const N> size, OptionalDType dtype, OptionalLayout, OptionalDevice device,
                   OptionalBool) {
  return made(size, dtype.value_or(kDefaultFloat), device);
}
template <Numbers kNumbers>
void rand_kernel(Context& context, std::span<const Size>, OptionalDType, OptionalLayout, OptionalDevice,
                 OptionalBool, Tensor& out) {
  draw_numbers<kNumbers>(context, out);
}

template <typename N>
Info<N> rand_like_shape(const Info<N>& self, OptionalDType dtype, OptionalLayout, OptionalDevice device,
                        OptionalBool, OptionalFormat format) {
  return like(self, dtype, device, format);
}
template <Numbers kNumbers>
void rand_like_kernel(Context& context, const Tensor&, OptionalDType, OptionalLayout, OptionalDevice,
                      OptionalBool, OptionalFormat, Tensor& out) {
  draw_numbers<kNumbers>(context, out);
}

// ---- integers
void draw_integers(Context& context, const Tensor& out, int64_t low, int64_t high) {
  if (low >= high) {
    fail_view(
        fmt::format("random_ expects 'from' to be less than 'to', but got from={} >= to={}", low, high));
  }
  kernels::Generator& generator = context.require_generator();
  draw(context, "random_from_to", out, [&](void* memory, DType dtype, size_t count, bool) {
    kernels::random_integers(generator, low, high, dtype, memory, count);
  });
}

template <typename N>
Info<N> randint_shape(N, std::span<const N> size, OptionalDType dtype, OptionalLayout, OptionalDevice device,
                      OptionalBool) {
  return made(size, dtype.value_or(DType::kInt64), device);
}
void randint_kernel(Context& context, Size high, std::span<const Size>, OptionalDType, OptionalLayout,
                    OptionalDevice, OptionalBool, Tensor& out) {
  draw_integers(context, out, 0, high);
}

template <typename N>
Info<N> randint_low_shape(N, N, std::span<const N> size, OptionalDType dtype, OptionalLayout,
                          OptionalDevice device, OptionalBool) {
  return made(size, dtype.value_or(DType::kInt64), device);
}
void randint_low_kernel(Context& context, Size low, Size high, std::span<const Size>, OptionalDType,
                        OptionalLayout, OptionalDevice, OptionalBool, Tensor& out) {
  draw_integers(context, out, low, high);
}

template <typename N>
Info<N> randint_like_shape(const Info<N>& self, N, OptionalDType dtype, OptionalLayout, OptionalDevice device,
                           OptionalBool, OptionalFormat format) {
  return like(self, dtype, device, format);
}
void randint_like_kernel(Context& context, const Tensor&, Size high, OptionalDType, OptionalLayout,
                         OptionalDevice, OptionalBool, OptionalFormat, Tensor& out) {
  draw_integers(context, out, 0, high);
}

template <typename N>
Info<N> randint_like_tensor_shape(const Info<N>& self, const Info<N>&, OptionalDType dtype, OptionalLayout,
                                  OptionalDevice device, OptionalBool, OptionalFormat format) {
  return like(self, dtype, device, format);
}
void randint_like_tensor_kernel(Context& context, const Tensor&, const Tensor& high, OptionalDType,
                                OptionalLayout, OptionalDevice, OptionalBool, OptionalFormat, Tensor& out) {
  draw_integers(context, out, 0, item(high).to_int());
}

template <typename N>
Info<N> randint_like_low_shape(const Info<N>& self, N, N, OptionalDType dtype, OptionalLayout,
                               OptionalDevice device, OptionalBool, OptionalFormat format) {
  return like(self, dtype, device, format);
}
void randint_like_low_kernel(Context& context, const Tensor&, Size low, Size high, OptionalDType,
                             OptionalLayout, OptionalDevice, OptionalBool, OptionalFormat, Tensor& out) {
  draw_integers(context, out, low, high);
}

template <typename N>
Info<N> randperm_shape(N n, OptionalDType dtype, OptionalLayout, OptionalDevice device, OptionalBool) {
  if (n < N(0)) fail_view("n must be non-negative, got " + number_text(n));
  const N sizes[] = {n};
  return made(std::span<const N>(sizes), dtype.value_or(DType::kInt64), device);
}
void randperm_kernel(Context& context, Size n, OptionalDType, OptionalLayout, OptionalDevice, OptionalBool,
                     Tensor& out) {
  kernels::Generator& generator = context.require_generator();
  if (out.dtype() == DType::kInt64) {
    kernels::permutation(generator, out.mutable_data<int64_t>(), static_cast<size_t>(n));
    return;
  }
  const Tensor numbers = context.allocate(DType::kInt64, out.sizes());
  kernels::permutation(generator, numbers.mutable_data<int64_t>(), static_cast<size_t>(n));
  copy_into(context, numbers, out);
}

}  // namespace

#define OPTIONS "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define INT_OPTIONS "*, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define LIKE_OPTIONS OPTIONS ", MemoryFormat? memory_format=None"

void define_fresh(Library& library) {
  library.define("aten::rand(SymInt[] size, " OPTIONS ") -> Tensor")
      .shape<rand_shape<Size>, rand_shape<SymInt>>()
      .kernel<rand_kernel<Numbers::kUniform>>()
      .random();
  library.define("aten::randn(SymInt[] size, " OPTIONS ") -> Tensor")
      .shape<rand_shape<Size>, rand_shape<SymInt>>()
      .kernel<rand_kernel<Numbers::kNormal>>()
      .random();
  library.define("aten::rand_like(Tensor self, " LIKE_OPTIONS ") -> Tensor")
      .shape<rand_like_shape<Size>, rand_like_shape<SymInt>>()
      .kernel<rand_like_kernel<Numbers::kUniform>>()
      .random();
  library.define("aten::randn_like(Tensor self, " LIKE_OPTIONS ") -> Tensor")
      .shape<rand_like_shape<Size>, rand_like_shape<SymInt>>()
      .kernel<rand_like_kernel<Numbers::kNormal>>()
      .random();
  library.define("aten::randint(SymInt high, SymInt[] size, " INT_OPTIONS ") -> Tensor")
      .shape<randint_shape<Size>, randint_shape<SymInt>>()
      .kernel<randint_kernel>()
      .random();
  library.define("aten::randint.low(SymInt low, SymInt high, SymInt[] size, " INT_OPTIONS ") -> Tensor")
      .shape<randint_low_shape<Size>, randint_low_shape<SymInt>>()
      .kernel<randint_low_kernel>()
      .random();
  library.define("aten::randint_like(Tensor self, SymInt high, " LIKE_OPTIONS ") -> Tensor")
      .shape<randint_like_shape<Size>, randint_like_shape<SymInt>>()
      .kernel<randint_like_kernel>()
      .random();
  library.define("aten::randint_like.Tensor(Tensor self, Tensor high, " LIKE_OPTIONS ") -> Tensor")
      .shape<randint_like_tensor_shape<Size>, randint_like_tensor_shape<SymInt>>()
      .kernel<randint_like_tensor_kernel>()
      .random();
  library
      .define("aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, " LIKE_OPTIONS
              ") -> Tensor")
      .shape<randint_like_low_shape<Size>, randint_like_low_shape<SymInt>>()
      .kernel<randint_like_low_kernel>()
      .random();
  library.define("aten::randperm(SymInt n, " INT_OPTIONS ") -> Tensor")
      .shape<randperm_shape<Size>, randperm_shape<SymInt>>()
      .kernel<randperm_kernel>()
      .random();
}

#undef OPTIONS
#undef INT_OPTIONS
#undef LIKE_OPTIONS

}  // namespace flambeau::ops
