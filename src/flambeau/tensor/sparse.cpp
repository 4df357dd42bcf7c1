// Sparse tensors: how their parts must fit each other, and the invariants of their indices, accepted and
// refused exactly as PyTorch's check_sparse_tensor_invariants does.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/tensor/elements/convert.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {
namespace {

void need_part(const Tensor& part, std::string_view what) {
  if (!part.defined() || part.layout() != Layout::kStrided) {
    corrupt(fmt::format("the {} of a sparse tensor must be a strided tensor", what));
  }
}

void need_indices(const Tensor& part, std::string_view what) {
  need_part(part, what);
  if (part.dtype() != DType::kInt64 && part.dtype() != DType::kInt32) {
    corrupt(fmt::format("the {} of a sparse tensor must be int64 or int32, not {}", what,
                        dtype_name(part.dtype())));
  }
}

void check_coo_parts(std::span<const int64_t> sizes, const SparseParts& parts) {
  const Tensor& values = parts.values;
  need_indices(parts.indices, "indices");
  if (parts.indices.dim() != 2 || values.dim() < 1 || parts.indices.sizes()[1] != values.sizes()[0]) {
    corrupt(fmt::format("indices {} and values {} of a sparse tensor do not fit each other",
                        parts.indices.summary(), values.summary()));
  }
  const int64_t sparse_dim = parts.indices.sizes()[0];
  const auto dense_dim = static_cast<int64_t>(values.dim()) - 1;
  if (sparse_dim != static_cast<int64_t>(sizes.size()) - dense_dim ||
      !std::equal(values.sizes().begin() + 1, values.sizes().end(), sizes.begin() + sparse_dim)) {
    corrupt(fmt::format("a sparse tensor of shape [{}] cannot have values {} with {} sparse dimensions",
                        fmt::join(sizes, ", "), values.summary(), sparse_dim));
  }
}

// The sizes of a compressed tensor: batch dimensions, two sparse ones, dense ones.
struct Compressed {
  size_t batch_dim = 0;
  int64_t compressed_size = 0;  // rows of CSR and BSR, columns of CSC and BSC; in blocks
  int64_t plain_size = 0;
  int64_t stored = 0;  // entries (blocks) in each batch
};

Compressed check_compressed_parts(Layout layout, std::span<const int64_t> sizes, const SparseParts& parts) {
  const Tensor& values = parts.values;
  need_indices(parts.compressed_indices, "compressed indices");
  need_indices(parts.plain_indices, "plain indices");
  const auto misfit = [&](std::string_view why) {
    corrupt(
        fmt::format("compressed indices {}, plain indices {} and values {} do not fit a {} tensor of "
                    "shape [{}]: {}",
                    parts.compressed_indices.summary(), parts.plain_indices.summary(), values.summary(),
                    layout_name(layout), fmt::join(sizes, ", "), why));
  };
  if (parts.compressed_indices.dtype() != parts.plain_indices.dtype()) misfit("the indices differ in type");
  const bool is_blocked = layout == Layout::kSparseBsr || layout == Layout::kSparseBsc;
  const bool is_by_row = layout == Layout::kSparseCsr || layout == Layout::kSparseBsr;
  const size_t block_dim = is_blocked ? 2 : 0;
  Compressed result;
  if (parts.compressed_indices.dim() < 1 || parts.plain_indices.dim() != parts.compressed_indices.dim()) {
    misfit("the indices differ in rank");
  }
  result.batch_dim = parts.compressed_indices.dim() - 1;
  if (values.dim() < result.batch_dim + 1 + block_dim) misfit("the values have too few dimensions");
  const size_t dense_dim = values.dim() - result.batch_dim - 1 - block_dim;
  if (sizes.size() != result.batch_dim + 2 + dense_dim) misfit("the ranks do not add up");
  for (size_t d = 0; d < result.batch_dim; ++d) {
    for (const Tensor* part : {&parts.compressed_indices, &parts.plain_indices, &values}) {
      if (part->sizes()[d] != sizes[d]) misfit("the batch sizes differ");
    }
  }
  int64_t extents[2] = {};
  for (size_t d = 0; d < 2; ++d) {
    const int64_t block = is_blocked ? std::max<int64_t>(1, values.sizes()[result.batch_dim + 1 + d]) : 1;
    const int64_t size = sizes[result.batch_dim + d];
    if (size % block != 0) misfit("the blocks do not divide the shape");
    extents[d] = size / block;
  }
  result.compressed_size = extents[is_by_row ? 0 : 1];
  result.plain_size = extents[is_by_row ? 1 : 0];
  result.stored = values.sizes()[result.batch_dim];
  // Compared without adding one to a size that a file chose.
  if (parts.compressed_indices.sizes()[result.batch_dim] - 1 != result.compressed_size) {
    misfit(fmt::format("expected {} + 1 compressed indices", result.compressed_size));
  }
  if (parts.plain_indices.sizes()[result.batch_dim] != result.stored) {
    misfit(fmt::format("expected {} plain indices", result.stored));
  }
  return result;
}

// The indices as packed int64, whatever they are stored as.
class Indices {
 public:
  explicit Indices(const Tensor& tensor)
      : tensor_(convert(tensor, DType::kInt64)), bytes_(tensor_.contiguous_bytes()) {}
  int64_t operator[](int64_t i) const {
    int64_t value = 0;
    std::memcpy(&value, bytes_.data() + static_cast<size_t>(i) * sizeof(value), sizeof(value));
    return value;
  }

