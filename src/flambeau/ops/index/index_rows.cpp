// One dimension indexed by a vector: rows picked, added, copied, filled; and the lookup of embeddings.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/tensor/dtype_words.h"

namespace flambeau::ops {
namespace {

template <typename N>
Info<N> at_least_1d(const Info<N>& info) {
  if (info.dim() > 0) return info;
  Info<N> vector = info;
  vector.sizes.push_back(N(1));
  vector.strides.push_back(N(1));
  return vector;
}
Tensor at_least_1d(const Tensor& tensor) {
  if (tensor.dim() > 0) return tensor;
  return tensor.with_geometry({{1}, {1}, tensor.offset()});
}

// x[:, :, index] for a vector of indices.
struct OneIndex {
  OneIndex(const Tensor& self, size_t dim, const Tensor& index) : indices(dim) {
    indices.push_back(index);
    std::vector<Info<Size>> infos(dim);
    infos.push_back(info_of(index));
    plan = plan_index<Size>(info_of(self), infos);
  }
  std::vector<Tensor> indices;
  IndexPlan<Size> plan;
};

template <typename N>
Info<N> index_select_shape(const Info<N>& self, Size dim, const Info<N>& index) {
  if (index.dim() > 1) {
    throw Error(ErrorCode::kInvalidArgument, "index_select(): Index is supposed to be a vector");
  }
  if (index.dtype != DType::kInt64 && index.dtype != DType::kInt32) {
    throw Error(ErrorCode::kInvalidArgument, "index_select(): Expected dtype int32 or int64 for index");
  }
  const size_t d = wrap_dim(dim, self.dim());
  const N count = index.element_count();
  if (self.dim() == 0 && !(count == N(1))) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("index_select(): Index to scalar can have only 1 value, got {} value(s)",
                            number_text(count)));
  }
  ShortList<N> sizes = self.sizes;
  if (self.dim() > 0) sizes[d] = count;
  return contiguous<N>(self.dtype, std::move(sizes), self.device);
}
void index_select_kernel(Context& context, const Tensor& self, Size dim, const Tensor& index, Tensor& out) {
  const Tensor from = at_least_1d(self);
  const Tensor vector = at_least_1d(index);
  const OneIndex one(from, wrap_dim(dim, self.dim()), vector);
  for (const int64_t value : read_indices(vector)) {
    if (value < 0) throw Error(ErrorCode::kInvalidArgument, "index out of range in self");
  }
  read_indexed(context, from, one.plan, one.indices, at_least_1d(out));
}

template <typename N>
Info<N> embedding_shape(const Info<N>& weight, const Info<N>& indices, N, bool, bool) {
  if (weight.dim() != 2) {
    throw Error(ErrorCode::kInvalidArgument, "'weight' must be 2-D");
  }
  if (indices.dtype != DType::kInt64 && indices.dtype != DType::kInt32) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("Expected tensor for argument #1 'indices' to have one of the following scalar "
                            "types: Long, Int; but got {} instead",
                            dtype_name(indices.dtype)));
  }
  ShortList<N> sizes = indices.sizes;
  sizes.push_back(weight.sizes[1]);
  return contiguous<N>(weight.dtype, std::move(sizes), weight.device);
}
void embedding_kernel(Context& context, const Tensor& weight, const Tensor& indices, Size, bool, bool,
                      Tensor& out) {
  for (const int64_t value : read_indices(indices)) {
    if (value < 0 || value >= weight.sizes()[0]) {
      throw Error(ErrorCode::kInvalidArgument, "index out of range in self");
    }
  }
  const OneIndex one(weight, 0, indices);
  read_indexed(context, weight, one.plan, one.indices, out);
}

