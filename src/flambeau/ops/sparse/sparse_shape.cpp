// Sparse tensors with their dimensions in another order, parts of them, several as one, and sums of them: the
// indices change, and values are chosen.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/sparse/sparse.h"

namespace flambeau::ops {
namespace {

Tensor indices_of_coo(Context& context, const Tensor& coo) {
  entry_places(coo);  // checks them
  return retyped(context, coo.sparse_parts()->indices, DType::kInt64);
}
Tensor chosen(Context& context, const Tensor& from, int64_t dim, const Tensor& which) {
  return call(context, "aten::index_select", from, dim, which);
}
Tensor without_rows(Context& context, const Tensor& indices, const std::vector<bool>& is_dropped) {
  ScratchVector<int64_t> kept;
  for (size_t d = 0; d < is_dropped.size(); ++d) {
    if (!is_dropped[d]) kept.push_back(static_cast<int64_t>(d));
  }
  return chosen(context, indices, 0, int64_tensor(context, kept));
}

Tensor permute(Context& context, const Tensor& self, std::span<const Size> dims) {
  require_coo(self, "permute");
  if (dims.size() != self.dim())
    fail_argument(
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
        "desired ordering of dimensions");
  const auto sparse = static_cast<size_t>(sparse_dims(self));
  ScratchVector<int64_t> of_indices;
  Dims of_values{0}, sizes;
  bool stays = true;
  std::vector<bool> is_used(self.dim(), false);
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t d = wrap_dim(dims[i], self.dim());
    if (is_used[d]) fail_argument("permute(): duplicate dims are not allowed.");
    is_used[d] = true;
    if ((d < sparse) != (i < sparse))
      fail_argument(
          "permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed.");
    if (i < sparse) {
      of_indices.push_back(static_cast<int64_t>(d));
      stays = stays && d == i;
    } else {
      of_values.push_back(static_cast<int64_t>(d - sparse) + 1);
    }
    sizes.push_back(self.sizes()[d]);
  }
  const SparseParts& parts = *self.sparse_parts();
  return make_coo(sizes, chosen(context, indices_of_coo(context, self), 0, int64_tensor(context, of_indices)),
                  call(context, "aten::permute", parts.values, of_values), parts.is_coalesced && stays);
}

Tensor transpose(Context& context, const Tensor& self, Size dim0, Size dim1) {
  const size_t a = wrap_dim(dim0, self.dim()), b = wrap_dim(dim1, self.dim());
  if (a == b) return self;
  if (is_coo(self)) {
    Dims order = all_dims(static_cast<int64_t>(self.dim()));
    std::swap(order[a], order[b]);
    return permute(context, self, checked(order));
  }
  const auto batches = static_cast<size_t>(batch_dims(self));
  if (std::min(a, b) != batches || std::max(a, b) != batches + 1)
    fail_argument("transpose of a compressed tensor exchanges its rows and columns alone");
  // What were rows are columns: nothing moves but the insides of blocks.
  Dims sizes = self.sizes();
  std::swap(sizes[a], sizes[b]);
  SparseParts parts = *self.sparse_parts();
  if (is_blocked(self.layout()))
    parts.values = call(context, "aten::transpose.int", parts.values, static_cast<int64_t>(batches) + 1,
                        static_cast<int64_t>(batches) + 2);
  const Layout to = self.layout() == Layout::kSparseCsr   ? Layout::kSparseCsc
                    : self.layout() == Layout::kSparseCsc ? Layout::kSparseCsr
                    : self.layout() == Layout::kSparseBsr ? Layout::kSparseBsc
                                                          : Layout::kSparseBsr;
  return Tensor::sparse(to, sizes, std::move(parts));
}
Tensor turned(Context& context, const Tensor& self) {
  if (self.dim() > 2)
    fail_argument(fmt::format("t() expects a tensor with <= 2 dimensions, but self is {}D", self.dim()));
  return self.dim() < 2 ? self : transpose(context, self, 0, 1);
}

Tensor unsqueeze(Context& context, const Tensor& self, Size dim) {
  require_coo(self, "unsqueeze");
  const auto rank = static_cast<int64_t>(self.dim());
  const auto at = static_cast<size_t>(wrapped_dim(dim, rank + 1));
  const auto sparse = static_cast<size_t>(sparse_dims(self));
  const SparseParts& parts = *self.sparse_parts();
  Dims sizes = self.sizes();
  sizes.insert(at, 1);
  if (at > sparse)
    return make_coo(sizes, parts.indices,
                    call(context, "aten::unsqueeze", parts.values, static_cast<int64_t>(at - sparse) + 1),
                    parts.is_coalesced);
  const Tensor indices = indices_of_coo(context, self);
  const int64_t count = entry_count(self);
  const Tensor row = call_with(context, "aten::zeros", {Dims{1, count}}, {{"dtype", DType::kInt64}});
  const auto part = [&](size_t from, size_t to) {
    return call(context, "aten::slice.Tensor", indices, 0, static_cast<int64_t>(from),
                static_cast<int64_t>(to));
  };
  return make_coo(sizes, call(context, "aten::cat", TensorList{part(0, at), row, part(at, sparse)}, 0),
                  parts.values, parts.is_coalesced);
}

// Entries whose index in a dimension is among some, with what it becomes.
Tensor index_select(Context& context, const Tensor& self, Size dim, const Tensor& index) {
  require_coo(self, "index_select");
  if (is_sparse(index) || index.dim() > 1 || self.dim() == 0)
    fail_argument("index_select(): index must be a dense vector");
  const size_t d = wrap_dim(dim, self.dim());
  const auto sparse = static_cast<size_t>(sparse_dims(self));
  const SparseParts& parts = *self.sparse_parts();
  Dims sizes = self.sizes();
  std::vector<int64_t> wanted = read_indices(index);
  for (int64_t& one : wanted) {
    if (one < -sizes[d] || one >= sizes[d]) fail_index(one, d, sizes[d]);
    if (one < 0) one += sizes[d];
  }
  sizes[d] = static_cast<int64_t>(wanted.size());
  if (d >= sparse)
    return make_coo(
        sizes, parts.indices,
        chosen(context, parts.values, static_cast<int64_t>(d - sparse) + 1, int64_tensor(context, wanted)),
        parts.is_coalesced);
  const Tensor indices = indices_of_coo(context, self);
  const std::vector<int64_t> own = read_indices(index_row(indices, static_cast<int64_t>(d)));
  // The places in the list of each index that is wanted.
  ScratchVector<std::pair<int64_t, int64_t>> places;
  for (size_t i = 0; i < wanted.size(); ++i) places.emplace_back(wanted[i], static_cast<int64_t>(i));
  std::sort(places.begin(), places.end());
  ScratchVector<int64_t> entries, becomes;
  WorkPoller poll;
  for (size_t i = 0; i < own.size(); ++i) {
    poll();
    auto at = std::lower_bound(places.begin(), places.end(), std::pair<int64_t, int64_t>(own[i], -1));
    for (; at != places.end() && at->first == own[i]; ++at) {
      poll();
      entries.push_back(static_cast<int64_t>(i));
      becomes.push_back(at->second);
    }
  }
  const Tensor which = int64_tensor(context, entries);
  const Tensor made = call(context, "aten::select_scatter", chosen(context, indices, 1, which),
                           int64_tensor(context, becomes), 0, static_cast<int64_t>(d));
  return make_coo(sizes, made, chosen(context, parts.values, 0, which), false);
}

Tensor select(Context& context, const Tensor& self, Size dim, Size index) {
  if (is_compressed(self)) {
    const Tensor made = select(context, coo_of(context, self), dim, index);
    const bool is_batch = static_cast<int64_t>(wrap_dim(dim, self.dim())) < batch_dims(self);
    return is_batch ? compressed_of(context, made, self.layout(), block_sizes(self)) : made;
  }
  const size_t d = wrap_dim(dim, self.dim());
  if (self.dim() == 0) fail_argument("select() cannot be applied to a 0-dim tensor.");
  const int64_t size = self.sizes()[d];
  if (index < -size || index >= size)
    fail_argument(fmt::format("select(): index {} out of range for tensor of size {} at dimension {}",
                              index.value(), size, d));
  const int64_t at = index < 0 ? index + size : index;
  const auto sparse = static_cast<size_t>(sparse_dims(self));
  const SparseParts& parts = *self.sparse_parts();
  Dims sizes = self.sizes();
  sizes.erase(d);
  if (d >= sparse)
    return make_coo(sizes, parts.indices,
                    call(context, "aten::select.int", parts.values, static_cast<int64_t>(d - sparse) + 1, at),
                    parts.is_coalesced);
  const Tensor indices = indices_of_coo(context, self);
  const std::vector<int64_t> own = read_indices(index_row(indices, static_cast<int64_t>(d)));
  ScratchVector<int64_t> entries;
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] == at) entries.push_back(static_cast<int64_t>(i));
  }
  const Tensor which = int64_tensor(context, entries);
  const Tensor values = chosen(context, parts.values, 0, which);
  if (sparse == 1)
    return retyped(context, call(context, "aten::sum.dim_IntList", values, Dims{0}), self.dtype());
  std::vector<bool> is_dropped(sparse, false);
  is_dropped[d] = true;
  return make_coo(sizes, without_rows(context, chosen(context, indices, 1, which), is_dropped), values,
                  parts.is_coalesced);
}

