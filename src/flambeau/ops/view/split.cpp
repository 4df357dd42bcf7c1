// A tensor cut into several along a dimension.
#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

// A dimension of no memory of its own can be as long as numbers go.
void require_few(Size parts) {
  constexpr int64_t kMostParts = int64_t{1} << 20;
  if (parts <= kMostParts) return;
  throw Error(ErrorCode::kLimit, "the tensor would be taken apart into " + number_text(parts) +
                                     " tensors, at most " + number_text(kMostParts) + " are allowed");
}
void require_few(const SymInt& parts) {
  if (parts.is_literal()) require_few(Size(parts.literal()));
}

template <typename N>
Infos<N> split_info(const Info<N>& self, const N& split_size, Size dim) {
  if (self.dim() == 0) fail_view("split expects at least a 1-dimensional tensor");
  if (split_size < N(0)) {
    fail_view("split expects split_size be non-negative, but got split_size=" + number_text(split_size));
  }
  const size_t d = wrap_dim(dim, self.dim());
  const N& size = self.sizes[d];
  if (split_size == N(0) && !(size == N(0))) {
    fail_view("split_size can only be 0 if dimension size is 0, but got dimension size of " +
              number_text(size));
  }
  if (split_size > N(0)) require_few(floor_div(size, split_size));
  Infos<N> parts;
  N start = 0;
  while (size - start > split_size) {
    parts.push_back(part_info(self, d, start, split_size));
    start += split_size;
  }
  parts.push_back(part_info(self, d, start, size - start));
  return parts;
}

template <typename N>
Infos<N> split_sizes_info(const Info<N>& self, std::span<const N> sizes, Size dim) {
  if (self.dim() == 0) fail_view("split expects at least a 1-dimensional tensor");
  const size_t d = wrap_dim(dim, self.dim());
  N start = 0;
  Infos<N> parts;
  for (const N& size : sizes) {
    if (size < N(0)) {
      fail_view("split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=" +
                sizes_text(sizes));
    }
    if (size > self.sizes[d] - start) {
      start = -1;
      break;
    }
    parts.push_back(part_info(self, d, start, size));
    start += size;
  }
  if (!(start == self.sizes[d])) {
    fail_view("split_with_sizes expects split_sizes to sum exactly to " + number_text(self.sizes[d]) +
              " (input tensor's size at dimension " + number_text(static_cast<int64_t>(d)) +
              "), but got split_sizes=" + sizes_text(sizes));
  }
  return parts;
}

template <typename N>
Infos<N> split_shape(const Info<N>& self, N split_size, Size dim) {
  return split_info(self, split_size, dim);
}

template <typename N>
Infos<N> split_sizes_shape(const Info<N>& self, std::span<const N> sizes, Size dim) {
  return split_sizes_info(self, sizes, dim);
}

template <typename N>
Infos<N> chunk_shape(const Info<N>& self, Size chunks, Size dim) {
  if (self.dim() == 0) fail_view("chunk expects at least a 1-dimensional tensor");
  if (chunks <= 0) fail_view("chunk expects `chunks` to be greater than 0, got: " + number_text(chunks));
  const size_t d = wrap_dim(dim, self.dim());
  const N& size = self.sizes[d];
  if (size == N(0)) {
    require_few(chunks);
    return Infos<N>(static_cast<size_t>(chunks), self);
  }
  return split_info(self, floor_div(size - N(1), N(chunks)) + N(1), dim);
}

