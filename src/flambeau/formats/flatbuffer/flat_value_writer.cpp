#include "flambeau/formats/flatbuffer/flat_value_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "flambeau/base/error.h"
#include "flambeau/formats/flatbuffer/schema.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

using flat::ValueKind;
using flatbuffer::Built;

constexpr int kMostFlatWrittenNesting = 400;

[[noreturn]] void has_no_form(std::string_view what, std::string_view why) {
  throw Error(ErrorCode::kUnsupported, fmt::format("{} cannot be in a flatbuffer: {}", what, why),
              "write a .ptl or .pt file");
}

// Of the sizes, strides and offset of tensors.
int32_t narrow_size(int64_t value) {
  if (value < 0 || value > std::numeric_limits<int32_t>::max())
    has_no_form("a tensor of that size", fmt::format("{} takes more than 32 bits", value));
  return static_cast<int32_t>(value);
}

std::vector<int32_t> narrow_sizes(const Dims& dims) {
  std::vector<int32_t> narrowed;
  for (const int64_t value : dims) narrowed.push_back(narrow_size(value));
  return narrowed;
}

// What a value is, for those that are written once: of the same text, the same. False for others.
bool add_key(const IValue& value, bool is_inside, std::string& key) {
  const auto add = [&](char kind, const auto& number) {
    char raw[sizeof(number)];
    std::memcpy(raw, &number, sizeof(number));
    key += kind;
    key.append(raw, sizeof(number));
    return true;
  };
  switch (value.tag()) {
    case IValue::Tag::kNone:
      key += 'n';
      return true;
    case IValue::Tag::kBool:
      return add('b', value.as_bool());
    case IValue::Tag::kInt:
      return add('i', value.as_int());
    case IValue::Tag::kFloat:
      return !std::isnan(value.as_float()) && add('f', value.as_float());
    case IValue::Tag::kString:
      add('s', value.as_string().size());
      key += value.as_string();
      return true;
    case IValue::Tag::kDevice:
      key += 'd' + value.as_device().to_string() + ';';
      return true;
    case IValue::Tag::kTensor: {
      // PyTorch compares tensors by their elements, of which there has to be one, unless they are in a tuple.
      const Tensor& tensor = value.as_tensor();
      if (!tensor.defined() || (!is_inside && (tensor.element_count() != 1 || tensor.quantizer() != nullptr)))
        return false;
      const void* const identity = value.identity();
      return add('t', identity);
    }
    case IValue::Tag::kTuple:
      add('(', value.items().size());
      for (const IValue& item : value.items()) {
        if (!add_key(item, true, key)) return false;
      }
      return true;
    default:
      return false;
  }
}

}  // namespace

FlatValueWriter::FlatValueWriter(flatbuffer::Builder& builder, const Unit& unit, const SaveHooks& hooks,
                                 const KeptStates& kept, const bytecode::Program& program)
    : builder_(builder), unit_(unit), hooks_(hooks), kept_(kept) {
  insert(static_cast<uint8_t>(ValueKind::kNone), {});
  for (const bytecode::Code& code : program.functions) names_.insert(code.name);
}

uint32_t FlatValueWriter::insert(uint8_t kind, Built built) {
  builder_.begin_table();
  builder_.field(flat::ValueFields::kValue, built);
  builder_.field<uint8_t>(flat::ValueFields::kKind, kind);
  values_.push_back(builder_.end_table());
  return static_cast<uint32_t>(values_.size() - 1);
}

uint32_t FlatValueWriter::add(const IValue& value, int depth) {
  if (value.is_none()) return 0;
  if (depth > kMostFlatWrittenNesting) {
    throw Error(ErrorCode::kLimit,
                fmt::format("values are nested more than {} deep", kMostFlatWrittenNesting));
  }
  std::string key;
  const bool has_key = add_key(value, false, key);
  if (has_key) {
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
  }
  uint8_t kind = 0;
  const Built built = build(value, depth, kind);
  const uint32_t number = insert(kind, built);
  if (has_key) {
    known_[key] = number;
    made_.push_back(value);
  }
  return number;
}

