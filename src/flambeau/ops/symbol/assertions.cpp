// What a program assumes of its inputs and values, checked when it runs.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

bool is_true(const Scalar& number) {
  return number.is_complex() ? number.to_complex() != std::complex<double>() : number.to_double() != 0;
}

void require(const Tensor& self, std::string_view message) {
  if (self.element_count() == 0) fail_view("Boolean value of Tensor with no values is ambiguous");
  if (self.element_count() > 1) fail_view("Boolean value of Tensor with more than one value is ambiguous");
  const Scalar number = item(self);
  if (is_true(number)) return;
  fail_view(fmt::format("{} (the value asserted is {})", message, Value(number).summary()));
}

void assert_async(const Tensor& self) {
  require(self, "Expected Tensor with single nonzero value, but got zero");
}
void assert_async_message(const Tensor& self, std::string_view message) { require(self, message); }
Tensor functional_assert_async(const Tensor& self, std::string_view message, const Tensor& token) {
  require(self, message);
  return token;
}

void require_scalar(const Scalar& self, std::string_view message) {
  if (is_true(self)) return;
  fail_view(fmt::format("{} (the value asserted is {})", message, Value(self).summary()));
}
void assert_scalar(Scalar self, std::string_view message) { require_scalar(self, message); }
Tensor functional_assert_scalar(Scalar self, std::string_view message, const Tensor& token) {
  require_scalar(self, message);
  return token;
}

void require_range(const Scalar& size, std::optional<int64_t> min, std::optional<int64_t> max,
                   int64_t least) {
  if (!size.is_int() && !size.is_bool()) {
    fail_view(fmt::format("expected an integer to constrain, got {}", Value(size).summary()));
  }
  const int64_t low = min.value_or(least);
  const int64_t high = max.value_or(INT64_MAX);
  if (high < low)
    fail_view(fmt::format("Max must be greater than or equal to min. Got min={} max={}", low, high));
  const int64_t number = size.to_int();
  if (number < low || number > high) {
    fail_view(fmt::format("Invalid value range for {} between [{}, {}]", number, low, high));
  }
}

void constrain_range(Scalar size, std::optional<Size> min, std::optional<Size> max) {
  require_range(size, min, max, INT64_MIN);
}
void constrain_range_for_size(Scalar size, std::optional<Size> min, std::optional<Size> max) {
  require_range(size, min, max, 0);
}
Tensor functional_constrain_range(Scalar size, std::optional<Size> min, std::optional<Size> max,
                                  const Tensor& token) {
  require_range(size, min, max, INT64_MIN);
  return token;
}
Tensor functional_constrain_range_for_size(Scalar size, std::optional<Size> min, std::optional<Size> max,
                                           const Tensor& token) {
  require_range(size, min, max, 0);
  return token;
}

template <typename N>
Info<N> token_shape(std::optional<DType> dtype, std::optional<Layout>, std::optional<Device> device,
                    std::optional<bool>, std::optional<MemoryFormat>) {
  return contiguous(dtype.value_or(DType::kFloat32), ShortList<N>(), device.value_or(Device{}));
}
void token_kernel(Context& context, std::optional<DType>, std::optional<Layout>, std::optional<Device>,
                  std::optional<bool>, std::optional<MemoryFormat>, Tensor& out) {
  fill(context, out, 0);
}

void assert_metadata(const Tensor& a, std::optional<std::span<const Size>> size,
                     std::optional<std::span<const Size>> stride, std::optional<DType> dtype,
                     std::optional<Device> device, std::optional<Layout> layout) {
  const auto fail = [](std::string_view what, std::string_view expected, std::string_view got) {
    fail_view(fmt::format("Tensor {} mismatch! Expected: {} Got: {}", what, expected, got));
  };
  if (size && !std::ranges::equal(plain(*size), a.sizes())) {
    fail("sizes", sizes_text(*size), sizes_text(a.sizes()));
  }
  if (stride && !std::ranges::equal(plain(*stride), a.strides())) {
    fail("strides", sizes_text(*stride), sizes_text(a.strides()));
  }
  if (dtype && *dtype != a.dtype()) fail("dtype", dtype_name(*dtype), dtype_name(a.dtype()));
  if (device && !(device->type == a.device().type)) {
    fail("device", device->to_string(), a.device().to_string());
  }
  if (layout && *layout != a.layout()) fail("layout", layout_name(*layout), layout_name(a.layout()));
}

}  // namespace

void define_assertions(Library& library) {
  library.define("aten::_assert_async(Tensor self) -> ()").function<assert_async>();
  library.define("aten::_assert_async.msg(Tensor self, str assert_msg) -> ()")
      .function<assert_async_message>();
  library
      .define("aten::_functional_assert_async.msg(Tensor self, str assert_msg, Tensor dep_token) -> Tensor")
      .function<functional_assert_async>();
  library.define("aten::_assert_scalar(Scalar self, str assert_msg) -> ()")
      .function<assert_scalar>()
      .is(Trait::kAssertsNumber);
  library.define("aten::_functional_assert_scalar(Scalar self, str assert_msg, Tensor dep_token) -> Tensor")
      .function<functional_assert_scalar>();
  library
      .define(
          "aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? "
          "dtype=None, *, Device? device=None, Layout? layout=None) -> ()")
      .function<assert_metadata>()
      .is(Trait::kAssertsMetadata);
  library.define("aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()")
      .function<constrain_range>();
  library.define("aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()")
      .function<constrain_range_for_size>();
  library
      .define(
          "aten::_functional_sym_constrain_range(Scalar size, int? min, int? max, Tensor dep_token) -> "
          "Tensor")
      .function<functional_constrain_range>();
  library
      .define(
          "aten::_functional_sym_constrain_range_for_size(Scalar size, int? min, int? max, Tensor dep_token) "
          "-> Tensor")
      .function<functional_constrain_range_for_size>();
  library
      .define(
          "aten::_make_dep_token(*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
          "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor")
      .shape<token_shape<Size>, token_shape<SymInt>>()
      .kernel<token_kernel>();
}

}  // namespace flambeau::ops
