// A tensor: a typed, strided view of a storage; or a sparse container of such views. A value: copying it
// copies the description and shares the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "flambeau/symbolic/sym_int.h"
#include "flambeau/tensor/device.h"
#include "flambeau/tensor/dims.h"
#include "flambeau/tensor/dtype.h"
#include "flambeau/tensor/storage.h"

namespace flambeau {

// The numbers are PyTorch's (c10::Layout).
enum class Layout : uint8_t {
  kStrided = 0,
  kSparseCoo = 1,
  kSparseCsr = 2,
  kMkldnn = 3,  // only ever named by programs: no tensor here has it
  kSparseCsc = 4,
  kSparseBsr = 5,
  kSparseBsc = 6,
};
// "strided", "sparse_coo", ...
std::string_view layout_name(Layout layout);
std::optional<Layout> layout_from_name(std::string_view name);

class Tensor;
struct Quantizer;
struct SparseParts;
struct SymbolicGeometry;

// The geometry of a strided tensor, in elements.
struct Geometry {
  Dims sizes;
  Dims strides;
  int64_t offset = 0;
};

// Row-major strides as PyTorch computes them (a size of 0 counts as 1).
Dims contiguous_strides(std::span<const int64_t> sizes);
// The product of sizes. Throws Error(kCorrupt) on a negative size, and when the product wraps, even where
// another size is zero.
int64_t element_count(std::span<const int64_t> sizes);
// How many elements a storage must hold for this view: 0 when it is empty. Throws as element_count, and on
// negative strides or offset, or when a bound wraps.
int64_t storage_extent(const Geometry& geometry);

class Tensor {
 public:
  // An undefined tensor: no type, no sizes, no storage.
  Tensor() = default;

  // Checks everything a file can get wrong (negative or wrapping sizes, strides, offset; an extent beyond
  // the storage). Throws Error(kCorrupt).
  static Tensor strided(DType dtype, Geometry geometry, std::shared_ptr<Storage> storage, Device device = {});
  // Contiguous, zeroed, of its own.
  static Tensor zeros(DType dtype, std::span<const int64_t> sizes);
  // Contiguous over a whole storage, whose size must match exactly. Throws Error(kCorrupt).
  static Tensor contiguous(DType dtype, std::span<const int64_t> sizes, std::shared_ptr<Storage> storage);
  // A quantized tensor: a strided one of a quantized dtype plus its scales. Throws Error(kCorrupt) when
  // they do not fit.
  static Tensor quantized(Tensor base, Quantizer quantizer);
  // COO, or one of the compressed layouts. Checks ranks, lengths and dtypes of the parts, not the
  // indices themselves (see validate_sparse_indices). Throws Error(kCorrupt).
  static Tensor sparse(Layout layout, std::span<const int64_t> sizes, SparseParts parts);

  // A traced tensor: sizes that may be symbols, and no data. shape_of() tells its sizes; its plain sizes(),
  // strides() and the like throw Error(kInternal).
  static Tensor symbolic(DType dtype, SymbolicGeometry geometry, Device device = {});
  // A symbol that stands where a tensor is expected: a traced wrapped number.
  static Tensor of_symbol(const symbolic::SymInt& number);

  bool defined() const { return defined_; }
  DType dtype() const { return dtype_; }
  Layout layout() const { return layout_; }
  Device device() const { return device_; }
  bool is_meta() const { return device_.is_meta(); }
  bool requires_grad() const { return requires_grad_; }
  void set_requires_grad(bool value) { requires_grad_ = value; }
  void set_device(Device device) { device_ = device; }
  // A Python number that stands where a tensor is expected: it has the say of a number in type promotion.
  bool is_wrapped_number() const { return is_wrapped_number_; }
  void set_wrapped_number(bool value) { is_wrapped_number_ = value; }

  bool is_traced() const { return traced_ != nullptr; }
  // The symbol that a traced tensor stands for; null for all others.
  const symbolic::SymInt* symbol() const;

  size_t dim() const { return is_traced() ? traced_dim() : geometry_.sizes.size(); }
  const Dims& sizes() const { return geometry().sizes; }
  const Dims& strides() const { return geometry().strides; }
  int64_t offset() const { return geometry().offset; }
  const Geometry& geometry() const {
    if (is_traced()) [[unlikely]]
      fail_traced();
    return geometry_;
  }
  int64_t element_count() const {
    if (is_traced()) [[unlikely]]
      fail_traced();
    return count_;
  }
  size_t element_size() const { return dtype_size(dtype_); }
  // Bytes from one element of a dimension to the next. 0 without elements: strides of nothing may be as large
  // as numbers go.
  int64_t byte_stride(size_t d) const {
    return element_count() == 0 ? 0 : strides()[d] * static_cast<int64_t>(element_size());
  }
  // Bytes the elements take when packed together; for sparse tensors, of all parts. The largest number where
  // no number is large enough.
  uint64_t byte_count() const;
  bool is_contiguous() const;