uint32_t FlatValueWriter::add_constant(const IValue& value) {
  if (!value.is(IValue::Tag::kTensor)) return add(value);
  uint8_t kind = 0;
  const Built built = build(value, 0, kind);
  return insert(kind, built);
}

Built FlatValueWriter::one_field(Built field) {
  builder_.begin_table();
  builder_.field(0, field);
  return builder_.end_table();
}

Built FlatValueWriter::numbers(const std::vector<IValue>& items, int depth) {
  std::vector<uint32_t> all;
  for (const IValue& item : items) all.push_back(add(item, depth + 1));
  return builder_.numbers<uint32_t>(all);
}

Built FlatValueWriter::build(const IValue& value, int depth, uint8_t& kind) {
  const auto of_kind = [&](ValueKind is, Built built) {
    kind = static_cast<uint8_t>(is);
    return built;
  };
  const auto structure = [&](ValueKind is, const auto& number, uint32_t alignment) {
    uint8_t raw[sizeof(number)];
    std::memcpy(raw, &number, sizeof(number));
    return of_kind(is, builder_.structure({raw, sizeof(number)}, alignment));
  };
  switch (value.tag()) {
    case IValue::Tag::kTensor:
      return of_kind(ValueKind::kTensor, build_tensor(value.as_tensor()));
    case IValue::Tag::kTuple:
      return of_kind(ValueKind::kTuple, one_field(numbers(value.items(), depth)));
    case IValue::Tag::kFloat:
      return structure(ValueKind::kFloat, value.as_float(), sizeof(double));
    case IValue::Tag::kComplex: {
      const double parts[] = {value.as_complex().real(), value.as_complex().imag()};
      return structure(ValueKind::kComplex, parts, sizeof(double));
    }
    case IValue::Tag::kInt:
      return structure(ValueKind::kInt, value.as_int(), sizeof(int64_t));
    case IValue::Tag::kBool:
      return structure(ValueKind::kBool, static_cast<uint8_t>(value.as_bool()), 1);
    case IValue::Tag::kString:
      return of_kind(ValueKind::kString, one_field(builder_.shared_text(value.as_string())));
    case IValue::Tag::kDict:
      return of_kind(ValueKind::kDict, build_dict(value, depth));
    case IValue::Tag::kDevice:
      return of_kind(ValueKind::kDevice, one_field(builder_.shared_text(value.as_device().to_string())));
    case IValue::Tag::kObject:
    case IValue::Tag::kNative:
      return of_kind(ValueKind::kObject, build_object(value, depth));
    case IValue::Tag::kEnum: {
      const EnumBox& held = value.as_enum();
      const uint32_t number = add(held.value, depth + 1);
      const Built type = builder_.shared_text(held.type->qualified_name());
      builder_.begin_table();
      builder_.field<uint32_t>(flat::EnumFields::kValue, number);
      builder_.field(flat::EnumFields::kType, type);
      return of_kind(ValueKind::kEnum, builder_.end_table());
    }
    case IValue::Tag::kList:
      break;
    default:
      has_no_form(printable(value.kind_name()), "files have no form for it");
  }
  const ListBox& list = value.as_list();
  const auto plain = [&]<typename T>(ValueKind is, auto&& get, T /*type*/) {
    std::vector<T> all;
    for (const IValue& item : list.items) all.push_back(static_cast<T>(get(item)));
    return of_kind(is, one_field(builder_.numbers<T>(all)));
  };
  if (list.element.is(TypeKind::kInt))
    return plain(ValueKind::kIntList, [](const IValue& item) { return item.as_int(); }, int64_t{});
  if (list.element.is(TypeKind::kFloat))
    return plain(ValueKind::kFloatList, [](const IValue& item) { return item.as_float(); }, double{});
  if (list.element.is(TypeKind::kBool))
    return plain(ValueKind::kBoolList, [](const IValue& item) { return item.as_bool(); }, uint8_t{});
  std::vector<uint32_t> items;
  for (const IValue& item : list.items) items.push_back(add(item, depth + 1));
  const Built type = builder_.shared_text(annotation_text(Type::list(list.element)));
  const Built built = builder_.numbers<uint32_t>(items);
  builder_.begin_table();
  builder_.field(flat::ItemsFields::kType, type);
  builder_.field(flat::ItemsFields::kItems, built);
  return of_kind(ValueKind::kList, builder_.end_table());
}

