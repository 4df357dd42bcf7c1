#include "flambeau/formats/flatbuffer/flat_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/base/work.h"
#include "flambeau/formats/flatbuffer/flat_function.h"
#include "flambeau/script/bytecode/types.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

using flat::DictFields;
using flat::ItemsFields;
using flat::ObjectFields;
using flat::ObjectKind;
using flat::QuantizerFields;
using flat::TensorFields;
using flat::ValueFields;
using flat::ValueKind;
using flatbuffer::Numbers;
using flatbuffer::Table;

// Modules in modules, lists in lists: real files stay far below.
constexpr uint16_t kMostFlatNesting = 400;

ValueKind kind_of_value(const Table& value) {
  const auto kind = value.number<uint8_t>(ValueFields::kKind, "the kind of a value");
  if (kind >= flat::kValueKinds) corrupt(fmt::format("a value is of kind {}, which is not known", kind));
  return static_cast<ValueKind>(kind);
}

template <typename T>
T struct_of(const Table& value, size_t index = 0, size_t count = 1) {
  const ByteSpan bytes =
      value.structure(ValueFields::kValue, static_cast<uint32_t>(sizeof(T) * count), sizeof(T), "a number");
  return load_le<T>(bytes.data() + index * sizeof(T));
}

template <typename T, typename As>
IValue number_list(const Table& list, const Type& element) {
  const Numbers<T> numbers = list.numbers<T>(ItemsFields::kItems, "the items of a list");
  std::vector<IValue> items;
  items.reserve(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) items.emplace_back(static_cast<As>(numbers[i]));
  return IValue::list(element, std::move(items));
}

Dims dims_of(const Numbers<int32_t>& numbers) {
  Dims dims;
  for (size_t i = 0; i < numbers.size(); ++i) dims.push_back(numbers[i]);
  return dims;
}

}  // namespace

bytecode::Program read_flat_program(const FlatModule& module) {
  bytecode::Program program;
  program.version = flat::kVersion;
  program.operator_version = module.operator_version();
  for (size_t i = 0; i < module.mobile_value_count(); ++i) {
    const Table value = module.values()[i];
    if (kind_of_value(value) != ValueKind::kFunction) continue;
    program.functions.push_back(
        read_flat_function(value.table(ValueFields::kValue, "a function"), module.object_types().size()));
  }
  return program;
}

void FlatValues::read(size_t count, bytecode::Program* program) {
  size_t function = 0;
  values_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    with_location("value", std::to_string(i), [&] {
      poll_work();
      depth_ = 0;
      const Table value = module_.values()[i];
      IValue made;
      if (kind_of_value(value) != ValueKind::kFunction) {
        made = make(value);
      } else if (program != nullptr) {
        fill_flat_function(
            value.table(ValueFields::kValue, "a function"), [&](uint32_t number) { return at(number); },
            program->functions.at(function++));
      }
      values_.push_back(std::move(made));
      depths_.push_back(depth_);
    });
  }
}

const IValue& FlatValues::at(uint64_t number) const {
  if (number >= values_.size()) {
    corrupt(number < module_.values().size()
                ? fmt::format("value {} is referred to before it is there", number)
                : fmt::format("value {} of {} is referred to", number, module_.values().size()));
  }
  return values_[number];
}

const IValue& FlatValues::part(uint64_t number) {
  const IValue& found = at(number);
  depth_ = std::max<uint16_t>(depth_, depths_[number] + 1);
  if (depth_ > kMostFlatNesting) {
    throw Error(ErrorCode::kLimit, fmt::format("values are nested more than {} deep", kMostFlatNesting));
  }
  return found;
}

Type FlatValues::type_named(std::string_view text) {
  const auto found = types_.find(text);
  if (found != types_.end()) return found->second;
  return types_.emplace(text, bytecode::parse_type_text(text, unit_)).first->second;
}

