// Lines along a dimension, put one after the other for functions over packed rows, and results brought back.
#pragma once

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/info.h"

namespace flambeau::ops {

// The tensor with that dimension last.
inline Tensor with_dim_last(const Tensor& tensor, size_t dim) {
  if (tensor.dim() == 0) return tensor;
  Geometry geometry = tensor.geometry();
  const int64_t size = geometry.sizes[dim];
  const int64_t stride = geometry.strides[dim];
  geometry.sizes.erase(dim);
  geometry.strides.erase(dim);
  geometry.sizes.push_back(size);
  geometry.strides.push_back(stride);
  return tensor.with_geometry(std::move(geometry));
}

class PackedLines {
 public:
  PackedLines(const Tensor& self, int64_t dim)
      : tensor_(with_dim_last(self, wrap_dim(dim, self.dim())).to_contiguous()),
        length_(self.dim() == 0 ? 1 : static_cast<size_t>(tensor_.sizes().back())) {}
  const uint8_t* data() const { return tensor_.data(); }
  size_t length() const { return length_; }
  size_t rows() const { return length_ == 0 ? 0 : static_cast<size_t>(tensor_.element_count()) / length_; }

 private:
  Tensor tensor_;
  size_t length_;
};

// A result with lines of its own: its memory where they lie packed, else a buffer that deliver() copies.
class PackedResult {
 public:
  PackedResult(Context& context, const Tensor& out, int64_t dim)
      : view_(with_dim_last(out, wrap_dim(dim, out.dim()))) {
    packed_ = view_.is_contiguous() ? view_ : context.allocate(out.dtype(), view_.sizes());
  }
  Tensor& tensor() { return packed_; }
  void deliver(Context& context) {
    if (!view_.is_contiguous()) copy_into(context, packed_, view_);
  }

 private:
  Tensor view_;
  Tensor packed_;
};

}  // namespace flambeau::ops