template <typename N>
void require_dims(const Info<N>& self) {
  if (self.dim() == 0) {
    fail_view("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  }
}

template <typename N>
Infos<N> sections_info(const Info<N>& self, const Given<N>& sections, Size dim) {
  require_dims(self);
  if (sections <= N(0)) {
    fail_view("number of sections must be larger than 0, got " + number_text(sections));
  }
  const size_t d = wrap_dim(dim, self.dim());
  require_few(sections);
  const N least = floor_div(self.sizes[d], sections);
  const N longer = modulo(self.sizes[d], sections);
  Infos<N> parts;
  N start = 0;
  for (N i = 0; i < sections; i += N(1)) {
    const N length = i < longer ? least + N(1) : least;
    parts.push_back(part_info(self, d, start, length));
    start += length;
  }
  return parts;
}

template <typename N>
Infos<N> indices_info(const Info<N>& self, std::span<const N> indices, Size dim) {
  require_dims(self);
  const size_t d = wrap_dim(dim, self.dim());
  Infos<N> parts;
  N start = 0;
  for (const N& end : indices) {
    parts.push_back(slice_info<N>(self, dim, start, end, N(1)));
    start = end;
  }
  parts.push_back(slice_info<N>(self, dim, start, self.sizes[d], N(1)));
  return parts;
}

template <typename N>
Infos<N> sections_shape(const Info<N>& self, N sections, Size dim) {
  return sections_info(self, sections, dim);
}

template <typename N>
Infos<N> indices_shape(const Info<N>& self, std::span<const N> indices, Size dim) {
  return indices_info(self, indices, dim);
}

TensorList tensor_split(const Tensor& self, const Tensor& where, Size dim) {
  if (where.dtype() != DType::kInt64) {
    fail_view("tensor_split expected tensor_indices_or_sections to have dtype of long, but got " +
              std::string(dtype_name(where.dtype())));
  }
  if (where.dim() > 1) {
    fail_view(
        "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional "
        "tensor, but got a tensor with " +
        number_text(static_cast<int64_t>(where.dim())) + " dims");
  }
  Infos<Size> parts;
  if (where.dim() == 0) {
    parts = sections_info(info_of(self), item(where).to_int(), dim);
  } else {
    const Tensor packed = where.to_contiguous();
    parts = indices_info(info_of(self),
                         checked({packed.data<int64_t>(), static_cast<size_t>(packed.element_count())}), dim);
  }
  TensorList tensors;
  for (const Info<Size>& part : parts) tensors.push_back(viewed(self, part));
  return tensors;
}

// hsplit, vsplit and dsplit: which dimension, and how many a tensor must have.
template <size_t kLeast, typename N>
int64_t named_dim(const Info<N>& self) {
  constexpr const char* kNames[] = {"", "hsplit", "vsplit", "dsplit"};
  if (self.dim() < kLeast) {
    fail_view(std::string("torch.") + kNames[kLeast] + " requires a tensor with at least " +
              number_text(static_cast<int64_t>(kLeast)) + " dimension" + (kLeast == 1 ? "" : "s") +
              ", but got a tensor with " + number_text(static_cast<int64_t>(self.dim())) + " dimensions!");
  }
  if (kLeast == 1) return self.dim() == 1 ? 0 : 1;
  return kLeast == 2 ? 0 : 2;
}

template <size_t kLeast, typename N>
Infos<N> named_sections_shape(const Info<N>& self, Size sections) {
  constexpr const char* kNames[] = {"", "hsplit", "vsplit", "dsplit"};
  const int64_t dim = named_dim<kLeast>(self);
  const N& size = self.sizes[static_cast<size_t>(dim)];
  if (sections == 0 || !(modulo(size, N(sections)) == N(0))) {
    fail_view(std::string("torch.") + kNames[kLeast] + " attempted to split along dimension " +
              number_text(dim) + ", but the size of the dimension " + number_text(size) +
              " is not divisible by the split_size " + number_text(sections) + "!");
  }
  return sections_info(self, N(sections), dim);
}

template <size_t kLeast, typename N>
Infos<N> named_indices_shape(const Info<N>& self, std::span<const Size> indices) {
  const int64_t dim = named_dim<kLeast>(self);
  ShortList<N> numbers;
  for (const int64_t index : indices) numbers.push_back(index);
  return indices_info(self, numbers.span(), dim);
}

template <typename N>
Infos<N> unbind_shape(const Info<N>& self, Size dim) {
  if (self.dim() == 0) {
    fail_view("Dimension specified as " + number_text(dim) + " but tensor has no dimensions");
  }
  const size_t d = wrap_dim(dim, self.dim());
  require_few(self.sizes[d]);
  Infos<N> parts;
  for (N i = 0; i < self.sizes[d]; i += N(1)) parts.push_back(select_info(self, dim, i));
  return parts;
}

// ---- as other operators

TensorList split_parts(Context& c, const Tensor& self, SymInt split_size, Size dim) {
  SymInt rest = size_of(self, dim);
  if (split_size == SymInt(0)) return {call(c, "aten::detach", self)};
  SymIntList sizes;
  while (rest > split_size) {
    sizes.push_back(split_size);
    rest -= split_size;
  }
  sizes.push_back(rest);
  return call<TensorList>(c, "aten::split_with_sizes", self, sizes, dim);
}
TensorList chunk_parts(Context& c, const Tensor& self, Size chunks, Size dim) {
  const SymInt each = floor_div(size_of(self, dim) + SymInt(chunks - 1), SymInt(chunks));
  return call<TensorList>(c, "aten::split.Tensor", self, each, dim);
}
// Slices of almost the same size.
TensorList sections_parts(Context& c, const Tensor& self, SymInt sections, Size dim) {
  const SymInt size = size_of(self, dim);
  const SymInt least = floor_div(size, sections);
  const SymInt longer = modulo(size, sections);
  TensorList slices;
  SymInt start = 0;
  for (SymInt i = 0; i < sections; i += SymInt(1)) {
    const SymInt end = start + (i < longer ? least + SymInt(1) : least);
    slices.push_back(call(c, "aten::slice.Tensor", self, dim, start, end));
    start = end;
  }
  return slices;
}
TensorList unbind_parts(Context& c, const Tensor& self, Size dim) {
  TensorList items = sections_parts(c, self, fixed(size_of(self, dim)), dim);
  for (Tensor& item : items) item = call(c, "aten::squeeze.dim", item, dim);
  return items;
}

TensorList indices_parts(Context& c, const Tensor& self, std::span<const SymInt> indices, Size dim) {
  TensorList slices;
  SymInt start = 0;
  const auto cut = [&](const SymInt& end) {
    slices.push_back(call(c, "aten::slice.Tensor", self, dim, start, end));
    start = end;
  };
  for (const SymInt& index : indices) cut(index);
  cut(size_of(self, dim));
  return slices;
}
template <size_t kLeast>
TensorList named_sections_parts(Context& c, const Tensor& self, Size sections) {
  return call<TensorList>(c, "aten::tensor_split.sections", self, sections,
                          named_dim<kLeast>(symbolic_info(self)));
}
template <size_t kLeast>
TensorList named_indices_parts(Context& c, const Tensor& self, std::span<const Size> indices) {
  return call<TensorList>(c, "aten::tensor_split.indices", self, indices,
                          named_dim<kLeast>(symbolic_info(self)));
}
TensorList unsafe_chunk_parts(Context& c, const Tensor& self, Size chunks, Size dim) {
  const SymInt each = floor_div(size_of(self, dim) + SymInt(chunks - 1), SymInt(chunks));
  return call<TensorList>(c, "aten::unsafe_split.Tensor", self, each, dim);
}
TensorList unsafe_split_parts(Context& c, const Tensor& self, SymInt split_size, Size dim) {
  return call<TensorList>(c, "aten::split.Tensor", self, split_size, dim);
}
TensorList unsafe_split_sizes_parts(Context& c, const Tensor& self, std::span<const SymInt> sizes, Size dim) {
  return call<TensorList>(c, "aten::split_with_sizes", self, sizes, dim);
}

// ---- inverses
Tensor split_inverse(Context& context, const Tensor& value, size_t which, const Tensor& base, SymInt each,
                     Size dim) {
  const Info<SymInt> info = boxing::unbox_info<SymInt>(base);
  const size_t d = wrap_dim(dim, info.dim());
  const SymInt start = each * SymInt(static_cast<int64_t>(which));
  const SymInt end = start + each > info.sizes[d] ? info.sizes[d] : start + each;
  return call(context, "aten::slice_scatter", base, value, static_cast<int64_t>(d), Value(start), Value(end));
}
Tensor split_sizes_inverse(Context& context, const Tensor& value, size_t which, const Tensor& base,
                           std::span<const SymInt> sizes, Size dim) {
  SymInt start = 0;
  for (size_t i = 0; i < which; ++i) start += sizes[i];
  return call(context, "aten::slice_scatter", base, value, wrapped_dim(dim, rank_of(base)), Value(start),
              Value(start + sizes[which]));
}
Tensor unbind_inverse(Context& context, const Tensor& value, size_t which, const Tensor& base,
                      const Value& dim) {
  return call(context, "aten::select_scatter", base, value, dim, static_cast<int64_t>(which));
}

}  // namespace

void define_split(Library& library) {
  library.define("aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]")
      .view<split_shape<Size>, split_shape<SymInt>>()
      .core_decomposition<split_parts>()
      .inverse<split_inverse>();
  library.define("aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]")
      .view<split_sizes_shape<Size>, split_sizes_shape<SymInt>>()
      .alias("aten::split_with_sizes");
  library
      .define("aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]")
      .view<split_sizes_shape<Size>, split_sizes_shape<SymInt>>()
      .inverse<split_sizes_inverse>();
  library.define("aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]")
      .view<split_shape<Size>, split_shape<SymInt>>()
      .core_decomposition<unsafe_split_parts>();
  library.define("aten::unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]")
      .view<split_sizes_shape<Size>, split_sizes_shape<SymInt>>()
      .core_decomposition<unsafe_split_sizes_parts>();
  library.define("aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]")
      .view<chunk_shape<Size>, chunk_shape<SymInt>>()
      .composite<chunk_parts>();
  library.define("aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]")
      .view<chunk_shape<Size>, chunk_shape<SymInt>>()
      .composite<unsafe_chunk_parts>();
  library
      .define("aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]")
      .view<sections_shape<Size>, sections_shape<SymInt>>()
      .composite<sections_parts>();
  library
      .define("aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]")
      .view<indices_shape<Size>, indices_shape<SymInt>>()
      .composite<indices_parts>();
  library
      .define(
          "aten::tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor "
          "tensor_indices_or_sections, int dim=0) -> Tensor(a)[]")
      .function<tensor_split>();
  library.define("aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")
      .view<named_sections_shape<1, Size>, named_sections_shape<1, SymInt>>()
      .composite<named_sections_parts<1>>();
  library.define("aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")
      .view<named_indices_shape<1, Size>, named_indices_shape<1, SymInt>>()
      .composite<named_indices_parts<1>>();
  library.define("aten::vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")
      .view<named_sections_shape<2, Size>, named_sections_shape<2, SymInt>>()
      .composite<named_sections_parts<2>>();
  library.define("aten::vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")
      .view<named_indices_shape<2, Size>, named_indices_shape<2, SymInt>>()
      .composite<named_indices_parts<2>>();
  library.define("aten::dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")
      .view<named_sections_shape<3, Size>, named_sections_shape<3, SymInt>>()
      .composite<named_sections_parts<3>>();
  library.define("aten::dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")
      .view<named_indices_shape<3, Size>, named_indices_shape<3, SymInt>>()
      .composite<named_indices_parts<3>>();
  library.define("aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]")
      .view<unbind_shape<Size>, unbind_shape<SymInt>>()
      .core_decomposition<unbind_parts>()
      .inverse<unbind_inverse>();
}

}  // namespace flambeau::ops