// ---- copies that are written at the indices
template <typename N>
Info<N> copy_info(const Info<N>& self) {
  return contiguous<N>(self.dtype, self.sizes, self.device);
}
template <typename N>
void check_source(const Info<N>& self, size_t d, const Info<N>& index, const Info<N>& source,
                  const char* name) {
  if (index.dim() > 1) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{}(): Index should have dimension 1 or 0", name));
  }
  if (index.dtype != DType::kInt64 && index.dtype != DType::kInt32) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{}(): Expected dtype int32/int64 for index", name));
  }
  if (source.dtype != self.dtype) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}(): self and source expected to have the same dtype, but got (self) {} and "
                            "(source) {}",
                            name, dtype_word(self.dtype), dtype_word(source.dtype)));
  }
  if (source.dim() > 0 && self.dim() > 0 && source.dim() != self.dim()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}(): source has {} dimensions and self has {}, where they must be the same",
                            name, source.dim(), self.dim()));
  }
  if (source.dim() > 0 && !(index.element_count() == source.sizes[d])) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}(): Number of indices ({}) should be equal to source.size(dim): ({})", name,
                            number_text(index.element_count()), number_text(source.sizes[d])));
  }
}
void write(Context& context, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
           Combine combine, Tensor& out) {
  copy_into(context, self, out);
  if (index.element_count() == 0) return;
  const Tensor target = at_least_1d(out);
  const OneIndex one(target, wrap_dim(dim, self.dim()), at_least_1d(index));
  for (const int64_t value : read_indices(index)) {
    if (value < 0) throw Error(ErrorCode::kInvalidArgument, "index out of range in self");
  }
  const Tensor values = at_least_1d(source);
  if (!(values.sizes() == one.plan.result.sizes)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the source has shape {}, the indices ask for {}",
                            Value(source.sizes()).summary(), Value(one.plan.result.sizes).summary()));
  }
  write_indexed(context, target, one.plan, one.indices, values, combine);
}

template <typename N>
Info<N> index_add_shape(const Info<N>& self, Size dim, const Info<N>& index, const Info<N>& source, Scalar) {
  check_source(self, wrap_dim(dim, self.dim()), index, source, "index_add");
  return copy_info(self);
}
void index_add_kernel(Context& context, const Tensor& self, Size dim, const Tensor& index,
                      const Tensor& source, Scalar alpha, Tensor& out) {
  const bool is_one = alpha == Scalar(1) || alpha == Scalar(1.0);
  Context inner = context.without_interceptor();
  write(context, self, dim, index,
        is_one ? source : call(inner, "aten::mul.Tensor", source, wrapped_number(alpha)), Combine::kAdd, out);
}
template <typename N>
Info<N> index_copy_shape(const Info<N>& self, Size dim, const Info<N>& index, const Info<N>& source) {
  check_source(self, wrap_dim(dim, self.dim()), index, source, "index_copy_");
  return copy_info(self);
}
void index_copy_kernel(Context& context, const Tensor& self, Size dim, const Tensor& index,
                       const Tensor& source, Tensor& out) {
  write(context, self, dim, index, source, Combine::kReplace, out);
}

template <typename N>
Info<N> fill_info(const Info<N>& self, Size dim, const Info<N>& index) {
  wrap_dim(dim, self.dim());
  if (index.dim() > 1) {
    throw Error(ErrorCode::kInvalidArgument, "Index has to be a vector/scalar");
  }
  if (index.dtype != DType::kInt64) {
    throw Error(ErrorCode::kInvalidArgument, "index_fill_(): Expected dtype int64 for index.");
  }
  return {.dtype = self.dtype,
          .sizes = self.sizes,
          .strides = like_strides(self, MemoryFormat::kPreserve),
          .device = self.device};
}
template <typename N>
Info<N> fill_scalar_shape(const Info<N>& self, Size dim, const Info<N>& index, Scalar) {
  return fill_info(self, dim, index);
}
void fill_scalar_kernel(Context& context, const Tensor& self, Size dim, const Tensor& index, Scalar value,
                        Tensor& out) {
  copy_into(context, self, out);
  const Tensor target = at_least_1d(out);
  const OneIndex one(target, wrap_dim(dim, self.dim()), at_least_1d(index));
  write_indexed(context, target, one.plan, one.indices, scalar_tensor(value, out.dtype()), Combine::kReplace);
}
template <typename N>
Info<N> fill_tensor_shape(const Info<N>& self, Size dim, const Info<N>& index, const Info<N>& value) {
  if (value.dim() != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("index_fill_ only supports a 0-dimensional value tensor, but got tensor with {} "
                            "dimension(s).",
                            value.dim()));
  }
  return fill_info(self, dim, index);
}
void fill_tensor_kernel(Context& context, const Tensor& self, Size dim, const Tensor& index,
                        const Tensor& value, Tensor& out) {
  fill_scalar_kernel(context, self, dim, index, item(value), out);
}

