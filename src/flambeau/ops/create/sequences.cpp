// Tensors put together from others of several lengths, or out of their combinations.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

// The tensor with so many values more at the end (or the front) of a dimension.
Tensor padded(Context& c, const Tensor& tensor, int64_t dim, const SymInt& more, double value,
              bool in_front) {
  SymIntList pad(static_cast<size_t>(2 * (rank_of(tensor) - dim)), SymInt(0));
  pad[pad.size() - (in_front ? 2 : 1)] = more;
  return call(c, "aten::constant_pad_nd", tensor, pad, value);
}

Tensor pad_sequence(Context& c, std::span<const Tensor> sequences, bool batch_first, double padding_value,
                    std::string_view padding_side) {
  if (sequences.empty()) fail_view("received an empty list of sequences");
  if (padding_side != "left" && padding_side != "right")
    fail_view(fmt::format("Expected padding_side to be one of left or right, but got {}.", padding_side));
  SymInt longest = 0;
  for (const Tensor& sequence : sequences) {
    if (rank_of(sequence) == 0) fail_view("pad_sequence: a sequence has no dimension");
    if (size_of(sequence, 0) > longest) longest = size_of(sequence, 0);
  }
  TensorList all;
  for (const Tensor& sequence : sequences)
    all.push_back(
        padded(c, sequence, 0, longest - size_of(sequence, 0), padding_value, padding_side == "left"));
  return call(c, "aten::stack", all, batch_first ? 0 : 1);
}

// Each tensor cut into so many chunks along a dimension, the last one filled with zeros; what is behind that
// dimension lies in a row, of all tensors one after the other.
Tensor chunk_cat(Context& c, std::span<const Tensor> tensors, Size dim, Size num_chunks) {
  if (tensors.empty()) fail_view("_chunk_cat expects a non-empty input tensor list");
  if (num_chunks < 1) fail_view("_chunk_cat expects positive num_chunks");
  const auto along = static_cast<int64_t>(wrap_dim(dim, static_cast<size_t>(rank_of(tensors[0]))));
  TensorList chunks;
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() != tensors[0].dtype())
      fail_view("_chunk_cat expects all input tensors with the same dtype");
    if (rank_of(tensor) <= along) fail_view("_chunk_cat expects dim < ndim for all input tensors");
    SymIntList sizes;
    for (int64_t d = 0; d < along; ++d) {
      if (!(size_of(tensor, d) == size_of(tensors[0], d)))
        fail_view("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all input tensors");
      sizes.push_back(size_of(tensor, d));
    }
    const SymInt length = size_of(tensor, along);
    if (count_of(tensor) == SymInt(0)) fail_view("_chunk_cat expects non-empty tensor");
    const SymInt each = floor_div(length + SymInt(num_chunks - 1), SymInt(num_chunks));
    sizes.push_back(SymInt(num_chunks));
    sizes.push_back(SymInt(-1));
    const Tensor whole = padded(c, tensor, along, each * SymInt(num_chunks) - length, 0, false);
    chunks.push_back(call(c, "aten::reshape", whole, sizes));
  }
  return call(c, "aten::cat", chunks, along + 1);
}

// All choices of so many elements, in their order.
Tensor combinations(Context& c, const Tensor& self, Size r, bool with_replacement) {
  if (rank_of(self) != 1)
    fail_view(fmt::format("Expect a 1D vector, but got shape {}", sizes_text(sizes_of(self))));
  if (r < 0) fail_view(fmt::format("Expect a non-negative number, but got {}", r));
  if (r == 0) return parts::empty(c, {SymInt(0)}, self);
  if (r > 64) fail_view(fmt::format("combinations of {} elements would have too many dimensions", r));
  const SymInt count = size_of(self, 0);
  const TensorList values(static_cast<size_t>(int64_t{r}), self);
  const Tensor places = parts::arange(c, 0, count, DType::kInt64, self.device());
  const TensorList same(static_cast<size_t>(int64_t{r}), places);
  const auto grids = [&](const TensorList& of) { return call<TensorList>(c, "aten::meshgrid", of); };
  const TensorList at = grids(same);
  Tensor is_chosen;
  for (size_t i = 0; i + 1 < at.size(); ++i) {
    const Tensor in_order =
        call(c, with_replacement ? "aten::le.Tensor" : "aten::lt.Tensor", at[i], at[i + 1]);
    is_chosen = is_chosen.defined() ? call(c, "aten::logical_and", is_chosen, in_order) : in_order;
  }
  if (!is_chosen.defined()) return call(c, "aten::unsqueeze", call(c, "aten::clone", self), 1);
  TensorList columns;
  for (const Tensor& grid : grids(values)) columns.push_back(call(c, "aten::masked_select", grid, is_chosen));
  return call(c, "aten::stack", columns, 1);
}