Tensor cat(Context& context, std::span<const Tensor> tensors, Size dim) {
  for (const Tensor& tensor : tensors) require_coo(tensor, "cat");
  const Tensor& first = tensors[0];
  const size_t d = wrap_dim(dim, first.dim());
  const auto sparse = static_cast<size_t>(sparse_dims(first));
  DType dtype = first.dtype();
  Dims sizes = first.sizes();
  Size length = 0;
  for (const Tensor& tensor : tensors) {
    bool fits = tensor.dim() == first.dim() && static_cast<size_t>(sparse_dims(tensor)) == sparse;
    for (size_t i = 0; fits && i < sizes.size(); ++i) fits = i == d || tensor.sizes()[i] == sizes[i];
    if (!fits)
      fail_argument(fmt::format("cat: {} and {} do not fit in all dimensions but {}", first.summary(),
                                tensor.summary(), d));
    dtype = promote(dtype, tensor.dtype());
    length += tensor.sizes()[d];
  }
  sizes[d] = length;
  TensorList indices, values;
  Size before = 0;
  for (const Tensor& tensor : tensors) {
    Tensor own = indices_of_coo(context, tensor);
    Tensor numbers = retyped(context, tensor.sparse_parts()->values, dtype);
    if (d < sparse) {
      own = call(context, "aten::select_scatter", own,
                 call(context, "aten::add.Tensor", index_row(own, static_cast<int64_t>(d)), before.value()),
                 0, static_cast<int64_t>(d));
    } else {
      // Values are as wide as the result, zero where another tensor's are.
      const Size after = length - before - tensor.sizes()[d];
      Dims padding(2 * (sizes.size() - d), 0);
      padding[padding.size() - 2] = before;
      padding[padding.size() - 1] = after;
      numbers = call(context, "aten::constant_pad_nd", numbers, padding, 0);
    }
    before += tensor.sizes()[d];
    indices.push_back(own);
    values.push_back(numbers);
  }
  return make_coo(sizes, call(context, "aten::cat", indices, 1), call(context, "aten::cat", values, 0),
                  false);
}

