// Sorting, and the largest or smallest elements, along a dimension.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/kernels/sort.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/ops/sort/packed_lines.h"

namespace flambeau::ops {
namespace {

template <typename N>
ShortList<N> sort_strides(const Info<N>& self) {
  return like_strides(self, MemoryFormat::kPreserve);
}

template <typename N>
std::tuple<Info<N>, Info<N>> sort_info(const Info<N>& self, Size dim) {
  wrap_dim(dim, self.dim());
  if (is_complex(self.dtype)) {
    throw Error(ErrorCode::kUnsupported, "Sort does not support complex dtypes on CPU");
  }
  const ShortList<N> strides = sort_strides(self);
  return {Info<N>{.dtype = self.dtype, .sizes = self.sizes, .strides = strides, .device = self.device},
          Info<N>{.dtype = DType::kInt64, .sizes = self.sizes, .strides = strides, .device = self.device}};
}

void run_sort(Context& context, const Tensor& self, int64_t dim, bool descending, bool stable, Tensor& values,
              Tensor& indices) {
  const PackedLines lines(self, dim);
  PackedResult packed_values(context, values, dim);
  PackedResult packed_indices(context, indices, dim);
  kernels::sort_rows(context.pool(), self.dtype(), lines.data(), lines.rows(), lines.length(), descending,
                     stable, packed_values.tensor().mutable_data(),
                     packed_indices.tensor().mutable_data<int64_t>());
  packed_values.deliver(context);
  packed_indices.deliver(context);
}

template <typename N>
std::tuple<Info<N>, Info<N>> sort_shape(const Info<N>& self, Size dim, bool) {
  return sort_info(self, dim);
}
void sort_kernel(Context& context, const Tensor& self, Size dim, bool descending, Tensor& values,
                 Tensor& indices) {
  run_sort(context, self, dim, descending, false, values, indices);
}
template <typename N>
std::tuple<Info<N>, Info<N>> sort_stable_shape(const Info<N>& self, std::optional<bool>, Size dim, bool) {
  return sort_info(self, dim);
}
void sort_stable_kernel(Context& context, const Tensor& self, std::optional<bool> stable, Size dim,
                        bool descending, Tensor& values, Tensor& indices) {
  run_sort(context, self, dim, descending, stable.value_or(false), values, indices);
}

Tensor argsort(Context& context, const Tensor& self, Size dim, bool descending) {
  return std::get<1>(call<std::tuple<Tensor, Tensor>>(context, "aten::sort", self, dim, descending));
}
Tensor argsort_stable(Context& context, const Tensor& self, bool stable, Size dim, bool descending) {
  return std::get<1>(call_with<std::tuple<Tensor, Tensor>>(
      context, "aten::sort.stable", {self}, {{"stable", stable}, {"dim", dim}, {"descending", descending}}));
}
Tensor msort(Context& context, const Tensor& self) {
  return std::get<0>(call<std::tuple<Tensor, Tensor>>(context, "aten::sort", self, 0, false));
}

template <typename N>
std::tuple<Info<N>, Info<N>> topk_shape(const Info<N>& self, N k, Size dim, bool, bool) {
  const size_t d = wrap_dim(dim, self.dim());
  const N length = self.dim() == 0 ? N(1) : self.sizes[d];
  if (k < N(0) || k > length) throw Error(ErrorCode::kInvalidArgument, "selected index k out of range");
  if (is_complex(self.dtype) || self.dtype == DType::kBool) {
    throw Error(ErrorCode::kUnsupported, fmt::format("topk does not support {} dtypes on CPU",
                                                     self.dtype == DType::kBool ? "bool" : "complex"));
  }
  ShortList<N> sizes = self.sizes;
  if (!sizes.empty()) sizes[d] = k;
  return {contiguous<N>(self.dtype, sizes, self.device), contiguous<N>(DType::kInt64, sizes, self.device)};
}
void topk_kernel(Context& context, const Tensor& self, Size k, Size dim, bool largest, bool sorted,
                 Tensor& values, Tensor& indices) {
  const PackedLines lines(self, dim);
  PackedResult packed_values(context, values, dim);
  PackedResult packed_indices(context, indices, dim);
  kernels::top_k_rows(context.pool(), self.dtype(), lines.data(), lines.rows(), lines.length(),
                      static_cast<size_t>(k), largest, sorted, packed_values.tensor().mutable_data(),
                      packed_indices.tensor().mutable_data<int64_t>());
  packed_values.deliver(context);
  packed_indices.deliver(context);
}

template <typename N>
std::tuple<Info<N>, Info<N>> kthvalue_shape(const Info<N>& self, N k, Size dim, bool keep) {
  const size_t d = wrap_dim(dim, self.dim());
  const N length = self.dim() == 0 ? N(1) : self.sizes[d];
  if (length == N(0)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("kthvalue(): Expected reduction dim {} to have non-zero size.", d));
  }
  if (k < N(1) || k > length) {
    throw Error(ErrorCode::kInvalidArgument,
                "kthvalue(): selected number k out of range for dimension " + std::to_string(d));
  }
  ShortList<N> sizes = self.sizes;
  if (!sizes.empty()) {
    sizes[d] = N(1);
    if (!keep) sizes.erase(d);
  }
  return {contiguous<N>(self.dtype, sizes, self.device), contiguous<N>(DType::kInt64, sizes, self.device)};
}
void kthvalue_kernel(Context& context, const Tensor& self, Size k, Size dim, bool, Tensor& values,
                     Tensor& indices) {
  if (is_complex(self.dtype()) || self.dtype() == DType::kBool) fail_dtype("kthvalue_cpu", self.dtype());
  // One result a line: packed as they are, in the order of the lines.
  const PackedLines lines(self, dim);
  kernels::kth_rows(context.pool(), self.dtype(), lines.data(), lines.rows(), lines.length(),
                    static_cast<size_t>(k), values.mutable_data(), indices.mutable_data<int64_t>());
}

}  // namespace

void define_sort(Library& library) {
  library
      .define("aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)")
      .shape<sort_shape<Size>, sort_shape<SymInt>>()
      .kernel<sort_kernel>();
  library
      .define(
          "aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor "
          "values, Tensor indices)")
      .shape<sort_stable_shape<Size>, sort_stable_shape<SymInt>>()
      .kernel<sort_stable_kernel>();
  library.define("aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor")
      .composite<argsort>();
  library
      .define(
          "aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor")
      .composite<argsort_stable>();
  library.define("aten::msort(Tensor self) -> Tensor").composite<msort>();
  library
      .define(
          "aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor "
          "values, Tensor indices)")
      .shape<topk_shape<Size>, topk_shape<SymInt>>()
      .kernel<topk_kernel>();
  library
      .define(
          "aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor "
          "indices)")
      .shape<kthvalue_shape<Size>, kthvalue_shape<SymInt>>()
      .kernel<kthvalue_kernel>()
      .is(Trait::kApartOut);
}

}  // namespace flambeau::ops
