#include "flambeau/nn/functional/shape.h"

#include "flambeau/ops/mechanism/info.h"

namespace flambeau::nn {

Tensor view(Input x, const Sizes& shape) { return call(x, "aten::view", {x.tensor, ints_value(shape)}); }
Tensor view_as(Input x, const Tensor& other) { return call(x, "aten::view_as", {x.tensor, other}); }
Tensor reshape(Input x, const Sizes& shape) {
  return call(x, "aten::reshape", {x.tensor, ints_value(shape)});
}
Tensor flatten(Input x, int64_t start_dim, int64_t end_dim) {
  return call(x, "aten::flatten.using_ints", {x.tensor, start_dim, end_dim});
}
Tensor unflatten(Input x, int64_t dim, const Sizes& sizes) {
  return call(x, "aten::unflatten.int", {x.tensor, dim, ints_value(sizes)});
}
Tensor transpose(Input x, int64_t dim0, int64_t dim1) {
  return call(x, "aten::transpose.int", {x.tensor, dim0, dim1});
}
Tensor permute(Input x, const Dims& dims) { return call(x, "aten::permute", {x.tensor, dims}); }
Tensor movedim(Input x, int64_t source, int64_t destination) {
  return call(x, "aten::movedim.int", {x.tensor, source, destination});
}
Tensor t(Input x) { return call(x, "aten::t", {x.tensor}); }
Tensor mT(Input x) { return call(x, "aten::mT", {x.tensor}); }
Tensor squeeze(Input x) { return call(x, "aten::squeeze", {x.tensor}); }
Tensor squeeze(Input x, int64_t dim) { return call(x, "aten::squeeze.dim", {x.tensor, dim}); }
Tensor unsqueeze(Input x, int64_t dim) { return call(x, "aten::unsqueeze", {x.tensor, dim}); }
Tensor expand(Input x, const Sizes& shape) { return call(x, "aten::expand", {x.tensor, ints_value(shape)}); }
Tensor expand_as(Input x, const Tensor& other) { return call(x, "aten::expand_as", {x.tensor, other}); }
Tensor repeat(Input x, const Sizes& times) { return call(x, "aten::repeat", {x.tensor, ints_value(times)}); }
Tensor repeat_interleave(Input x, const SymInt& times, std::optional<int64_t> dim) {
  return call(x, "aten::repeat_interleave.self_int", {x.tensor, int_value(times), dim});
}
Tensor select(Input x, int64_t dim, const SymInt& index) {
  return call(x, "aten::select.int", {x.tensor, dim, int_value(index)});
}
Tensor narrow(Input x, int64_t dim, const SymInt& start, const SymInt& length) {
  return call(x, "aten::narrow", {x.tensor, dim, int_value(start), int_value(length)});
}
Tensor unfold(Input x, int64_t dimension, int64_t size, int64_t step) {
  return call(x, "aten::unfold", {x.tensor, dimension, size, step});
}
Tensor flip(Input x, const Dims& dims) { return call(x, "aten::flip", {x.tensor, dims}); }
Tensor roll(Input x, const Sizes& shifts, const Dims& dims) {
  return call(x, "aten::roll", {x.tensor, ints_value(shifts), dims});
}
Tensor tril(Input x, const SymInt& diagonal) {
  return call(x, "aten::tril", {x.tensor, int_value(diagonal)});
}
Tensor triu(Input x, const SymInt& diagonal) {
  return call(x, "aten::triu", {x.tensor, int_value(diagonal)});
}
Tensor pixel_shuffle(Input x, int64_t upscale_factor) {
  return call(x, "aten::pixel_shuffle", {x.tensor, upscale_factor});
}
Tensor pixel_unshuffle(Input x, int64_t downscale_factor) {
  return call(x, "aten::pixel_unshuffle", {x.tensor, downscale_factor});
}
Tensor channel_shuffle(Input x, const SymInt& groups) {
  return call(x, "aten::channel_shuffle", {x.tensor, int_value(groups)});
}
Tensor clone(Input x) { return call(x, "aten::clone", {x.tensor}); }
Tensor detach(Input x) { return call(x, "aten::detach", {x.tensor}); }
Tensor to(Input x, DType dtype) { return call(x, "aten::to.dtype", {x.tensor, dtype}); }
Tensor type_as(Input x, const Tensor& other) { return call(x, "aten::type_as", {x.tensor, other}); }
TensorList split(Input x, const SymInt& size, int64_t dim) {
  return call<TensorList>(x, "aten::split.Tensor", {x.tensor, int_value(size), dim});
}
TensorList split(Input x, const Sizes& sizes, int64_t dim) {
  return call<TensorList>(x, "aten::split_with_sizes", {x.tensor, ints_value(sizes), dim});
}
TensorList chunk(Input x, int64_t chunks, int64_t dim) {
  return call<TensorList>(x, "aten::chunk", {x.tensor, chunks, dim});
}
TensorList unbind(Input x, int64_t dim) { return call<TensorList>(x, "aten::unbind.int", {x.tensor, dim}); }
Tensor index(Input x, const TensorList& indices) {
  return call(x, "aten::index.Tensor", {x.tensor, indices});
}
Tensor index_select(Input x, int64_t dim, const Tensor& index) {
  return call(x, "aten::index_select", {x.tensor, dim, index});
}
Tensor index_add(Input x, int64_t dim, const Tensor& index, const Tensor& source) {
  return call(x, "aten::index_add", {x.tensor, dim, index, source});
}
Tensor gather(Input x, int64_t dim, const Tensor& index) {
  return call(x, "aten::gather", {x.tensor, dim, index});
}
Tensor scatter(Input x, int64_t dim, const Tensor& index, const Tensor& source) {
  return call(x, "aten::scatter.src", {x.tensor, dim, index, source});
}
Tensor scatter(Input x, int64_t dim, const Tensor& index, const Number& value) {
  return call(x, "aten::scatter.value", {x.tensor, dim, index, value.value()});
}
Tensor masked_select(Input x, const Tensor& mask) { return call(x, "aten::masked_select", {x.tensor, mask}); }
Tensor nonzero(Input x) { return call(x, "aten::nonzero", {x.tensor}); }
Tensor one_hot(Input x, const SymInt& num_classes) {
  return call(x, "aten::one_hot", {x.tensor, int_value(num_classes)});
}

Tensor cat(const TensorList& tensors, int64_t dim, std::source_location where) {
  return call(where, "aten::cat", {tensors, dim});
}
Tensor stack(const TensorList& tensors, int64_t dim, std::source_location where) {
  return call(where, "aten::stack", {tensors, dim});
}

bool is_contiguous(const Tensor& x) {
  if (!x.is_traced()) return x.is_contiguous();
  const SymbolicGeometry shape = shape_of(x);
  SymInt expected = 1;
  for (size_t d = shape.sizes.size(); d-- > 0;) {
    if (shape.sizes[d] == SymInt(1)) continue;
    if (!(shape.strides[d] == expected)) return false;
    expected *= shape.sizes[d];
  }
  return true;
}

Tensor contiguous(Input x) {
  if (is_contiguous(x.tensor)) return x.tensor;
  return call(x, "aten::contiguous", {x.tensor});
}

}  // namespace flambeau::nn
