// Products of matrices of small numbers: 8-bit integers, integers with a scale for each column, 8-bit floats.
#include <fmt/format.h>

#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/quantized/packed.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

template <typename N>
void check_matrices(const Info<N>& left, const Info<N>& right, size_t right_depth) {
  if (left.dim() != 2 || right.dim() != 2 || !(left.sizes[1] == right.sizes[right_depth])) {
    fail_view("matrices that fit are expected, not " + sizes_text(left.sizes) + " and " +
              sizes_text(right.sizes));
  }
}

template <typename N>
Info<N> int_mm_shape(const Info<N>& self, const Info<N>& mat2) {
  check_matrices(self, mat2, 0);
  if (self.dtype != DType::kInt8 || mat2.dtype != DType::kInt8)
    fail_view(fmt::format("matrices of int8 are expected, not {} and {}", dtype_name(self.dtype),
                          dtype_name(mat2.dtype)));
  return contiguous<N>(DType::kInt32, {self.sizes[0], mat2.sizes[1]}, self.device);
}
void int_mm(Context& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  const int64_t depth = self.sizes()[1], columns = mat2.sizes()[1];
  IntegerMatrix right(columns, depth);
  const auto* const b = mat2.data<int8_t>();
  for (int64_t c = 0; c < columns && depth > 0; ++c) {
    int16_t* const to = right.row(c);
    for (int64_t k = 0; k < depth; ++k) to[k] = b[k * mat2.strides()[0] + c * mat2.strides()[1]];
  }
  auto* const sums_to = out.mutable_data<int32_t>();
  IntegerProduct product{.rows = self.sizes()[0], .right = &right, .fill = {}, .take = {}};
  product.fill = [&](int64_t row, int16_t* to) {
    const int8_t* const a = self.data<int8_t>() + row * self.strides()[0];
    for (int64_t k = 0; k < depth; ++k) to[k] = a[k * self.strides()[1]];
  };
  product.take = [&](int64_t row, const int32_t* sums) {
    std::memcpy(sums_to + row * columns, sums, static_cast<size_t>(columns) * sizeof(int32_t));
  };
  run_product(context, product);
}

template <typename N>
Info<N> int8_weight_shape(const Info<N>& self, const Info<N>& mat2, const Info<N>&) {
  check_matrices(self, mat2, 1);
  if (mat2.dtype != DType::kInt8 || !is_floating(self.dtype))
    fail_view(fmt::format("a weight of int8 is expected, not {}", dtype_name(mat2.dtype)));
  return contiguous<N>(self.dtype, {self.sizes[0], mat2.sizes[0]}, self.device);
}
// Products are added up in single precision, and rounded once.
Tensor int8_weight_mm(Context& c, const Tensor& self, const Tensor& mat2, const Tensor& scales) {
  int8_weight_shape(symbolic_info(self), symbolic_info(mat2), symbolic_info(scales));
  const Tensor weight = call(c, "aten::t", parts::to_dtype(c, mat2, DType::kFloat32));
  const Tensor sums = call(c, "aten::mm", parts::to_dtype(c, self, DType::kFloat32), weight);
  return parts::to_dtype(c, parts::mul(c, sums, parts::to_dtype(c, scales, DType::kFloat32)), self.dtype());
}

template <typename N>
Info<N> scaled_mm_shape(const Info<N>& self, const Info<N>& mat2, const Info<N>& scale_a,
                        const Info<N>& scale_b, const Info<N>*, const Info<N>*,
                        std::optional<DType> out_dtype, bool) {
  check_matrices(self, mat2, 0);
  if (dtype_size(self.dtype) != 1 || dtype_size(mat2.dtype) != 1 || !is_floating(self.dtype) ||
      !is_floating(mat2.dtype))
    fail_view(fmt::format("matrices of 8-bit floats are expected, not {} and {}", dtype_name(self.dtype),
                          dtype_name(mat2.dtype)));
  if (scale_a.dtype != DType::kFloat32 || scale_b.dtype != DType::kFloat32) fail_view("scales are float32");
  return contiguous<N>(out_dtype.value_or(self.dtype), {self.sizes[0], mat2.sizes[1]}, self.device);
}
Tensor scaled_mm(Context& c, const Tensor& self, const Tensor& mat2, const Tensor& scale_a,
                 const Tensor& scale_b, const Tensor* bias, const Tensor* scale_result,
                 std::optional<DType> out_dtype, bool) {
  Tensor sums = call(c, "aten::mm", parts::to_dtype(c, self, DType::kFloat32),
                     parts::to_dtype(c, mat2, DType::kFloat32));
  sums = parts::mul(c, sums, parts::mul(c, scale_a, scale_b));
  if (bias != nullptr) sums = parts::add(c, sums, parts::to_dtype(c, *bias, DType::kFloat32));
  const DType wanted = out_dtype.value_or(self.dtype());
  if (scale_result != nullptr && dtype_size(wanted) == 1) sums = parts::mul(c, sums, *scale_result);
  return parts::to_dtype(c, sums, wanted);
}

}  // namespace

void define_integer_matrices(Library& library) {
  library.define("aten::_int_mm(Tensor self, Tensor mat2) -> Tensor")
      .shape<int_mm_shape<Size>, int_mm_shape<SymInt>>()
      .kernel<int_mm>();
  library.define("aten::_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor")
      .shape<int8_weight_shape<Size>, int8_weight_shape<SymInt>>()
      .decomposition<int8_weight_mm>();
  library
      .define(
          "aten::_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, "
          "Tensor? "
          "scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False) -> Tensor")
      .shape<scaled_mm_shape<Size>, scaled_mm_shape<SymInt>>()
      .decomposition<scaled_mm>();
}

}  // namespace flambeau::ops