Built FlatValueWriter::build_dict(const IValue& value, int depth) {
  const DictBox& dict = value.as_dict();
  std::vector<uint32_t> keys, values;
  for (const DictItems::Entry& entry : dict.items.entries()) {
    keys.push_back(add(entry.key, depth + 1));
    values.push_back(add(entry.value, depth + 1));
  }
  const Built type = builder_.shared_text(annotation_text(Type::dict(dict.key, dict.value)));
  const Built value_numbers = builder_.numbers<uint32_t>(values);
  const Built key_numbers = builder_.numbers<uint32_t>(keys);
  builder_.begin_table();
  builder_.field(flat::DictFields::kType, type);
  builder_.field(flat::DictFields::kValues, value_numbers);
  builder_.field(flat::DictFields::kKeys, key_numbers);
  return builder_.end_table();
}

Built FlatValueWriter::object_table(uint32_t type, uint32_t state, Built attributes, uint32_t set_state) {
  builder_.begin_table();
  builder_.field<uint32_t>(flat::ObjectFields::kSetState, set_state);
  builder_.field(flat::ObjectFields::kAttributes, attributes);
  builder_.field<uint32_t>(flat::ObjectFields::kState, state);
  builder_.field<uint32_t>(flat::ObjectFields::kType, type);
  return builder_.end_table();
}

Built FlatValueWriter::build_native(const std::string& name, const IValue& state, int depth) {
  const uint32_t number = add(state, depth + 1);
  return object_table(type_of(name, nullptr), number, {}, 0);
}

Built FlatValueWriter::build_object(const IValue& value, int depth) {
  if (value.is(IValue::Tag::kNative)) {
    const Object& object = value.as_native().object;
    if (!hooks_.native_state || !object.class_name.starts_with(kNativeClassPrefix))
      has_no_form(printable(value.kind_name()), "nothing says what its state is");
    made_.push_back(hooks_.native_state(object));
    return build_native(object.class_name, IValue(made_.back()), depth);
  }
  const ObjectBox& object = value.as_object();
  const std::string& name = object.type->qualified_name();
  if (name.starts_with(kNativeClassPrefix)) return build_native(name, object.slots.at(0), depth);
  if (has_state_methods(*object.type)) {
    const auto kept = kept_.find(value.identity());
    if (kept == kept_.end() && !hooks_.get_state)
      has_no_form(printable(name), "its __getstate__ would have to run");
    const IValue state = kept != kept_.end()
                             ? kept->second.state
                             : hooks_.get_state(**object.type->find_method("__getstate__"), value);
    made_.push_back(state);
    const uint32_t number = add(state, depth + 1);
    const auto setter = functions_.find(name + ".__setstate__");
    return object_table(type_of(name, object.type.get()), number, {},
                        setter == functions_.end() ? 0 : setter->second);
  }
  std::vector<uint32_t> attributes;
  for (size_t i = 0; i < object.slots.size(); ++i) {
    attributes.push_back(with_location("attribute", printable(object.type->attributes.at(i).name),
                                       [&] { return add(object.slots[i], depth + 1); }));
  }
  const Built built = builder_.numbers<uint32_t>(attributes);
  return object_table(type_of(name, object.type.get()), 0, built, 0);
}

