#include "flambeau/tensor/tensor.h"

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <limits>

#include <algorithm>

#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/symbolic/text/print.h"
#include "flambeau/tensor/elements/strided_copy.h"

namespace flambeau {
namespace {

struct LayoutName {
  Layout layout;
  std::string_view name;
};
constexpr LayoutName kLayouts[] = {
    {Layout::kStrided, "strided"},      {Layout::kSparseCoo, "sparse_coo"},
    {Layout::kSparseCsr, "sparse_csr"}, {Layout::kSparseCsc, "sparse_csc"},
    {Layout::kMkldnn, "_mkldnn"},       {Layout::kSparseBsr, "sparse_bsr"},
    {Layout::kSparseBsc, "sparse_bsc"},
};

int64_t divide_up(int64_t count, int64_t by) { return count / by + (count % by != 0 ? 1 : 0); }

// What PyTorch allocates for a new tensor: for the packed types it rounds the last size up to full bytes.
int64_t new_storage_bytes(const DTypeInfo& info, std::span<const int64_t> sizes) {
  constexpr std::string_view kWhat = "the size of a tensor in bytes";
  const int64_t count = element_count(sizes);
  if (info.per_byte == 1) return checked_mul(count, static_cast<int64_t>(info.size), kWhat);
  if (sizes.empty() || count == 0) return count;
  return count / sizes.back() * divide_up(sizes.back(), info.per_byte);
}

}  // namespace

std::string_view layout_name(Layout layout) {
  for (const LayoutName& entry : kLayouts) {
    if (entry.layout == layout) return entry.name;
  }
  return "unknown";
}

std::optional<Layout> layout_from_name(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  for (const LayoutName& entry : kLayouts) {
    if (entry.name == name) return entry.layout;
  }
  return std::nullopt;
}

Dims contiguous_strides(std::span<const int64_t> sizes) {
  Dims strides;
  strides.resize(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step = checked_mul(step, std::max<int64_t>(sizes[i], 1), "the stride of a tensor");
  }
  return strides;
}

int64_t element_count(std::span<const int64_t> sizes) {
  int64_t product = 1;  // of the sizes that are not zero: it must not wrap even when the tensor is empty
  bool is_empty = false;
  for (const int64_t size : sizes) {
    if (size < 0) corrupt(fmt::format("a tensor has the negative size {}", size));
    if (size == 0) {
      is_empty = true;
    } else {
      product = checked_mul(product, size, "the number of elements of a tensor");
    }
  }
  return is_empty ? 0 : product;
}

int64_t storage_extent(const Geometry& geometry) {
  if (geometry.sizes.size() != geometry.strides.size()) {
    corrupt(
        fmt::format("a tensor has {} sizes but {} strides", geometry.sizes.size(), geometry.strides.size()));
  }
  if (geometry.offset < 0)
    corrupt(fmt::format("a tensor has the negative storage offset {}", geometry.offset));
  const int64_t count = element_count(geometry.sizes);
  int64_t last = geometry.offset;
  for (size_t i = 0; i < geometry.sizes.size(); ++i) {
    const int64_t stride = geometry.strides[i];
    if (stride < 0) corrupt(fmt::format("a tensor has the negative stride {}", stride));
    if (geometry.sizes[i] == 0) continue;
    const int64_t reach = checked_mul(geometry.sizes[i] - 1, stride, "the extent of a tensor");
    last = checked_add(last, reach, "the extent of a tensor");
  }
  return count == 0 ? 0 : checked_add<int64_t>(last, 1, "the extent of a tensor");
}

Tensor Tensor::strided(DType dtype, Geometry geometry, std::shared_ptr<Storage> storage, Device device) {
  if (!storage) throw Error(ErrorCode::kInvalidArgument, "a strided tensor needs a storage");
  const int64_t extent = storage_extent(geometry);
  const DTypeInfo& info = dtype_info(dtype);
  int64_t units = extent;
  if (info.per_byte > 1 && extent > 0) {
    // Several elements share a byte, but PyTorch counts the offset in bytes.
    units = geometry.offset + divide_up(extent - geometry.offset, info.per_byte);
  }
  const int64_t bytes = checked_mul(units, static_cast<int64_t>(info.size), "the size of a tensor in bytes");
  if (static_cast<uint64_t>(bytes) > storage->size()) {
    corrupt(fmt::format(
        "a {} tensor of sizes [{}], strides [{}] and offset {} needs {} bytes, its storage has {}", info.name,
        fmt::join(geometry.sizes, ", "), fmt::join(geometry.strides, ", "), geometry.offset, bytes,
        storage->size()));
  }
  // Strides of 0 repeat elements: packed together they may take more than any number can say.
  const int64_t count = flambeau::element_count(geometry.sizes);
  checked_mul(count, static_cast<int64_t>(info.size), "the size of a tensor in bytes");
  Tensor tensor;
  tensor.defined_ = true;
  tensor.dtype_ = dtype;
  tensor.device_ = device;
  tensor.count_ = count;
  tensor.geometry_ = std::move(geometry);
  tensor.storage_ = std::move(storage);
  return tensor;
}

Tensor Tensor::zeros(DType dtype, std::span<const int64_t> sizes) {
  const int64_t bytes = new_storage_bytes(dtype_info(dtype), sizes);
  return strided(dtype, {sizes, contiguous_strides(sizes), 0}, Storage::allocate(static_cast<size_t>(bytes)));
}

Tensor Tensor::contiguous(DType dtype, std::span<const int64_t> sizes, std::shared_ptr<Storage> storage) {
  if (!storage) throw Error(ErrorCode::kInvalidArgument, "a strided tensor needs a storage");
  const DTypeInfo& info = dtype_info(dtype);
  const int64_t bytes = new_storage_bytes(info, sizes);
  // Packed elements run on over the ends of rows, so the padding that PyTorch allocates is never used.
  const int64_t least = info.per_byte > 1 ? divide_up(flambeau::element_count(sizes), info.per_byte) : bytes;
  if (storage->size() != static_cast<uint64_t>(bytes) && storage->size() != static_cast<uint64_t>(least)) {
    corrupt(fmt::format("a {} tensor of shape [{}] takes {} bytes, {} are given", info.name,
                        fmt::join(sizes, ", "), bytes, storage->size()));
  }
  return strided(dtype, {sizes, contiguous_strides(sizes), 0}, std::move(storage));
}

Tensor Tensor::quantized(Tensor base, Quantizer quantizer) {
  if (!base.defined() || base.layout() != Layout::kStrided || !dtype_info(base.dtype()).is_quantized) {
    corrupt(
        fmt::format("{} cannot be quantized: expected a strided tensor of a quantized type", base.summary()));
  }
  if (quantizer.is_per_channel()) {
    if (quantizer.axis < 0 || static_cast<size_t>(quantizer.axis) >= base.dim()) {
      corrupt(fmt::format("a per-channel axis of {} does not fit a tensor of {} dimensions", quantizer.axis,
                          base.dim()));
    }
    const int64_t channels = base.sizes()[static_cast<size_t>(quantizer.axis)];
    for (const Tensor* part : {&quantizer.scales, &quantizer.zero_points}) {
      if (!part->defined() || part->layout() != Layout::kStrided || part->dim() != 1 ||
          part->element_count() != channels) {
        corrupt(fmt::format("per-channel scales and zero points must be 1-d tensors of {} values", channels));
      }
    }
  }
  base.quantizer_ = std::make_shared<const Quantizer>(std::move(quantizer));
  return base;
}

uint64_t Tensor::byte_count() const {
  if (sparse_) {
    uint64_t total = 0;
    for (const Tensor* part :
         {&sparse_->indices, &sparse_->compressed_indices, &sparse_->plain_indices, &sparse_->values}) {
      if (part->defined()) total += part->byte_count();
    }
    return total;
  }
  const DTypeInfo& info = dtype_info(dtype_);
  const auto count = static_cast<uint64_t>(element_count());
  uint64_t bytes = 0;
  // A view may repeat its elements more often than memory has bytes: then there is no room for it anywhere.
  if (__builtin_mul_overflow((count + info.per_byte - 1) / info.per_byte, uint64_t{info.size}, &bytes))
    return std::numeric_limits<uint64_t>::max();
  return bytes;
}

bool Tensor::is_contiguous() const {
  if (layout_ != Layout::kStrided) return false;
  if (element_count() == 0) return true;
  int64_t expected = 1;
  for (size_t i = dim(); i-- > 0;) {
    if (sizes()[i] == 1) continue;
    if (strides()[i] != expected) return false;
    expected *= sizes()[i];
  }
  return true;
}

ByteSpan Tensor::contiguous_bytes() const {
  if (!defined_ || !is_contiguous()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is not contiguous", summary()),
                "call to_contiguous() first");
  }
  if (count_ == 0) return {};
  const size_t begin = static_cast<size_t>(offset()) * element_size();
  return storage_->bytes().subspan(begin, byte_count());
}

