// Copies and changes of type: clone, contiguous, copy, to.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/overlap.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> like(const Info<N>& self, DType dtype, MemoryFormat format, Device device) {
  return {.dtype = dtype, .sizes = self.sizes, .strides = like_strides(self, format), .device = device};
}

template <typename N>
Info<N> clone_shape(const Info<N>& self, std::optional<MemoryFormat> format) {
  return like(self, self.dtype, format.value_or(MemoryFormat::kPreserve), self.device);
}

Body clone_body(const Tensor& self, std::optional<MemoryFormat>, const Tensor& out) {
  return copy_body(self, out);
}

template <typename N>
Info<N> lift_fresh_copy_shape(const Info<N>& self) {
  return contiguous(self.dtype, self.sizes, self.device);
}

Body lift_fresh_copy_body(const Tensor& self, const Tensor& out) { return copy_body(self, out); }

template <typename N>
bool has_format(const Info<N>& self, MemoryFormat format) {
  if (format == MemoryFormat::kPreserve) return false;
  if (format == MemoryFormat::kContiguous) return is_contiguous(self);
  const size_t rank = format == MemoryFormat::kChannelsLast ? 4 : 5;
  return self.dim() == rank && is_channels_last(self);
}

template <typename N>
Info<N> contiguous_shape(const Info<N>& self, MemoryFormat format) {
  if (format == MemoryFormat::kPreserve) {
    fail_view("preserve memory format is unsupported by the contiguous operator");
  }
  return has_format(self, format) ? self : like(self, self.dtype, format, self.device);
}

Tensor make_contiguous(Context& context, const Tensor& self, MemoryFormat format) {
  if (format == MemoryFormat::kContiguous ? is_row_major(self) : has_format(symbolic_info(self), format))
    return self;
  contiguous_shape(symbolic_info(self), format);
  return call(context, "aten::clone", self, format);
}

// What copy_ gives in a fresh tensor of the geometry of `self`.
template <typename N>
Info<N> copy_shape(const Info<N>& self, const Info<N>& src, bool) {
  expand_info(src, self.sizes.span());
  return kept_info(self);
}

Body copy_of(const Tensor&, const Tensor& src, bool, const Tensor& out) { return copy_body(src, out); }

Tensor copy_in_place(Context& context, const Tensor& self, const Tensor& src, bool) {
  const Tensor from = expanded(src, self.sizes());
  if (overlaps_partly(from, self)) {
    const Tensor copy = context.allocate(from.dtype(), from.sizes());
    copy_into(context, from, copy);
    copy_into(context, copy, self);
  } else {
    copy_into(context, from, self);
  }
  return self;
}

// ---- to

template <typename N>
Info<N> to_copy_shape(const Info<N>& self, std::optional<DType> dtype, std::optional<Layout>,
                      std::optional<Device> device, std::optional<bool>, bool,
                      std::optional<MemoryFormat> format) {
  return like(self, dtype.value_or(self.dtype), format.value_or(MemoryFormat::kPreserve),
              device.value_or(self.device));
}

Body to_copy_body(const Tensor& self, std::optional<DType>, std::optional<Layout>, std::optional<Device>,
                  std::optional<bool>, bool, std::optional<MemoryFormat>, const Tensor& out) {
  return copy_body(self, out);
}

template <typename N>
bool stays(const Info<N>& self, DType dtype, Device device, bool copy, MemoryFormat format) {
  return dtype == self.dtype && device == self.device && !copy &&
         (format == MemoryFormat::kPreserve || suggested_format(self) == format);
}

template <typename N>
Info<N> to_info(const Info<N>& self, DType dtype, Device device, bool copy,
                std::optional<MemoryFormat> format) {
  const MemoryFormat wanted = format.value_or(MemoryFormat::kPreserve);
  return stays(self, dtype, device, copy, wanted) ? self : like(self, dtype, wanted, device);
}

// A copy that is given what the caller gave alone.
Tensor to(Context& context, const Tensor& self, bool copy, const KeywordArguments& options) {
  DType dtype = self.dtype();
  Device device = self.device();
  MemoryFormat format = MemoryFormat::kPreserve;
  KeywordArguments given;
  for (const auto& [name, value] : options) {
    if (value.is_none()) continue;
    if (name == "dtype") dtype = value.get<DType>();
    if (name == "device") device = value.get<Device>();
    if (name == "memory_format") format = value.get<MemoryFormat>();
    if (name != "memory_format" || format != MemoryFormat::kPreserve) given.emplace_back(name, value);
  }
  if (stays(symbolic_info(self), dtype, device, copy, format)) return self;
  return call_with(context, "aten::_to_copy", {self}, given);
}

void require_strided(std::optional<Layout> layout) {
  if (layout.value_or(Layout::kStrided) == Layout::kStrided) return;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("no operator makes tensors of layout {}", layout_name(*layout)));
}