// ---- sums

Tensor sum_all(Context& context, const Tensor& self, std::optional<DType> dtype) {
  return call_with(context, "aten::sum", {self.sparse_parts()->values}, {{"dtype", dtype}});
}
Tensor sum_dims(Context& context, const Tensor& self, std::span<const Size> dims,
                std::optional<DType> dtype) {
  require_coo(self, "sum");
  const auto sparse = static_cast<size_t>(sparse_dims(self));
  std::vector<bool> is_summed(self.dim(), dims.empty());
  for (const Size dim : dims) {
    const size_t d = wrap_dim(dim, self.dim());
    if (is_summed.at(d)) fail_argument(fmt::format("dim {} appears multiple times in the list of dims", d));
    is_summed[d] = true;
  }
  const Tensor source = coalesced(context, self);
  Dims of_values, sizes;
  bool keeps_any = false;
  for (size_t d = 0; d < self.dim(); ++d) {
    if (!is_summed[d]) sizes.push_back(self.sizes()[d]);
    if (d < sparse) keeps_any = keeps_any || !is_summed[d];
    if (d >= sparse && is_summed[d]) of_values.push_back(static_cast<int64_t>(d - sparse) + 1);
  }
  if (!keeps_any) of_values.push_back(0);
  Tensor values = of_values.empty()
                      ? retyped(context, source.sparse_parts()->values,
                                dtype.value_or(is_integral(self.dtype()) ? DType::kInt64 : self.dtype()))
                      : call_with(context, "aten::sum.dim_IntList",
                                  {source.sparse_parts()->values, of_values}, {{"dtype", dtype}});
  if (!keeps_any) return values;
  is_summed.resize(sparse);
  const Tensor indices = without_rows(context, indices_of_coo(context, source), is_summed);
  return coalesced(context, make_coo(sizes, indices, values, false));
}
Tensor sum_dim(Context& context, const Tensor& self, std::optional<std::span<const Size>> dim, bool keepdim,
               std::optional<DType> dtype) {
  const std::span<const Size> dims = dim.value_or(std::span<const Size>());
  Tensor made = sum_dims(context, self, dims, dtype);
  if (!keepdim) return made;
  std::vector<bool> is_summed(self.dim(), dims.empty());
  for (const Size one : dims) is_summed[wrap_dim(one, self.dim())] = true;
  for (size_t d = 0; d < is_summed.size(); ++d) {
    if (is_summed[d]) made = call(context, "aten::unsqueeze", made, static_cast<int64_t>(d));
  }
  return made;
}
Tensor sparse_sum(Context& context, const Tensor& self) {
  require_coo(self, "_sparse_sum");
  return sum_all(context, self, {});
}
Tensor sparse_sum_dtype(Context& context, const Tensor& self, DType dtype) {
  require_coo(self, "_sparse_sum");
  return sum_all(context, self, dtype);
}
Tensor sparse_sum_dim(Context& context, const Tensor& self, std::span<const Size> dim) {
  if (dim.empty()) fail_argument("dim must have at least one dimension");
  return sum_dims(context, self, dim, {});
}
Tensor sparse_sum_dim_dtype(Context& context, const Tensor& self, std::span<const Size> dim, DType dtype) {
  if (dim.empty()) fail_argument("dim must have at least one dimension");
  return sum_dims(context, self, dim, dtype);
}

