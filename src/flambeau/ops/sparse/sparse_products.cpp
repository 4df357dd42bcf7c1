// Products of sparse matrices: a row of the result is the sum of the rows of the other factor, each times an
// entry.
#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/dense/product.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/reduction.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/sparse/sparse.h"

namespace flambeau::ops {
namespace {

void require_matrices(const Tensor& left, const Tensor& right) {
  if (left.dim() != 2 || right.dim() != 2 || left.sizes()[1] != right.sizes()[0])
    fail_argument(fmt::format("mat1 and mat2 shapes cannot be multiplied ({} and {})", left.summary(),
                              right.summary()));
  require_same_type(left.dtype(), right.dtype());
  require_product_type("addmm_sparse", left.dtype());
}

// Entries by rows: those of row r are [ends[r], ends[r + 1]).
struct EntryRows {
  Tensor coo;  // coalesced
  ScratchVector<int64_t> ends;
  ScratchVector<int64_t> columns;
};
EntryRows rows_of(Context& context, const Tensor& matrix) {
  EntryRows rows;
  rows.coo = coalesced(context, coo_of(context, matrix));
  if (sparse_dims(rows.coo) != 2) fail_argument("a product takes sparse matrices without dense dimensions");
  const ScratchVector<int64_t> places = entry_places(rows.coo);
  const int64_t height = matrix.sizes()[0], width = matrix.sizes()[1];
  rows.ends.assign(static_cast<size_t>((Size(height) + 1).value()), 0);
  rows.columns.resize(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    rows.columns[i] = places[i] % width;
    ++rows.ends[static_cast<size_t>(places[i] / width) + 1];
  }
  for (size_t r = 1; r < rows.ends.size(); ++r) rows.ends[r] += rows.ends[r - 1];
  // A tensor that only claims to be in order would be read wrongly, though never beyond its entries.
  if (!std::is_sorted(places.begin(), places.end()))
    fail_argument("the sparse tensor says that it is coalesced, but its entries are not in order");
  return rows;
}

Tensor packed_of(Context& context, const Tensor& tensor, DType dtype) {
  const Tensor made = context.allocate(dtype, tensor.sizes());
  copy_into(context, tensor, made);
  return made;
}

// Integers wrap, as PyTorch's do.
template <typename T>
T plus_product(T sum, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return sum + a * b;
  }
}

Tensor sparse_dense(Context& context, const Tensor& left, const Tensor& right) {
  require_matrices(left, right);
  const EntryRows rows = rows_of(context, left);
  const DType dtype = compute_dtype(left.dtype());
  const Tensor values = packed_of(context, rows.coo.sparse_parts()->values, dtype);
  const Tensor factors = packed_of(context, right, dtype);
  const int64_t height = left.sizes()[0], width = right.sizes()[1];
  const Tensor out = call_with(context, "aten::zeros", {Dims{height, width}}, {{"dtype", dtype}});
  const int64_t entries = static_cast<int64_t>(rows.columns.size());
  if (out.element_count() > 0 && entries > 0) {
    with_compute_type(left.dtype(), [&]<typename T>(T) {
      const T* const of_entries = values.data<T>();
      const T* const from = factors.data<T>();
      T* const to = out.mutable_data<T>();
      const Cost cost{.operations = static_cast<double>(entries) / static_cast<double>(height) *
                                    static_cast<double>(width),
                      .bytes = 0};
      context.pool().for_each_range(static_cast<size_t>(height), cost.grain(), [&](size_t begin, size_t end) {
        WorkPoller poll;
        for (size_t r = begin; r < end; ++r) {
          T* const sums = to + static_cast<int64_t>(r) * width;
          for (int64_t e = rows.ends[r]; e < rows.ends[r + 1]; ++e) {
            poll(static_cast<size_t>(width));
            const T factor = of_entries[e];
            const T* const row = from + rows.columns[static_cast<size_t>(e)] * width;
            for (int64_t c = 0; c < width; ++c) sums[c] = plus_product(sums[c], factor, row[c]);
          }
        }
      });
    });
  }
  return retyped(context, out, left.dtype());
}

Tensor transposed_coo(Context& context, const Tensor& matrix) {
  return call(context, "aten::transpose.int", coo_of(context, matrix), 0, 1);
}

Tensor sparse_sparse(Context& context, const Tensor& left, const Tensor& right) {
  require_matrices(left, right);
  const EntryRows a = rows_of(context, left), b = rows_of(context, right);
  const DType dtype = compute_dtype(left.dtype());
  const Tensor a_values = packed_of(context, a.coo.sparse_parts()->values, dtype);
  const Tensor b_values = packed_of(context, b.coo.sparse_parts()->values, dtype);
  const int64_t height = left.sizes()[0], width = right.sizes()[1];
  ScratchVector<int64_t> out_rows, out_columns;
  Tensor values;
  with_compute_type(left.dtype(), [&]<typename T>(T) {
    ScratchVector<T> sums(static_cast<size_t>(width)), all;
    ScratchVector<int64_t> last(static_cast<size_t>(width), -1);
    ScratchVector<int64_t> touched;
    WorkPoller poll;
    for (int64_t r = 0; r < height; ++r) {
      poll();
      touched.clear();
      for (int64_t e = a.ends[static_cast<size_t>(r)]; e < a.ends[static_cast<size_t>(r) + 1]; ++e) {
        const auto middle = static_cast<size_t>(a.columns[static_cast<size_t>(e)]);
        for (int64_t f = b.ends[middle]; f < b.ends[middle + 1]; ++f) {
          poll();
          const auto column = static_cast<size_t>(b.columns[static_cast<size_t>(f)]);
          if (last[column] != r) {
            last[column] = r;
            sums[column] = T(0);
            touched.push_back(static_cast<int64_t>(column));
          }
          sums[column] = plus_product(sums[column], a_values.data<T>()[e], b_values.data<T>()[f]);
        }
      }
      std::sort(touched.begin(), touched.end());
      for (const int64_t column : touched) {
        out_rows.push_back(r);
        out_columns.push_back(column);
        all.push_back(sums[static_cast<size_t>(column)]);
      }
    }
    values = context.allocate(dtype, Dims{static_cast<int64_t>(all.size())});
    if (!all.empty()) std::copy(all.begin(), all.end(), values.mutable_data<T>());
  });
  const Tensor indices =
      call(context, "aten::stack",
           TensorList{int64_tensor(context, out_rows), int64_tensor(context, out_columns)}, 0);
  return make_coo(Dims{height, width}, indices, retyped(context, values, left.dtype()), true);
}

Tensor mm(Context& context, const Tensor& self, const Tensor& mat2) {
  if (!is_sparse(self) && !is_sparse(mat2)) return call(context, "aten::mm", self, mat2);
  if (is_sparse(self) && is_sparse(mat2)) {
    const Tensor made = sparse_sparse(context, self, mat2);
    return is_coo(self) ? made : compressed_of(context, made, self.layout(), block_sizes(self));
  }
  if (is_sparse(self)) return sparse_dense(context, self, mat2);
  if (self.dim() != 2 || mat2.dim() != 2) require_matrices(self, mat2);
  const Tensor turned = sparse_dense(context, transposed_coo(context, mat2), call(context, "aten::t", self));
  return call(context, "aten::clone", call(context, "aten::t", turned), MemoryFormat::kContiguous);
}
Tensor mm_sparse(Context& context, const Tensor& self, const Tensor& other) {
  if (!is_sparse(self) || !is_sparse(other)) fail_argument("_sparse_sparse_matmul takes two sparse matrices");
  return mm(context, self, other);
}

Tensor mv(Context& context, const Tensor& self, const Tensor& vec) {
  if (!is_sparse(self) || is_sparse(vec) || vec.dim() != 1)
    fail_argument("mv takes a sparse matrix and a dense vector");
  return call(context, "aten::squeeze.dim", mm(context, self, call(context, "aten::unsqueeze", vec, 1)), 1);
}

Tensor bmm(Context& context, const Tensor& self, const Tensor& mat2) {
  if (!is_sparse(self) || !is_coo(self) || is_sparse(mat2))
    fail_argument("bmm_sparse: Tensor 'self' must be sparse and 'mat2' dense");
  if (self.dim() != 3 || mat2.dim() != 3 || sparse_dims(self) != 3 || self.sizes()[0] != mat2.sizes()[0] ||
      self.sizes()[2] != mat2.sizes()[1])
    fail_argument(fmt::format("bmm_sparse: {} and {} cannot be multiplied", self.summary(), mat2.summary()));
  // The matrices of the batch as one that has them along its diagonal.
  const SparseParts& parts = *self.sparse_parts();
  entry_places(self);
  const Tensor batch = index_row(parts.indices, 0);
  const auto moved = [&](int64_t row, int64_t size) {
    return call(context, "aten::add.Tensor", index_row(parts.indices, row),
                call(context, "aten::mul.Tensor", batch, size));
  };
  const Size count = self.sizes()[0];
  const Tensor indices =
      call(context, "aten::stack", TensorList{moved(1, self.sizes()[1]), moved(2, self.sizes()[2])}, 0);
  const Tensor all =
      make_coo(Dims{count * self.sizes()[1], count * self.sizes()[2]}, indices, parts.values, false);
  const Tensor tall = reshaped_to(context, mat2, Dims{count * self.sizes()[2], mat2.sizes()[2]});
  return reshaped_to(context, sparse_dense(context, all, tall),
                     Dims{count, self.sizes()[1], mat2.sizes()[2]});
}

Tensor matmul(Context& context, const Tensor& self, const Tensor& other) {
  if (self.dim() == 2 && other.dim() == 1) return mv(context, self, other);
  if (self.dim() == 2 && other.dim() == 2) return mm(context, self, other);
  fail_argument(fmt::format("matmul of sparse tensors takes matrices and vectors, not {} and {}",
                            self.summary(), other.summary()));
}

Tensor addmm(Context& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta,
             Scalar alpha) {
  const Tensor product = mm(context, mat1, mat2);
  Tensor scaled = call(context, "aten::mul.Tensor", product, Value(alpha));
  if (beta.to_complex() == 0.0) return scaled;
  const Tensor added = call(context, "aten::mul.Tensor", self, Value(beta));
  if (is_sparse(self) != is_sparse(product))
    fail_argument("addmm: a sum of dense and sparse matrices is a dense one: expected 'self' to be strided");
  return call(context, "aten::add.Tensor", scaled, added);
}

// A sparse result, though the product is dense.
Tensor sspaddmm(Context& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta,
                Scalar alpha) {
  require_coo(self, "sspaddmm");
  require_coo(mat1, "sspaddmm");
  const Tensor product = coo_of_dense(context, dense_of(context, mm(context, mat1, mat2)), 2);
  return call(context, "aten::add.Tensor", call(context, "aten::mul.Tensor", product, Value(alpha)),
              call(context, "aten::mul.Tensor", self, Value(beta)));
}
Tensor smm(Context& context, const Tensor& self, const Tensor& mat2) {
  require_coo(self, "smm");
  return coo_of_dense(context, dense_of(context, mm(context, self, mat2)), 2);
}
// EntryRows that have an entry, each dense.
Tensor hspmm(Context& context, const Tensor& mat1, const Tensor& mat2) {
  require_coo(mat1, "hspmm");
  const Tensor product = sparse_dense(context, mat1, mat2);
  const EntryRows rows = rows_of(context, mat1);
  ScratchVector<int64_t> full;
  for (size_t r = 0; r + 1 < rows.ends.size(); ++r) {
    if (rows.ends[r + 1] > rows.ends[r]) full.push_back(static_cast<int64_t>(r));
  }
  const Tensor chosen = int64_tensor(context, full);
  return make_coo(product.sizes(), call(context, "aten::unsqueeze", chosen, 0),
                  call(context, "aten::index_select", product, 0, chosen), false);
}

}  // namespace

void define_sparse_products(Library& library) {
  library.extend("aten::mm").sparse<mm>();
  library.extend("aten::mv").sparse<mv>();
  library.extend("aten::bmm").sparse<bmm>();
  library.extend("aten::matmul").sparse<matmul>();
  library.extend("aten::addmm").sparse<addmm>();
  library.define("aten::_sparse_mm(Tensor sparse, Tensor dense) -> Tensor").function<mm>().sparse<mm>();
  library.define("aten::_sparse_sparse_matmul(Tensor self, Tensor other) -> Tensor")
      .function<mm_sparse>()
      .sparse<mm_sparse>();
  library
      .define(
          "aten::_sparse_addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> "
          "Tensor")
      .function<addmm>()
      .sparse<addmm>();
  library
      .define(
          "aten::sspaddmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
      .function<sspaddmm>()
      .sparse<sspaddmm>();
  library.define("aten::smm(Tensor self, Tensor mat2) -> Tensor").function<smm>().sparse<smm>();
  library.define("aten::hspmm(Tensor mat1, Tensor mat2) -> Tensor").function<hspmm>().sparse<hspmm>();
}

}  // namespace flambeau::ops