MutableByteSpan Tensor::mutable_contiguous_bytes() {
  const ByteSpan bytes = contiguous_bytes();
  return {const_cast<uint8_t*>(bytes.data()), bytes.size()};  // the storage itself is mutable
}

struct Tensor::Traced {
  SymbolicGeometry geometry;
  std::optional<symbolic::SymInt> symbol = {};
};

Tensor Tensor::symbolic(DType dtype, SymbolicGeometry geometry, Device device) {
  Tensor result;
  result.defined_ = true;
  result.dtype_ = dtype;
  result.device_ = device;
  result.traced_ = std::make_shared<const Traced>(Traced{std::move(geometry)});
  result.storage_ = Storage::meta(0);
  return result;
}

Tensor Tensor::of_symbol(const symbolic::SymInt& number) {
  Tensor result = symbolic(DType::kInt64, {});
  result.traced_ = std::make_shared<const Traced>(Traced{{}, number});
  result.is_wrapped_number_ = true;
  return result;
}

const symbolic::SymInt* Tensor::symbol() const {
  return is_traced() && traced_->symbol ? &*traced_->symbol : nullptr;
}

size_t Tensor::traced_dim() const { return traced_->geometry.sizes.size(); }

void Tensor::fail_traced() const {
  throw Error(ErrorCode::kInternal,
              fmt::format("the tensor {} is traced: it has no data, and its sizes may be symbols", summary()),
              "ask for sizes with nn::size() or shape_of(), which give symbols too");
}

