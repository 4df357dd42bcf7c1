#include "flambeau/ops/quantized/object_methods.h"

#include <array>

#include "flambeau/ops/dense/prepacked.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/quantized/packed_convolution.h"

namespace flambeau::ops {
namespace {

Value maybe_tensor(const Tensor& tensor) { return tensor.defined() ? Value(tensor) : Value(); }

const PackedLinear& linear_inside(const Object& object) {
  return packed_object<PackedLinear>(Value(object), kLinearClass);
}
Value linear_bias(const Library& /*library*/, const Object& object) {
  return maybe_tensor(linear_inside(object).bias);
}
Value linear_parts(const Library& /*library*/, const Object& object) {
  const PackedLinear& linear = linear_inside(object);
  return ValueList{linear.weight, maybe_tensor(linear.bias)};
}

Value convolution_weight(const Library& /*library*/, const Object& object) {
  return packed_convolution(Value(object)).weight;
}
Value convolution_bias(const Library& /*library*/, const Object& object) {
  return maybe_tensor(packed_convolution(Value(object)).bias);
}
Value convolution_parts(const Library& /*library*/, const Object& object) {
  const PackedConvolution& convolution = packed_convolution(Value(object));
  return ValueList{convolution.weight, maybe_tensor(convolution.bias)};
}
template <Dims PackedConvolution::Parameters::* kPart>
Value convolution_numbers(const Library& /*library*/, const Object& object) {
  return packed_convolution(Value(object)).parameters.*kPart;
}
Value convolution_groups(const Library& /*library*/, const Object& object) {
  return packed_convolution(Value(object)).parameters.groups;
}
Value convolution_transpose(const Library& /*library*/, const Object& object) {
  return packed_convolution(Value(object)).parameters.is_transposed;
}

Value object_state(const Library& library, const Object& object) {
  const ObjectClass* const type = library.find_class(object.class_name);
  if (type == nullptr) fail_object(object.class_name, Value(object));
  return type->state(object);
}

// A version, the weight in a list, no numbers, how many bits a number has.
ValueList embedding_parts(const Library& library, const Object& object) {
  Value state = object_state(library, object);
  return state.get<ValueList>();
}
Value embedding_version(const Library& library, const Object& object) {
  return embedding_parts(library, object).at(0);
}
Value embedding_weight_of(const Library& library, const Object& object) {
  return embedding_parts(library, object).at(1).get<TensorList>().at(0);
}
Value embedding_bits(const Library& library, const Object& object) {
  return embedding_parts(library, object).at(3).get<Dims>()[0];
}

struct MethodEntry {
  std::string_view type;
  std::string_view name;
  ObjectMethod method;
};
using LayerNumbers = PackedConvolution::Parameters;
constexpr auto kMethods = std::to_array<MethodEntry>({
    {kLinearClass, "bias", linear_bias},
    {kLinearClass, "unpack", linear_parts},
    {kLinearClass, "__getstate__", object_state},
    {kConv2dClass, "weight", convolution_weight},
    {kConv2dClass, "bias", convolution_bias},
    {kConv2dClass, "unpack", convolution_parts},
    {kConv2dClass, "stride", convolution_numbers<&LayerNumbers::stride>},
    {kConv2dClass, "padding", convolution_numbers<&LayerNumbers::padding>},
    {kConv2dClass, "output_padding", convolution_numbers<&LayerNumbers::output_padding>},
    {kConv2dClass, "dilation", convolution_numbers<&LayerNumbers::dilation>},
    {kConv2dClass, "groups", convolution_groups},
    {kConv2dClass, "transpose", convolution_transpose},
    {kConv2dClass, "__getstate__", object_state},
    {kEmbeddingClass, "bit_rate", embedding_bits},
    {kEmbeddingClass, "unpack", embedding_weight_of},
    {kEmbeddingClass, "version", embedding_version},
    {kEmbeddingClass, "__getstate__", object_state},
    {kCellClass, "__getstate__", object_state},
    {kPrepackedLinearClass, "unpack", object_state},
    {kPrepackedLinearClass, "__getstate__", object_state},
    {kPrepackedConvolutionClass, "unpack", object_state},
    {kPrepackedConvolutionClass, "__getstate__", object_state},
    {kPrepackedTransposeClass, "unpack", object_state},
    {kPrepackedTransposeClass, "__getstate__", object_state},
});

}  // namespace

ObjectMethod find_object_method(std::string_view class_name, std::string_view method) {
  // Convolutions in three dimensions have what those in two have.
  const std::string_view type = class_name == kConv3dClass ? kConv2dClass : class_name;
  for (const MethodEntry& entry : kMethods) {
    if (entry.type == type && entry.name == method) return entry.method;
  }
  return nullptr;
}

}  // namespace flambeau::ops
