#include "flambeau/ops/sparse/sparse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "flambeau/base/error.h"
#include "flambeau/base/stoppable.h"
#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/engines/indexing.h"

namespace flambeau::ops {
namespace {

// The product of sizes, refused where it wraps.
int64_t product(std::span<const int64_t> sizes) {
  Size count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

Dims joined(std::span<const int64_t> first, std::span<const int64_t> second) {
  Dims all(first);
  for (const int64_t size : second) all.push_back(size);
  return all;
}

// Rows of a packed matrix of numbers, as indices.
Tensor indices_of(Context& context, const std::vector<ScratchVector<int64_t>>& rows, size_t count) {
  Tensor made =
      context.allocate(DType::kInt64, Dims{static_cast<int64_t>(rows.size()), static_cast<int64_t>(count)});
  for (size_t d = 0; d < rows.size() && count > 0; ++d) {
    std::memcpy(made.mutable_data<int64_t>() + d * count, rows[d].data(), count * sizeof(int64_t));
  }
  return made;
}

}  // namespace

void require_coo(const Tensor& tensor, std::string_view what) {
  if (is_sparse(tensor) && is_coo(tensor)) return;
  fail_argument(fmt::format("{} expected sparse coordinate tensor layout but got {}", what,
                            layout_name(tensor.layout())));
}

Tensor make_coo(std::span<const int64_t> sizes, Tensor indices, Tensor values, bool is_coalesced) {
  SparseParts parts;
  parts.indices = std::move(indices);
  parts.values = std::move(values);
  parts.is_coalesced = is_coalesced;
  return Tensor::sparse(Layout::kSparseCoo, sizes, std::move(parts));
}

Tensor with_values(const Tensor& like, Tensor values) {
  SparseParts parts = *like.sparse_parts();
  Dims sizes = like.sizes();
  if (is_coo(like)) {
    sizes = Dims(sizes.span().first(static_cast<size_t>(sparse_dims(like))));
    for (size_t d = 1; d < values.dim(); ++d) sizes.push_back(values.sizes()[d]);
  }
  parts.values = std::move(values);
  return Tensor::sparse(like.layout(), sizes, std::move(parts));
}

Tensor empty_coo(Context& context, std::span<const int64_t> sizes, int64_t sparse_dim, DType dtype) {
  if (sparse_dim < 0 || sparse_dim > static_cast<int64_t>(sizes.size()))
    fail_argument("the sparse dimensions are more than there are, or fewer than none");
  const Tensor indices = context.allocate(DType::kInt64, Dims{sparse_dim, 0});
  const Dims none{0};
  return make_coo(sizes, indices,
                  context.allocate(dtype, joined(none, sizes.subspan(static_cast<size_t>(sparse_dim)))),
                  true);
}

int64_t sparse_dims(const Tensor& coo) { return coo.sparse_parts()->indices.sizes()[0]; }
int64_t entry_count(const Tensor& coo) { return coo.sparse_parts()->indices.sizes()[1]; }
int64_t batch_dims(const Tensor& compressed) {
  return static_cast<int64_t>(compressed.sparse_parts()->compressed_indices.dim()) - 1;
}
std::array<int64_t, 2> block_sizes(const Tensor& compressed) {
  if (!is_blocked(compressed.layout())) return {1, 1};
  const auto at = static_cast<size_t>(batch_dims(compressed)) + 1;
  const Dims& sizes = compressed.sparse_parts()->values.sizes();
  return {std::max<int64_t>(sizes[at], 1), std::max<int64_t>(sizes[at + 1], 1)};
}

ScratchVector<int64_t> entry_places(const Tensor& coo) {
  const auto dims = static_cast<size_t>(sparse_dims(coo));
  const auto count = static_cast<size_t>(entry_count(coo));
  product(coo.sizes().span().first(dims));  // every place is a number
  const std::vector<int64_t> indices = read_indices(coo.sparse_parts()->indices);
  ScratchVector<int64_t> places(count, 0);
  WorkPoller poll;
  for (size_t d = 0; d < dims; ++d) {
    const int64_t size = coo.sizes()[d];
    for (size_t i = 0; i < count; ++i) {
      poll();
      const int64_t index = indices[d * count + i];
      if (index < 0 || index >= size) fail_index(index, d, size);
      places[i] = places[i] * size + index;
    }
  }
  return places;
}

Tensor index_row(const Tensor& indices, int64_t row) {
  Geometry geometry = indices.geometry();
  geometry.offset += row * geometry.strides[0];
  geometry.sizes.erase(0);
  geometry.strides.erase(0);
  return indices.with_geometry(std::move(geometry));
}

Tensor int64_tensor(Context& context, std::span<const int64_t> numbers) {
  Tensor made = context.allocate(DType::kInt64, Dims{static_cast<int64_t>(numbers.size())});
  if (!numbers.empty()) std::memcpy(made.mutable_data(), numbers.data(), numbers.size_bytes());
  return made;
}

Tensor retyped(Context& context, const Tensor& tensor, DType dtype) {
  return tensor.dtype() == dtype ? tensor : call(context, "aten::to.dtype", tensor, dtype);
}
Tensor reshaped_to(Context& context, const Tensor& tensor, const Dims& sizes) {
  return call(context, "aten::reshape", tensor, sizes);
}

Tensor add_rows(Context& context, int64_t rows, const Tensor& places, const Tensor& values) {
  Dims sizes = values.sizes();
  sizes[0] = rows;
  // Sums of truth values are true where one is.
  const DType dtype = values.dtype() == DType::kBool ? DType::kInt32 : values.dtype();
  const Tensor zeros = call_with(context, "aten::zeros", {sizes}, {{"dtype", dtype}});
  if (places.element_count() == 0) return retyped(context, zeros, values.dtype());
  return retyped(context, call(context, "aten::index_add", zeros, 0, places, retyped(context, values, dtype)),
                 values.dtype());
}

Tensor coalesced(Context& context, const Tensor& coo) {
  const SparseParts& parts = *coo.sparse_parts();
  if (parts.is_coalesced) return coo;
  const auto count = static_cast<size_t>(entry_count(coo));
  const ScratchVector<int64_t> places = entry_places(coo);
  if (count < 2) return make_coo(coo.sizes(), parts.indices, parts.values, true);
  ScratchVector<int64_t> order(count);
  std::iota(order.begin(), order.end(), int64_t{0});
  WorkPoller poll;
  const auto is_before = [&](int64_t a, int64_t b) {
    return places[static_cast<size_t>(a)] < places[static_cast<size_t>(b)];
  };
  std::stable_sort(order.begin(), order.end(), stoppable(poll, is_before));
  ScratchVector<int64_t> group(count);  // of each entry, in their order
  ScratchVector<int64_t> first;
  for (size_t i = 0; i < count; ++i) {
    if (i == 0 || is_before(order[i - 1], order[i])) first.push_back(order[i]);
    group[i] = static_cast<int64_t>(first.size()) - 1;
  }
  const Tensor sorted = call(context, "aten::index_select", parts.values, 0, int64_tensor(context, order));
  const Tensor values = first.size() == count ? sorted
                                              : add_rows(context, static_cast<int64_t>(first.size()),
                                                         int64_tensor(context, group), sorted);
  const Tensor indices = call(context, "aten::index_select", retyped(context, parts.indices, DType::kInt64),
                              1, int64_tensor(context, first));
  return make_coo(coo.sizes(), indices, values, true);
}

Tensor stored_entries(Context& context, const Tensor& compressed) {
  const SparseParts& parts = *compressed.sparse_parts();
  const auto batches = static_cast<size_t>(batch_dims(compressed));
  const std::array<int64_t, 2> block = block_sizes(compressed);
  const int64_t extents[2] = {compressed.sizes()[batches] / block[0],
                              compressed.sizes()[batches + 1] / block[1]};
  const bool by_row = is_by_row(compressed.layout());
  const int64_t lines = extents[by_row ? 0 : 1], across = extents[by_row ? 1 : 0];
  const int64_t stored = parts.values.sizes()[batches];
  const std::vector<int64_t> ends = read_indices(parts.compressed_indices);
  const std::vector<int64_t> plain = read_indices(parts.plain_indices);
  const auto total = plain.size();
  std::vector<ScratchVector<int64_t>> rows(batches + 2, ScratchVector<int64_t>(total));
  const int64_t batch_count = product(compressed.sizes().span().first(batches));
  WorkPoller poll;
  for (int64_t batch = 0; batch < batch_count; ++batch) {
    const int64_t* const line_ends = ends.data() + batch * (lines + 1);
    if (line_ends[0] != 0 || line_ends[lines] != stored)
      fail_argument(fmt::format("the compressed indices run from {} to {}, not from 0 to {}", line_ends[0],
                                line_ends[lines], stored));
    for (int64_t line = 0; line < lines; ++line) {
      poll();
      if (line_ends[line + 1] < line_ends[line] || line_ends[line + 1] > stored)
        fail_argument(fmt::format("compressed indices {} and {} are {} and {}: expected them in order", line,
                                  line + 1, line_ends[line], line_ends[line + 1]));
      for (int64_t i = line_ends[line]; i < line_ends[line + 1]; ++i) {
        poll();
        const auto at = static_cast<size_t>(batch * stored + i);
        if (plain[at] < 0 || plain[at] >= across) fail_index(plain[at], by_row ? 1 : 0, across);
        rows[batches + (by_row ? 0 : 1)][at] = line;
        rows[batches + (by_row ? 1 : 0)][at] = plain[at];
        int64_t rest = batch;
        for (size_t d = batches; d-- > 0;) {
          rows[d][at] = rest % compressed.sizes()[d];
          rest /= compressed.sizes()[d];
        }
      }
    }
  }
  Dims sizes(compressed.sizes().span().first(batches));
  sizes.push_back(extents[0]);
  sizes.push_back(extents[1]);
  const std::span<const int64_t> of_values = parts.values.sizes().span().subspan(batches + 1);
  const Dims count{static_cast<int64_t>(total)};
  const Tensor values = reshaped_to(context, parts.values, joined(count, of_values));
  return make_coo(joined(sizes, of_values), indices_of(context, rows, total), values, total < 2);
}

Tensor coo_of(Context& context, const Tensor& sparse) {
  if (is_coo(sparse)) return sparse;
  const Tensor entries = stored_entries(context, sparse);
  if (!is_blocked(sparse.layout())) return coalesced(context, entries);
  const SparseParts& parts = *entries.sparse_parts();
  const auto batches = static_cast<size_t>(batch_dims(sparse));
  const std::array<int64_t, 2> block = block_sizes(sparse);
  const Dims blocks(parts.values.sizes().span().subspan(1, 2));
  const int64_t each = product(blocks);
  const auto count = static_cast<size_t>(Size(entry_count(entries)) * each);
  const std::vector<int64_t> from = read_indices(parts.indices);
  std::vector<ScratchVector<int64_t>> rows(batches + 2, ScratchVector<int64_t>(count));
  WorkPoller poll;
  for (size_t i = 0; i < count; ++i) {
    poll();
    const size_t entry = i / static_cast<size_t>(each);
    const auto inside = static_cast<int64_t>(i % static_cast<size_t>(each));
    for (size_t d = 0; d < rows.size(); ++d)
      rows[d][i] = from[d * static_cast<size_t>(entry_count(entries)) + entry];
    rows[batches][i] = rows[batches][i] * block[0] + inside / blocks[1];
    rows[batches + 1][i] = rows[batches + 1][i] * block[1] + inside % blocks[1];
  }
  const Dims rows_of{static_cast<int64_t>(count)};
  const Tensor values =
      reshaped_to(context, parts.values, joined(rows_of, parts.values.sizes().span().subspan(3)));
  return coalesced(context, make_coo(sparse.sizes(), indices_of(context, rows, count), values, false));
}

Tensor coo_of_dense(Context& context, const Tensor& dense, int64_t sparse_dim) {
  const auto rank = static_cast<int64_t>(dense.dim());
  if (sparse_dim < 0 || sparse_dim > rank || (sparse_dim == 0 && rank > 0)) {
    fail_argument(fmt::format(
        "sparse_dim argument must be in >=0, <={} and (sparse_dim > 0 or self.dim() == 0)", rank));
  }
  const std::span<const int64_t> sizes = dense.sizes();
  const auto split = static_cast<size_t>(sparse_dim);
  const int64_t places = product(sizes.first(split)), each = product(sizes.subspan(split));
  const Tensor flat = reshaped_to(context, dense, Dims{places, each});
  const Tensor is_stored = call(context, "aten::any.dim", call(context, "aten::ne.Scalar", flat, 0), 1);
  const Tensor found = reshaped_to(context, call(context, "aten::nonzero", is_stored), Dims{-1});
  const std::vector<int64_t> at = read_indices(found);
  std::vector<ScratchVector<int64_t>> rows(split, ScratchVector<int64_t>(at.size()));
  for (size_t i = 0; i < at.size(); ++i) {
    int64_t rest = at[i];
    for (size_t d = split; d-- > 0;) {
      rows[d][i] = rest % sizes[d];
      rest /= sizes[d];
    }
  }
  const Dims count{static_cast<int64_t>(at.size())};
  const Tensor values = reshaped_to(context, call(context, "aten::index_select", flat, 0, found),
                                    joined(count, sizes.subspan(split)));
  return make_coo(sizes, indices_of(context, rows, at.size()), values, true);
}

Tensor dense_of(Context& context, const Tensor& tensor) {
  if (!is_sparse(tensor)) return tensor;
  if (is_coo(tensor)) {
    const ScratchVector<int64_t> places = entry_places(tensor);
    const int64_t rows = product(tensor.sizes().span().first(static_cast<size_t>(sparse_dims(tensor))));
    return reshaped_to(context,
                       add_rows(context, rows, int64_tensor(context, places), tensor.sparse_parts()->values),
                       tensor.sizes());
  }
  Tensor blocks = dense_of(context, stored_entries(context, tensor));
  if (!is_blocked(tensor.layout())) return blocks;
  // [..., rows, columns, height, width, ...] to [..., rows, height, columns, width, ...]
  Dims order(blocks.dim(), 0);
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto batches = static_cast<size_t>(batch_dims(tensor));
  std::swap(order[batches + 1], order[batches + 2]);
  return reshaped_to(context, call(context, "aten::permute", blocks, order), tensor.sizes());
}

Tensor compressed_of(Context& context, const Tensor& coo, Layout layout, std::array<int64_t, 2> block) {
  const Tensor source = coalesced(context, coo);
  const SparseParts& parts = *source.sparse_parts();
  const int64_t dims = sparse_dims(source);
  if (dims < 2) fail_argument("a compressed tensor has rows and columns: expected two sparse dimensions");
  const auto batches = static_cast<size_t>(dims) - 2;
  const Dims& sizes = source.sizes();
  for (const size_t d : {size_t{0}, size_t{1}}) {
    if (block[d] < 1 || sizes[batches + d] % block[d] != 0)
      fail_argument(fmt::format("tensor sparse size {} must be divisible by blocksize {}", sizes[batches + d],
                                block[d]));
  }
  const bool by_row = is_by_row(layout);
  const int64_t extents[2] = {sizes[batches] / block[0], sizes[batches + 1] / block[1]};
  const int64_t lines = extents[by_row ? 0 : 1], across = extents[by_row ? 1 : 0];
  const int64_t batch_count = product(sizes.span().first(batches));
  const int64_t each = Size(block[0]) * block[1];
  (void)(Size(batch_count) * lines * across * each);  // every place is a number
  const auto count = static_cast<size_t>(entry_count(source));
  const std::vector<int64_t> at = read_indices(parts.indices);
  ScratchVector<int64_t> keys(count), inside(count);  // which block, in the layout's order; where in it
  for (size_t i = 0; i < count; ++i) {
    int64_t batch = 0;
    for (size_t d = 0; d < batches; ++d) batch = batch * sizes[d] + at[d * count + i];
    const int64_t row = at[batches * count + i], column = at[(batches + 1) * count + i];
    const int64_t in_blocks[2] = {row / block[0], column / block[1]};
    keys[i] = (batch * lines + in_blocks[by_row ? 0 : 1]) * across + in_blocks[by_row ? 1 : 0];
    inside[i] = row % block[0] * block[1] + column % block[1];
  }
  ScratchVector<int64_t> blocks(keys);
  WorkPoller poll;
  std::sort(blocks.begin(), blocks.end(), stoppable(poll, std::less<>()));
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  const int64_t stored = batch_count == 0 ? 0 : static_cast<int64_t>(blocks.size()) / batch_count;
  Dims front(sizes.span().first(batches));
  Dims line_sizes = front, plain_sizes = front;
  line_sizes.push_back(lines + 1);
  plain_sizes.push_back(stored);
  const Tensor compressed = context.allocate(DType::kInt64, line_sizes);
  const Tensor plain = context.allocate(DType::kInt64, plain_sizes);
  std::fill_n(compressed.element_count() > 0 ? compressed.mutable_data<int64_t>() : nullptr,
              compressed.element_count(), int64_t{0});
  for (size_t i = 0; i < blocks.size(); ++i) {
    const int64_t batch = blocks[i] / across / lines, line = blocks[i] / across % lines;
    if (static_cast<int64_t>(i) / std::max<int64_t>(stored, 1) != batch)
      fail_argument("Expect the same number of specified elements per batch.");
    plain.mutable_data<int64_t>()[i] = blocks[i] % across;
    ++compressed.mutable_data<int64_t>()[batch * (lines + 1) + line + 1];
  }
  if (stored * batch_count != static_cast<int64_t>(blocks.size()))
    fail_argument("Expect the same number of specified elements per batch.");
  for (int64_t batch = 0; batch < batch_count; ++batch) {
    int64_t* const ends = compressed.mutable_data<int64_t>() + batch * (lines + 1);
    for (int64_t line = 0; line < lines; ++line) ends[line + 1] += ends[line];
  }
  for (size_t i = 0; i < count; ++i) {
    const auto found = std::lower_bound(blocks.begin(), blocks.end(), keys[i]) - blocks.begin();
    inside[i] += found * each;
  }
  const Tensor values = add_rows(context, Size(static_cast<int64_t>(blocks.size())) * each,
                                 int64_tensor(context, inside), parts.values);
  Dims value_sizes = plain_sizes;
  if (is_blocked(layout)) {
    value_sizes.push_back(block[0]);
    value_sizes.push_back(block[1]);
  }
  SparseParts made;
  made.compressed_indices = compressed;
  made.plain_indices = plain;
  made.values = reshaped_to(context, values, joined(value_sizes, parts.values.sizes().span().subspan(1)));
  return Tensor::sparse(layout, sizes, std::move(made));
}

}  // namespace flambeau::ops