  // Null for sparse tensors.
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  // Null unless quantized.
  const Quantizer* quantizer() const { return quantizer_.get(); }
  // Null unless sparse.
  const SparseParts* sparse_parts() const { return sparse_.get(); }

  // The bytes of a contiguous tensor, in place. Throws Error(kInvalidArgument) for another one.
  ByteSpan contiguous_bytes() const;
  MutableByteSpan mutable_contiguous_bytes();

  // The first element of a strided tensor, aligned for its type unless a file or a caller laid it askew.
  // Throws as Storage::bytes.
  const uint8_t* data() const { return storage_->bytes().data() + byte_offset(); }
  uint8_t* mutable_data() const { return storage_->mutable_bytes().data() + byte_offset(); }
  template <typename T>
  const T* data() const {
    return reinterpret_cast<const T*>(data());
  }
  template <typename T>
  T* mutable_data() const {
    return reinterpret_cast<T*>(mutable_data());
  }
  // The same storage seen otherwise. Unchecked: for views whose geometry was derived from this one's.
  Tensor with_geometry(Geometry geometry) const;
  Tensor with_geometry(Geometry geometry, DType dtype) const;

  // The same geometry elsewhere, from that element on. Unchecked.
  void set_storage(const std::shared_ptr<Storage>& storage, int64_t offset) {
    storage_ = storage;
    geometry_.offset = offset;
  }

  // A contiguous tensor with the same values; this one when it already is.
  Tensor to_contiguous() const;

  // "float32[2, 3]".
  std::string summary() const;

 private:
  struct Traced;
  friend SymbolicGeometry shape_of(const Tensor& tensor);

  [[noreturn, gnu::cold]] void fail_traced() const;
  size_t traced_dim() const;
  size_t byte_offset() const { return static_cast<size_t>(geometry_.offset) * element_size(); }

  bool defined_ = false;
  DType dtype_ = DType::kFloat32;
  Layout layout_ = Layout::kStrided;
  bool requires_grad_ = false;
  bool is_wrapped_number_ = false;
  Device device_;
  Geometry geometry_;
  int64_t count_ = 0;
  std::shared_ptr<Storage> storage_;
  std::shared_ptr<const Quantizer> quantizer_;
  std::shared_ptr<const SparseParts> sparse_;
  std::shared_ptr<const Traced> traced_;
};

// A geometry of numbers that may be symbols.
struct SymbolicGeometry {
  ShortList<symbolic::SymInt> sizes;
  ShortList<symbolic::SymInt> strides;
  symbolic::SymInt offset;
};
// Of a tensor of either kind: what code asks that runs while tracing, too.
SymbolicGeometry shape_of(const Tensor& tensor);

// How quantized integers map to real numbers: real = (q - zero_point) * scale.
struct Quantizer {
  // The numbers are PyTorch's (at::QScheme).
  enum class Scheme : uint8_t {
    kPerTensorAffine = 0,
    kPerChannelAffine = 1,
    kPerTensorSymmetric = 2,
    kPerChannelSymmetric = 3,
    kPerChannelAffineFloatQParams = 4,
  };
  Scheme scheme = Scheme::kPerTensorAffine;
  double scale = 1.0;
  int64_t zero_point = 0;
  // Per channel: one entry for each index along `axis`.
  Tensor scales{};
  Tensor zero_points{};
  int64_t axis = 0;

  bool is_per_channel() const {
    return scheme != Scheme::kPerTensorAffine && scheme != Scheme::kPerTensorSymmetric;
  }
};
// "per_tensor_affine", ...
std::string_view scheme_name(Quantizer::Scheme scheme);
std::optional<Quantizer::Scheme> scheme_from_name(std::string_view name);

struct SparseParts {
  // COO: indices [sparse_dim, nnz], values [nnz, ...dense sizes].
  Tensor indices;
  bool is_coalesced = false;
  // Compressed: compressed_indices (crow/ccol), plain_indices (col/row).
  Tensor compressed_indices;
  Tensor plain_indices;
  Tensor values;
};

// Reads the index tensors and checks every index against the sizes, as PyTorch's invariant checks do.
// Throws Error(kCorrupt).
void validate_sparse_indices(const Tensor& tensor);

}  // namespace flambeau
