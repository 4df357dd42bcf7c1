// Several tensors joined into one: cat, stack and their kin.
#include <fmt/format.h>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

// Once the only empty tensors there were; still skipped, whatever the others' sizes.
template <typename N>
bool is_skipped(const Info<N>& info) {
  return info.dim() == 1 && info.sizes[0] == N(0);
}

template <typename N>
MemoryFormat common_format(std::span<const Info<N>> tensors) {
  std::optional<MemoryFormat> format;
  for (const Info<N>& tensor : tensors) {
    const MemoryFormat suggested = suggested_format(tensor);
    if (suggested == MemoryFormat::kContiguous || (format && *format != suggested)) {
      return MemoryFormat::kContiguous;
    }
    format = suggested;
  }
  return format.value_or(MemoryFormat::kContiguous);
}

template <typename N>
DType joined_dtype(std::span<const Info<N>> tensors) {
  ResultType type;
  for (const Info<N>& tensor : tensors) type.add(tensor);
  return type.get();
}

template <typename N>
size_t cat_dim(std::span<const Info<N>> tensors, int64_t dim) {
  for (const Info<N>& tensor : tensors) {
    if (!is_skipped(tensor)) return wrap_dim(dim, tensor.dim());
  }
  return wrap_dim(dim, 1);
}

template <typename N>
Info<N> cat_info(std::span<const Info<N>> tensors, Size dim) {
  if (tensors.empty()) fail_view("torch.cat(): expected a non-empty list of Tensors");
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].dim() == 0) {
      fail_view(fmt::format("zero-dimensional tensor (at position {}) cannot be concatenated", i));
    }
  }
  const size_t d = cat_dim(tensors, dim);
  const Info<N>* first = nullptr;
  N total = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Info<N>& tensor = tensors[i];
    if (is_skipped(tensor)) continue;
    if (first == nullptr) first = &tensor;
    if (tensor.dim() != first->dim()) {
      fail_view(fmt::format("Tensors must have same number of dimensions: got {} and {}", first->dim(),
                            tensor.dim()));
    }
    for (size_t k = 0; k < tensor.dim(); ++k) {
      if (k == d || tensor.sizes[k] == first->sizes[k]) continue;
      fail_view(
          fmt::format("Sizes of tensors must match except in dimension {}. Expected size {} but got size {} "
                      "for tensor number {} in the list.",
                      d, number_text(first->sizes[k]), number_text(tensor.sizes[k]), i));
    }
    total += tensor.sizes[d];
  }
  ShortList<N> sizes;
  if (first != nullptr) {
    sizes = first->sizes;
    sizes[d] = total;
  } else {
    sizes.push_back(0);
  }
  return formatted(joined_dtype(tensors), std::move(sizes), common_format(tensors), tensors[0].device);
}

template <typename N>
Info<N> cat_shape(std::span<const Info<N>> tensors, Size dim) {
  return cat_info(tensors, dim);
}

void cat_kernel(Context& context, std::span<const Tensor> tensors, Size dim, Tensor& out) {
  const size_t d = wrap_dim(dim, out.dim());
  int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.element_count() == 0) {
      if (tensor.dim() == out.dim()) start += tensor.sizes()[d];
      continue;
    }
    const int64_t length = tensor.sizes()[d];
    copy_into(context, tensor, part_of(out, d, start, length));
    start += length;
  }
}

// Along a new dimension that is not the last, PyTorch joins along the old one and splits it by a view, and so
// takes the memory format that suits the tensors as they are.
template <typename N>
Info<N> stack_info(std::span<const Info<N>> tensors, Size dim) {
  if (tensors.empty()) fail_view("stack expects a non-empty TensorList");
  const size_t rank = tensors[0].dim();
  const size_t d = wrap_dim(dim, rank + 1);
  for (size_t i = 1; i < tensors.size(); ++i) {
    if (tensors[i].sizes == tensors[0].sizes) continue;
    fail_view(
        fmt::format("stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {}",
                    sizes_text(tensors[0].sizes), sizes_text(tensors[i].sizes), i));
  }
  if (d == rank) {
    Infos<N> unsqueezed;
    for (const Info<N>& tensor : tensors) unsqueezed.push_back(unsqueeze_info(tensor, dim));
    return cat_info(std::span<const Info<N>>(unsqueezed), dim);
  }
  ShortList<N> sizes = tensors[0].sizes;
  sizes.insert(d, N(static_cast<int64_t>(tensors.size())));
  return view_info(cat_info(tensors, static_cast<int64_t>(d)), sizes.span());
}

