// Fresh tensors of given sizes: empty, zeros, ones, full, alone or like another one.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

using OptionalDType = std::optional<DType>;
using OptionalLayout = std::optional<Layout>;
using OptionalDevice = std::optional<Device>;
using OptionalBool = std::optional<bool>;
using OptionalFormat = std::optional<MemoryFormat>;

template <typename N>
ShortList<N> checked_sizes(std::span<const N> sizes) {
  for (const N& size : sizes) {
    if (size < N(0)) {
      fail_view("Trying to create tensor with negative dimension " + number_text(size) + ": " +
                sizes_text(sizes));
    }
  }
  return ShortList<N>(sizes);
}

template <typename N>
Info<N> made(std::span<const N> sizes, OptionalDType dtype, OptionalDevice device) {
  return contiguous(dtype.value_or(kDefaultFloat), checked_sizes(sizes), device.value_or(Device{}));
}

// ---- empty
template <typename N>
Info<N> empty_shape(std::span<const N> size, OptionalDType dtype, OptionalLayout, OptionalDevice device,
                    OptionalBool, OptionalFormat format) {
  Info<N> info = made(size, dtype, device);
  switch (format.value_or(MemoryFormat::kContiguous)) {
    case MemoryFormat::kContiguous:
      break;
    case MemoryFormat::kPreserve:
      fail_view("empty: the memory format cannot be preserved, there is nothing to take it from");
    case MemoryFormat::kChannelsLast:
    case MemoryFormat::kChannelsLast3d:
      require_rank_of(*format, size.size());
      info.strides = channels_last_strides(info.sizes);
  }
  return info;
}

// Anything may be in it; zeros say the same thing each time.
void clear(const Tensor& out) {
  const auto bytes = static_cast<size_t>(storage_extent(out.geometry())) * out.element_size();
  std::fill_n(out.mutable_data(), bytes, uint8_t{0});
}

void empty_kernel(std::span<const Size>, OptionalDType, OptionalLayout, OptionalDevice, OptionalBool,
                  OptionalFormat, Tensor& out) {
  clear(out);
}

template <typename N>
Info<N> empty_strided_shape(std::span<const N> size, std::span<const N> stride, OptionalDType dtype,
                            OptionalLayout, OptionalDevice device, OptionalBool) {
  if (size.size() != stride.size()) {
    fail_view(fmt::format("dimensionality of sizes ({}) must match dimensionality of strides ({})",
                          size.size(), stride.size()));
  }
  Info<N> info = made(size, dtype, device);
  info.strides = ShortList<N>(stride);
  return info;
}

void empty_strided_kernel(std::span<const Size>, std::span<const Size>, OptionalDType, OptionalLayout,
                          OptionalDevice, OptionalBool, Tensor& out) {
  clear(out);
}

template <typename N>
Info<N> empty_permuted_shape(std::span<const N> size, std::span<const Size> physical_layout,
                             OptionalDType dtype, OptionalLayout, OptionalDevice device, OptionalBool) {
  Info<N> info = made(size, dtype, device);
  if (physical_layout.size() != size.size()) {
    fail_view(
        fmt::format("Number of dimensions in size does not match the length of the physical_layout; i.e. "
                    "len(size) = {} is not equal to len(physical_layout) = {}",
                    size.size(), physical_layout.size()));
  }
  ShortList<int64_t> seen(size.size(), 0);
  N stride = 1;
  for (size_t i = size.size(); i-- > 0;) {
    const int64_t d = physical_layout[i];
    if (d < 0 || d >= static_cast<int64_t>(size.size())) {
      fail_view(
          fmt::format("Dimension out of range (expected to be between 0 and {}, but got {} at index {}).",
                      size.size() - 1, d, i));
    }
    if (seen[static_cast<size_t>(d)]++ != 0) fail_view("Duplicate dim not allowed");
    info.strides[static_cast<size_t>(d)] = stride;
    stride *= max(info.sizes[static_cast<size_t>(d)], N(1));
  }
  return info;
}

