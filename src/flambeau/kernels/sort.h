// Rows put in order: sort, top-k and k-th value, with the positions the elements came from. NaN is greater
// than every number and equal to itself; equal elements come in the order that PyTorch's CPU operators leave
// them in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flambeau/base/parallel.h"
#include "flambeau/tensor/dtype.h"

namespace flambeau::kernels {

// The order of a row of float, double, int64_t or uint64_t (what other types are loaded as,
// tensor/elements/wide_rows.h): indices[i] is the position of the element that comes i-th.
//
// stable keeps equal elements in their order, by radix sort for long rows. Without it equal elements come as
// PyTorch's unstable sort leaves them (that is slower where there are any).
template <typename T>
void sort_row(const T* row, size_t n, bool descending, bool stable, int64_t* indices);

// The positions of the k largest (or smallest) elements, in their order if `sorted`; k <= n.
template <typename T>
void top_k_row(const T* row, size_t n, size_t k, bool largest, bool sorted, int64_t* indices);

// The position of the k-th smallest element, 1 <= k <= n.
template <typename T>
int64_t kth_row(const T* row, size_t n, size_t k);

// The same over contiguous rows of any plain type, with the values, each in the tensor's own bits: `values`
// and `indices` have `n` (or `k`, or 1) elements a row. Complex types throw Error (kUnsupported).
void sort_rows(ThreadPool& pool, DType dtype, const void* in, size_t rows, size_t n, bool descending,
               bool stable, void* values, int64_t* indices);
void top_k_rows(ThreadPool& pool, DType dtype, const void* in, size_t rows, size_t n, size_t k, bool largest,
                bool sorted, void* values, int64_t* indices);
void kth_rows(ThreadPool& pool, DType dtype, const void* in, size_t rows, size_t n, size_t k, void* values,
              int64_t* indices);

}  // namespace flambeau::kernels