template <typename N>
Info<N> stack_shape(std::span<const Info<N>> tensors, Size dim) {
  return stack_info(tensors, dim);
}

void stack_kernel(Context& context, std::span<const Tensor> tensors, Size dim, Tensor& out) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    copy_into(context, tensors[i], viewed(out, select_info(info_of(out), dim, static_cast<int64_t>(i))));
  }
}

Tensor stack_parts(Context& c, std::span<const Tensor> tensors, Size given_dim) {
  if (tensors.empty()) fail_view("stack expects a non-empty TensorList");
  const int64_t rank = rank_of(tensors[0]);
  const int64_t dim = wrapped_dim(given_dim, rank + 1);
  if (dim < rank) {
    const SymIntList sizes = inserted(sizes_of(tensors[0]), dim, static_cast<int64_t>(tensors.size()));
    return call(c, "aten::view", call(c, "aten::cat", tensors, dim), sizes);
  }
  TensorList raised;
  for (const Tensor& tensor : tensors) raised.push_back(call(c, "aten::unsqueeze", tensor, dim));
  return call(c, "aten::cat", raised, given_dim);
}

// At least that many dimensions, as numpy adds them.
template <size_t kLeast, typename N>
Info<N> atleast_info(const Info<N>& self) {
  Info<N> info = self;
  if (kLeast == 3 && self.dim() == 2) return unsqueeze_info(self, -1);
  if (kLeast >= 2 && self.dim() == 1) {
    info = unsqueeze_info(self, 0);
    return kLeast == 3 ? unsqueeze_info(info, -1) : info;
  }
  while (info.dim() < kLeast) info = unsqueeze_info(info, 0);
  return info;
}

template <size_t kLeast, typename N>
Info<N> atleast_shape(const Info<N>& self) {
  return atleast_info<kLeast>(self);
}

template <size_t kLeast>
Tensor atleast_parts(Context& c, const Tensor& self) {
  const int64_t rank = rank_of(self);
  if (rank == 0) return call(c, "aten::view", self, Dims(kLeast, 1));
  Tensor result = self;
  if (kLeast > 1 && rank == 1) result = call(c, "aten::unsqueeze", result, 0);
  if (kLeast > 2 && rank <= 2) result = call(c, "aten::unsqueeze", result, -1);
  return result;
}

template <size_t kLeast>
TensorList atleast_list(Context& context, std::span<const Tensor> tensors) {
  constexpr const char* kNames[] = {"", "aten::atleast_1d", "aten::atleast_2d", "aten::atleast_3d"};
  TensorList list;
  for (const Tensor& tensor : tensors) list.push_back(call(context, kNames[kLeast], tensor));
  return list;
}

Tensor hstack(Context& context, std::span<const Tensor> tensors) {
  if (tensors.empty()) fail_view("hstack expects a non-empty TensorList");
  const TensorList list = atleast_list<1>(context, tensors);
  return call(context, "aten::cat", list, rank_of(list[0]) == 1 ? int64_t{0} : int64_t{1});
}

Tensor vstack(Context& context, std::span<const Tensor> tensors) {
  if (tensors.empty()) fail_view("vstack expects a non-empty TensorList");
  return call(context, "aten::cat", atleast_list<2>(context, tensors), int64_t{0});
}

Tensor dstack(Context& context, std::span<const Tensor> tensors) {
  if (tensors.empty()) fail_view("dstack expects a non-empty TensorList");
  return call(context, "aten::cat", atleast_list<3>(context, tensors), int64_t{2});
}

Tensor column_stack(Context& context, std::span<const Tensor> tensors) {
  if (tensors.empty()) fail_view("column_stack expects a non-empty TensorList");
  TensorList list;
  for (const Tensor& tensor : tensors) {
    list.push_back(rank_of(tensor) <= 1
                       ? call(context, "aten::reshape", tensor, SymIntList{count_of(tensor), SymInt(1)})
                       : tensor);
  }
  return hstack(context, list);
}