void empty_permuted_kernel(std::span<const Size>, std::span<const Size>, OptionalDType, OptionalLayout,
                           OptionalDevice, OptionalBool, Tensor& out) {
  clear(out);
}

// ---- zeros, ones, full
template <typename N>
Info<N> zeros_shape(std::span<const N> size, OptionalDType dtype, OptionalLayout, OptionalDevice device,
                    OptionalBool) {
  return made(size, dtype, device);
}

template <int kValue>
void zeros_kernel(Context& context, std::span<const Size>, OptionalDType, OptionalLayout, OptionalDevice,
                  OptionalBool, Tensor& out) {
  fill(context, out, kValue);
}

DType number_dtype(const Value& number) {
  if (number.is<bool>()) return DType::kBool;
  if (number.is<double>()) return kDefaultFloat;
  if (number.is<std::complex<double>>()) return kDefaultComplex;
  return DType::kInt64;
}

template <typename N>
Info<N> full_shape(std::span<const N> size, const Value& fill_value, OptionalDType dtype, OptionalLayout,
                   OptionalDevice device, OptionalBool) {
  return made(size, dtype.value_or(number_dtype(fill_value)), device);
}

void full_kernel(Context& context, std::span<const Size>, Scalar fill_value, OptionalDType, OptionalLayout,
                 OptionalDevice, OptionalBool, Tensor& out) {
  fill(context, out, fill_value);
}

template <typename N>
Info<N> scalar_tensor_shape(const Value&, OptionalDType dtype, OptionalLayout, OptionalDevice device,
                            OptionalBool) {
  return made(std::span<const N>(), dtype, device);
}

void scalar_tensor_kernel(Context& context, Scalar s, OptionalDType, OptionalLayout, OptionalDevice,
                          OptionalBool, Tensor& out) {
  fill(context, out, s);
}

// ---- of other sizes, else like a tensor
template <typename N>
Info<N> new_shape(const Info<N>& self, std::span<const N> size, OptionalDType dtype, OptionalLayout,
                  OptionalDevice device, OptionalBool) {
  return made(size, dtype.value_or(self.dtype), device.value_or(self.device));
}

template <int kValue>
void new_kernel(Context& context, const Tensor&, std::span<const Size>, OptionalDType, OptionalLayout,
                OptionalDevice, OptionalBool, Tensor& out) {
  fill(context, out, kValue);
}

template <typename N>
Info<N> new_full_shape(const Info<N>& self, std::span<const N> size, const Value&, OptionalDType dtype,
                       OptionalLayout, OptionalDevice device, OptionalBool) {
  return made(size, dtype.value_or(self.dtype), device.value_or(self.device));
}

void new_full_kernel(Context& context, const Tensor&, std::span<const Size>, Scalar fill_value, OptionalDType,
                     OptionalLayout, OptionalDevice, OptionalBool, Tensor& out) {
  fill(context, out, fill_value);
}

template <typename N>
Info<N> new_empty_strided_shape(const Info<N>& self, std::span<const N> size, std::span<const N> stride,
                                OptionalDType dtype, OptionalLayout layout, OptionalDevice device,
                                OptionalBool pin_memory) {
  return empty_strided_shape<N>(size, stride, dtype.value_or(self.dtype), layout,
                                device.value_or(self.device), pin_memory);
}

void new_empty_strided_kernel(const Tensor&, std::span<const Size>, std::span<const Size>, OptionalDType,
                              OptionalLayout, OptionalDevice, OptionalBool, Tensor& out) {
  clear(out);
}

// ---- of the sizes and layout of a tensor
template <typename N>
Info<N> like_shape(const Info<N>& self, OptionalDType dtype, OptionalLayout, OptionalDevice device,
                   OptionalBool, OptionalFormat format) {
  return {.dtype = dtype.value_or(self.dtype),
          .sizes = self.sizes,
          .strides = like_strides(self, format.value_or(MemoryFormat::kPreserve)),
          .device = device.value_or(self.device)};
}

