// Whether tensors are described alike: what a call of an operator decides by, their memory aside.
#pragma once

#include "flambeau/tensor/tensor.h"

namespace flambeau::interpreter {

// Described by its type and geometry alone.
inline bool is_ordinary(const Tensor& tensor) {
  return tensor.defined() && tensor.layout() == Layout::kStrided && !tensor.is_traced() &&
         tensor.quantizer() == nullptr;
}

// `known` is ordinary. Where in its memory a tensor begins is no part of it.
inline bool is_described_as(const Tensor& tensor, const Tensor& known) {
  return is_ordinary(tensor) && tensor.dtype() == known.dtype() && tensor.device() == known.device() &&
         tensor.requires_grad() == known.requires_grad() &&
         tensor.is_wrapped_number() == known.is_wrapped_number() && tensor.sizes() == known.sizes() &&
         tensor.strides() == known.strides();
}

// Neither need be ordinary.
inline bool has_same_description(const Tensor& a, const Tensor& b) {
  return is_ordinary(b) && is_described_as(a, b) && a.offset() == b.offset();
}

}  // namespace flambeau::interpreter
