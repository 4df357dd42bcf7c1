// What kernels of gradients share: operands and results as packed arrays of float or double, whatever types
// and strides the tensors have, and loops over parts of them by threads.
#pragma once

#include <algorithm>
#include <string_view>

#include "flambeau/ops/dense/fail.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {

// The elements in row-major order and in that type: the tensor itself where it lies so.
inline Tensor packed_as(Context& context, const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype && tensor.is_contiguous()) return tensor;
  const Tensor made = context.allocate(dtype, tensor.sizes());
  copy_into(context, tensor, made);
  return made;
}

// Memory in which a result is computed, row-major and in the type it is computed in; finish() brings it home.
class PackedOutput {
 public:
  PackedOutput(Context& context, const Tensor& out, DType dtype)
      : context_(&context),
        out_(out),
        packed_(out.dtype() == dtype && out.is_contiguous() ? out : context.allocate(dtype, out.sizes())) {}

  template <typename T>
  T* zeros() {
    T* const data = packed_.mutable_data<T>();
    std::fill_n(data, packed_.element_count(), T(0));
    return data;
  }
  template <typename T>
  T* data() {
    return packed_.mutable_data<T>();
  }
  const Tensor& tensor() const { return packed_; }
  void finish() {
    if (packed_.storage() != out_.storage()) copy_into(*context_, packed_, out_);
  }

 private:
  Context* context_;
  Tensor out_;
  Tensor packed_;
};

// Calls body(T{}, dtype) with float or double, whichever the floating type is computed in. Throws
// Error(kUnsupported) for other types.
template <typename Body>
void with_floats(std::string_view what, DType dtype, Body&& body) {
  if (!is_floating(dtype) || dtype_size(dtype) == 1) fail_dtype(what, dtype);
  if (dtype == DType::kFloat64) {
    body(double{}, DType::kFloat64);
  } else {
    body(float{}, DType::kFloat32);
  }
}

// body(index) for each of `count` parts of `cost` steps each, by threads.
template <typename Body>
void for_each_part(Context& context, int64_t count, int64_t cost, Body&& body) {
  const auto grain = static_cast<size_t>(std::max<int64_t>(kGrain / std::max<int64_t>(cost, 1), 1));
  context.pool().for_each_range(static_cast<size_t>(count), grain, [&](size_t begin, size_t end) {
    WorkPoller poll;
    for (size_t i = begin; i < end; ++i) {
      poll(static_cast<size_t>(cost) + 1);
      body(static_cast<int64_t>(i));
    }
  });
}

template <typename N>
int64_t product_of(const N& sizes, size_t begin, size_t end) {
  Size product = 1;
  for (size_t d = begin; d < end; ++d) product *= sizes[d];
  return product;
}

// A packed tensor with other sizes of as many elements.
inline Tensor with_sizes(const Tensor& packed, const Dims& sizes) {
  const Info<Size> info = contiguous(packed.dtype(), sizes);
  return packed.with_geometry({sizes, plain(info.strides), packed.offset()});
}

// An undefined tensor is a result that was not wanted: None.
inline Value value_of(const Tensor& tensor) { return tensor.defined() ? Value(tensor) : Value(); }

// Throws Error(kInvalidArgument) unless the gradient is as large as what it is of.
template <typename N>
void require_same_sizes(std::string_view what, const ShortList<N>& found, const ShortList<N>& expected) {
  bool fits = found.size() == expected.size();
  for (size_t d = 0; fits && d < found.size(); ++d) fits = found[d] == expected[d];
  if (fits) return;
  const auto text = [](const ShortList<N>& sizes) {
    std::string joined;
    for (const N& size : sizes) joined += (joined.empty() ? "" : ", ") + number_text(size);
    return "[" + joined + "]";
  };
  fail_argument(std::string(what) + ": expected a gradient of sizes " + text(expected) + ", but got " +
                text(found));
}

}  // namespace flambeau::ops
