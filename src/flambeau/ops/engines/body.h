// What a call of an elementwise operator does to each element, said before anything runs: a loop over packed
// arrays by its name, what it reads and in which types, the numbers it takes. So a call runs by itself
// (elementwise.h) or block by block with others (block_program.h), and gives the same numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "flambeau/ops/engines/row.h"
#include "flambeau/tensor/elements/compute.h"
#include "flambeau/tensor/tensor.h"
#include "flambeau/value/scalar.h"

namespace flambeau::ops {

constexpr size_t kMostElement = 16;  // bytes of the widest element

// One operand: a tensor that broadcasts, or a number.
struct Input {
  const Tensor* tensor = nullptr;  // null for a number
  DType common = DType::kFloat32;  // converted to this type first, with its rounding
  DType row = DType::kFloat32;     // what the row reads: the type to compute with, or any that it moves
  alignas(16) std::array<uint8_t, kMostElement> number{};  // in the row's type

  Input() = default;
  Input(const Tensor* of, DType common_type, DType row_type)
      : tensor(of), common(common_type), row(row_type) {}
  Input(const Scalar& value, DType common_type, DType row_type);

  // Whether the row reads elements of this type as they are.
  bool reads(DType stored) const {
    return stored == row && (common == row || dtype_size(common) >= dtype_size(row));
  }
};

// An input in the type that is computed with for `common`.
inline Input computed(const Tensor& tensor, DType common) { return {&tensor, common, compute_dtype(common)}; }
inline Input computed(const Scalar& number, DType common) { return {number, common, compute_dtype(common)}; }
// One without dimensions beside half-precision ones keeps its digits, as PyTorch's arithmetic does.
inline Input precise(const Tensor& tensor, DType common) {
  const DType row = compute_dtype(common);
  return {&tensor, tensor.dim() == 0 ? row : common, row};
}
inline Input precise(const Scalar& number, DType common) {
  return {number, compute_dtype(common), compute_dtype(common)};
}

// A row as code, in what C and C++ have in common: the inside of a function of the inputs a, b, c and d (T is
// the type of a, U for integers its unsigned one), of the numbers x, y and z that the parameters begin with
// in type T, and as doubles of parameters[]. It may call what elementary.def and composed.def of
// kernels/math/ have. Empty where there is none.
struct BodyCode {
  std::string_view text;
  bool moves = false;  // elements as they are: half-precision ones are not widened
};

struct Body {
  static constexpr size_t kMostInputs = 4;
  static constexpr size_t kMostParameters = 64;  // bytes

  // Stays the same: for one type that is computed in, a name stands for one loop.
  std::string_view name;
  // Without a loop it gives its input's values, converted.
  Rows rows = nullptr;
  DType row = DType::kFloat32;  // what the row writes; converted to the result's type
  int cost = 1;                 // about how many cycles an element takes
  BodyCode code;                // what the loop does, for who makes loops of its own
  // What the row takes besides: the operator's other arguments, such as alpha or the bounds of clamp.
  alignas(16) std::array<uint8_t, kMostParameters> parameters{};
  // Those that are no arguments of the call as they are.
  std::vector<Tensor> views;

  std::span<const Input> inputs() const { return {inputs_.data(), input_count_}; }
  void add(const Input& input) { inputs_[input_count_++] = input; }
  template <typename T>
  void set_parameters(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kMostParameters);
    if constexpr (!std::is_empty_v<T>) std::memcpy(parameters.data(), &value, sizeof(T));
  }

 private:
  std::array<Input, kMostInputs> inputs_;
  size_t input_count_ = 0;
};

// The values of a tensor, or a number for all, in the type of `out`.
Body copy_body(const Tensor& from, const Tensor& out);
Body copy_body(const Scalar& number, const Tensor& out);

}  // namespace flambeau::ops
