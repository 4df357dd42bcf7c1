// Row functions for run_elementwise, made from a function of single numbers. F is a small struct with
// operator(); the row's parameters point to one, so that it may carry numbers of its own:
//
//   struct Scale { double factor; template <typename T> T operator()(T x) const { return x * T(factor); } };
//
// In an x_isa.cpp F must be in an anonymous namespace: the same template is then a different function at each
// level.
#pragma once

#include <complex>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "flambeau/ops/elementwise.h"

namespace flambeau::ops {

template <typename F, typename Out, typename... In>
void row_of(const void* const* inputs, void* const* outputs, size_t count, const void* parameters) {
  const F function = *static_cast<const F*>(parameters);
  [&]<size_t... I>(std::index_sequence<I...>) {
    auto* const to = static_cast<Out*>(outputs[0]);
    const std::tuple<const In*...> from{static_cast<const In*>(inputs[I])...};
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) to[i] = static_cast<Out>(function(std::get<I>(from)[i]...));
  }(std::index_sequence_for<In...>());
}

template <typename T, size_t>
using Same = T;

// The row for that type of computing, of F with kInputs arguments of that type and a result of the same one,
// or of type Out where it is given (bool is written as bytes). Null where F does not take the type.
template <typename F, size_t kInputs, typename Out = void>
Row find_row(kernels::Compute compute) {
  const auto make = []<typename T, size_t... I>(T, std::index_sequence<I...>) -> Row {
    if constexpr (std::is_invocable_v<F, Same<T, I>...>) {
      using R = std::conditional_t<std::is_void_v<Out>, T,
                                   std::conditional_t<std::is_same_v<Out, bool>, uint8_t, Out>>;
      return &row_of<F, R, Same<T, I>...>;
    } else {
      return nullptr;
    }
  };
  constexpr auto kIndices = std::make_index_sequence<kInputs>();
  switch (compute) {
    case kernels::Compute::kFloat:
      return make(float{}, kIndices);
    case kernels::Compute::kDouble:
      return make(double{}, kIndices);
    case kernels::Compute::kInt64:
      return make(int64_t{}, kIndices);
    case kernels::Compute::kUInt64:
      return make(uint64_t{}, kIndices);
    case kernels::Compute::kComplexFloat:
      return make(std::complex<float>{}, kIndices);
    case kernels::Compute::kComplexDouble:
      return make(std::complex<double>{}, kIndices);
  }
  return nullptr;
}

// Throws Error(kUnsupported): '"sin" not implemented for 'Bool''.
[[noreturn]] void fail_dtype(std::string_view what, DType dtype);

// Runs F over inputs that are all taken as `common`, computed in its type, to a result of the same or another
// type.
template <typename F, typename Out = void, typename... Tensors>
void map(Context& context, std::string_view what, const F& function, DType common, const Tensor& out,
         const Tensors&... inputs) {
  const Row row = find_row<F, sizeof...(Tensors), Out>(kernels::compute_type(common));
  if (row == nullptr) fail_dtype(what, common);
  const Input in[] = {computed(inputs, common)...};
  const DType row_out = std::is_void_v<Out>         ? kernels::compute_dtype(common)
                        : std::is_same_v<Out, bool> ? DType::kBool
                                                    : kernels::compute_dtype(out.dtype());
  const Output outputs[] = {{&out, row_out}};
  run_elementwise(context, in, outputs, row, &function);
}

}  // namespace flambeau::ops