SymbolicGeometry shape_of(const Tensor& tensor) {
  if (tensor.is_traced()) return tensor.traced_->geometry;
  SymbolicGeometry shape;
  for (const int64_t size : tensor.sizes()) shape.sizes.push_back(size);
  for (const int64_t stride : tensor.strides()) shape.strides.push_back(stride);
  shape.offset = tensor.offset();
  return shape;
}

Tensor Tensor::with_geometry(Geometry geometry) const { return with_geometry(std::move(geometry), dtype_); }

Tensor Tensor::with_geometry(Geometry geometry, DType dtype) const {
  Tensor result;
  result.defined_ = true;
  result.dtype_ = dtype;
  result.device_ = device_;
  result.count_ = 1;
  for (const int64_t size : geometry.sizes) result.count_ *= size;
  result.geometry_ = std::move(geometry);
  result.storage_ = storage_;
  return result;
}

Tensor Tensor::to_contiguous() const {
  if (is_contiguous()) return *this;
  if (layout_ != Layout::kStrided) {
    throw Error(ErrorCode::kUnsupported, fmt::format("{} has no contiguous form", summary()));
  }
  if (dtype_info(dtype_).per_byte > 1) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} packs several elements into a byte and cannot be rearranged", summary()),
                "save it in PyTorch as a contiguous tensor");
  }
  Tensor result = *this;
  result.geometry_ = {sizes(), contiguous_strides(sizes()), 0};
  if (is_meta()) {
    result.storage_ = Storage::meta(byte_count());
    return result;
  }
  result.storage_ = Storage::allocate(byte_count());
  copy_strided(storage_->bytes(), geometry_, element_size(), result.storage_->mutable_bytes());
  return result;
}

std::string Tensor::summary() const {
  if (!defined_) return "undefined";
  std::string text(dtype_name(dtype_));
  text += '[';
  for (const symbolic::SymInt& size : shape_of(*this).sizes)
    text += (text.back() == '[' ? "" : ", ") + symbolic::to_string(size.expr());
  text += ']';
  if (layout_ != Layout::kStrided) text += fmt::format(" ({})", layout_name(layout_));
  return text;
}

std::string_view scheme_name(Quantizer::Scheme scheme) {
  switch (scheme) {
    case Quantizer::Scheme::kPerTensorAffine:
      return "per_tensor_affine";
    case Quantizer::Scheme::kPerChannelAffine:
      return "per_channel_affine";
    case Quantizer::Scheme::kPerTensorSymmetric:
      return "per_tensor_symmetric";
    case Quantizer::Scheme::kPerChannelSymmetric:
      return "per_channel_symmetric";
    case Quantizer::Scheme::kPerChannelAffineFloatQParams:
      return "per_channel_affine_float_qparams";
  }
  return "unknown";
}

std::optional<Quantizer::Scheme> scheme_from_name(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  for (int i = 0; i <= 4; ++i) {
    const auto scheme = static_cast<Quantizer::Scheme>(i);
    if (scheme_name(scheme) == name) return scheme;
  }
  return std::nullopt;
}

}  // namespace flambeau