uint32_t FlatValueWriter::type_of(const std::string& name, const Class* type) {
  const auto known = types_.find(name);
  if (known != types_.end()) return known->second;
  flat::ObjectKind kind = flat::ObjectKind::kNative;
  Built attributes;
  if (names_.contains(name + ".__setstate__") && names_.contains(name + ".__getstate__")) {
    kind = flat::ObjectKind::kState;
  } else if (type != nullptr) {
    kind = flat::ObjectKind::kFields;
    std::vector<Built> names;
    for (const Attribute& attribute : type->attributes) names.push_back(builder_.shared_text(attribute.name));
    attributes = builder_.offsets(names);
  }
  const Built text = builder_.text(name);
  builder_.begin_table();
  builder_.field(flat::ObjectTypeFields::kAttributes, attributes);
  builder_.field(flat::ObjectTypeFields::kName, text);
  builder_.field<uint8_t>(flat::ObjectTypeFields::kKind, static_cast<uint8_t>(kind));
  object_types_.push_back(builder_.end_table());
  const auto number = static_cast<uint32_t>(object_types_.size() - 1);
  types_[name] = number;
  return number;
}

Built FlatValueWriter::build_tensor(const Tensor& tensor) {
  if (!tensor.defined() || tensor.storage() == nullptr || tensor.is_meta()) {
    has_no_form("a tensor", !tensor.defined()  ? "it is undefined"
                            : tensor.is_meta() ? "it has no data"
                                               : "it is sparse");
  }
  Built quantizer;
  if (const Quantizer* const held = tensor.quantizer()) {
    Built scales, zero_points;
    if (held->is_per_channel()) {
      scales = build_tensor(held->scales);
      zero_points = build_tensor(held->zero_points);
    }
    const bool is_plain = held->scheme == Quantizer::Scheme::kPerTensorAffine;
    if (!is_plain && !held->is_per_channel()) has_no_form("a quantized tensor", "its scheme is not known");
    builder_.begin_table();
    builder_.field(flat::QuantizerFields::kScale, is_plain ? held->scale : 0.0);
    builder_.field<int32_t>(flat::QuantizerFields::kAxis, narrow_size(is_plain ? 0 : held->axis));
    builder_.field(flat::QuantizerFields::kZeroPoints, zero_points);
    builder_.field(flat::QuantizerFields::kScales, scales);
    builder_.field<int32_t>(flat::QuantizerFields::kZeroPoint,
                            is_plain ? static_cast<int32_t>(held->zero_point) : 0);
    builder_.field<int8_t>(flat::QuantizerFields::kScheme, static_cast<int8_t>(held->scheme));
    quantizer = builder_.end_table();
  }
  const auto [place, is_new] =
      storage_numbers_.try_emplace(tensor.storage().get(), static_cast<uint32_t>(storages_.size()));
  if (is_new) storages_.push_back(tensor);
  const Built sizes = builder_.numbers<int32_t>(narrow_sizes(tensor.sizes()));
  const Built strides = builder_.numbers<int32_t>(narrow_sizes(tensor.strides()));
  builder_.begin_table();
  builder_.field(flat::TensorFields::kQuantizer, quantizer);
  builder_.field(flat::TensorFields::kStrides, strides);
  builder_.field(flat::TensorFields::kSizes, sizes);
  builder_.field<int32_t>(flat::TensorFields::kOffset, narrow_size(tensor.offset()));
  builder_.field<uint32_t>(flat::TensorFields::kStorage, place->second);
  builder_.field<uint8_t>(flat::TensorFields::kRequiresGrad, tensor.requires_grad() ? 1 : 0);
  builder_.field<int8_t>(flat::TensorFields::kDType, static_cast<int8_t>(tensor.dtype()));
  return builder_.end_table();
}

// ---- functions

uint32_t FlatValueWriter::add_function(const bytecode::Code& code) {
  const auto known = functions_.find(code.name);
  if (known != functions_.end()) return known->second;
  const Built built = with_location("function", printable(code.name), [&] { return build_function(code); });
  const uint32_t number = insert(static_cast<uint8_t>(ValueKind::kFunction), built);
  functions_[code.name] = number;
  return number;
}

std::vector<Built> FlatValueWriter::argument_tables(const std::vector<bytecode::SchemaArgument>& arguments) {
  std::vector<Built> tables;
  for (const bytecode::SchemaArgument& argument : arguments) {
    const uint32_t number = add(argument.default_value);
    const Built type = builder_.shared_text(argument.type);
    const Built name = builder_.shared_text(argument.name);
    builder_.begin_table();
    builder_.field<uint32_t>(flat::ArgumentFields::kDefault, number);
    builder_.field(flat::ArgumentFields::kType, type);
    builder_.field(flat::ArgumentFields::kName, name);
    tables.push_back(builder_.end_table());
  }
  return tables;
}

