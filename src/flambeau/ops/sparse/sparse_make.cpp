// Sparse tensors made of their parts, checked; and the parts of one.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/sparse/sparse.h"

namespace flambeau::ops {
namespace {

using MaybeDType = std::optional<DType>;
using MaybeLayout = std::optional<Layout>;
using MaybeDevice = std::optional<Device>;
using MaybeBool = std::optional<bool>;

void require_strided_part(const Tensor& part, const char* name) {
  if (!is_sparse(part)) return;
  fail_argument(
      fmt::format("{} must be a strided tensor, not of layout {}", name, layout_name(part.layout())));
}

// Every tensor made here is whole: unlike PyTorch's, the unsafe makers check the indices, too.
Tensor checked_coo(Context& context, const Tensor& indices, const Tensor& values, const Dims& sizes,
                   MaybeDType dtype, MaybeBool is_coalesced) {
  require_strided_part(indices, "indices");
  require_strided_part(values, "values");
  if (is_floating(indices.dtype()) || is_complex(indices.dtype()) || indices.dtype() == DType::kBool)
    fail_argument("indices must be an int64 tensor");
  const Tensor made = make_coo(sizes, retyped(context, indices, DType::kInt64),
                               retyped(context, values, dtype.value_or(values.dtype())),
                               is_coalesced.value_or(values.dim() > 0 && values.sizes()[0] < 2));
  validate_sparse_indices(made);
  return made;
}

Tensor from_indices(Context& context, const Tensor& indices, const Tensor& values, MaybeDType dtype,
                    MaybeLayout, MaybeDevice, MaybeBool, MaybeBool is_coalesced) {
  if (indices.dim() != 2 || values.dim() < 1)
    fail_argument("indices must be sparse_dim x nnz, and values have a number for each");
  require_strided_part(indices, "indices");
  const auto rows = static_cast<size_t>(indices.sizes()[0]), count = static_cast<size_t>(indices.sizes()[1]);
  const std::vector<int64_t> at = read_indices(indices);
  Dims sizes;
  for (size_t d = 0; d < rows; ++d) {
    Size most = 0;
    for (size_t i = 0; i < count; ++i) most = max(most, Size(at[d * count + i]) + 1);
    sizes.push_back(most);
  }
  for (size_t d = 1; d < values.dim(); ++d) sizes.push_back(values.sizes()[d]);
  return checked_coo(context, indices, values, sizes, dtype, is_coalesced);
}
Tensor from_indices_and_size(Context& context, const Tensor& indices, const Tensor& values,
                             std::span<const Size> size, MaybeDType dtype, MaybeLayout, MaybeDevice,
                             MaybeBool, MaybeBool is_coalesced) {
  return checked_coo(context, indices, values, Dims(size), dtype, is_coalesced);
}
Tensor with_dims(Context& context, Size sparse_dim, Size dense_dim, std::span<const Size> size,
                 MaybeDType dtype, MaybeLayout, MaybeDevice, MaybeBool) {
  if (sparse_dim + dense_dim != static_cast<int64_t>(size.size()))
    fail_argument("number of dimensions must be sparse_dim + dense_dim");
  return empty_coo(context, Dims(size), sparse_dim, dtype.value_or(kDefaultFloat));
}
Tensor from_size(Context& context, std::span<const Size> size, MaybeDType dtype, MaybeLayout, MaybeDevice,
                 MaybeBool) {
  return empty_coo(context, Dims(size), static_cast<int64_t>(size.size()), dtype.value_or(kDefaultFloat));
}
Tensor with_dims_and_tensors(Context& context, Size sparse_dim, Size, std::span<const Size> size,
                             const Tensor& indices, const Tensor& values, MaybeDType dtype, MaybeLayout,
                             MaybeDevice, MaybeBool, MaybeBool is_coalesced) {
  if (indices.dim() != 2 || indices.sizes()[0] != sparse_dim)
    fail_argument("indices must have a row for each sparse dimension");
  return checked_coo(context, indices, values, Dims(size), dtype, is_coalesced);
}

// ---- compressed

Tensor checked_compressed(Context& context, Layout layout, const Tensor& compressed, const Tensor& plain,
                          const Tensor& values, const Dims& sizes, MaybeDType dtype) {
  require_strided_part(compressed, "compressed indices");
  require_strided_part(plain, "plain indices");
  require_strided_part(values, "values");
  SparseParts parts;
  parts.compressed_indices = compressed.to_contiguous();
  parts.plain_indices = plain.to_contiguous();
  parts.values = retyped(context, values, dtype.value_or(values.dtype()));
  const Tensor made = Tensor::sparse(layout, sizes, std::move(parts));
  validate_sparse_indices(made);
  return made;
}

Layout required_layout(MaybeLayout layout) {
  if (layout && *layout != Layout::kStrided && *layout != Layout::kSparseCoo && *layout != Layout::kMkldnn)
    return *layout;
  fail_argument("expected a sparse compressed tensor layout");
}

Tensor compressed_with_size(Context& context, const Tensor& compressed, const Tensor& plain,
                            const Tensor& values, std::span<const Size> size, MaybeDType dtype,
                            MaybeLayout layout, MaybeDevice, MaybeBool) {
  return checked_compressed(context, required_layout(layout), compressed, plain, values, Dims(size), dtype);
}
template <Layout kLayout>
Tensor of_layout(Context& context, const Tensor& compressed, const Tensor& plain, const Tensor& values,
                 std::span<const Size> size, MaybeDType dtype, MaybeLayout, MaybeDevice, MaybeBool) {
  return checked_compressed(context, kLayout, compressed, plain, values, Dims(size), dtype);
}

// The smallest shape that the indices fit into.
Tensor of_estimated_size(Context& context, Layout layout, const Tensor& compressed, const Tensor& plain,
                         const Tensor& values, MaybeDType dtype) {
  const size_t batches = compressed.dim() == 0 ? 0 : compressed.dim() - 1;
  const size_t block_dims = is_blocked(layout) ? 2 : 0;
  if (compressed.dim() == 0 || values.dim() < batches + 1 + block_dims || is_sparse(plain) ||
      is_sparse(values) || is_sparse(compressed))
    fail_argument("compressed indices, plain indices and values do not fit each other");
  Size across = 0;
  for (const int64_t index : read_indices(plain)) across = max(across, Size(index) + 1);
  Dims sizes(values.sizes().span().first(batches));
  const int64_t block[2] = {block_dims == 0 ? 1 : values.sizes()[batches + 1],
                            block_dims == 0 ? 1 : values.sizes()[batches + 2]};
  const Size lines = Size(compressed.sizes()[batches]) - 1;
  const bool by_row = is_by_row(layout);
  sizes.push_back((by_row ? lines : across) * block[0]);
  sizes.push_back((by_row ? across : lines) * block[1]);
  for (size_t d = batches + 1 + block_dims; d < values.dim(); ++d) sizes.push_back(values.sizes()[d]);
  return checked_compressed(context, layout, compressed, plain, values, sizes, dtype);
}
template <Layout kLayout>
Tensor of_layout_estimated(Context& context, const Tensor& compressed, const Tensor& plain,
                           const Tensor& values, MaybeDType dtype, MaybeLayout, MaybeDevice, MaybeBool) {
  return of_estimated_size(context, kLayout, compressed, plain, values, dtype);
}
Tensor compressed_estimated(Context& context, const Tensor& compressed, const Tensor& plain,
                            const Tensor& values, MaybeDType dtype, MaybeLayout layout, MaybeDevice,
                            MaybeBool) {
  return of_estimated_size(context, required_layout(layout), compressed, plain, values, dtype);
}

void validate_coo_args(Context& context, const Tensor& indices, const Tensor& values,
                       std::span<const Size> size, MaybeBool is_coalesced, MaybeBool) {
  checked_coo(context, indices, values, Dims(size), {}, is_coalesced.value_or(false));
}
void validate_compressed_args(Context& context, const Tensor& compressed, const Tensor& plain,
                              const Tensor& values, std::span<const Size> size, Layout layout, MaybeBool) {
  checked_compressed(context, required_layout(layout), compressed, plain, values, Dims(size), {});
}
template <Layout kLayout>
void validate_layout_args(Context& context, const Tensor& compressed, const Tensor& plain,
                          const Tensor& values, std::span<const Size> size, MaybeBool) {
  checked_compressed(context, kLayout, compressed, plain, values, Dims(size), {});
}

// ---- the parts of one

int64_t sparse_dim(const Tensor& self) {
  return !is_sparse(self) ? 0 : is_coo(self) ? sparse_dims(self) : int64_t{2};
}
int64_t dense_dim(const Tensor& self) {
  const auto rank = static_cast<int64_t>(self.dim());
  return rank - sparse_dim(self) - (is_compressed(self) ? batch_dims(self) : 0);
}
int64_t stored_count(const Tensor& self) {
  if (!is_sparse(self)) fail_argument("_nnz expected a sparse tensor, but it is strided");
  // Of a batch of compressed ones, each has as many.
  return is_coo(self) ? entry_count(self) : self.sparse_parts()->plain_indices.sizes().back();
}
Tensor raw_indices(const Tensor& self) {
  require_coo(self, "_indices");
  return self.sparse_parts()->indices;
}
Tensor raw_values(const Tensor& self) {
  require_coo(self, "_values");
  return self.sparse_parts()->values;
}
void require_coalesced(const Tensor& self, std::string_view what) {
  if (is_coo(self) && !self.sparse_parts()->is_coalesced)
    fail_argument(fmt::format("Cannot get {} on an uncoalesced tensor, please call .coalesce() first", what));
}
Tensor own_indices(const Tensor& self) {
  require_coo(self, "indices");
  require_coalesced(self, "indices");
  return self.sparse_parts()->indices;
}
Tensor own_values(const Tensor& self) {
  if (!is_sparse(self)) fail_argument("values expected sparse tensor layout but got strided");
  require_coalesced(self, "values");
  return self.sparse_parts()->values;
}
template <bool kByRow, bool kCompressed>
Tensor compressed_part(const Tensor& self) {
  if (!is_compressed(self) || is_by_row(self.layout()) != kByRow)
    fail_argument(fmt::format("expected a tensor whose {} are compressed, but got layout {}",
                              kByRow ? "rows" : "columns", layout_name(self.layout())));
  return kCompressed ? self.sparse_parts()->compressed_indices : self.sparse_parts()->plain_indices;
}
bool is_coalesced(const Tensor& self) {
  require_coo(self, "is_coalesced");
  return self.sparse_parts()->is_coalesced;
}

#define OPTIONS "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory="

void define_makers(Library& library) {
  library.define("aten::sparse_coo_tensor.size(int[] size, " OPTIONS "False) -> Tensor")
      .function<from_size>();
  library
      .define("aten::sparse_coo_tensor.indices(Tensor indices, Tensor values, " OPTIONS
              "None, bool? is_coalesced=None) -> Tensor")
      .function<from_indices>();
  library
      .define("aten::sparse_coo_tensor.indices_size(Tensor indices, Tensor values, int[] size, " OPTIONS
              "None, bool? is_coalesced=None) -> Tensor")
      .function<from_indices_and_size>();
  library
      .define("aten::_sparse_coo_tensor_unsafe(Tensor indices, Tensor values, SymInt[] size, " OPTIONS
              "None, bool? is_coalesced=None) -> Tensor")
      .function<from_indices_and_size>();
  library
      .define("aten::_sparse_coo_tensor_with_dims(int sparse_dim, int dense_dim, int[] size, " OPTIONS
              "False) -> Tensor")
      .function<with_dims>();
  library
      .define(
          "aten::_sparse_coo_tensor_with_dims_and_tensors(int sparse_dim, int dense_dim, SymInt[] size, "
          "Tensor indices, Tensor values, " OPTIONS "False, bool? is_coalesced=None) -> Tensor")
      .function<with_dims_and_tensors>();
  library
      .define(
          "aten::sparse_compressed_tensor.comp_plain_value_size(Tensor compressed_indices, Tensor "
          "plain_indices, Tensor values, SymInt[] size, " OPTIONS "False) -> Tensor")
      .function<compressed_with_size>();
  library
      .define(
          "aten::_sparse_compressed_tensor_unsafe(Tensor compressed_indices, Tensor plain_indices, Tensor "
          "values, SymInt[] size, " OPTIONS "None) -> Tensor")
      .function<compressed_with_size>();
  library
      .define(
          "aten::sparse_compressed_tensor.comp_plain_value(Tensor compressed_indices, Tensor "
          "plain_indices, Tensor values, " OPTIONS "False) -> Tensor")
      .function<compressed_estimated>();
#define LAYOUT(name, kLayout, first, second, overload)                                                \
  library                                                                                             \
      .define("aten::sparse_" name "_tensor." overload "_value_size(Tensor " first ", Tensor " second \
              ", Tensor values, int[] size, " OPTIONS "False) -> Tensor")                             \
      .function<of_layout<Layout::kLayout>>();                                                        \
  library                                                                                             \
      .define("aten::sparse_" name "_tensor." overload "_value(Tensor " first ", Tensor " second      \
              ", Tensor values, " OPTIONS "False) -> Tensor")                                         \
      .function<of_layout_estimated<Layout::kLayout>>();                                              \
  library                                                                                             \
      .define("aten::_sparse_" name "_tensor_unsafe(Tensor " first ", Tensor " second                 \
              ", Tensor values, int[] size, " OPTIONS "None) -> Tensor")                              \
      .function<of_layout<Layout::kLayout>>();                                                        \
  library                                                                                             \
      .define("aten::_validate_sparse_" name "_tensor_args(Tensor " first ", Tensor " second          \
              ", Tensor values, int[] size, bool? check_pinning=None) -> ()")                         \
      .function<validate_layout_args<Layout::kLayout>>();
  LAYOUT("csr", kSparseCsr, "crow_indices", "col_indices", "crow_col")
  LAYOUT("csc", kSparseCsc, "ccol_indices", "row_indices", "ccol_row")
  LAYOUT("bsr", kSparseBsr, "crow_indices", "col_indices", "crow_col")
  LAYOUT("bsc", kSparseBsc, "ccol_indices", "row_indices", "ccol_row")
#undef LAYOUT
  library
      .define(
          "aten::_validate_sparse_coo_tensor_args(Tensor indices, Tensor values, int[] size, bool? "
          "is_coalesced=None, bool? check_pinning=None) -> ()")
      .function<validate_coo_args>();
  library
      .define(
          "aten::_validate_sparse_compressed_tensor_args(Tensor compressed_indices, Tensor plain_indices, "
          "Tensor values, int[] size, Layout layout, bool? check_pinning=None) -> ()")
      .function<validate_compressed_args>();
}

#undef OPTIONS

// An operator that takes tensors of any layout.
template <auto kFunction>
void any_layout(Library& library, std::string_view schema) {
  library.define(schema).function<kFunction>().template sparse<kFunction>();
}

}  // namespace

void define_sparse_make(Library& library) {
  define_makers(library);
  any_layout<sparse_dim>(library, "aten::sparse_dim(Tensor self) -> int");
  any_layout<sparse_dim>(library, "aten::_dimI(Tensor self) -> int");
  any_layout<dense_dim>(library, "aten::dense_dim(Tensor self) -> int");
  any_layout<dense_dim>(library, "aten::_dimV(Tensor self) -> int");
  any_layout<stored_count>(library, "aten::_nnz(Tensor self) -> int");
  any_layout<raw_indices>(library, "aten::_indices(Tensor(a) self) -> Tensor(a)");
  any_layout<raw_values>(library, "aten::_values(Tensor(a) self) -> Tensor(a)");
  any_layout<own_indices>(library, "aten::indices(Tensor(a) self) -> Tensor(a)");
  any_layout<own_values>(library, "aten::values(Tensor(a) self) -> Tensor(a)");
  any_layout<compressed_part<true, true>>(library, "aten::crow_indices(Tensor(a) self) -> Tensor(a)");
  any_layout<compressed_part<true, false>>(library, "aten::col_indices(Tensor(a) self) -> Tensor(a)");
  any_layout<compressed_part<false, true>>(library, "aten::ccol_indices(Tensor(a) self) -> Tensor(a)");
  any_layout<compressed_part<false, false>>(library, "aten::row_indices(Tensor(a) self) -> Tensor(a)");
  any_layout<is_coalesced>(library, "aten::is_coalesced(Tensor self) -> bool");
}

}  // namespace flambeau::ops
