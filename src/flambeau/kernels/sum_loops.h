// The loops of sum.h, which exist once for each instruction set; sum.cpp picks among them. T is float, double
// or int64_t.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flambeau/base/isa.h"

namespace flambeau::kernels {

// Elements that are summed in one go; each lane then has at most 32 numbers (64 for 8-byte types).
constexpr size_t kSumBlock = 2048;

#define FLAMBEAU_DECLARE(isa)                                                                             \
  namespace isa {                                                                                         \
  /* At most kSumBlock elements. `pairs` are complex numbers: the sums of the even and odd elements. */   \
  template <typename T>                                                                                   \
  T block_sum(const T* x, size_t n);                                                                      \
  template <typename T>                                                                                   \
  void block_sum_pairs(const T* x, size_t n, T* even, T* odd);                                            \
  template <typename T>                                                                                   \
  T block_sum_squares(const T* x, size_t n, T center);                                                    \
  template <typename T>                                                                                   \
  T product(const T* x, size_t n);                                                                        \
  template <typename T>                                                                                   \
  T maximum(const T* x, size_t n);                                                                        \
  template <typename T>                                                                                   \
  T minimum(const T* x, size_t n);                                                                        \
  /* The first element that equals the value, or the first NaN if it is one; n if there is none. */       \
  template <typename T>                                                                                   \
  size_t find(const T* x, size_t n, T value);                                                             \
  template <typename T>                                                                                   \
  bool any(const T* x, size_t n);                                                                         \
  template <typename T>                                                                                   \
  bool all(const T* x, size_t n);                                                                         \
  template <typename T>                                                                                   \
  void sum_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out);                       \
  template <typename T>                                                                                   \
  void product_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out);                   \
  template <typename T>                                                                                   \
  void maximum_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out, int64_t* indices); \
  template <typename T>                                                                                   \
  void minimum_rows(const T* x, size_t rows, size_t columns, ptrdiff_t stride, T* out, int64_t* indices); \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE)
#undef FLAMBEAU_DECLARE

}  // namespace flambeau::kernels
