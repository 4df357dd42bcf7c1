// What operators of other families do with quantized tensors: those that PyTorch's CPU runs on them. Moving
// operators and those that go through real numbers are named here; the rest have functions of their own.
#include <fmt/format.h>

#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/quantized/numbers.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

Tensor clone_quantized(Context& context, const Tensor& self, std::optional<MemoryFormat> format) {
  const Quantizer& quantizer = quantizer_of(self);
  if (dtype_info(self.dtype()).per_byte > 1) {
    const ByteSpan from = self.contiguous_bytes();
    Tensor copy = Tensor::zeros(self.dtype(), self.sizes());
    std::memcpy(copy.mutable_contiguous_bytes().data(), from.data(), from.size());
    return Tensor::quantized(copy, quantizer);
  }
  return quantized_over(call(context, "aten::clone", integers_of(self), format), self.dtype(), quantizer);
}

Tensor to_copy_quantized(Context& context, const Tensor& self, std::optional<DType> dtype,
                         std::optional<Layout>, std::optional<Device>, std::optional<bool>, bool,
                         std::optional<MemoryFormat> format) {
  if (dtype && *dtype != self.dtype()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} cannot be converted to {}", self.summary(), dtype_name(*dtype)),
                "dequantize it first: aten::dequantize.self");
  }
  return clone_quantized(context, self, format);
}

Tensor empty_like_quantized(Context& context, const Tensor& self, std::optional<DType> dtype,
                            std::optional<Layout>, std::optional<Device>, std::optional<bool>,
                            std::optional<MemoryFormat> format) {
  return to_copy_quantized(context, self, dtype, {}, {}, {}, false, format);
}

// A real number, as the integer it is here.
Tensor filled(Context& context, const Tensor& self, const Scalar& value) {
  const Tensor real = context.allocate(contiguous(DType::kFloat32, self.sizes()));
  fill(context, real, value);
  return quantize(context, real, self.dtype(), quantizer_of(self));
}
Tensor fill_quantized(Context& context, const Tensor& self, Scalar value) {
  return filled(context, self, value);
}

Tensor full_like_quantized(Context& context, const Tensor& self, Scalar value, std::optional<DType>,
                           std::optional<Layout>, std::optional<Device>, std::optional<bool>,
                           std::optional<MemoryFormat>) {
  return filled(context, self, value);
}

Tensor copy_quantized(Context& context, const Tensor& self, const Tensor& src, bool) {
  if (!is_quantized(self)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} cannot be copied into {}", src.summary(), self.summary()),
                "dequantize it first: aten::dequantize.self");
  }
  Tensor from = src;
  if (!is_quantized(src)) {
    from = parts::to_dtype(context, src, DType::kFloat32);
    if (!lacks_elements(from)) from = expanded(from, self.sizes());
    from = quantize(context, from, self.dtype(), quantizer_of(self));
  } else if (!lacks_elements(src) && !lacks_elements(self) && src.sizes() != self.sizes()) {
    from = Tensor::quantized(expanded(src, self.sizes()), per_tensor(src));
  }
  copy_quantized_or_plain(context, from, self);
  return self;
}

Scalar item_quantized(Context& context, const Tensor& self) { return item(dequantized(context, self)); }

bool equal_quantized(Context& context, const Tensor& self, const Tensor& other) {
  if (!is_quantized(self) || !is_quantized(other) || self.dtype() != other.dtype() ||
      self.sizes() != other.sizes() || !is_same_quantizer(quantizer_of(self), quantizer_of(other)))
    return false;
  return call<bool>(context, "aten::equal", integers_of(self.to_contiguous()),
                    integers_of(other.to_contiguous()));
}

Tensor mask_filled(Context& context, const Tensor& self, const Tensor& mask, Scalar value) {
  const Tensor one = filled(
      context,
      quantized_over(context.allocate(integer_dtype(self.dtype()), Dims{}), self.dtype(), per_tensor(self)),
      value);
  const Tensor integers =
      call(context, "aten::masked_fill.Scalar", integers_of(self), mask, Value(item(integers_of(one))));
  return quantized_over(integers, self.dtype(), per_tensor(self));
}
Tensor mask_filled_by_tensor(Context& context, const Tensor& self, const Tensor& mask, const Tensor& value) {
  return mask_filled(context, self, mask, item(value));
}