Tensor chalf(Context& c, const Tensor& self, std::optional<MemoryFormat> memory_format) {
  return call_with(c, "aten::to.dtype", {self, DType::kComplex32}, {{"memory_format", Value(memory_format)}});
}

// The sum over whatever a broadcast from that size would have made of it.
Tensor sum_to_size(Context& c, const Tensor& self, std::span<const SymInt> size) {
  const int64_t rank = rank_of(self);
  const int64_t extra = rank - static_cast<int64_t>(size.size());
  const auto refuse = [&] {
    fail_view(fmt::format("size {} is not expandable to size {}.", sizes_text(SymIntList(size)),
                          sizes_text(sizes_of(self))));
  };
  if (extra < 0) refuse();
  if (size.empty()) return call(c, "aten::sum", self);
  Dims summed;
  for (int64_t d = 0; d < rank; ++d) {
    if (d < extra) {
      summed.push_back(d);
      continue;
    }
    const SymInt& wanted = size[static_cast<size_t>(d - extra)];
    if (wanted == size_of(self, d)) continue;
    if (!(wanted == SymInt(1))) refuse();
    summed.push_back(d);
  }
  if (summed.empty()) return self;
  const Tensor sum = call_with(c, "aten::sum.dim_IntList", {self, summed, true}, {{"dtype", Value()}});
  return extra == 0 ? sum : call(c, "aten::view", sum, SymIntList(size));
}

Tensor norm_except_dim(Context& c, const Tensor& v, Size power, Size dim) {
  const int64_t rank = rank_of(v);
  const auto flat_norm = [&](const Tensor& rows, const SymIntList& shape) {
    return call(c, "aten::view", call(c, "aten::norm.ScalarOpt_dim", rows, Value(power), Dims{1}), shape);
  };
  if (dim == -1) return call(c, "aten::norm.Scalar", v, Value(power));
  SymIntList shape(static_cast<size_t>(rank), SymInt(1));
  const auto along = static_cast<int64_t>(wrap_dim(dim, static_cast<size_t>(rank)));
  if (rank == 0) fail_view("norm_except_dim: a tensor without dimensions has none to except");
  shape[static_cast<size_t>(along)] = size_of(v, along);
  Tensor rows = along == 0 ? v : call(c, "aten::transpose.int", v, 0, along);
  rows = call(c, "aten::reshape", rows, SymIntList{size_of(v, along), SymInt(-1)});
  return flat_norm(rows, shape);
}

Tensor resize_as(Context& c, const Tensor& self, const Tensor& the_template,
                 std::optional<MemoryFormat> memory_format) {
  return call_with(c, "aten::resize_", {self, sizes_of(the_template)},
                   {{"memory_format", Value(memory_format)}});
}

}  // namespace

void define_sequences(Library& library) {
  library
      .define(
          "aten::pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0., str "
          "padding_side=\"right\") -> Tensor")
      .composite<pad_sequence>();
  library.define("aten::_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor")
      .core_decomposition<chunk_cat>();
  library.define("aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor")
      .composite<combinations>();
  library.define("aten::chalf(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor")
      .composite<chalf>();
  library.define("aten::sum_to_size(Tensor self, SymInt[] size) -> Tensor").composite<sum_to_size>();
  library.define("aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor")
      .composite<norm_except_dim>();
  library
      .define(
          "aten::resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> "
          "Tensor(a!)")
      .decomposition<resize_as>();
}

}  // namespace flambeau::ops
