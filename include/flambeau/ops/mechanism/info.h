// What a shape rule sees of a tensor, and what it says of a result: everything but the data. A template over
// the number: Size when running, SymInt when tracing. Over a plain integer, which could wrap, there is none.
#pragma once

#include <utility>
#include <vector>

#include "flambeau/symbolic/sym_int.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau::ops {

using symbolic::floor_div;
using symbolic::modulo;
using symbolic::SymInt;

template <typename N>
concept RuleNumber = std::is_same_v<N, Size> || std::is_same_v<N, SymInt>;

template <RuleNumber N>
struct Info {
  DType dtype = DType::kFloat32;
  ShortList<N> sizes = {};
  ShortList<N> strides = {};
  N offset = 0;
  Device device = {};
  bool is_wrapped_number = false;
  bool is_absent = false;  // of a result that nobody asked for: it is None

  size_t dim() const { return sizes.size(); }
  const N& size(size_t d) const { return sizes[d]; }
  const N& stride(size_t d) const { return strides[d]; }
  N element_count() const {
    N count = 1;
    for (const N& size : sizes) count *= size;
    return count;
  }
};
template <typename N>
using Infos = std::vector<Info<N>>;

// A result that there is where a list of flags asks for it.
template <RuleNumber N>
Info<N> asked(const std::vector<bool>& flags, size_t which, Info<N> info) {
  info.is_absent = which >= flags.size() || !flags[which];
  return info;
}

// Row-major strides; a size of 0 counts as 1, as in PyTorch.
template <RuleNumber N>
ShortList<N> row_major(const ShortList<N>& sizes) {
  ShortList<N> strides = {};
  strides.resize(sizes.size());
  N stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride = stride * max(sizes[d], N(1));
  }
  return strides;
}

// A fresh row-major result.
template <typename N>
Info<N> contiguous(DType dtype, ShortList<N> sizes, Device device = {}) {
  ShortList<N> strides = row_major(sizes);
  return {.dtype = dtype, .sizes = std::move(sizes), .strides = std::move(strides), .device = device};
}

inline Info<Size> contiguous(DType dtype, const Dims& sizes, Device device = {}) {
  return contiguous<Size>(dtype, sizes, device);
}

inline Info<Size> info_of(const Tensor& tensor) {
  const Geometry& geometry = tensor.geometry();
  return {.dtype = tensor.dtype(),
          .sizes = geometry.sizes,
          .strides = geometry.strides,
          .offset = geometry.offset,
          .device = tensor.device(),
          .is_wrapped_number = tensor.is_wrapped_number()};
}

// A dimension counted from the end when negative. Throws Error(kInvalidArgument) in PyTorch's words when it
// is out of range; a tensor without dimensions takes 0 and -1.
size_t wrap_dim(int64_t dim, size_t rank);

}  // namespace flambeau::ops
