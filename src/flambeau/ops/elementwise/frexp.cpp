// Numbers taken apart: self = mantissa * 2^exponent, with the mantissa in [0.5, 1).
#include <cmath>
#include <tuple>

#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {
namespace {

template <typename N>
std::tuple<Info<N>, Info<N>> frexp_shape(const Info<N>& self) {
  if (!is_floating(self.dtype)) fail_dtype("frexp", self.dtype);
  return {elementwise_info<N>(self.dtype, self), elementwise_info<N>(DType::kInt32, self)};
}

template <typename T>
void frexp_row(const void* const* inputs, void* const* outputs, size_t count, const void*) {
  const auto* const numbers = static_cast<const T*>(inputs[0]);
  auto* const mantissas = static_cast<T*>(outputs[0]);
  auto* const exponents = static_cast<int64_t*>(outputs[1]);
  for (size_t i = 0; i < count; ++i) {
    int exponent = 0;
    mantissas[i] = std::frexp(numbers[i], &exponent);
    exponents[i] = std::isfinite(numbers[i]) ? exponent : 0;  // C leaves it open
  }
}

void frexp_kernel(Context& context, const Tensor& self, Tensor& mantissa, Tensor& exponent) {
  const Input inputs[] = {computed(self, self.dtype())};
  const Output outputs[] = {computed_result(mantissa), computed_result(exponent)};
  const bool is_double = compute_type(self.dtype()) == Compute::kDouble;
  run_elementwise(context, inputs, outputs, is_double ? &frexp_row<double> : &frexp_row<float>);
}

}  // namespace

void define_frexp(Library& library) {
  library.define("aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)")
      .shape<frexp_shape<Size>, frexp_shape<SymInt>>()
      .kernel<frexp_kernel>();
}

}  // namespace flambeau::ops
