#include "flambeau/nn/functional/create.h"

#include <cstring>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::nn {
namespace {

// The operators that PyTorch's tracer shows for a constant.
Tensor lifted(const std::source_location& where, const Tensor& constant) {
  const Tensor copy = call(where, "aten::lift_fresh_copy", {constant});
  return call(where, "aten::detach_", {copy});
}

// What the number is in a tensor when nothing else is said.
DType default_dtype(const Value& value) {
  if (value.is<bool>()) return DType::kBool;
  return value.is<int64_t>() ? DType::kInt64 : DType::kFloat32;
}

}  // namespace

Tensor zeros(const Sizes& size, std::optional<DType> dtype, std::source_location where) {
  return call(where, "aten::zeros", {ints_value(size)},
              {{"dtype", dtype}, {"device", Device()}, {"pin_memory", false}});
}
Tensor ones(const Sizes& size, std::optional<DType> dtype, std::source_location where) {
  return call(where, "aten::ones", {ints_value(size)},
              {{"dtype", dtype}, {"device", Device()}, {"pin_memory", false}});
}
Tensor full(const Sizes& size, const Number& value, std::optional<DType> dtype, std::source_location where) {
  return call(where, "aten::full", {ints_value(size), value.value()},
              {{"dtype", dtype}, {"device", Device()}, {"pin_memory", false}});
}
Tensor empty(const Sizes& size, std::optional<DType> dtype, std::source_location where) {
  return call(where, "aten::empty.memory_format", {ints_value(size)},
              {{"dtype", dtype}, {"device", Device()}, {"pin_memory", false}});
}
Tensor rand(const Sizes& size, std::optional<DType> dtype, std::source_location where) {
  return call(where, "aten::rand", {ints_value(size)},
              {{"dtype", dtype}, {"device", Device()}, {"pin_memory", false}});
}
Tensor randn(const Sizes& size, std::optional<DType> dtype, std::source_location where) {
  return call(where, "aten::randn", {ints_value(size)},
              {{"dtype", dtype}, {"device", Device()}, {"pin_memory", false}});
}
Tensor randint(const SymInt& low, const SymInt& high, const Sizes& size, std::optional<DType> dtype,
               std::source_location where) {
  return call(where, "aten::randint.low", {int_value(low), int_value(high), ints_value(size)},
              {{"dtype", dtype}, {"device", Device()}, {"pin_memory", false}});
}
Tensor eye(const SymInt& n, std::optional<DType> dtype, std::source_location where) {
  return call(where, "aten::eye", {int_value(n)},
              {{"dtype", dtype}, {"device", Device()}, {"pin_memory", false}});
}
Tensor arange(const Number& end, std::optional<DType> dtype, std::source_location where) {
  return call(where, "aten::arange", {end.value()},
              {{"dtype", dtype}, {"device", Device()}, {"pin_memory", false}});
}
Tensor arange(const Number& start, const Number& end, std::optional<DType> dtype,
              std::source_location where) {
  return call(where, "aten::arange.start", {start.value(), end.value()},
              {{"dtype", dtype}, {"device", Device()}, {"pin_memory", false}});
}
Tensor arange(const Number& start, const Number& end, const Number& step, std::optional<DType> dtype,
              std::source_location where) {
  return call(where, "aten::arange.start_step", {start.value(), end.value(), step.value()},
              {{"dtype", dtype}, {"device", Device()}, {"pin_memory", false}});
}
Tensor linspace(const Number& start, const Number& end, int64_t steps, std::optional<DType> dtype,
                std::source_location where) {
  return call(where, "aten::linspace", {start.value(), end.value(), steps},
              {{"dtype", dtype}, {"device", Device()}, {"pin_memory", false}});
}
Tensor tensor(const Number& value, std::optional<DType> dtype, std::source_location where) {
  const Scalar number = value.value().scalar();
  return lifted(where, ops::scalar_tensor(number, dtype.value_or(default_dtype(value.value()))));
}
Tensor tensor(const std::vector<double>& values, std::optional<DType> dtype, std::source_location where) {
  const int64_t size[] = {static_cast<int64_t>(values.size())};
  Tensor numbers = Tensor::zeros(DType::kFloat64, size);
  std::memcpy(numbers.mutable_data(), values.data(), values.size() * sizeof(double));
  ops::Context plain = current();
  plain.interceptor = nullptr;  // a constant is there before the model runs
  const ops::Operator& op = plain.library().get("aten::to.dtype");
  const std::vector<Value> arguments = {numbers, dtype.value_or(DType::kFloat32)};
  return lifted(where, ops::call(plain, op, ops::bind_arguments(op.schema, arguments, {})).at(0).tensor());
}

Tensor zeros_like(Input x, std::optional<DType> dtype) {
  return call(x, "aten::zeros_like", {x.tensor}, {{"dtype", dtype}, {"pin_memory", false}});
}
Tensor ones_like(Input x, std::optional<DType> dtype) {
  return call(x, "aten::ones_like", {x.tensor}, {{"dtype", dtype}, {"pin_memory", false}});
}
Tensor full_like(Input x, const Number& value, std::optional<DType> dtype) {
  return call(x, "aten::full_like", {x.tensor, value.value()}, {{"dtype", dtype}, {"pin_memory", false}});
}
Tensor empty_like(Input x, std::optional<DType> dtype) {
  return call(x, "aten::empty_like", {x.tensor}, {{"dtype", dtype}, {"pin_memory", false}});
}
Tensor rand_like(Input x) { return call(x, "aten::rand_like", {x.tensor}, {{"pin_memory", false}}); }
Tensor randn_like(Input x) { return call(x, "aten::randn_like", {x.tensor}, {{"pin_memory", false}}); }
Tensor new_zeros(Input x, const Sizes& size) {
  return call(x, "aten::new_zeros", {x.tensor, ints_value(size)}, {{"pin_memory", false}});
}
Tensor new_ones(Input x, const Sizes& size) {
  return call(x, "aten::new_ones", {x.tensor, ints_value(size)}, {{"pin_memory", false}});
}
Tensor new_full(Input x, const Sizes& size, const Number& value) {
  return call(x, "aten::new_full", {x.tensor, ints_value(size), value.value()}, {{"pin_memory", false}});
}

}  // namespace flambeau::nn