IValue FlatValues::make(const Table& value) {
  const auto table = [&](std::string_view what) { return value.table(ValueFields::kValue, what); };
  switch (kind_of_value(value)) {
    case ValueKind::kNone:
    case ValueKind::kFunction:
      return {};
    case ValueKind::kInt:
      return struct_of<int64_t>(value);
    case ValueKind::kBool:
      return struct_of<uint8_t>(value) != 0;
    case ValueKind::kFloat:
      return struct_of<double>(value);
    case ValueKind::kComplex:
      return std::complex<double>(struct_of<double>(value, 0, 2), struct_of<double>(value, 1, 2));
    case ValueKind::kTensor:
      return make_tensor(table("a tensor"), true);
    case ValueKind::kString:
      return table("a string").text(flat::TextFields::kText, "a string");
    case ValueKind::kList:
      return make_items(table("a list"), false);
    case ValueKind::kTuple:
      return make_items(table("a tuple"), true);
    case ValueKind::kDict:
      return make_dict(table("a dict"));
    case ValueKind::kObject:
      return make_object(table("an object"));
    case ValueKind::kIntList:
      return number_list<int64_t, int64_t>(table("a list"), TypeKind::kInt);
    case ValueKind::kFloatList:
      return number_list<double, double>(table("a list"), TypeKind::kFloat);
    case ValueKind::kBoolList:
      return number_list<uint8_t, bool>(table("a list"), TypeKind::kBool);
    case ValueKind::kDevice: {
      const std::string_view text = table("a device").text(flat::TextFields::kText, "a device");
      const std::optional<Device> device = parse_device(text);
      if (!device) corrupt(fmt::format("'{}' is not a device", printable(text)));
      return *device;
    }
    case ValueKind::kEnum:
      return make_enumerator(table("an enumerator"));
  }
  return {};
}

IValue FlatValues::make_items(const Table& list, bool is_tuple) {
  const auto numbers = list.numbers<uint32_t>(ItemsFields::kItems, "the items");
  if (is_tuple && numbers.empty()) return empty_tuple_;
  std::vector<IValue> items;
  items.reserve(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) items.push_back(part(numbers[i]));
  if (is_tuple) return IValue::tuple(std::move(items));
  IValue made = IValue::list(TypeKind::kAny, std::move(items));
  const std::string_view text = list.text(ItemsFields::kType, "the type of a list");
  give_type(made, type_named(text), text);
  return made;
}

IValue FlatValues::make_dict(const Table& dict) {
  const auto keys = dict.numbers<uint32_t>(DictFields::kKeys, "the keys");
  const auto values = dict.numbers<uint32_t>(DictFields::kValues, "the values");
  if (keys.size() != values.size())
    corrupt(fmt::format("a dict has {} keys and {} values", keys.size(), values.size()));
  IValue made = IValue::dict(TypeKind::kAny, TypeKind::kAny);
  for (size_t i = 0; i < keys.size(); ++i) {
    IValue key = part(keys[i]);
    made.as_dict().items.set(std::move(key), part(values[i]));
  }
  const std::string_view text = dict.text(DictFields::kType, "the type of a dict");
  give_type(made, type_named(text), text);
  return made;
}

IValue FlatValues::make_enumerator(const Table& held) {
  const std::string name(held.text(flat::EnumFields::kType, "the type of an enumerator"));
  const std::shared_ptr<Class> type = unit_.find_class(name);
  if (type == nullptr || type->kind() != ClassKind::kEnum) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("an enumerator of {}, which no code defines", printable(name)));
  }
  return ObjectMaker::enumerator(type, part(held.number<uint32_t>(flat::EnumFields::kValue, "its value")));
}

