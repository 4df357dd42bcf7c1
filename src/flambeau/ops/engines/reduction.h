// The engine of reductions: many elements to one, over any set of dimensions, strides and types.
//
// A Fold holds a state for each result and adds elements to it, either along a packed row (all to one state)
// or across rows (each column to its own); which of the two depends on what lies close together in memory.
// Elements of other types, or that do not lie packed, are converted a block at a time, as elementwise work
// does it. Threads share the results, or, where there are few of them, the reduced range: then states are
// merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "flambeau/base/wrapping.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/info.h"

namespace flambeau::ops {

// Which dimensions go away.
using DimFlags = ShortList<bool>;

// No dims: all of them. Throws Error(kInvalidArgument) for one out of range or given twice.
DimFlags reduced_dims(std::span<const Size> dims, size_t rank);
DimFlags all_dims(size_t rank);
DimFlags one_dim(int64_t dim, size_t rank);

template <typename N>
ShortList<N> reduced_sizes(const ShortList<N>& sizes, const DimFlags& reduced, bool keep) {
  ShortList<N> result;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!reduced[d]) {
      result.push_back(sizes[d]);
    } else if (keep) {
      result.push_back(N(1));
    }
  }
  return result;
}
// A result of a reduction is row-major, whatever the strides of what is reduced.
template <typename N>
Info<N> reduced_info(DType dtype, const Info<N>& self, const DimFlags& reduced, bool keep) {
  return contiguous<N>(dtype, reduced_sizes(self.sizes, reduced, keep), self.device);
}
// How many elements make one result.
template <typename N>
N reduced_count(const ShortList<N>& sizes, const DimFlags& reduced) {
  N count = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (reduced[d]) count *= sizes[d];
  }
  return count;
}

// Functions over type-erased states. `first` is the position of the first element (or row) among the reduced
// ones; it has a meaning only where one dimension, or a whole packed tensor, is reduced.
struct Fold {
  DType row;          // what the functions read: as in Input::row
  size_t state_size;  // bytes; states lie packed
  void (*start)(void* states, size_t count, const void* parameters);
  void (*along)(void* state, const void* row, size_t count, int64_t first, const void* parameters);
  // states[c] takes rows[r][c]; `stride` is in bytes. `first` is that of the first row.
  void (*across)(void* states, const void* rows, int64_t stride, size_t row_count, size_t columns,
                 int64_t first, const void* parameters);
  void (*merge)(void* states, const void* others, size_t count, const void* parameters);
  // `reduced` elements went into each state. Writes packed results of the outputs' row types.
  void (*finish)(const void* states, size_t count, int64_t reduced, void* const* outputs,
                 const void* parameters);
  // states[r] takes all of rows[r], of `count` elements: the same as along for each row. May be null.
  void (*along_rows)(void* states, const void* rows, int64_t stride, size_t row_count, size_t count,
                     const void* parameters) = nullptr;
};

// The outputs are row-major over the dimensions that stay. The input is first converted to `common`.
void run_fold(Context& context, const Tensor& input, DType common, const DimFlags& reduced, const Fold& fold,
              std::span<const Output> outputs, const void* parameters);

// A tensor of another type, or the same one.
Tensor cast(Context& context, const Tensor& tensor, DType dtype);

// A Fold made from an operator on single states:
//   struct Op {
//     template <typename T> using State = ...;
//     template <typename T> State<T> start() const;
//     template <typename T> void add(State<T>& state, T x, int64_t position) const;
//     template <typename T> void merge(State<T>& state, const State<T>& other) const;
//     template <typename T> void finish(const State<T>& state, int64_t reduced, void* const* outputs, size_t
//     i) const;
//   };
template <typename Op, typename T>
struct FoldOf {
  using State = typename Op::template State<T>;
  static const Op& op(const void* parameters) { return *static_cast<const Op*>(parameters); }

  static void start(void* states, size_t count, const void* parameters) {
    for (size_t i = 0; i < count; ++i) static_cast<State*>(states)[i] = op(parameters).template start<T>();
  }
  static void along(void* state, const void* row, size_t count, int64_t first, const void* parameters) {
    const Op& o = op(parameters);
    State s = *static_cast<State*>(state);
    const T* const x = static_cast<const T*>(row);
    for (size_t i = 0; i < count; ++i) o.template add<T>(s, x[i], first + static_cast<int64_t>(i));
    *static_cast<State*>(state) = s;
  }
  static void across(void* states, const void* rows, int64_t stride, size_t row_count, size_t columns,
                     int64_t first, const void* parameters) {
    const Op& o = op(parameters);
    State* const s = static_cast<State*>(states);
    for (size_t r = 0; r < row_count; ++r) {
      const T* const x =
          reinterpret_cast<const T*>(static_cast<const uint8_t*>(rows) + static_cast<int64_t>(r) * stride);
      for (size_t c = 0; c < columns; ++c) o.template add<T>(s[c], x[c], first + static_cast<int64_t>(r));
    }
  }
  static void merge(void* states, const void* others, size_t count, const void* parameters) {
    for (size_t i = 0; i < count; ++i) {
      op(parameters).template merge<T>(static_cast<State*>(states)[i], static_cast<const State*>(others)[i]);
    }
  }
  static void finish(const void* states, size_t count, int64_t reduced, void* const* outputs,
                     const void* parameters) {
    for (size_t i = 0; i < count; ++i) {
      op(parameters).template finish<T>(static_cast<const State*>(states)[i], reduced, outputs, i);
    }
  }
  static Fold make(DType row) { return {row, sizeof(State), start, along, across, merge, finish, nullptr}; }
};

// Calls body(T{}) with the C++ type that a stored type is computed in.
template <typename Body>
decltype(auto) with_compute_type(DType dtype, Body&& body) {
  switch (compute_type(dtype)) {
    case Compute::kFloat:
      return body(float{});
    case Compute::kDouble:
      return body(double{});
    case Compute::kInt64:
      return body(int64_t{});
    case Compute::kUInt64:
      return body(uint64_t{});
    case Compute::kComplexFloat:
      return body(std::complex<float>{});
    default:
      return body(std::complex<double>{});
  }
}

// The Fold of Op for elements of type `common`.
template <typename Op>
Fold fold_of(DType common) {
  return with_compute_type(common, [&]<typename T>(T) { return FoldOf<Op, T>::make(compute_dtype(common)); });
}

template <typename T>
bool is_nan(const T& x) {
  return x != x;
}

}  // namespace flambeau::ops