Tensor padded(Context& context, const Tensor& self, std::span<const Size> pad, Scalar value) {
  const Tensor real = call(context, "aten::constant_pad_nd", dequantized(context, self), pad, Value(value));
  return quantize(context, real, self.dtype(), per_tensor(self));
}

// Of results between 0 and 1, or -1 and 1, whatever the argument's scale is.
Quantizer unit_quantizer(const Tensor& self, bool has_signs) {
  const IntegerRange range = integer_range(self.dtype());
  const double steps = static_cast<double>(range.most) - static_cast<double>(range.least) + 1;
  // A half of 32 bits has no place in them.
  if (self.dtype() == DType::kQInt32) return {.scale = (has_signs ? 2 : 1) / steps, .zero_point = 0};
  if (has_signs) return {.scale = 2 / steps, .zero_point = range.least + static_cast<int64_t>(steps / 2)};
  return {.scale = 1 / steps, .zero_point = range.least};
}
Tensor sigmoid_quantized(Context& context, const Tensor& self) {
  return apply_to_reals(context, self, unit_quantizer(self, false),
                        [&](const Tensor& real) { return call(context, "aten::sigmoid", real); });
}
Tensor tanh_quantized(Context& context, const Tensor& self) {
  return apply_to_reals(context, self, unit_quantizer(self, true),
                        [&](const Tensor& real) { return call(context, "aten::tanh", real); });
}
Tensor hardsigmoid_quantized(Context& context, const Tensor& self) {
  return apply_to_reals(context, self, unit_quantizer(self, false),
                        [&](const Tensor& real) { return call(context, "aten::hardsigmoid", real); });
}

// Bytes are moved, whatever they mean.
Tensor resized(Context& context, const Tensor& self, std::string_view name,
               const std::vector<Value>& arguments) {
  const Quantizer& quantizer = per_tensor(self);
  if (lacks_elements(self)) {
    std::vector<Value> reals = {dequantized(context, self)};
    reals.insert(reals.end(), arguments.begin(), arguments.end());
    return quantize(context, call_with(context, name, reals, {}), self.dtype(), quantizer);
  }
  if (self.element_size() != 1) fail_view(fmt::format("8-bit integers are resized, not {}", self.summary()));
  std::vector<Value> all = {self.with_geometry(self.geometry(), DType::kUInt8)};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return quantized_over(call_with(context, name, all, {}), self.dtype(), quantizer);
}
template <bool kExact>
Tensor resize_images(Context& context, const Tensor& self, std::span<const Size> size,
                     std::optional<double> h, std::optional<double> w) {
  return resized(context, self, kExact ? "aten::_upsample_nearest_exact2d" : "aten::upsample_nearest2d",
                 {size, h, w});
}
template <bool kExact>
Tensor resize_volumes(Context& context, const Tensor& self, std::span<const Size> size,
                      std::optional<double> d, std::optional<double> h, std::optional<double> w) {
  return resized(context, self, kExact ? "aten::_upsample_nearest_exact3d" : "aten::upsample_nearest3d",
                 {size, d, h, w});
}

// Integers of the first one's scale, the others brought to it.
Tensor cat_quantized(Context& context, std::span<const Tensor> tensors, Size dim) {
  const Tensor& first = tensors.front();
  const Quantizer& quantizer = per_tensor(first);
  TensorList integers;
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() != first.dtype()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} and {} are of different types", first.summary(), tensor.summary()));
    }
    integers.push_back(
        integers_of(is_same_quantizer(per_tensor(tensor), quantizer)
                        ? tensor
                        : quantize(context, dequantized(context, tensor), first.dtype(), quantizer)));
  }
  return quantized_over(call(context, "aten::cat", integers, dim), first.dtype(), quantizer);
}

bool is_quantized_tensor(const Tensor& self) { return is_quantized(self); }

}  // namespace

