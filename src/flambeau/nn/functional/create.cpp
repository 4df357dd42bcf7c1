#include "flambeau/nn/functional/create.h"

namespace flambeau::nn {

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