Built FlatValueWriter::build_function(const bytecode::Code& code) {
  using flat::FunctionFields;
  using flat::InstructionLayout;
  std::vector<Built> operators;
  for (const bytecode::OperatorUse& use : code.operators) {
    const Built overload = builder_.shared_text(use.overload);
    const Built name = builder_.shared_text(use.name);
    builder_.begin_table();
    builder_.field<int32_t>(flat::OperatorFields::kSpecified,
                            static_cast<int32_t>(use.specified.value_or(-1)), -1);
    builder_.field(flat::OperatorFields::kOverload, overload);
    builder_.field(flat::OperatorFields::kName, name);
    operators.push_back(builder_.end_table());
  }
  std::vector<uint32_t> constants;
  for (const IValue& constant : code.constants) constants.push_back(add(constant));
  std::vector<Built> types;
  for (const std::string& type : code.types) {
    if (type.starts_with("__torch__") && !is_native_class(type))
      has_no_form(printable(type), "mobile interpreters know no classes of scripts");
    types.push_back(builder_.shared_text(type));
  }
  Built schema;
  uint32_t class_number = 0;
  if (code.schema) {
    schema = build_schema(*code.schema);
    const std::string owner = code.schema->arguments.empty() ? std::string() : code.schema->arguments[0].type;
    class_number = type_of(owner, unit_.find_class(owner).get());
  }
  std::vector<int64_t> handles = code.debug_handles;
  handles.resize(code.instructions.size(), -1);
  const Built debug = one_field(builder_.numbers<int64_t>(handles));
  const Built name = builder_.text(code.name);
  std::vector<uint8_t> bytes(code.instructions.size() * InstructionLayout::kSize, 0);
  for (size_t i = 0; i < code.instructions.size(); ++i) {
    uint8_t* const at = bytes.data() + i * InstructionLayout::kSize;
    at[InstructionLayout::kOpcode] = static_cast<uint8_t>(code.instructions[i].opcode);
    store_le(at + InstructionLayout::kN, code.instructions[i].n);
    store_le(at + InstructionLayout::kX, code.instructions[i].x);
  }
  const Built instructions =
      builder_.structures(bytes, InstructionLayout::kSize, InstructionLayout::kAlignment);
  const Built operator_tables = builder_.offsets(operators);
  const Built constant_numbers = builder_.numbers<uint32_t>(constants);
  const Built type_texts = builder_.offsets(types);
  if (code.register_count > std::numeric_limits<int32_t>::max())
    throw Error(ErrorCode::kLimit, "a function with more than 2 billion registers");
  builder_.begin_table();
  builder_.field<uint32_t>(FunctionFields::kClass, class_number);
  builder_.field(FunctionFields::kDebug, debug);
  builder_.field(FunctionFields::kSchema, schema);
  builder_.field<int32_t>(FunctionFields::kRegisters, static_cast<int32_t>(code.register_count));
  builder_.field(FunctionFields::kTypes, type_texts);
  builder_.field(FunctionFields::kConstants, constant_numbers);
  builder_.field(FunctionFields::kOperators, operator_tables);
  builder_.field(FunctionFields::kInstructions, instructions);
  builder_.field(FunctionFields::kName, name);
  return builder_.end_table();
}

Built FlatValueWriter::build_schema(const bytecode::FunctionSchema& schema) {
  using flat::SchemaFields;
  const std::vector<Built> argument_list = argument_tables(schema.arguments);
  const std::vector<Built> return_list = argument_tables(schema.returns);
  const Built returns = builder_.offsets(return_list);
  const Built arguments = builder_.offsets(argument_list);
  builder_.begin_table();
  builder_.field(SchemaFields::kReturns, returns);
  builder_.field(SchemaFields::kArguments, arguments);
  return builder_.end_table();
}

}  // namespace flambeau::script