template <int kValue>
void like_kernel(Context& context, const Tensor&, OptionalDType, OptionalLayout, OptionalDevice, OptionalBool,
                 OptionalFormat, Tensor& out) {
  fill(context, out, kValue);
}

template <typename N>
Info<N> full_like_shape(const Info<N>& self, const Value&, OptionalDType dtype, OptionalLayout layout,
                        OptionalDevice device, OptionalBool pin_memory, OptionalFormat format) {
  return like_shape(self, dtype, layout, device, pin_memory, format);
}

void full_like_kernel(Context& context, const Tensor&, Scalar fill_value, OptionalDType, OptionalLayout,
                      OptionalDevice, OptionalBool, OptionalFormat, Tensor& out) {
  fill(context, out, fill_value);
}

// ---- as other operators

KeywordArguments options(DType dtype, OptionalLayout layout, Device device, OptionalBool pin_memory) {
  return {{"dtype", dtype},
          {"layout", layout.value_or(Layout::kStrided)},
          {"device", device},
          {"pin_memory", pin_memory.value_or(false)}};
}

template <int kNumber>
Tensor zeros_parts(Context& c, std::span<const SymInt> size, OptionalDType dtype, OptionalLayout layout,
                   OptionalDevice device, OptionalBool pin_memory) {
  const bool is_truth = dtype == DType::kBool;
  return call_with(c, "aten::full", {size, is_truth ? Value(kNumber != 0) : Value(kNumber)},
                   options(dtype.value_or(kDefaultFloat), layout, device.value_or(Device{}), pin_memory));
}
template <int kNumber>
Tensor zeros_like_parts(Context& c, const Tensor& self, OptionalDType dtype, OptionalLayout layout,
                        OptionalDevice device, OptionalBool pin_memory, OptionalFormat format) {
  return call_with(c, "aten::full_like", {self, kNumber},
                   {{"dtype", dtype},
                    {"layout", layout},
                    {"device", device},
                    {"pin_memory", pin_memory.value_or(false)},
                    {"memory_format", format.value_or(MemoryFormat::kPreserve)}});
}
Tensor new_full_parts(Context& c, const Tensor& self, std::span<const SymInt> size, const Value& value,
                      OptionalDType dtype, OptionalLayout layout, OptionalDevice device,
                      OptionalBool pin_memory) {
  return call_with(c, "aten::full", {size, value},
                   options(dtype.value_or(self.dtype()), layout, device.value_or(self.device()), pin_memory));
}
template <int kNumber>
Tensor new_zeros_parts(Context& c, const Tensor& self, std::span<const SymInt> size, OptionalDType dtype,
                       OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return new_full_parts(c, self, size, kNumber, dtype, layout, device, pin_memory);
}
Tensor new_empty_parts(Context& c, const Tensor& self, std::span<const SymInt> size, OptionalDType dtype,
                       OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return call_with(c, "aten::empty.memory_format", {size},
                   options(dtype.value_or(self.dtype()), layout, device.value_or(self.device()), pin_memory));
}
Tensor empty_like_parts(Context& c, const Tensor& self, OptionalDType dtype, OptionalLayout layout,
                        OptionalDevice device, OptionalBool pin_memory, OptionalFormat) {
  return call_with(c, "aten::empty_permuted", {sizes_of(self), all_dims(rank_of(self))},
                   options(dtype.value_or(self.dtype()), layout, device.value_or(self.device()), pin_memory));
}

}  // namespace

#define OPTIONS "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

