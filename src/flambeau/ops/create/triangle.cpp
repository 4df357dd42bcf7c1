// Triangles and diagonals of matrices.
#include <fmt/format.h>

#include <cstring>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/view/rules.h"
#include "flambeau/tensor/elements/convert_rows.h"

namespace flambeau::ops {
namespace {

template <bool kLower, typename N>
Info<N> triangle_shape(const Info<N>& self, N) {
  if (self.dim() < 2) {
    fail_view(fmt::format("{}: input tensor must have at least 2 dimensions", kLower ? "tril" : "triu"));
  }
  return contiguous(self.dtype, self.sizes, self.device);
}

template <bool kLower>
void triangle_kernel(Context& context, const Tensor& self, Size diagonal, Tensor& out) {
  const size_t rank = out.dim();
  const int64_t rows = out.sizes()[rank - 2];
  const int64_t columns = out.sizes()[rank - 1];
  const auto size = static_cast<int64_t>(out.element_size());
  const int64_t from_step = self.byte_stride(rank - 1);
  const int64_t to_step = out.byte_stride(rank - 1);
  const uint8_t* const from = self.data();
  uint8_t* const to = out.mutable_data();
  const uint8_t zeros[16] = {};
  const auto run_row = [&](int64_t row) {
    int64_t rest = row;
    int64_t from_offset = 0;
    int64_t to_offset = 0;
    for (size_t d = rank - 1; d-- > 0;) {
      const int64_t index = rest % out.sizes()[d];
      rest /= out.sizes()[d];
      from_offset += index * self.byte_stride(d);
      to_offset += index * out.byte_stride(d);
    }
    const __int128 border = static_cast<__int128>(row % rows) + diagonal + (kLower ? 1 : 0);
    const auto split = static_cast<int64_t>(std::clamp<__int128>(border, 0, columns));
    const int64_t begin = kLower ? 0 : split;
    const int64_t end = kLower ? split : columns;
    copy_row(from + from_offset + begin * from_step, from_step, to + to_offset + begin * to_step, to_step,
             static_cast<size_t>(end - begin), static_cast<size_t>(size));
    const int64_t zero_begin = kLower ? split : 0;
    const int64_t zero_count = columns - (end - begin);
    uint8_t* const rest_of_row = to + to_offset + zero_begin * to_step;
    if (to_step == size) {
      std::memset(rest_of_row, 0, static_cast<size_t>(zero_count * size));
    } else {
      copy_row(zeros, 0, rest_of_row, to_step, static_cast<size_t>(zero_count), static_cast<size_t>(size));
    }
  };
  const int64_t all_rows = out.element_count() / columns;
  context.pool().for_each_range(static_cast<size_t>(all_rows), static_cast<size_t>(kGrain / columns + 1),
                                [&](size_t begin, size_t end) {
                                  for (size_t row = begin; row < end; ++row)
                                    run_row(static_cast<int64_t>(row));
                                });
}

template <typename N>
Info<N> diag_embed_shape(const Info<N>& self, Size offset, Size dim1, Size dim2) {
  if (self.dim() == 0) fail_view("Dimension specified as -1 but tensor has no dimensions");
  const size_t a = wrap_dim(dim1, self.dim() + 1);
  const size_t b = wrap_dim(dim2, self.dim() + 1);
  if (a == b) fail_view(fmt::format("diagonal dimensions cannot be identical {}, {}", dim1, dim2));
  const N length = self.sizes.back() + N(offset < 0 ? -offset : offset);
  ShortList<N> sizes = self.sizes;
  sizes.erase(self.dim() - 1);
  sizes.insert(std::min(a, b), length);
  sizes.insert(std::max(a, b), length);
  return contiguous(self.dtype, std::move(sizes), self.device);
}

void diag_embed_kernel(Context& context, const Tensor& self, Size offset, Size dim1, Size dim2, Tensor& out) {
  fill(context, out, 0);
  copy_into(context, self, viewed(out, diagonal_info(info_of(out), offset, dim1, dim2)));
}

Tensor diag(Context& context, const Tensor& self, Size diagonal) {
  const int64_t rank = rank_of(self);
  if (rank == 1) return call(context, "aten::diag_embed", self, diagonal);
  if (rank == 2) return call(context, "aten::diagonal_copy", self, diagonal);
  fail_view(fmt::format("diag(): Supports 1D or 2D tensors. Got {}D", rank));
}

Tensor diagflat(Context& context, const Tensor& self, Size offset) {
  return call(context, "aten::diag_embed", call(context, "aten::reshape", self, Dims{-1}), offset);
}

template <bool kLower>
Tensor triangle_parts(Context& c, const Tensor& self, SymInt diagonal) {
  const auto line = [&](int64_t dim) {
    const Tensor places = parts::arange(c, 0, size_of(self, dim), {}, self.device());
    return call(c, "aten::unsqueeze", places, dim == -1 ? -2 : -1);
  };
  const Tensor columns = line(-1);
  const Tensor far = parts::sub(c, columns, line(-2));
  const Tensor is_in = call(c, kLower ? "aten::le.Scalar" : "aten::ge.Scalar", far, diagonal);
  if (self.dtype() == DType::kBool) return call(c, "aten::logical_and", is_in, self);
  return parts::where(c, is_in, self, parts::scalar(c, 0, self));
}

}  // namespace

void define_triangle(Library& library) {
  library.define("aten::tril(Tensor self, SymInt diagonal=0) -> Tensor")
      .shape<triangle_shape<true, Size>, triangle_shape<true, SymInt>>()
      .kernel<triangle_kernel<true>>()
      .elementwise()
      .core_decomposition<triangle_parts<true>>();
  library.define("aten::triu(Tensor self, SymInt diagonal=0) -> Tensor")
      .shape<triangle_shape<false, Size>, triangle_shape<false, SymInt>>()
      .kernel<triangle_kernel<false>>()
      .elementwise()
      .core_decomposition<triangle_parts<false>>();
  library.define("aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor")
      .shape<diag_embed_shape<Size>, diag_embed_shape<SymInt>>()
      .kernel<diag_embed_kernel>();
  library.define("aten::diag(Tensor self, int diagonal=0) -> Tensor").composite<diag>();
  library.define("aten::diagflat(Tensor self, int offset=0) -> Tensor").composite<diagflat>();
}

}  // namespace flambeau::ops
