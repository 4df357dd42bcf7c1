// Linear layers over packed weights: quantized in and out, with real numbers in and out, in half precision.
#include <fmt/format.h>

#include <cstring>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/ops/quantized/in_programs.h"
#include "flambeau/ops/view/rules.h"

namespace flambeau::ops {

PackedLinear::PackedLinear(Tensor given_weight, Tensor given_bias)
    : weight(std::move(given_weight)), bias(std::move(given_bias)) {
  if (weight.dim() != 2)
    fail_view(fmt::format("the weight of a linear layer is a matrix, not {}", weight.summary()));
  const int64_t rows = weight.sizes()[0];
  const int64_t depth = weight.sizes()[1];
  if (bias.defined() && (bias.dim() != 1 || bias.sizes()[0] != rows || bias.dtype() != DType::kFloat32))
    fail_view(fmt::format("the bias of {} is float32[{}], not {}", weight.summary(), rows, bias.summary()));
  is_half = !is_quantized(weight);
  if (is_half) return;
  if (weight.dtype() != DType::kQInt8) fail_view(fmt::format("weights are qint8, not {}", weight.summary()));
  scales = std::make_unique<RowScales>(weight, 0, rows);
  const Tensor integers = integers_of(weight.to_contiguous());
  matrix = IntegerMatrix(rows, depth);
  if (rows == 0 || depth == 0) return;
  const auto* const q = integers.data<int8_t>();
  for (int64_t r = 0; r < rows; ++r) {
    const auto zero_point = static_cast<int32_t>(scales->zero_points[static_cast<size_t>(r)]);
    int16_t* const to = matrix.row(r);
    for (int64_t k = 0; k < depth; ++k) to[k] = static_cast<int16_t>(q[r * depth + k] - zero_point);
  }
}

namespace {

const PackedLinear& packed_linear(const Value& value) {
  return packed_object<PackedLinear>(value, kLinearClass);
}

Tensor tensor_or_none(const Tensor* tensor) { return tensor == nullptr ? Tensor() : *tensor; }

Object prepack(const Tensor& weight, const Tensor* bias) {
  return make_object<PackedLinear>(kLinearClass, weight, tensor_or_none(bias));
}
// As the numbers of half precision that they become.
Object prepack_half(Context& context, const Tensor& weight, const Tensor* bias) {
  const Tensor real = parts::to_dtype(context, weight, DType::kFloat32);
  constexpr double kMostHalf = 65504;
  const Tensor clamped = call(context, "aten::clamp", real, -kMostHalf, kMostHalf);
  const Tensor half = parts::to_dtype(context, clamped, DType::kFloat16);
  return make_object<PackedLinear>(kLinearClass, parts::to_dtype(context, half, DType::kFloat32),
                                   tensor_or_none(bias));
}
std::tuple<Tensor, Value> unpack(const Value& value) {
  const PackedLinear& linear = packed_linear(value);
  return {linear.weight, linear.bias.defined() ? Value(linear.bias) : Value()};
}

void check_depth(const PackedLinear& linear, const Tensor& input) {
  const int64_t depth = linear.weight.sizes()[1];
  if (input.dim() == 0 || input.sizes().back() != depth)
    fail_view(fmt::format("the layer takes rows of {} numbers, not {}", depth, input.summary()));
  if (linear.is_half) fail_view("the layer's weight is of half precision, not quantized");
}

Dims result_sizes(const PackedLinear& linear, const Tensor& input) {
  Dims sizes = input.sizes();
  sizes.back() = linear.weight.sizes()[0];
  return sizes;
}

// Rows of 8-bit integers, less their zero point.
template <typename Q>
auto row_filler(const Q* q, int64_t depth, int32_t zero_point) {
  return [=](int64_t row, int16_t* to) {
    for (int64_t k = 0; k < depth; ++k) to[k] = static_cast<int16_t>(q[row * depth + k] - zero_point);
  };
}

Tensor run_linear(Context& context, const Tensor& input, const PackedLinear& linear, double scale,
                  int64_t zero_point, bool has_relu) {
  if (lacks_elements(input)) {
    const Tensor real = linear_in_program(context, linear, dequantized(context, input));
    return quantize(context, has_relu ? call(context, "aten::relu", real) : real, input.dtype(),
                    checked_quantizer(scale, zero_point, input.dtype()));
  }
  check_depth(linear, input);
  const Quantizer& quantizer = per_tensor(input);
  if (input.dtype() != DType::kQUInt8)
    fail_view(fmt::format("the layer takes tensors of quint8, not {}", input.summary()));
  const Quantizer result = checked_quantizer(scale, zero_point, input.dtype());
  const Tensor packed = call(context, "aten::contiguous", input);
  const Tensor out =
      fresh_quantized(context, contiguous(input.dtype(), result_sizes(linear, input)), input.dtype(), result);
  if (out.element_count() == 0) return out;
  const Requantization finish(quantizer, *linear.scales, linear.bias, result, input.dtype(), has_relu);
  const int64_t columns = linear.matrix.rows;
  uint8_t* const to = out.mutable_data();
  const auto point = static_cast<int32_t>(quantizer.zero_point);
  IntegerProduct product{
      .rows = out.element_count() / columns, .right = &linear.matrix, .fill = {}, .take = {}};
  product.fill = row_filler(packed.data<uint8_t>(), linear.matrix.depth, point);
  product.take = [&](int64_t row, const int32_t* sums) { finish(sums, 0, columns, to + row * columns); };
  run_product(context, product);
  return out;
}

Tensor linear(Context& context, const Tensor& input, const Value& packed, double scale, Size zero_point) {
  return run_linear(context, input, packed_linear(packed), scale, zero_point.value(), false);
}
Tensor linear_relu(Context& context, const Tensor& input, const Value& packed, double scale,
                   Size zero_point) {
  return run_linear(context, input, packed_linear(packed), scale, zero_point.value(), true);
}
Tensor linear_leaky_relu(Context& context, const Tensor& input, const Value& packed, double scale,
                         Size zero_point, double negative_slope) {
  const Tensor real = linear_in_program(context, packed_linear(packed), dequantized(context, input));
  return quantize(context, call(context, "aten::leaky_relu", real, negative_slope), input.dtype(),
                  checked_quantizer(scale, zero_point.value(), input.dtype()));
}
Tensor linear_tanh(Context& context, const Tensor& input, const Value& packed, double scale,
                   Size zero_point) {
  const Tensor real = linear_in_program(context, packed_linear(packed), dequantized(context, input));
  return quantize(context, call(context, "aten::tanh", real), input.dtype(),
                  checked_quantizer(scale, zero_point.value(), input.dtype()));
}

Tensor relu_of(Context& context, const Tensor& real) { return call(context, "aten::relu", real); }

Tensor linear_real(Context& context, const Tensor& input, const Value& packed, bool reduce_range) {
  return linear_dynamic(context, packed_linear(packed), input, reduce_range);
}
Tensor linear_real_relu(Context& context, const Tensor& input, const Value& packed, bool reduce_range) {
  return relu_of(context, linear_real(context, input, packed, reduce_range));
}

// Real sums of integers that a given scale makes of a real input.
Tensor linear_with(Context& context, const PackedLinear& linear, const Tensor& input, const Quantizer& by) {
  if (lacks_elements(input))
    return linear_in_program(context, linear,
                             dequantized(context, quantize(context, input, DType::kQUInt8, by)));
  check_depth(linear, input);
  const Tensor integers = quantize(context, call(context, "aten::contiguous", input), DType::kQUInt8, by);
  const Tensor out = context.allocate(DType::kFloat32, result_sizes(linear, input));
  if (out.element_count() == 0) return out;
  const int64_t columns = linear.matrix.rows;
  const std::vector<float> bias =
      linear.bias.defined() ? numbers_of<float>(linear.bias) : std::vector<float>();
  std::vector<float> scales = linear.scales->scales;
  for (float& scale : scales) scale *= static_cast<float>(by.scale);
  auto* const to = out.mutable_data<float>();
  IntegerProduct product{
      .rows = out.element_count() / columns, .right = &linear.matrix, .fill = {}, .take = {}};
  product.fill =
      row_filler(integers.data<uint8_t>(), linear.matrix.depth, static_cast<int32_t>(by.zero_point));
  product.take = [&](int64_t row, const int32_t* sums) {
    float* const y = to + row * columns;
    for (int64_t c = 0; c < columns; ++c) {
      const auto i = static_cast<size_t>(c);
      y[c] = static_cast<float>(sums[c]) * scales[i] + (bias.empty() ? 0.0F : bias[i]);
    }
  };
  run_product(context, product);
  return out;
}

Tensor linear_half(Context& context, const Tensor& input, const Value& packed) {
  const PackedLinear& layer = packed_linear(packed);
  if (!layer.is_half) fail_view("the layer's weight is quantized, not of half precision");
  return call(context, "aten::linear", input, layer.weight,
              layer.bias.defined() ? Value(layer.bias) : Value());
}
Tensor linear_half_relu(Context& context, const Tensor& input, const Value& packed) {
  return relu_of(context, linear_half(context, input, packed));
}
Tensor linear_half_unpacked(Context& context, const Tensor& input, const Tensor& weight, const Tensor* bias) {
  return linear_half(context, input, prepack_half(context, weight, bias));
}

Tensor linear_given(Context& context, const Tensor& input, double scale, Size zero_point,
                    const Value& packed) {
  return linear_with(context, packed_linear(packed), input,
                     checked_quantizer(scale, zero_point.value(), DType::kQUInt8));
}
Tensor linear_given_relu(Context& context, const Tensor& input, double scale, Size zero_point,
                         const Value& packed) {
  return relu_of(context, linear_given(context, input, scale, zero_point, packed));
}

Object linear_from_state(const Value& state) {
  const auto* const list = state.get_if<ValueList>();
  if (const auto* const tensors = state.get_if<TensorList>(); tensors != nullptr && tensors->size() == 2)
    return make_object<PackedLinear>(kLinearClass, (*tensors)[0], (*tensors)[1]);
  if (list == nullptr || list->size() != 2 || !list->front().is_tensor()) fail_state(kLinearClass, state);
  return make_object<PackedLinear>(kLinearClass, (*list)[0].tensor(), state_tensor(kLinearClass, (*list)[1]));
}
Value linear_state(const Object& object) {
  const Value boxed(object);
  const PackedLinear& layer = packed_linear(boxed);
  return ValueList{layer.weight, layer.bias.defined() ? Value(layer.bias) : Value()};
}

Value linear_parts(const Object& object, std::span<const Value> /*arguments*/) {
  return linear_state(object);
}
Value linear_bias(const Object& object, std::span<const Value> /*arguments*/) {
  return linear_state(object).get<ValueList>().at(1);
}
ObjectClass linear_class() {
  return {
      .name = std::string(kLinearClass),
      .state_type = "Tuple[Tensor, Optional[Tensor]]",
      .from_state = linear_from_state,
      .state = linear_state,
      .methods = {{.name = "bias", .result = "Optional[Tensor]", .function = linear_bias},
                  {.name = "unpack", .result = "Tuple[Tensor, Optional[Tensor]]", .function = linear_parts}}};
}

}  // namespace

Tensor linear_dynamic(Context& context, const PackedLinear& linear, const Tensor& input, bool reduce_range) {
  if (linear.is_half)
    return call(context, "aten::linear", input, linear.weight,
                linear.bias.defined() ? Value(linear.bias) : Value());
  if (input.dtype() != DType::kFloat32)
    fail_view(fmt::format("the layer takes tensors of float32, not {}", input.summary()));
  if (lacks_elements(input)) {
    const ChosenScale scale = chosen_in_program(context, input, reduce_range);
    return linear_in_program(context, linear, rounded_in_program(context, input, scale));
  }
  const auto [least, most] = extremes_of(context, input);
  const QuantizationParameters chosen = choose_parameters(least, most, 0, reduce_range ? 127 : 255);
  return linear_with(context, linear, input, {.scale = chosen.scale, .zero_point = chosen.zero_point});
}

void define_packed_linear(Library& library) {
  library.define_class(kLinearClass, linear_class);
#define FLAMBEAU_PACKED " __torch__.torch.classes.quantized.LinearPackedParamsBase"
  for (const char* const schema :
       {"quantized::linear_prepack(Tensor W, Tensor? B=None) ->" FLAMBEAU_PACKED " W_prepack",
        "_quantized::linear_prepack(Tensor W, Tensor? B=None) ->" FLAMBEAU_PACKED " W_prepack"})
    library.define(schema).quantized<prepack>();
  for (const char* const schema :
       {"quantized::linear_prepack_fp16(Tensor W, Tensor? B=None) ->" FLAMBEAU_PACKED " W_prepack",
        "_quantized::linear_prepack_fp16(Tensor W, Tensor? B=None) ->" FLAMBEAU_PACKED " W_prepack"})
    library.define(schema).function<prepack_half>();
  library
      .define(
          "quantized::linear_unpack("
          "__torch__.torch.classes.quantized.LinearPackedParamsBase"
          " W_prepack) -> (Tensor W_origin, Tensor? B_origin)")
      .function<unpack>();
  library
      .define(
          "quantized::linear_unpack_fp16("
          "__torch__.torch.classes.quantized.LinearPackedParamsBase"
          " W_prepack) -> (Tensor W_origin, Tensor? B_origin)")
      .function<unpack>();
  for (const char* const schema : {"quantized::linear(Tensor X," FLAMBEAU_PACKED
                                   " W_prepack, float Y_scale_i, int Y_zero_point_i) -> Tensor Y",
                                   "_quantized::linear(Tensor X," FLAMBEAU_PACKED
                                   " W_prepack, float Y_scale_i, int Y_zero_point_i) -> Tensor Y"})
    library.define(schema).quantized<linear>();
  library
      .define("quantized::linear_relu(Tensor X," FLAMBEAU_PACKED
              " W_prepack, float Y_scale_i, int Y_zero_point_i) -> Tensor Y")
      .quantized<linear_relu>();
  library
      .define("quantized::linear_leaky_relu(Tensor X," FLAMBEAU_PACKED
              " W_prepack, float Y_scale_i, int Y_zero_point_i, float negative_slope) -> Tensor Y")
      .quantized<linear_leaky_relu>();
  library
      .define("quantized::linear_tanh(Tensor X," FLAMBEAU_PACKED
              " W_prepack, float Y_scale_i, int Y_zero_point_i) -> Tensor Y")
      .quantized<linear_tanh>();
  for (const char* const schema : {"quantized::linear_dynamic(Tensor X," FLAMBEAU_PACKED
                                   " W_prepack, bool reduce_range=False) -> Tensor Y",
                                   "_quantized::linear_dynamic(Tensor X," FLAMBEAU_PACKED
                                   " W_prepack, bool reduce_range=False) -> Tensor Y"})
    library.define(schema).function<linear_real>();
  library
      .define("quantized::linear_relu_dynamic(Tensor X," FLAMBEAU_PACKED
              " W_prepack, bool reduce_range=False) -> Tensor Y")
      .function<linear_real_relu>();
  library.define("quantized::linear_dynamic_fp16(Tensor X," FLAMBEAU_PACKED " W_prepack) -> Tensor Y")
      .function<linear_half>();
  library.define("quantized::linear_relu_dynamic_fp16(Tensor X," FLAMBEAU_PACKED " W_prepack) -> Tensor Y")
      .function<linear_half_relu>();
  library
      .define(
          "quantized::linear_dynamic_fp16_unpacked_weight(Tensor X, Tensor weight, Tensor? bias) -> Tensor Y")
      .function<linear_half_unpacked>();
  library
      .define(
          "quantized::linear_with_input_q_dq_qweight_dq_output_fp32(Tensor X, float X_scale, int "
          "X_zero_point," FLAMBEAU_PACKED " W_prepack) -> Tensor Y")
      .function<linear_given>();
  library
      .define(
          "quantized::linear_with_input_q_dq_qweight_dq_relu_output_fp32(Tensor X, float X_scale, int "
          "X_zero_point," FLAMBEAU_PACKED " W_prepack) -> Tensor Y")
      .function<linear_given_relu>();
#undef FLAMBEAU_PACKED
}

}  // namespace flambeau::ops