void define_factory(Library& library) {
  library
      .define("aten::empty.memory_format(SymInt[] size, " OPTIONS
              ", MemoryFormat? memory_format=None) -> Tensor")
      .shape<empty_shape<Size>, empty_shape<SymInt>>()
      .kernel<empty_kernel>();
  library.define("aten::empty_strided(SymInt[] size, SymInt[] stride, " OPTIONS ") -> Tensor")
      .shape<empty_strided_shape<Size>, empty_strided_shape<SymInt>>()
      .kernel<empty_strided_kernel>();
  library.define("aten::empty_permuted(SymInt[] size, int[] physical_layout, " OPTIONS ") -> Tensor")
      .shape<empty_permuted_shape<Size>, empty_permuted_shape<SymInt>>()
      .kernel<empty_permuted_kernel>();
  library.define("aten::zeros(SymInt[] size, " OPTIONS ") -> Tensor")
      .shape<zeros_shape<Size>, zeros_shape<SymInt>>()
      .kernel<zeros_kernel<0>>()
      .core_decomposition<zeros_parts<0>>();
  library.define("aten::ones(SymInt[] size, " OPTIONS ") -> Tensor")
      .shape<zeros_shape<Size>, zeros_shape<SymInt>>()
      .kernel<zeros_kernel<1>>()
      .core_decomposition<zeros_parts<1>>();
  library.define("aten::full(SymInt[] size, Scalar fill_value, " OPTIONS ") -> Tensor")
      .shape<full_shape<Size>, full_shape<SymInt>>()
      .kernel<full_kernel>();
  library.define("aten::scalar_tensor(Scalar s, " OPTIONS ") -> Tensor")
      .shape<scalar_tensor_shape<Size>, scalar_tensor_shape<SymInt>>()
      .kernel<scalar_tensor_kernel>();
  library.define("aten::new_empty(Tensor self, SymInt[] size, " OPTIONS ") -> Tensor")
      .shape<new_shape<Size>, new_shape<SymInt>>()
      .kernel<new_kernel<0>>()
      .core_decomposition<new_empty_parts>();
  library.define("aten::new_zeros(Tensor self, SymInt[] size, " OPTIONS ") -> Tensor")
      .shape<new_shape<Size>, new_shape<SymInt>>()
      .kernel<new_kernel<0>>()
      .core_decomposition<new_zeros_parts<0>>();
  library.define("aten::new_ones(Tensor self, SymInt[] size, " OPTIONS ") -> Tensor")
      .shape<new_shape<Size>, new_shape<SymInt>>()
      .kernel<new_kernel<1>>()
      .core_decomposition<new_zeros_parts<1>>();
  library.define("aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, " OPTIONS ") -> Tensor")
      .shape<new_full_shape<Size>, new_full_shape<SymInt>>()
      .kernel<new_full_kernel>()
      .core_decomposition<new_full_parts>();
  library
      .define("aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, " OPTIONS ") -> Tensor")
      .shape<new_empty_strided_shape<Size>, new_empty_strided_shape<SymInt>>()
      .kernel<new_empty_strided_kernel>();
  library.define("aten::empty_like(Tensor self, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor")
      .shape<like_shape<Size>, like_shape<SymInt>>()
      .kernel<like_kernel<0>>()
      .core_decomposition<empty_like_parts>();
  library.define("aten::zeros_like(Tensor self, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor")
      .shape<like_shape<Size>, like_shape<SymInt>>()
      .kernel<like_kernel<0>>()
      .core_decomposition<zeros_like_parts<0>>();
  library.define("aten::ones_like(Tensor self, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor")
      .shape<like_shape<Size>, like_shape<SymInt>>()
      .kernel<like_kernel<1>>()
      .core_decomposition<zeros_like_parts<1>>();
  library
      .define("aten::full_like(Tensor self, Scalar fill_value, " OPTIONS
              ", MemoryFormat? memory_format=None) -> Tensor")
      .shape<full_like_shape<Size>, full_like_shape<SymInt>>()
      .kernel<full_like_kernel>();
}

#undef OPTIONS

}  // namespace flambeau::ops