IValue FlatValues::make_object(const Table& object) {
  const FlatModule::ObjectType& known =
      module_.object_type(object.number<uint32_t>(ObjectFields::kType, "the type of an object"));
  const auto state = [&] { return part(object.number<uint32_t>(ObjectFields::kState, "a state")); };
  if (known.kind == ObjectKind::kNative || known.name.starts_with(kNativeClassPrefix))
    return objects_.make_native(known.name, state());
  const std::shared_ptr<Class> type = objects_.get_class(known.name);
  if (!type->is_module() && type->kind() != ClassKind::kPlain)
    corrupt(fmt::format("{} is no class of objects", printable(known.name)));
  IValue made = IValue::object(type);
  if (known.kind == ObjectKind::kState) {
    const auto setter = object.number<uint32_t>(ObjectFields::kSetState, "__setstate__ of an object");
    at(setter);
    if (!has_state_methods(*type))
      corrupt(fmt::format("{} has no __setstate__ and __getstate__", printable(known.name)));
    objects_.set_state(made, state());
    return made;
  }
  if (known.kind != ObjectKind::kFields)
    corrupt(fmt::format("nothing says what objects of {} hold", printable(known.name)));
  const auto attributes = object.numbers<uint32_t>(ObjectFields::kAttributes, "the attributes of an object");
  if (attributes.size() != known.attributes.size()) {
    corrupt(fmt::format("an object of {} has {} attributes of {}", printable(known.name), attributes.size(),
                        known.attributes.size()));
  }
  std::vector<bool> is_set(type->attributes.size());
  for (size_t i = 0; i < attributes.size(); ++i) {
    const std::optional<size_t> slot = type->find_attribute(known.attributes[i]);
    if (!slot) continue;  // code that was edited may no longer have it
    is_set[*slot] = true;
    made.as_object().slots.at(*slot) = part(attributes[i]);
  }
  const auto missing = std::ranges::find(is_set, false);
  if (missing != is_set.end()) {
    corrupt(fmt::format("an object of {} has no attribute '{}'", printable(known.name),
                        printable(type->attributes[static_cast<size_t>(missing - is_set.begin())].name)));
  }
  return made;
}

Tensor FlatValues::make_tensor(const Table& tensor, bool may_be_quantized) {
  const auto number = tensor.number<int8_t>(TensorFields::kDType, "the type of a tensor");
  const std::optional<DType> dtype = dtype_from_number(number);
  if (!dtype) corrupt(fmt::format("{} is the number of no element type", number));
  Geometry geometry;
  geometry.sizes = dims_of(tensor.numbers<int32_t>(TensorFields::kSizes, "the sizes"));
  geometry.strides = dims_of(tensor.numbers<int32_t>(TensorFields::kStrides, "the strides"));
  geometry.offset = tensor.number<int32_t>(TensorFields::kOffset, "the offset of a tensor");
  if (geometry.sizes.size() != geometry.strides.size()) {
    corrupt(
        fmt::format("a tensor has {} sizes and {} strides", geometry.sizes.size(), geometry.strides.size()));
  }
  const auto storage = tensor.number<uint32_t>(TensorFields::kStorage, "the storage of a tensor");
  Tensor made = Tensor::strided(*dtype, std::move(geometry), module_.storage(storage));
  if (const std::optional<Table> held = tensor.find_table(TensorFields::kQuantizer, "a quantizer")) {
    if (!may_be_quantized) corrupt("the scales of a quantized tensor are quantized");
    Quantizer quantizer;
    const auto scheme = held->number<int8_t>(QuantizerFields::kScheme, "the scheme of a quantizer");
    quantizer.scheme = static_cast<Quantizer::Scheme>(scheme);
    const bool is_known = quantizer.scheme == Quantizer::Scheme::kPerTensorAffine ||
                          quantizer.scheme == Quantizer::Scheme::kPerChannelAffine ||
                          quantizer.scheme == Quantizer::Scheme::kPerChannelAffineFloatQParams;
    if (!is_known) corrupt(fmt::format("{} is no scheme of quantization that files have", scheme));
    quantizer.scale = held->number<double>(QuantizerFields::kScale, "a scale");
    quantizer.zero_point = held->number<int32_t>(QuantizerFields::kZeroPoint, "a zero point");
    if (quantizer.is_per_channel()) {
      quantizer.scales = make_tensor(held->table(QuantizerFields::kScales, "the scales"), false);
      quantizer.zero_points = make_tensor(held->table(QuantizerFields::kZeroPoints, "zero points"), false);
      quantizer.axis = held->number<int32_t>(QuantizerFields::kAxis, "an axis");
    }
    made = Tensor::quantized(std::move(made), std::move(quantizer));
  }
  made.set_requires_grad(tensor.number<uint8_t>(TensorFields::kRequiresGrad, "requires_grad") != 0);
  return made;
}

}  // namespace flambeau::script