// Another tensor's values where the mask has entries.
Tensor sparse_mask(Context& context, const Tensor& self, const Tensor& mask) {
  if (!is_sparse(mask)) fail_argument("sparse_mask: the mask must be sparse");
  if (!(self.sizes() == mask.sizes())) fail_argument("sparse_mask(): operands have incompatible sizes");
  if (is_compressed(mask)) {
    const Tensor picked = sparse_mask(context, dense_of(context, self), coo_of(context, mask));
    return compressed_of(context, picked, mask.layout(), block_sizes(mask));
  }
  TensorList places;
  const Tensor dense = dense_of(context, self);
  const Tensor indices = indices_of_coo(context, mask);
  for (int64_t d = 0; d < sparse_dims(mask); ++d) places.push_back(index_row(indices, d));
  const Tensor values = places.empty() ? call(context, "aten::unsqueeze", dense, 0)
                                       : call(context, "aten::index.Tensor", dense, places);
  return make_coo(self.sizes(), indices, values, mask.sparse_parts()->is_coalesced);
}

Tensor resize_and_clear(Context& context, const Tensor& self, std::span<const Size> size, Size sparse_dim,
                        Size dense_dim) {
  require_coo(self, "sparse_resize_and_clear_");
  if (sparse_dim + dense_dim != static_cast<int64_t>(size.size()))
    fail_argument("number of dimensions must be sparse_dim + dense_dim");
  return empty_coo(context, Dims(size), sparse_dim, self.dtype());
}

}  // namespace

void define_sparse_shape(Library& library) {
  library.extend("aten::permute").sparse<permute>();
  library.extend("aten::transpose.int").sparse<transpose>();
  library.extend("aten::t").sparse<turned>();
  library.extend("aten::unsqueeze").sparse<unsqueeze>();
  library.extend("aten::index_select").sparse<index_select>();
  library.extend("aten::select.int").sparse<select>();
  library.extend("aten::cat").sparse<cat>();
  library.extend("aten::sum").sparse<sum_all>();
  library.extend("aten::sum.dim_IntList").sparse<sum_dim>();
  const auto both = [&]<auto kFunction>(std::string_view schema) {
    library.define(schema).function<kFunction>().template sparse<kFunction>();
  };
  both.operator()<sparse_sum>("aten::_sparse_sum(Tensor self) -> Tensor");
  both.operator()<sparse_sum_dtype>("aten::_sparse_sum.dtype(Tensor self, *, ScalarType dtype) -> Tensor");
  both.operator()<sparse_sum_dim>("aten::_sparse_sum.dim(Tensor self, int[1] dim) -> Tensor");
  both.operator()<sparse_sum_dim_dtype>(
      "aten::_sparse_sum.dim_dtype(Tensor self, int[1] dim, *, ScalarType dtype) -> Tensor");
  both.operator()<sparse_mask>("aten::sparse_mask(Tensor self, Tensor mask) -> Tensor");
  both.operator()<resize_and_clear>(
      "aten::sparse_resize_and_clear_(Tensor(a!) self, int[] size, int sparse_dim, int dense_dim) -> "
      "Tensor(a!)");
}

}  // namespace flambeau::ops
