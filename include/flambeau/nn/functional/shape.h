// The same numbers seen otherwise, picked out or put together.
#pragma once

#include "flambeau/nn/functional/call.h"

namespace flambeau::nn {

Tensor view(Input x, const Sizes& shape);
Tensor view_as(Input x, const Tensor& other);
Tensor reshape(Input x, const Sizes& shape);
Tensor flatten(Input x, int64_t start_dim = 0, int64_t end_dim = -1);
Tensor unflatten(Input x, int64_t dim, const Sizes& sizes);
Tensor transpose(Input x, int64_t dim0, int64_t dim1);
Tensor permute(Input x, const Dims& dims);
Tensor movedim(Input x, int64_t source, int64_t destination);
Tensor t(Input x);
// The last two dimensions swapped.
Tensor mT(Input x);
Tensor squeeze(Input x);
Tensor squeeze(Input x, int64_t dim);
Tensor unsqueeze(Input x, int64_t dim);
Tensor expand(Input x, const Sizes& shape);
Tensor expand_as(Input x, const Tensor& other);
Tensor repeat(Input x, const Sizes& times);
Tensor repeat_interleave(Input x, const SymInt& times, std::optional<int64_t> dim = {});
Tensor select(Input x, int64_t dim, const SymInt& index);
Tensor narrow(Input x, int64_t dim, const SymInt& start, const SymInt& length);
Tensor unfold(Input x, int64_t dimension, int64_t size, int64_t step);
Tensor flip(Input x, const Dims& dims);
Tensor roll(Input x, const Sizes& shifts, const Dims& dims = {});
Tensor tril(Input x, const SymInt& diagonal = 0);
Tensor triu(Input x, const SymInt& diagonal = 0);
Tensor pixel_shuffle(Input x, int64_t upscale_factor);
Tensor pixel_unshuffle(Input x, int64_t downscale_factor);
Tensor channel_shuffle(Input x, const SymInt& groups);

// Calls nothing where the tensor is contiguous already, as in PyTorch.
Tensor contiguous(Input x);
bool is_contiguous(const Tensor& x);
Tensor clone(Input x);
Tensor detach(Input x);
Tensor to(Input x, DType dtype);
Tensor type_as(Input x, const Tensor& other);

TensorList split(Input x, const SymInt& size, int64_t dim = 0);
TensorList split(Input x, const Sizes& sizes, int64_t dim = 0);
TensorList chunk(Input x, int64_t chunks, int64_t dim = 0);
TensorList unbind(Input x, int64_t dim = 0);
Tensor cat(const TensorList& tensors, int64_t dim = 0,
           std::source_location where = std::source_location::current());
Tensor stack(const TensorList& tensors, int64_t dim = 0,
             std::source_location where = std::source_location::current());

// x[i], x[:, j], ...: one index tensor for each dimension; an undefined one takes all of it.
Tensor index(Input x, const TensorList& indices);
Tensor index_select(Input x, int64_t dim, const Tensor& index);
Tensor index_add(Input x, int64_t dim, const Tensor& index, const Tensor& source);
Tensor gather(Input x, int64_t dim, const Tensor& index);
Tensor scatter(Input x, int64_t dim, const Tensor& index, const Tensor& source);
Tensor scatter(Input x, int64_t dim, const Tensor& index, const Number& value);
Tensor masked_select(Input x, const Tensor& mask);
Tensor nonzero(Input x);
Tensor one_hot(Input x, const SymInt& num_classes = -1);

}  // namespace flambeau::nn
