// How files keep packed convolutions: PyTorch has had three forms of the same numbers.
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/quantized/packed_convolution.h"

namespace flambeau::ops {
namespace {

// Dimensions; strides, padding, dilation and output padding, each as many; groups; is it transposed?
PackedConvolution::Parameters parameters_of(std::span<const int64_t> numbers, const Value& state) {
  if (numbers.empty() || (numbers[0] != 2 && numbers[0] != 3)) fail_state(kConv2dClass, state);
  const auto dims = static_cast<size_t>(numbers[0]);
  if (numbers.size() < 4 * dims + 3) fail_state(kConv2dClass, state);
  const auto part = [&](size_t i) { return Dims(numbers.subspan(1 + i * dims, dims)); };
  return {.stride = part(0),
          .padding = part(1),
          .output_padding = part(3),
          .dilation = part(2),
          .groups = numbers[4 * dims + 1],
          .is_transposed = numbers[4 * dims + 2] != 0};
}

ValueList items_of(const Value& value, const Value& state) {
  if (const auto* const list = value.get_if<ValueList>()) return *list;
  ValueList items;
  if (const auto* const tensors = value.get_if<TensorList>()) {
    for (const Tensor& tensor : *tensors) items.push_back(tensor.defined() ? Value(tensor) : Value());
  } else if (const Dims* const numbers = value.get_if<Dims>()) {
    for (const int64_t number : *numbers) items.emplace_back(number);
  } else {
    fail_state(kConv2dClass, state);
  }
  return items;
}

const Tensor& weight_of(const Value& value, const Value& state) {
  if (!value.is_tensor()) fail_state(kConv2dClass, state);
  return value.tensor();
}

Dims numbers_in(const Value& list, const Value& state) {
  Dims numbers;
  for (const Value& number : items_of(list, state)) {
    if (const Tensor* const tensor = number.get_if<Tensor>()) {
      numbers.push_back(item(*tensor).to_int());
    } else if (number.is<int64_t>()) {
      numbers.push_back(number.get<int64_t>());
    } else {
      fail_state(kConv2dClass, state);
    }
  }
  return numbers;
}

}  // namespace

Object convolution_from_state(const Value& state) {
  const ValueList parts = items_of(state, state);
  if (parts.size() == 3 && parts[0].is<std::string>() && parts[0].get<std::string>() == "2") {
    const ValueList needed = items_of(parts[1], state);
    const ValueList others = items_of(parts[2], state);
    if (needed.size() != 2 || others.size() != 1 || !needed[0].is_tensor()) fail_state(kConv2dClass, state);
    const std::vector<int64_t> numbers = numbers_of<int64_t>(needed[0].tensor());
    return make_convolution(weight_of(needed[1], state), state_tensor(kConv2dClass, others[0]),
                            parameters_of(numbers, state));
  }
  if (parts.size() == 3 && parts[0].is<int64_t>() && parts[0].get<int64_t>() == 3) {
    const ValueList tensors = items_of(parts[2], state);
    const Dims numbers = numbers_in(parts[1], state);
    // An element in front is kept for what may come.
    if (tensors.size() != 3) fail_state(kConv2dClass, state);
    return make_convolution(weight_of(tensors[1], state), state_tensor(kConv2dClass, tensors[2]),
                            parameters_of(numbers, state));
  }
  if (parts.size() == 6) {
    PackedConvolution::Parameters parameters;
    parameters.stride = numbers_in(parts[2], state);
    parameters.padding = numbers_in(parts[3], state);
    parameters.dilation = numbers_in(parts[4], state);
    parameters.output_padding = Dims(parameters.stride.size(), 0);
    const Dims groups = numbers_in(ValueList{parts[5]}, state);
    parameters.groups = groups[0];
    return make_convolution(weight_of(parts[0], state), state_tensor(kConv2dClass, parts[1]),
                            std::move(parameters));
  }
  fail_state(kConv2dClass, state);
}

Value convolution_state(const Object& object) {
  const Value boxed(object);
  const PackedConvolution& packed = packed_convolution(boxed);
  const PackedConvolution::Parameters& parameters = packed.parameters;
  std::vector<int16_t> numbers = {static_cast<int16_t>(parameters.dims())};
  for (const Dims* const part :
       {&parameters.stride, &parameters.padding, &parameters.dilation, &parameters.output_padding}) {
    for (const int64_t number : *part) numbers.push_back(static_cast<int16_t>(number));
  }
  numbers.push_back(static_cast<int16_t>(parameters.groups));
  numbers.push_back(parameters.is_transposed ? 1 : 0);
  Tensor config = Tensor::zeros(DType::kInt16, Dims{static_cast<int64_t>(numbers.size())});
  std::ranges::copy(numbers, config.mutable_data<int16_t>());
  return ValueList{"2", ValueList{config, packed.weight},
                   ValueList{packed.bias.defined() ? Value(packed.bias) : Value()}};
}

}  // namespace flambeau::ops