template <typename N>
Info<N> to_dtype_shape(const Info<N>& self, DType dtype, bool, bool copy,
                       std::optional<MemoryFormat> format) {
  return to_info(self, dtype, self.device, copy, format);
}
Tensor to_dtype(Context& context, const Tensor& self, DType dtype, bool, bool copy,
                std::optional<MemoryFormat> format) {
  return to(context, self, copy, {{"dtype", dtype}, {"memory_format", format}});
}

template <typename N>
Info<N> to_device_shape(const Info<N>& self, Device device, DType dtype, bool, bool copy,
                        std::optional<MemoryFormat> format) {
  return to_info(self, dtype, device, copy, format);
}
Tensor to_device(Context& context, const Tensor& self, Device device, DType dtype, bool, bool copy,
                 std::optional<MemoryFormat> format) {
  return to(context, self, copy, {{"dtype", dtype}, {"device", device}, {"memory_format", format}});
}

template <typename N>
Info<N> to_layout_shape(const Info<N>& self, std::optional<DType> dtype, std::optional<Layout>,
                        std::optional<Device> device, std::optional<bool>, bool, bool copy,
                        std::optional<MemoryFormat> format) {
  return to_info(self, dtype.value_or(self.dtype), device.value_or(self.device), copy, format);
}
Tensor to_layout(Context& context, const Tensor& self, std::optional<DType> dtype,
                 std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory,
                 bool, bool copy, std::optional<MemoryFormat> format) {
  require_strided(layout);
  return to(context, self, copy,
            {{"dtype", dtype},
             {"layout", layout},
             {"device", device},
             {"pin_memory", pin_memory},
             {"memory_format", format}});
}

template <typename N>
Info<N> to_other_shape(const Info<N>& self, const Info<N>& other, bool, bool copy,
                       std::optional<MemoryFormat> format) {
  return to_info(self, other.dtype, other.device, copy, format);
}
Tensor to_other(Context& context, const Tensor& self, const Tensor& other, bool, bool copy,
                std::optional<MemoryFormat> format) {
  return to(context, self, copy,
            {{"dtype", other.dtype()},
             {"layout", Layout::kStrided},
             {"device", other.device()},
             {"memory_format", format}});
}

template <typename N>
Info<N> type_as_shape(const Info<N>& self, const Info<N>& other) {
  return to_info(self, other.dtype, other.device, false, std::nullopt);
}
Tensor type_as(Context& context, const Tensor& self, const Tensor& other) {
  return to_other(context, self, other, false, false, std::nullopt);
}

Tensor lift_fresh_copy_parts(Context& context, const Tensor& self) {
  return call(context, "aten::clone", self);
}

}  // namespace

void define_copy(Library& library) {
  library.define("aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor")
      .shape<clone_shape<Size>, clone_shape<SymInt>>()
      .body<clone_body>()
      .is(Trait::kAnyLayout);
  library.define("aten::lift_fresh_copy(Tensor self) -> Tensor")
      .shape<lift_fresh_copy_shape<Size>, lift_fresh_copy_shape<SymInt>>()
      .body<lift_fresh_copy_body>()
      .core_decomposition<lift_fresh_copy_parts>();
  library.define("aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)")
      .shape<contiguous_shape<Size>, contiguous_shape<SymInt>>()
      .composite<make_contiguous>();
  library.define("aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor")
      .shape<copy_shape<Size>, copy_shape<SymInt>>()
      .body<copy_of>()
      .is(Trait::kReplaces);
  library.define("aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)")
      .function<copy_in_place>();
  library
      .define(
          "aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
          "device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? "
          "memory_format=None) -> Tensor")
      .shape<to_copy_shape<Size>, to_copy_shape<SymInt>>()
      .body<to_copy_body>();
  library
      .define(
          "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
          "MemoryFormat? memory_format=None) -> Tensor(a)")
      .shape<to_dtype_shape<Size>, to_dtype_shape<SymInt>>()
      .composite<to_dtype>()
      .is(Trait::kConverts);
  library
      .define(
          "aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool "
          "copy=False, MemoryFormat? memory_format=None) -> Tensor(a)")
      .shape<to_device_shape<Size>, to_device_shape<SymInt>>()
      .composite<to_device>()
      .is(Trait::kConverts);
  library
      .define(
          "aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
          "device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? "
          "memory_format=None) -> Tensor(a)")
      .shape<to_layout_shape<Size>, to_layout_shape<SymInt>>()
      .composite<to_layout>()
      .is(Trait::kConverts);
  library
      .define(
          "aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, "
          "MemoryFormat? memory_format=None) -> Tensor(a)")
      .shape<to_other_shape<Size>, to_other_shape<SymInt>>()
      .composite<to_other>();
  library.define("aten::type_as(Tensor self, Tensor other) -> Tensor")
      .shape<type_as_shape<Size>, type_as_shape<SymInt>>()
      .composite<type_as>();
}

}  // namespace flambeau::ops
