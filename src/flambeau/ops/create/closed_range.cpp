// Ranges that have their end: aten::range, which PyTorch keeps for old code.
#include <fmt/format.h>

#include <cmath>

#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {
namespace {

int64_t closed_count(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype) {
  const double first = start.to_double();
  const double last = end.to_double();
  const double by = step.to_double();
  if (!(by > 0 || by < 0)) fail_view("step must be nonzero");
  if (!std::isfinite(first) || !std::isfinite(last))
    fail_view(fmt::format("unsupported range: {} -> {}", first, last));
  if (by > 0 ? last < first : last > first)
    fail_view("upper bound and lower bound inconsistent with step sign");
  double count = 0;
  if (is_floating(dtype)) {
    count = std::floor((last - first) / by) + 1;
  } else {
    const __int128 whole_step = step.to_int();
    if (whole_step == 0) fail_view("step must be nonzero");
    const __int128 steps = (static_cast<__int128>(end.to_int()) - start.to_int()) / whole_step;
    count = static_cast<double>(steps + 1);
  }
  if (!(count >= 0 && count < 0x1p62)) fail_view("invalid size, possible overflow?");
  return static_cast<int64_t>(count);
}

// Floats are added up in a wider type, as PyTorch does.
Tensor closed_numbers(Context& context, const Scalar& start, const Scalar& end, const Scalar& step,
                      DType dtype) {
  const int64_t count = closed_count(start, end, step, dtype);
  const DType wide = !is_floating(dtype)          ? DType::kInt64
                     : dtype_info(dtype).size < 4 ? DType::kFloat32
                                                  : DType::kFloat64;
  const Tensor places = parts::arange(context, 0, count, wide);
  const auto number = [&](const Scalar& scalar) {
    return is_floating(dtype) ? Value(scalar.to_double()) : Value(scalar.to_int());
  };
  const Tensor scaled = call(context, "aten::mul.Scalar", places, number(step));
  return parts::to_dtype(context, call(context, "aten::add.Scalar", scaled, number(start)), dtype);
}

Tensor range_step(Context& context, Scalar start, Scalar end, Scalar step, std::optional<DType> dtype,
                  std::optional<Layout>, std::optional<Device>, std::optional<bool>) {
  return closed_numbers(context, start, end, step, dtype.value_or(kDefaultFloat));
}
Tensor range_by_one(Context& context, Scalar start, Scalar end, std::optional<DType> dtype,
                    std::optional<Layout>, std::optional<Device>, std::optional<bool>) {
  return closed_numbers(context, start, end, Scalar(int64_t{1}), dtype.value_or(kDefaultFloat));
}

// PyTorch has it to test that files keep what operators meant.
Tensor subtract_product(Context& context, const Tensor& self, const Tensor& other, Scalar alpha) {
  return parts::sub(context, self, call(context, "aten::mul.Scalar", other, Value(alpha)));
}

}  // namespace

void define_closed_range(Library& library) {
  library
      .define(
          "aten::range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? "
          "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")
      .function<range_step>();
  library
      .define(
          "aten::range(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? "
          "device=None, bool? pin_memory=None) -> Tensor")
      .function<range_by_one>();
  library.define("aten::_test_serialization_subcmul(Tensor self, Tensor other, Scalar alpha=1) -> Tensor")
      .decomposition<subtract_product>();
}

}  // namespace flambeau::ops
