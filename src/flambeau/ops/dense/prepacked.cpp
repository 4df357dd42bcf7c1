#include "flambeau/ops/dense/prepacked.h"

#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/quantized/packed.h"

namespace flambeau::ops {
namespace {

using OptionalScalar = std::optional<Scalar>;

struct PrepackedLayer {
  Tensor weight;
  Tensor bias;  // undefined for none
  Dims stride{}, padding{}, output_padding{}, dilation{};
  int64_t groups = 1;
  OptionalScalar least{}, most{};
};

Tensor bias_or_undefined(const Tensor* bias) { return bias == nullptr ? Tensor() : *bias; }
Value bias_value(const PrepackedLayer& layer) { return layer.bias.defined() ? Value(layer.bias) : Value(); }

Object made(std::string_view class_name, PrepackedLayer layer) {
  return make_object<PrepackedLayer>(class_name, std::move(layer));
}

Object prepack_linear(const Tensor& weight, const Tensor* bias, OptionalScalar least, OptionalScalar most) {
  PrepackedLayer layer{.weight = weight, .bias = bias_or_undefined(bias)};
  layer.least = least;
  layer.most = most;
  return made(kPrepackedLinearClass, std::move(layer));
}
Object prepack_convolution(const Tensor& weight, const Tensor* bias, std::span<const Size> stride,
                           std::span<const Size> padding, std::span<const Size> dilation, Size groups,
                           OptionalScalar least, OptionalScalar most) {
  PrepackedLayer layer{.weight = weight, .bias = bias_or_undefined(bias)};
  layer.stride = Dims(plain(stride));
  layer.padding = Dims(plain(padding));
  layer.dilation = Dims(plain(dilation));
  layer.groups = groups.value();
  layer.least = least;
  layer.most = most;
  return made(kPrepackedConvolutionClass, std::move(layer));
}
Object prepack_transpose(const Tensor& weight, const Tensor* bias, std::span<const Size> stride,
                         std::span<const Size> padding, std::span<const Size> output_padding,
                         std::span<const Size> dilation, Size groups, OptionalScalar least,
                         OptionalScalar most) {
  PrepackedLayer layer{.weight = weight, .bias = bias_or_undefined(bias)};
  layer.stride = Dims(plain(stride));
  layer.padding = Dims(plain(padding));
  layer.output_padding = Dims(plain(output_padding));
  layer.dilation = Dims(plain(dilation));
  layer.groups = groups.value();
  layer.least = least;
  layer.most = most;
  return made(kPrepackedTransposeClass, std::move(layer));
}

Tensor kept_between(Context& context, const PrepackedLayer& layer, const Tensor& result) {
  if (!layer.least && !layer.most) return result;
  const auto bound = [](const OptionalScalar& scalar) { return scalar ? Value(*scalar) : Value(); };
  return call(context, "aten::clamp", result, bound(layer.least), bound(layer.most));
}

Tensor run_linear_layer(Context& context, const Tensor& input, const Value& packed) {
  const auto& layer = packed_object<PrepackedLayer>(packed, kPrepackedLinearClass);
  return kept_between(context, layer, call(context, "aten::linear", input, layer.weight, bias_value(layer)));
}
Tensor run_convolution_layer(Context& context, const Tensor& input, const Value& packed) {
  const auto& layer = packed_object<PrepackedLayer>(packed, kPrepackedConvolutionClass);
  return kept_between(context, layer,
                      call(context, "aten::conv2d", input, layer.weight, bias_value(layer), layer.stride,
                           layer.padding, layer.dilation, layer.groups));
}
Tensor run_transpose_layer(Context& context, const Tensor& input, const Value& packed) {
  const auto& layer = packed_object<PrepackedLayer>(packed, kPrepackedTransposeClass);
  return kept_between(context, layer,
                      call(context, "aten::conv_transpose2d.input", input, layer.weight, bias_value(layer),
                           layer.stride, layer.padding, layer.output_padding, layer.groups, layer.dilation));
}

// ---- how files keep them
Dims numbers_in(std::string_view class_name, const Value& value, const Value& state) {
  if (const Dims* const numbers = value.get_if<Dims>()) return *numbers;
  const auto* const list = value.get_if<ValueList>();
  if (list == nullptr) fail_state(class_name, state);
  Dims numbers;
  for (const Value& item : *list) {
    if (!item.is<int64_t>()) fail_state(class_name, state);
    numbers.push_back(item.get<int64_t>());
  }
  return numbers;
}
int64_t number_in(std::string_view class_name, const Value& value, const Value& state) {
  if (!value.is<int64_t>()) fail_state(class_name, state);
  return value.get<int64_t>();
}
OptionalScalar bound_in(std::string_view class_name, const Value& value, const Value& state) {
  if (value.is_none()) return {};
  if (!value.is_number()) fail_state(class_name, state);
  return value.scalar();
}

// The weight, the bias, lists of numbers and how many groups there are, what results are kept between.
Object layer_from_state(std::string_view class_name, size_t lists, const Value& state) {
  const auto* const parts = state.get_if<ValueList>();
  const size_t numbers = lists == 0 ? 0 : lists + 1;
  if (parts == nullptr || parts->size() != numbers + 4 || !(*parts)[0].is_tensor())
    fail_state(class_name, state);
  PrepackedLayer layer{.weight = (*parts)[0].tensor(), .bias = state_tensor(class_name, (*parts)[1])};
  if (!layer.weight.defined()) fail_state(class_name, state);
  if (lists != 0) {
    const auto list = [&](size_t i) { return numbers_in(class_name, (*parts)[2 + i], state); };
    layer.stride = list(0);
    layer.padding = list(1);
    if (lists == 4) layer.output_padding = list(2);
    layer.dilation = list(lists - 1);
    layer.groups = number_in(class_name, (*parts)[2 + lists], state);
  }
  layer.least = bound_in(class_name, (*parts)[2 + numbers], state);
  layer.most = bound_in(class_name, (*parts)[3 + numbers], state);
  return made(class_name, std::move(layer));
}
Object linear_layer_from(const Value& state) { return layer_from_state(kPrepackedLinearClass, 0, state); }
Object convolution_layer_from(const Value& state) {
  return layer_from_state(kPrepackedConvolutionClass, 3, state);
}
Object transpose_layer_from(const Value& state) {
  return layer_from_state(kPrepackedTransposeClass, 4, state);
}

Value layer_state(const Object& object) {
  const Value boxed(object);
  const auto& layer = packed_object<PrepackedLayer>(boxed, object.class_name);
  const auto bound = [](const OptionalScalar& scalar) { return scalar ? Value(*scalar) : Value(); };
  ValueList state = {layer.weight, bias_value(layer)};
  if (object.class_name != kPrepackedLinearClass) {
    state.emplace_back(layer.stride);
    state.emplace_back(layer.padding);
    if (object.class_name == kPrepackedTransposeClass) state.emplace_back(layer.output_padding);
    state.emplace_back(layer.dilation);
    state.emplace_back(layer.groups);
  }
  state.push_back(bound(layer.least));
  state.push_back(bound(layer.most));
  return state;
}

// The sizes of the weight, and of the bias where there is one.
Value sizes_of_layer(const Value& packed) {
  const Object* const object = packed.get_if<Object>();
  if (object == nullptr) fail_object(kPrepackedConvolutionClass, packed);
  const bool is_linear = object->class_name == kPrepackedLinearClass;
  const auto& layer =
      packed_object<PrepackedLayer>(packed, is_linear ? kPrepackedLinearClass : kPrepackedConvolutionClass);
  const Value bias = layer.bias.defined() ? Value(layer.bias.sizes()) : Value();
  if (is_linear) return ValueList{layer.weight.sizes(), bias};
  return ValueList{layer.weight.sizes(), bias, layer.stride, layer.padding, layer.dilation, layer.groups};
}

// Scripts unpack what files keep.
ObjectClass layer_class(std::string_view name, std::string_view parts,
                        Object (*from_state)(const Value& state)) {
  return {.name = std::string(name),
          .state_type = std::string(parts),
          .from_state = from_state,
          .state = layer_state,
          .methods = {{.name = "unpack",
                       .result = std::string(parts),
                       .function = [](const Object& object, std::span<const Value> /*arguments*/) {
                         return layer_state(object);
                       }}}};
}
ObjectClass linear_layer_class() {
  return layer_class(kPrepackedLinearClass,
                     "Tuple[Tensor, Optional[Tensor], Optional[number], Optional[number]]",
                     linear_layer_from);
}
ObjectClass convolution_layer_class() {
  return layer_class(
      kPrepackedConvolutionClass,
      "Tuple[Tensor, Optional[Tensor], List[int], List[int], List[int], int, Optional[number], "
      "Optional[number]]",
      convolution_layer_from);
}
ObjectClass transpose_layer_class() {
  return layer_class(kPrepackedTransposeClass,
                     "Tuple[Tensor, Optional[Tensor], List[int], List[int], List[int], List[int], int, "
                     "Optional[number], Optional[number]]",
                     transpose_layer_from);
}

}  // namespace

void define_prepacked(Library& library) {
  library.define_class(kPrepackedLinearClass, linear_layer_class);
  library.define_class(kPrepackedConvolutionClass, convolution_layer_class);
  library.define_class(kPrepackedTransposeClass, transpose_layer_class);
#define FLAMBEAU_CONTEXT "__torch__.torch.classes.xnnpack."
  library
      .define(
          "prepacked::conv2d_clamp_prepack(Tensor W, Tensor? B, int[2] stride, int[2] padding, int[2] "
          "dilation, "
          "int groups, Scalar? output_min=None, Scalar? output_max=None) -> " FLAMBEAU_CONTEXT
          "Conv2dOpContext")
      .function<prepack_convolution>();
  library
      .define("prepacked::conv2d_clamp_run(Tensor X, " FLAMBEAU_CONTEXT
              "Conv2dOpContext W_prepack) -> Tensor Y")
      .function<run_convolution_layer>();
  library
      .define(
          "prepacked::conv2d_transpose_clamp_prepack(Tensor W, Tensor? B, int[2] stride, int[2] padding, "
          "int[2] output_padding, int[2] dilation, int groups, Scalar? output_min=None, Scalar? "
          "output_max=None) -> " FLAMBEAU_CONTEXT "TransposeConv2dOpContext")
      .function<prepack_transpose>();
  library
      .define("prepacked::conv2d_transpose_clamp_run(Tensor X, " FLAMBEAU_CONTEXT
              "TransposeConv2dOpContext W_prepack) -> Tensor Y")
      .function<run_transpose_layer>();
  library
      .define(
          "prepacked::linear_clamp_prepack(Tensor W, Tensor? B=None, Scalar? output_min=None, Scalar? "
          "output_max=None) -> " FLAMBEAU_CONTEXT "LinearOpContext")
      .function<prepack_linear>();
  library
      .define("prepacked::linear_clamp_run(Tensor X, " FLAMBEAU_CONTEXT
              "LinearOpContext W_prepack) -> Tensor Y")
      .function<run_linear_layer>();
  library.define("prepacked::unpack_prepacked_sizes_conv2d(Any W_prepack) -> Any").function<sizes_of_layer>();
  library.define("prepacked::unpack_prepacked_sizes_linear(Any W_prepack) -> Any").function<sizes_of_layer>();
#undef FLAMBEAU_CONTEXT
}

}  // namespace flambeau::ops