// ---- matrices along a diagonal
template <typename N>
Info<N> block_diag_shape(std::span<const Info<N>> tensors) {
  if (tensors.empty()) return contiguous(kDefaultFloat, ShortList<N>{N(1), N(0)});
  N rows = 0;
  N columns = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Info<N>& tensor = tensors[i];
    if (tensor.dim() > 2) {
      fail_view(fmt::format(
          "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {} has {} dimensions", i,
          tensor.dim()));
    }
    rows += tensor.dim() == 2 ? tensor.sizes[0] : N(1);
    columns += tensor.dim() == 0 ? N(1) : tensor.sizes.back();
  }
  return contiguous(joined_dtype(tensors), ShortList<N>{rows, columns}, tensors[0].device);
}

void block_diag_kernel(Context& context, std::span<const Tensor> tensors, Tensor& out) {
  fill(context, out, 0);
  int64_t row = 0;
  int64_t column = 0;
  for (const Tensor& tensor : tensors) {
    const int64_t rows = tensor.dim() == 2 ? tensor.sizes()[0] : 1;
    const int64_t columns = tensor.dim() == 0 ? 1 : tensor.sizes().back();
    copy_into(context, tensor, part_of(part_of(out, 0, row, rows), 1, column, columns));
    row += rows;
    column += columns;
  }
}

}  // namespace

void define_cat(Library& library) {
  library.define("aten::cat(Tensor[] tensors, int dim=0) -> Tensor")
      .shape<cat_shape<Size>, cat_shape<SymInt>>()
      .kernel<cat_kernel>()
      .is(Trait::kApartOut)
      .is(Trait::kAnyLayout);
  for (const std::string_view schema : {"aten::concat(Tensor[] tensors, int dim=0) -> Tensor",
                                        "aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor"}) {
    library.define(schema)
        .shape<cat_shape<Size>, cat_shape<SymInt>>()
        .kernel<cat_kernel>()
        .alias("aten::cat")
        .is(Trait::kAnyLayout);
  }
  library.define("aten::stack(Tensor[] tensors, int dim=0) -> Tensor")
      .shape<stack_shape<Size>, stack_shape<SymInt>>()
      .kernel<stack_kernel>()
      .core_decomposition<stack_parts>();
  library.define("aten::_stack(Tensor[] tensors, int dim=0) -> Tensor")
      .shape<stack_shape<Size>, stack_shape<SymInt>>()
      .kernel<stack_kernel>();
  library.define("aten::atleast_1d(Tensor self) -> Tensor")
      .view<atleast_shape<1, Size>, atleast_shape<1, SymInt>>()
      .composite<atleast_parts<1>>();
  library.define("aten::atleast_2d(Tensor self) -> Tensor")
      .view<atleast_shape<2, Size>, atleast_shape<2, SymInt>>()
      .composite<atleast_parts<2>>();
  library.define("aten::atleast_3d(Tensor self) -> Tensor")
      .view<atleast_shape<3, Size>, atleast_shape<3, SymInt>>()
      .composite<atleast_parts<3>>();
  library.define("aten::atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]").composite<atleast_list<1>>();
  library.define("aten::atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]").composite<atleast_list<2>>();
  library.define("aten::atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]").composite<atleast_list<3>>();
  library.define("aten::hstack(Tensor[] tensors) -> Tensor").composite<hstack>();
  library.define("aten::vstack(Tensor[] tensors) -> Tensor").composite<vstack>();
  library.define("aten::row_stack(Tensor[] tensors) -> Tensor").composite<vstack>();
  library.define("aten::dstack(Tensor[] tensors) -> Tensor").composite<dstack>();
  library.define("aten::column_stack(Tensor[] tensors) -> Tensor").composite<column_stack>();
  library.define("aten::block_diag(Tensor[] tensors) -> Tensor")
      .shape<block_diag_shape<Size>, block_diag_shape<SymInt>>()
      .kernel<block_diag_kernel>();
}

}  // namespace flambeau::ops