void define_moving(Library& library) {
  library.define("prim::is_quantized(Tensor a) -> bool").quantized<is_quantized_tensor>();
  for (const std::string_view name : {"aten::size.int",
                                      "aten::size",
                                      "aten::stride.int",
                                      "aten::stride",
                                      "aten::sym_size.int",
                                      "aten::sym_size",
                                      "aten::sym_stride.int",
                                      "aten::sym_stride",
                                      "aten::numel",
                                      "aten::sym_numel",
                                      "aten::sym_storage_offset",
                                      "aten::sym_is_contiguous",
                                      "aten::dim",
                                      "aten::is_floating_point",
                                      "aten::is_complex",
                                      "aten::is_same_size",
                                      "aten::flip",
                                      "aten::index_select",
                                      "aten::index.Tensor",
                                      "aten::repeat",
                                      "aten::embedding",
                                      "aten::reflection_pad1d",
                                      "aten::reflection_pad2d",

                                      "aten::channel_shuffle",
                                      "aten::pixel_shuffle",
                                      "aten::pixel_unshuffle",
                                      "aten::sort",
                                      "aten::sort.stable",
                                      "aten::topk",
                                      "aten::max",
                                      "aten::min",
                                      "aten::max.dim",
                                      "aten::min.dim",
                                      "aten::argsort",
                                      "aten::repeat_interleave.self_int"}) {
    library.extend(name).is(Trait::kMovesElements);
  }
  for (const std::string_view name : {"aten::relu",
                                      "aten::relu6",
                                      "aten::hardtanh",
                                      "aten::clamp",
                                      "aten::threshold",
                                      "aten::leaky_relu",
                                      "aten::gelu",
                                      "aten::clamp_min",
                                      "aten::clamp_max",
                                      "aten::mean",
                                      "aten::mean.dim",
                                      "aten::std.correction",
                                      "aten::avg_pool2d",
                                      "aten::avg_pool3d",
                                      "aten::adaptive_avg_pool2d",
                                      "aten::_adaptive_avg_pool2d",
                                      "aten::adaptive_avg_pool3d",
                                      "aten::_adaptive_avg_pool3d",
                                      "aten::upsample_bilinear2d",
                                      "aten::upsample_bilinear2d.vec",
                                      "aten::upsample_nearest2d.vec",
                                      "aten::upsample_nearest3d.vec",
                                      "aten::_upsample_nearest_exact2d.vec",
                                      "aten::_upsample_nearest_exact3d.vec",
                                      "aten::eq.Tensor",
                                      "aten::eq.Scalar",
                                      "aten::ne.Tensor",
                                      "aten::ne.Scalar",
                                      "aten::lt.Tensor",
                                      "aten::lt.Scalar",
                                      "aten::le.Tensor",
                                      "aten::le.Scalar",
                                      "aten::gt.Tensor",
                                      "aten::gt.Scalar",
                                      "aten::ge.Tensor",
                                      "aten::ge.Scalar"}) {
    library.extend(name).is(Trait::kThroughReals);
  }
  library.extend("aten::clone").quantized<clone_quantized>();
  library.extend("aten::_to_copy").quantized<to_copy_quantized>();
  library.extend("aten::empty_like").quantized<empty_like_quantized>();
  library.extend("aten::fill.Scalar").quantized<fill_quantized>();
  library.extend("aten::full_like").quantized<full_like_quantized>();
  library.extend("aten::copy_").quantized<copy_quantized>();
  library.extend("aten::_local_scalar_dense").quantized<item_quantized>();
  library.extend("aten::item").quantized<item_quantized>();
  library.extend("aten::equal").quantized<equal_quantized>();
  library.extend("aten::masked_fill.Scalar").quantized<mask_filled>();
  library.extend("aten::masked_fill.Tensor").quantized<mask_filled_by_tensor>();
  library.extend("aten::constant_pad_nd").quantized<padded>();
  library.extend("aten::sigmoid").quantized<sigmoid_quantized>();
  library.extend("aten::tanh").quantized<tanh_quantized>();
  library.extend("aten::hardsigmoid").quantized<hardsigmoid_quantized>();
  library.extend("aten::upsample_nearest2d").quantized<resize_images<false>>();
  library.extend("aten::_upsample_nearest_exact2d").quantized<resize_images<true>>();
  library.extend("aten::upsample_nearest3d").quantized<resize_volumes<false>>();
  library.extend("aten::_upsample_nearest_exact3d").quantized<resize_volumes<true>>();
  library.extend("aten::cat").quantized<cat_quantized>();
}

}  // namespace flambeau::ops
