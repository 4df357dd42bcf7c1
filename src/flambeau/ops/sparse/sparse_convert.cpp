// Between dense tensors and the sparse layouts, and copies of sparse ones.
#include <fmt/format.h>

#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/sparse/sparse.h"

namespace flambeau::ops {
namespace {

using MaybeBlock = std::optional<std::span<const Size>>;

Tensor to_dense(Context& context, const Tensor& self, std::optional<DType> dtype, std::optional<bool>) {
  const Tensor made = dense_of(context, self);
  return retyped(context, made, dtype.value_or(made.dtype()));
}

Tensor to_compressed(Context& context, const Tensor& self, Layout layout, std::array<int64_t, 2> block,
                     std::optional<Size> dense_dim) {
  if (is_sparse(self)) {
    if (self.layout() == layout && block_sizes(self) == block) return self;
    return compressed_of(context, coo_of(context, self), layout, block);
  }
  const int64_t sparse = static_cast<int64_t>(self.dim()) - dense_dim.value_or(Size(0));
  if (dense_dim.value_or(Size(0)) < 0 || sparse < 2)
    fail_argument(
        fmt::format("a tensor of {} dimensions cannot have rows and columns in front of {} dense ones",
                    self.dim(), dense_dim.value_or(Size(0)).value()));
  return compressed_of(context, coo_of_dense(context, self, sparse), layout, block);
}
std::array<int64_t, 2> block_of(std::span<const Size> blocksize) {
  if (blocksize.size() != 2) fail_argument("blocksize must have two numbers");
  return {blocksize[0], blocksize[1]};
}

template <Layout kLayout>
Tensor to_plain(Context& context, const Tensor& self, std::optional<Size> dense_dim) {
  return to_compressed(context, self, kLayout, {1, 1}, dense_dim);
}
template <Layout kLayout>
Tensor to_blocks(Context& context, const Tensor& self, std::span<const Size> blocksize,
                 std::optional<Size> dense_dim) {
  return to_compressed(context, self, kLayout, block_of(blocksize), dense_dim);
}
Tensor to_sparse_dim(Context& context, const Tensor& self, Size sparse_dim) {
  if (!is_sparse(self)) return coo_of_dense(context, self, sparse_dim);
  const Tensor made = coo_of(context, self);
  if (sparse_dims(made) != sparse_dim)
    fail_argument("to_sparse: the sparse dimensions of a sparse tensor cannot change");
  return made;
}
Tensor to_sparse(Context& context, const Tensor& self, std::optional<Layout> layout, MaybeBlock blocksize,
                 std::optional<Size> dense_dim) {
  const Layout to = layout.value_or(blocksize ? Layout::kSparseBsr : Layout::kSparseCoo);
  if (to == Layout::kStrided || to == Layout::kMkldnn)
    fail_argument(fmt::format("to_sparse: conversion to layout {} is not supported", layout_name(to)));
  if (to != Layout::kSparseCoo) {
    if (is_blocked(to) != blocksize.has_value())
      fail_argument(fmt::format("to_sparse: layout {} {} a blocksize", layout_name(to),
                                is_blocked(to) ? "needs" : "has not"));
    return to_compressed(context, self, to, blocksize ? block_of(*blocksize) : std::array<int64_t, 2>{1, 1},
                         dense_dim);
  }
  if (is_sparse(self)) return coo_of(context, self);
  return coo_of_dense(context, self, static_cast<int64_t>(self.dim()) - dense_dim.value_or(Size(0)));
}

Tensor coalesce(Context& context, const Tensor& self) {
  require_coo(self, "coalesce");
  return coalesced(context, self);
}
Tensor set_coalesced(const Tensor& self, bool is_coalesced) {
  require_coo(self, "_coalesced_");
  const SparseParts& parts = *self.sparse_parts();
  return make_coo(self.sizes(), parts.indices, parts.values, is_coalesced);
}

// ---- copies

Tensor clone(Context& context, const Tensor& self, std::optional<MemoryFormat>) {
  SparseParts parts = *self.sparse_parts();
  for (Tensor* const part :
       {&parts.indices, &parts.compressed_indices, &parts.plain_indices, &parts.values}) {
    if (part->defined()) *part = call(context, "aten::clone", *part);
  }
  return Tensor::sparse(self.layout(), self.sizes(), std::move(parts));
}
Tensor to_copy(Context& context, const Tensor& self, std::optional<DType> dtype, std::optional<Layout> layout,
               std::optional<Device>, std::optional<bool>, bool, std::optional<MemoryFormat>) {
  if (layout && *layout != self.layout())
    fail_argument(fmt::format("a tensor of layout {} does not become {} by to()", layout_name(self.layout()),
                              layout_name(*layout)));
  const Tensor copy = clone(context, self, {});
  return with_values(copy, retyped(context, copy.sparse_parts()->values, dtype.value_or(self.dtype())));
}
Tensor to_dtype(Context& context, const Tensor& self, DType dtype, bool, bool copy,
                std::optional<MemoryFormat> format) {
  if (dtype == self.dtype() && !copy) return self;
  return to_copy(context, self, dtype, {}, {}, {}, false, format);
}
Tensor same(const Tensor& self) { return self; }

// Of the same layout and type, or as the options say.
Tensor zeros_like(Context& context, const Tensor& self, std::optional<DType> dtype,
                  std::optional<Layout> layout, std::optional<Device>, std::optional<bool>,
                  std::optional<MemoryFormat>) {
  const DType type = dtype.value_or(self.dtype());
  const Layout to = layout.value_or(self.layout());
  if (to == Layout::kStrided) return call_with(context, "aten::zeros", {self.sizes()}, {{"dtype", type}});
  if (to == Layout::kSparseCoo && is_coo(self))
    return empty_coo(context, self.sizes(), sparse_dims(self), type);
  if (to != self.layout()) fail_argument(fmt::format("zeros_like: cannot make layout {}", layout_name(to)));
  const Tensor none = empty_coo(context, self.sizes(), batch_dims(self) + 2, type);
  return compressed_of(context, none, to, block_sizes(self));
}
Tensor empty_like(Context& context, const Tensor& self, std::optional<DType> dtype,
                  std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory,
                  std::optional<MemoryFormat> format) {
  if (layout.value_or(self.layout()) != self.layout() || is_coo(self))
    return zeros_like(context, self, dtype, layout, device, pin_memory, format);
  // A compressed one keeps its places.
  return with_values(self, call_with(context, "aten::zeros", {self.sparse_parts()->values.sizes()},
                                     {{"dtype", dtype.value_or(self.dtype())}}));
}
Tensor copy(Context& context, const Tensor& self, const Tensor& src, bool) {
  if (self.layout() != src.layout() || !(self.sizes() == src.sizes()))
    fail_argument(fmt::format("copy_() from {} of layout {} to {} of layout {}", src.summary(),
                              layout_name(src.layout()), self.summary(), layout_name(self.layout())));
  return to_dtype(context, src, self.dtype(), false, true, {});
}

template <auto kFunction>
void both(Library& library, std::string_view schema) {
  library.define(schema).function<kFunction>().template sparse<kFunction>();
}

}  // namespace

void define_sparse_convert(Library& library) {
  both<to_dense>(library,
                 "aten::to_dense(Tensor self, ScalarType? dtype=None, *, bool? masked_grad=None) -> Tensor");
  both<to_dense>(library,
                 "aten::_to_dense(Tensor self, ScalarType? dtype=None, bool? masked_grad=None) -> Tensor");
  both<to_sparse_dim>(library, "aten::to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor");
  both<to_sparse_dim>(library, "aten::_to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor");
  both<to_sparse>(library,
                  "aten::to_sparse(Tensor self, *, Layout? layout=None, int[2]? blocksize=None, int? "
                  "dense_dim=None) -> Tensor");
  both<to_sparse>(library,
                  "aten::_to_sparse(Tensor self, *, Layout? layout=None, int[2]? blocksize=None, int? "
                  "dense_dim=None) -> Tensor");
  both<to_plain<Layout::kSparseCsr>>(library,
                                     "aten::to_sparse_csr(Tensor self, int? dense_dim=None) -> Tensor");
  both<to_plain<Layout::kSparseCsr>>(library,
                                     "aten::_to_sparse_csr(Tensor self, int? dense_dim=None) -> Tensor");
  both<to_plain<Layout::kSparseCsc>>(library,
                                     "aten::to_sparse_csc(Tensor self, int? dense_dim=None) -> Tensor");
  both<to_plain<Layout::kSparseCsc>>(library,
                                     "aten::_to_sparse_csc(Tensor self, int? dense_dim=None) -> Tensor");
  both<to_blocks<Layout::kSparseBsr>>(
      library, "aten::to_sparse_bsr(Tensor self, int[2] blocksize, int? dense_dim=None) -> Tensor");
  both<to_blocks<Layout::kSparseBsr>>(
      library, "aten::_to_sparse_bsr(Tensor self, int[2] blocksize, int? dense_dim=None) -> Tensor");
  both<to_blocks<Layout::kSparseBsc>>(
      library, "aten::to_sparse_bsc(Tensor self, int[2] blocksize, int? dense_dim=None) -> Tensor");
  both<to_blocks<Layout::kSparseBsc>>(
      library, "aten::_to_sparse_bsc(Tensor self, int[2] blocksize, int? dense_dim=None) -> Tensor");
  both<coalesce>(library, "aten::coalesce(Tensor(a) self) -> Tensor(a)");
  both<coalesce>(library, "aten::_coalesce(Tensor self) -> Tensor");
  both<set_coalesced>(library, "aten::_coalesced_(Tensor(a!) self, bool coalesced) -> Tensor(a!)");
  library.extend("aten::clone").sparse<clone>();
  library.extend("aten::_to_copy").sparse<to_copy>();
  library.extend("aten::to.dtype").sparse<to_dtype>();
  library.extend("aten::detach").sparse<same>();
  library.extend("aten::zeros_like").sparse<zeros_like>();
  library.extend("aten::empty_like").sparse<empty_like>();
  library.extend("aten::copy").sparse<copy>();
}

}  // namespace flambeau::ops
