// What the operators on sparse tensors share: reading entries, of which a stranger may have written any
// number, sorting and summing them, and the ways between the layouts. Indices are checked wherever they are
// read, so that no tensor need be trusted. Everything goes by COO: a compressed tensor is one whose entries
// are in an order.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "flambeau/base/work.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/sparse_calls.h"

namespace flambeau::ops {

inline bool is_coo(const Tensor& tensor) { return tensor.layout() == Layout::kSparseCoo; }
inline bool is_compressed(const Tensor& tensor) { return is_sparse(tensor) && !is_coo(tensor); }
// Whether rows are the compressed dimension; whether values are blocks.
inline bool is_by_row(Layout layout) { return layout == Layout::kSparseCsr || layout == Layout::kSparseBsr; }
inline bool is_blocked(Layout layout) { return layout == Layout::kSparseBsr || layout == Layout::kSparseBsc; }

// Throws Error(kInvalidArgument) that says which layout was expected.
void require_coo(const Tensor& tensor, std::string_view what);

Tensor make_coo(std::span<const int64_t> sizes, Tensor indices, Tensor values, bool is_coalesced);
// The same entries with other values, which may be of another type and have other dense dimensions.
Tensor with_values(const Tensor& like, Tensor values);
// A tensor of no entries.
Tensor empty_coo(Context& context, std::span<const int64_t> sizes, int64_t sparse_dim, DType dtype);

// Of COO: how many dimensions are indexed, and how many entries there are.
int64_t sparse_dims(const Tensor& coo);
int64_t entry_count(const Tensor& coo);
// Of a compressed tensor: dimensions of batches in front, and the sizes of its blocks (1 without).
int64_t batch_dims(const Tensor& compressed);
std::array<int64_t, 2> block_sizes(const Tensor& compressed);

// Where the entries lie as if the indexed dimensions were one. Throws Error for an index out of bounds.
ScratchVector<int64_t> entry_places(const Tensor& coo);
// A row of the indices.
Tensor index_row(const Tensor& indices, int64_t row);
Tensor int64_tensor(Context& context, std::span<const int64_t> numbers);
// The rows of values added up by the row of the result that each belongs to.
Tensor add_rows(Context& context, int64_t rows, const Tensor& places, const Tensor& values);

// In order, each place once.
Tensor coalesced(Context& context, const Tensor& coo);
// Entries of a compressed tensor as COO; blocks are dense dimensions then, in front of its own. In the order
// they have there.
Tensor stored_entries(Context& context, const Tensor& compressed);
// Any sparse tensor, element by element; coalesced where it was compressed.
Tensor coo_of(Context& context, const Tensor& sparse);
Tensor coo_of_dense(Context& context, const Tensor& dense, int64_t sparse_dim);
Tensor dense_of(Context& context, const Tensor& tensor);
// Of a COO tensor whose indexed dimensions are batches, rows and columns.
Tensor compressed_of(Context& context, const Tensor& coo, Layout layout, std::array<int64_t, 2> block);

// Values as they are needed: of that type, contiguous views of other sizes.
Tensor retyped(Context& context, const Tensor& tensor, DType dtype);
Tensor reshaped_to(Context& context, const Tensor& tensor, const Dims& sizes);

}  // namespace flambeau::ops