 private:
  Tensor tensor_;
  ByteSpan bytes_;
};

void validate_coo(const Tensor& tensor) {
  const SparseParts& parts = *tensor.sparse_parts();
  const int64_t sparse_dim = parts.indices.sizes()[0];
  const int64_t stored = parts.indices.sizes()[1];
  const Indices indices(parts.indices);
  for (int64_t d = 0; d < sparse_dim; ++d) {
    const int64_t size = tensor.sizes()[static_cast<size_t>(d)];
    for (int64_t i = 0; i < stored; ++i) {
      const int64_t index = indices[d * stored + i];
      if (index < 0 || index >= size) {
        corrupt(fmt::format("entry {} of {} has index {} in dimension {}, whose size is {}", i,
                            tensor.summary(), index, d, size));
      }
    }
  }
  if (!parts.is_coalesced || sparse_dim == 0) return;
  for (int64_t i = 1; i < stored; ++i) {
    int64_t d = 0;
    while (d < sparse_dim && indices[d * stored + i] == indices[d * stored + i - 1]) ++d;
    if (d == sparse_dim || indices[d * stored + i] < indices[d * stored + i - 1]) {
      corrupt(fmt::format("{} says that it is coalesced, but its entries {} and {} are not in order",
                          tensor.summary(), i - 1, i));
    }
  }
}

void validate_compressed(const Tensor& tensor) {
  const SparseParts& parts = *tensor.sparse_parts();
  const Compressed shape = check_compressed_parts(tensor.layout(), tensor.sizes(), parts);
  const std::string name = tensor.summary();
  for (const Tensor* part : {&parts.compressed_indices, &parts.plain_indices}) {
    // PyTorch's kernels walk the last dimension of the indices without looking at its stride.
    const bool is_used = part == &parts.compressed_indices || part->element_count() != 0;
    if (is_used && part->strides()[part->dim() - 1] != 1) {
      corrupt(fmt::format("the indices of {} must be contiguous, not of stride {}", name,
                          part->strides()[part->dim() - 1]));
    }
  }
  if (parts.plain_indices.dtype() == DType::kInt32) {
    for (const int64_t bound : {shape.compressed_size, shape.plain_size, shape.stored}) {
      if (bound > std::numeric_limits<int32_t>::max()) {
        corrupt(fmt::format("{} is too large for int32 indices: {}", name, bound));
      }
    }
  }
  const Indices plain(parts.plain_indices);
  for (int64_t i = 0; i < parts.plain_indices.element_count(); ++i) {
    if (plain[i] < 0 || plain[i] >= shape.plain_size) {
      corrupt(fmt::format("plain index {} of {} is {}, not within 0 and {}", i, name, plain[i],
                          shape.plain_size));
    }
  }
  const Indices ends(parts.compressed_indices);
  const int64_t row = shape.compressed_size + 1;
  const int64_t batches = parts.compressed_indices.element_count() / row;
  for (int64_t batch = 0; batch < batches && shape.compressed_size > 0; ++batch) {
    const int64_t first = batch * row;
    if (ends[first] != 0 || ends[first + shape.compressed_size] != shape.stored) {
      corrupt(fmt::format("the compressed indices of {} run from {} to {}, not from 0 to {}", name,
                          ends[first], ends[first + shape.compressed_size], shape.stored));
    }
    for (int64_t i = 0; i < shape.compressed_size; ++i) {
      const int64_t begin = ends[first + i];
      const int64_t end = ends[first + i + 1];
      // Both within 0 and `stored`, or the comparison below has failed before.
      if (end < begin || end > shape.stored || end - begin > shape.plain_size) {
        corrupt(fmt::format("compressed indices {} and {} of {} are {} and {}: expected a step of 0 to {}", i,
                            i + 1, name, begin, end, shape.plain_size));
      }
      for (int64_t k = batch * shape.stored + begin + 1; k < batch * shape.stored + end; ++k) {
        if (plain[k] <= plain[k - 1]) {
          corrupt(fmt::format("plain indices {} and {} of {} are {} and {}: expected them in order", k - 1, k,
                              name, plain[k - 1], plain[k]));
        }
      }
    }
  }
}

}  // namespace

Tensor Tensor::sparse(Layout layout, std::span<const int64_t> sizes, SparseParts parts) {
  need_part(parts.values, "values");
  const int64_t count = flambeau::element_count(sizes);
  if (layout == Layout::kSparseCoo) {
    check_coo_parts(sizes, parts);
  } else if (layout == Layout::kStrided || layout == Layout::kMkldnn) {
    throw Error(ErrorCode::kInvalidArgument, "a sparse tensor cannot have the layout strided");
  } else {
    check_compressed_parts(layout, sizes, parts);
  }
  Tensor tensor;
  tensor.defined_ = true;
  tensor.layout_ = layout;
  tensor.dtype_ = parts.values.dtype();
  tensor.device_ = parts.values.device();
  tensor.geometry_.sizes = sizes;
  tensor.count_ = count;
  tensor.sparse_ = std::make_shared<const SparseParts>(std::move(parts));
  return tensor;
}

void validate_sparse_indices(const Tensor& tensor) {
  if (!tensor.defined() || tensor.sparse_parts() == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is not sparse", tensor.summary()));
  }
  if (tensor.is_meta()) return;
  if (tensor.layout() == Layout::kSparseCoo) {
    validate_coo(tensor);
  } else {
    validate_compressed(tensor);
  }
}

}  // namespace flambeau