// ---- one_hot
Tensor one_hot(Context& context, const Tensor& self, Size classes) {
  if (self.dtype() != DType::kInt64) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("one_hot is only applicable to index tensor of type LongTensor, got {}",
                            dtype_name(self.dtype())));
  }
  const std::vector<int64_t> values = read_indices(self);
  if (values.empty() && classes <= 0) {
    throw Error(ErrorCode::kInvalidArgument, "Can not infer total number of classes from empty tensor.");
  }
  int64_t most = -1;
  for (const int64_t value : values) {
    if (value < 0) throw Error(ErrorCode::kInvalidArgument, "Class values must be non-negative.");
    most = std::max(most, value);
  }
  if (classes == -1) {
    classes = most + 1;
  } else if (classes < 1) {
    throw Error(ErrorCode::kInvalidArgument, "num_classes should be positive");
  } else if (most >= classes) {
    throw Error(ErrorCode::kInvalidArgument, "Class values must be smaller than num_classes.");
  }
  Dims sizes = self.sizes();
  sizes.push_back(classes);
  Tensor out = context.allocate(DType::kInt64, sizes);
  fill(context, out, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    out.mutable_data<int64_t>()[static_cast<int64_t>(i) * classes + values[i]] = 1;
  }
  return out;
}

// ---- as other operators
TensorList index_along(const Tensor& self, int64_t dim, const Tensor& index) {
  TensorList indices(static_cast<size_t>(wrapped_dim(dim, rank_of(self))) + 1);
  indices.back() = index;
  return indices;
}
Tensor index_add_parts(Context& c, const Tensor& self, Size dim, const Tensor& index, const Tensor& source,
                       Scalar alpha) {
  const Tensor scaled = alpha.to_double() == 1 ? source : parts::mul(c, source, alpha);
  return call(c, "aten::index_put", self, index_along(self, dim, index), scaled, true);
}
Tensor index_copy_parts(Context& c, const Tensor& self, Size dim, const Tensor& index, const Tensor& source) {
  return call(c, "aten::index_put", self, index_along(self, dim, index), source);
}
// As many classes as the data has: then it stays one operator.
std::optional<Tensor> one_hot_parts(Context& c, const Tensor& self, Size classes) {
  if (classes < 0) return std::nullopt;
  const auto require_all = [&](const Tensor& holds, const char* text) {
    call<std::vector<Value>>(c, "aten::_assert_async.msg", call(c, "aten::all", holds), text);
  };
  require_all(call(c, "aten::ge.Scalar", self, 0), "one_hot: Class values must be non-negative.");
  require_all(call(c, "aten::lt.Scalar", self, classes),
              "one_hot: Class values must be smaller than num_classes.");
  const Tensor line = parts::arange(c, 0, classes, self.dtype(), self.device());
  const Tensor is_it = call(c, "aten::eq.Tensor", call(c, "aten::unsqueeze", self, -1), line);
  return parts::to_dtype(c, is_it, DType::kInt64);
}

// Without a number of classes, data decides.
std::optional<Info<SymInt>> one_hot_data_shape(DataNumbers&, const Info<SymInt>& self, SymInt classes) {
  if (classes < SymInt(1)) return {};
  ShortList<SymInt> sizes = self.sizes;
  sizes.push_back(classes);
  return contiguous<SymInt>(DType::kInt64, sizes);
}

}  // namespace

void define_index_rows(Library& library) {
  library.define("aten::index_select(Tensor self, int dim, Tensor index) -> Tensor")
      .shape<index_select_shape<Size>, index_select_shape<SymInt>>()
      .kernel<index_select_kernel>();
  library
      .define(
          "aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool "
          "scale_grad_by_freq=False, bool sparse=False) -> Tensor")
      .shape<embedding_shape<Size>, embedding_shape<SymInt>>()
      .kernel<embedding_kernel>();
  library
      .define(
          "aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor")
      .shape<index_add_shape<Size>, index_add_shape<SymInt>>()
      .kernel<index_add_kernel>()
      .core_decomposition<index_add_parts>();
  library.define("aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor")
      .shape<index_copy_shape<Size>, index_copy_shape<SymInt>>()
      .kernel<index_copy_kernel>()
      .core_decomposition<index_copy_parts>();
  library.define("aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor")
      .shape<fill_scalar_shape<Size>, fill_scalar_shape<SymInt>>()
      .kernel<fill_scalar_kernel>();
  library.define("aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor")
      .shape<fill_tensor_shape<Size>, fill_tensor_shape<SymInt>>()
      .kernel<fill_tensor_kernel>();
  library.define("aten::one_hot(Tensor self, int num_classes=-1) -> Tensor")
      .function<one_hot>()
      .composite<one_hot_parts>()
      .data_shape<one_hot_data_shape>();
}

}  // namespace flambeau::ops
