#include "flambeau/formats/pt2/schema_versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "flambeau/base/error.h"

namespace flambeau::pt2 {
namespace {

using enum FieldShape;

constexpr SchemaField kDevice[] = {
    {"type"},
    {"index", kPlain, {}, "null"},
};
constexpr SchemaField kSymExprHint[] = {
    {"as_int"},
    {"as_bool"},
    {"as_float"},
};
constexpr SchemaField kSymExpr[] = {
    {"expr_str"},
    {"hint", kOne, "SymExprHint", "null"},
};
constexpr SchemaField kSymInt[] = {
    {"as_expr", kOne, "SymExpr"},
    {"as_int"},
};
constexpr SchemaField kSymFloat[] = {
    {"as_expr", kOne, "SymExpr", {}, 2},
    {"as_float", kPlain, {}, {}, 2},
};
constexpr SchemaField kSymBool[] = {
    {"as_expr", kOne, "SymExpr"},
    {"as_bool"},
};
constexpr SchemaField kTensorMeta[] = {
    {"dtype", kEnum, "ScalarType"}, {"sizes", kList, "SymInt"},   {"requires_grad"},
    {"device", kOne, "Device"},     {"strides", kList, "SymInt"}, {"storage_offset", kOne, "SymInt"},
    {"layout", kEnum, "Layout"},
};
constexpr SchemaField kSymIntArgument[] = {
    {"as_name"},
    {"as_int"},
};
constexpr SchemaField kSymFloatArgument[] = {
    {"as_name", kPlain, {}, {}, 2},
    {"as_float", kPlain, {}, {}, 2},
};
constexpr SchemaField kSymBoolArgument[] = {
    {"as_name"},
    {"as_bool"},
};
constexpr SchemaField kTensorArgument[] = {
    {"name"},
};
constexpr SchemaField kTokenArgument[] = {
    {"name"},
};
constexpr SchemaField kOptionalTensorArgument[] = {
    {"as_tensor", kOne, "TensorArgument"},
    {"as_none"},
};
constexpr SchemaField kGraphArgument[] = {
    {"name"},
    {"graph", kOne, "Graph"},
};
constexpr SchemaField kCustomObjArgument[] = {
    {"name"},
    {"class_fqn"},
};
constexpr SchemaField kComplexValue[] = {
    {"real", kPlain, {}, {}, 13},
    {"imag", kPlain, {}, {}, 13},
};
constexpr SchemaField kArgument[] = {
    {"as_none"},
    {"as_tensor", kOne, "TensorArgument"},
    {"as_tensors", kList, "TensorArgument"},
    {"as_int"},
    {"as_ints"},
    {"as_float"},
    {"as_floats"},
    {"as_string"},
    {"as_strings"},
    {"as_sym_int", kOne, "SymIntArgument"},
    {"as_sym_ints", kList, "SymIntArgument"},
    {"as_scalar_type", kEnum, "ScalarType"},
    {"as_memory_format", kEnum, "MemoryFormat"},
    {"as_layout", kEnum, "Layout"},
    {"as_device", kOne, "Device"},
    {"as_bool"},
    {"as_bools"},
    {"as_sym_bool", kOne, "SymBoolArgument"},
    {"as_sym_bools", kList, "SymBoolArgument"},
    {"as_graph", kOne, "GraphArgument"},
    {"as_optional_tensors", kList, "OptionalTensorArgument"},
    {"as_custom_obj", kOne, "CustomObjArgument"},
    {"as_operator"},
    {"as_sym_float", kOne, "SymFloatArgument", {}, 2},
    {"as_sym_floats", kList, "SymFloatArgument", {}, 2},
    {"as_optional_tensor", kOne, "OptionalTensorArgument", {}, 8},
    {"as_complex", kOne, "ComplexValue", {}, 13},
    {"as_nested_tensors", kLists, "TensorArgument", {}, 17},
    {"as_int_lists", kPlain, {}, {}, 15},
    {"as_string_to_argument", kDict, "Argument", {}, 15},
    {"as_float_lists", kPlain, {}, {}, 19},
};
constexpr SchemaField kNamedArgument[] = {
    {"name"},
    {"arg", kOne, "Argument"},
    {"kind", kEnum, "ArgumentKind", "null", 5},
};
constexpr SchemaField kNode[] = {
    {"target"},
    {"inputs", kList, "NamedArgument"},
    {"outputs", kList, "Argument"},
    {"metadata"},
    {"is_hop_single_tensor_return", kPlain, {}, "null", 4},
    {"name", kPlain, {}, "null", 16},
};
constexpr SchemaField kGraph[] = {
    {"inputs", kList, "Argument"},
    {"outputs", kList, "Argument"},
    {"nodes", kList, "Node"},
    {"tensor_values", kDict, "TensorMeta"},
    {"sym_int_values", kDict, "SymInt"},
    {"sym_bool_values", kDict, "SymBool"},
    {"is_single_tensor_return", kPlain, {}, "false"},
    {"custom_obj_values", kDict, "CustomObjArgument", "{}"},
    {"sym_float_values", kDict, "SymFloat", "{}", 2},
};
constexpr SchemaField kUserInputSpec[] = {
    {"arg", kOne, "Argument"},
};
constexpr SchemaField kConstantValue[] = {
    {"as_none"}, {"as_int"}, {"as_float"}, {"as_string"}, {"as_bool"},
};
constexpr SchemaField kInputToConstantInputSpec[] = {
    {"name"},
    {"value", kOne, "ConstantValue"},
};
constexpr SchemaField kInputToParameterSpec[] = {
    {"arg", kOne, "TensorArgument"},
    {"parameter_name"},
};
constexpr SchemaField kInputToBufferSpec[] = {
    {"arg", kOne, "TensorArgument"},
    {"buffer_name"},
    {"persistent"},
};
constexpr SchemaField kInputToTensorConstantSpec[] = {
    {"arg", kOne, "TensorArgument"},
    {"tensor_constant_name"},
};
constexpr SchemaField kInputToCustomObjSpec[] = {
    {"arg", kOne, "CustomObjArgument"},
    {"custom_obj_name"},
};
constexpr SchemaField kInputTokenSpec[] = {
    {"arg", kOne, "TokenArgument"},
};
constexpr SchemaField kInputSpec[] = {
    {"user_input", kOne, "UserInputSpec"},
    {"parameter", kOne, "InputToParameterSpec"},
    {"buffer", kOne, "InputToBufferSpec"},
    {"tensor_constant", kOne, "InputToTensorConstantSpec"},
    {"custom_obj", kOne, "InputToCustomObjSpec"},
    {"token", kOne, "InputTokenSpec"},
    {"constant_input", kOne, "InputToConstantInputSpec"},
};
constexpr SchemaField kUserOutputSpec[] = {
    {"arg", kOne, "Argument"},
};
constexpr SchemaField kLossOutputSpec[] = {
    {"arg", kOne, "TensorArgument"},
};
constexpr SchemaField kBufferMutationSpec[] = {
    {"arg", kOne, "TensorArgument"},
    {"buffer_name"},
};
constexpr SchemaField kParameterMutationSpec[] = {
    {"arg", kOne, "TensorArgument", {}, 10},
    {"parameter_name", kPlain, {}, {}, 10},
};
constexpr SchemaField kGradientToParameterSpec[] = {
    {"arg", kOne, "TensorArgument"},
    {"parameter_name"},
};
constexpr SchemaField kGradientToUserInputSpec[] = {
    {"arg", kOne, "TensorArgument"},
    {"user_input_name"},
};
constexpr SchemaField kUserInputMutationSpec[] = {
    {"arg", kOne, "TensorArgument"},
    {"user_input_name"},
};
constexpr SchemaField kOutputTokenSpec[] = {
    {"arg", kOne, "TokenArgument"},
};
constexpr SchemaField kOutputSpec[] = {
    {"user_output", kOne, "UserOutputSpec"},
    {"loss_output", kOne, "LossOutputSpec"},
    {"buffer_mutation", kOne, "BufferMutationSpec"},
    {"gradient_to_parameter", kOne, "GradientToParameterSpec"},
    {"gradient_to_user_input", kOne, "GradientToUserInputSpec"},
    {"user_input_mutation", kOne, "UserInputMutationSpec"},
    {"token", kOne, "OutputTokenSpec"},
    {"parameter_mutation", kOne, "ParameterMutationSpec", {}, 10},
};
constexpr SchemaField kGraphSignature[] = {
    {"input_specs", kList, "InputSpec"},
    {"output_specs", kList, "OutputSpec"},
};
constexpr SchemaField kRangeConstraint[] = {
    {"min_val"},
    {"max_val"},
};
constexpr SchemaField kModuleCallSignature[] = {
    {"inputs", kList, "Argument"},
    {"outputs", kList, "Argument"},
    {"in_spec"},
    {"out_spec"},
    {"forward_arg_names", kPlain, {}, "null"},
};
constexpr SchemaField kModuleCallEntry[] = {
    {"fqn"},
    {"signature", kOne, "ModuleCallSignature", "null"},
};
constexpr SchemaField kNamedTupleDef[] = {
    {"field_names", kPlain, {}, {}, 6},
};
constexpr SchemaField kGraphModule[] = {
    {"graph", kOne, "Graph"},
    {"signature", kOne, "GraphSignature"},
    {"module_call_graph", kList, "ModuleCallEntry"},
    {"metadata", kPlain, {}, "{}"},
    {"treespec_namedtuple_fields", kDict, "NamedTupleDef", "{}", 6},
};
constexpr SchemaField kSchemaVersion[] = {
    {"major"},
    {"minor"},
};
constexpr SchemaField kExportedProgram[] = {
    {"graph_module", kOne, "GraphModule"},
    {"opset_version"},
    {"range_constraints", kDict, "RangeConstraint"},
    {"schema_version", kOne, "SchemaVersion"},
    {"verifiers", kPlain, {}, "[]"},
    {"torch_version", kPlain, {}, "\"<=2.4\""},
    {"guards_code", kPlain, {}, "[]", 14},
};
constexpr SchemaField kPayloadMeta[] = {
    {"path_name", kPlain, {}, {}, 12},
    {"is_param", kPlain, {}, {}, 12},
    {"use_pickle", kPlain, {}, {}, 12},
    {"tensor_meta", kOne, "TensorMeta", {}, 12},
};
constexpr SchemaField kPayloadConfig[] = {
    {"config", kDict, "PayloadMeta", {}, 12},
};

constexpr SchemaType kTypes[] = {
    {"Device", false, kDevice},
    {"SymExprHint", true, kSymExprHint},
    {"SymExpr", false, kSymExpr},
    {"SymInt", true, kSymInt},
    {"SymFloat", true, kSymFloat, 2},
    {"SymBool", true, kSymBool},
    {"TensorMeta", false, kTensorMeta},
    {"SymIntArgument", true, kSymIntArgument},
    {"SymFloatArgument", true, kSymFloatArgument, 2},
    {"SymBoolArgument", true, kSymBoolArgument},
    {"TensorArgument", false, kTensorArgument},
    {"TokenArgument", false, kTokenArgument},
    {"OptionalTensorArgument", true, kOptionalTensorArgument},
    {"GraphArgument", false, kGraphArgument},
    {"CustomObjArgument", false, kCustomObjArgument},
    {"ComplexValue", false, kComplexValue, 13},
    {"Argument", true, kArgument},
    {"NamedArgument", false, kNamedArgument},
    {"Node", false, kNode},
    {"Graph", false, kGraph},
    {"UserInputSpec", false, kUserInputSpec},
    {"ConstantValue", true, kConstantValue},
    {"InputToConstantInputSpec", false, kInputToConstantInputSpec},
    {"InputToParameterSpec", false, kInputToParameterSpec},
    {"InputToBufferSpec", false, kInputToBufferSpec},
    {"InputToTensorConstantSpec", false, kInputToTensorConstantSpec},
    {"InputToCustomObjSpec", false, kInputToCustomObjSpec},
    {"InputTokenSpec", false, kInputTokenSpec},
    {"InputSpec", true, kInputSpec},
    {"UserOutputSpec", false, kUserOutputSpec},
    {"LossOutputSpec", false, kLossOutputSpec},
    {"BufferMutationSpec", false, kBufferMutationSpec},
    {"ParameterMutationSpec", false, kParameterMutationSpec, 10},
    {"GradientToParameterSpec", false, kGradientToParameterSpec},
    {"GradientToUserInputSpec", false, kGradientToUserInputSpec},
    {"UserInputMutationSpec", false, kUserInputMutationSpec},
    {"OutputTokenSpec", false, kOutputTokenSpec},
    {"OutputSpec", true, kOutputSpec},
    {"GraphSignature", false, kGraphSignature},
    {"RangeConstraint", false, kRangeConstraint},
    {"ModuleCallSignature", false, kModuleCallSignature},
    {"ModuleCallEntry", false, kModuleCallEntry},
    {"NamedTupleDef", false, kNamedTupleDef, 6},
    {"GraphModule", false, kGraphModule},
    {"SchemaVersion", false, kSchemaVersion},
    {"ExportedProgram", false, kExportedProgram},
    {"PayloadMeta", false, kPayloadMeta, 12},
    {"PayloadConfig", false, kPayloadConfig, 12},
};

constexpr SchemaEnumValue kEnumValues[] = {
    {"ScalarType", "UNKNOWN", 0},
    {"ScalarType", "BYTE", 1},
    {"ScalarType", "CHAR", 2},
    {"ScalarType", "SHORT", 3},
    {"ScalarType", "INT", 4},
    {"ScalarType", "LONG", 5},
    {"ScalarType", "HALF", 6},
    {"ScalarType", "FLOAT", 7},
    {"ScalarType", "DOUBLE", 8},
    {"ScalarType", "COMPLEXHALF", 9},
    {"ScalarType", "COMPLEXFLOAT", 10},
    {"ScalarType", "COMPLEXDOUBLE", 11},
    {"ScalarType", "BOOL", 12},
    {"ScalarType", "BFLOAT16", 13},
    {"ScalarType", "UINT16", 28},
    {"ScalarType", "FLOAT8E4M3FN", 29, 3},
    {"ScalarType", "FLOAT8E5M2", 30, 3},
    {"ScalarType", "FLOAT8E4M3FNUZ", 31, 9},
    {"ScalarType", "FLOAT8E5M2FNUZ", 32, 9},
    {"ScalarType", "FLOAT8E8M0FNU", 33, 18},
    {"ScalarType", "UINT32", 34, 20},
    {"ScalarType", "UINT64", 35, 20},
    {"Layout", "Unknown", 0},
    {"Layout", "SparseCoo", 1},
    {"Layout", "SparseCsr", 2},
    {"Layout", "SparseCsc", 3},
    {"Layout", "SparseBsr", 4},
    {"Layout", "SparseBsc", 5},
    {"Layout", "_mkldnn", 6},
    {"Layout", "Strided", 7},
    {"MemoryFormat", "Unknown", 0},
    {"MemoryFormat", "ContiguousFormat", 1},
    {"MemoryFormat", "ChannelsLast", 2},
    {"MemoryFormat", "ChannelsLast3d", 3},
    {"MemoryFormat", "PreserveFormat", 4},
    {"ArgumentKind", "UNKNOWN", 0, 5},
    {"ArgumentKind", "POSITIONAL", 1, 5},
    {"ArgumentKind", "KEYWORD", 2, 5},
};

struct Release {
  std::string_view pytorch;
  SchemaVersion writes;
};

constexpr Release kReleases[] = {
    {"2.1", {1, 0}},  {"2.2", {2, 0}},   {"2.3", {5, 1}},   {"2.4", {5, 3}},
    {"2.5", {7, 3}},  {"2.6", {8, 2}},   {"2.7", {8, 7}},   {"2.8", {8, 8}},
    {"2.9", {8, 14}}, {"2.10", {8, 15}}, {"2.11", {8, 17}}, {"2.12", {8, 20}},
};

bool parse_number(std::string_view text, int& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size() && to >= 0;
}

}  // namespace

SchemaVersion parse_schema_version(std::string_view text) {
  SchemaVersion version;
  const size_t dot = text.find('.');
  const bool has_minor = dot != std::string_view::npos;
  if (!parse_number(text.substr(0, dot), version.major) ||
      (has_minor && !parse_number(text.substr(dot + 1), version.minor))) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a schema version", printable(text)),
                fmt::format("write it like {}", to_string(kCurrentSchema)));
  }
  return version;
}

std::string to_string(SchemaVersion version) { return fmt::format("{}.{}", version.major, version.minor); }

std::string_view pytorch_release(SchemaVersion version) {
  for (const Release& release : kReleases) {
    if (version <= release.writes) return release.pytorch;
  }
  return {};
}

const SchemaField* SchemaType::find(std::string_view field) const {
  const auto found = std::ranges::find(fields, field, &SchemaField::name);
  return found == fields.end() ? nullptr : &*found;
}

std::span<const SchemaType> schema_types() { return kTypes; }
std::span<const SchemaEnumValue> schema_enum_values() { return kEnumValues; }

const SchemaType* find_schema_type(std::string_view name) {
  static const auto* const by_name = [] {
    auto* map = new std::unordered_map<std::string_view, const SchemaType*>;
    for (const SchemaType& type : kTypes) map->emplace(type.name, &type);
    return map;
  }();
  const auto found = by_name->find(name);
  return found == by_name->end() ? nullptr : found->second;
}

std::vector<std::string> missing_before(int minor) {
  std::vector<std::string> texts;
  for (int since = minor + 1; since <= kCurrentSchema.minor; ++since) {
    for (const SchemaType& type : kTypes) {
      if (type.since > minor) continue;  // a type that is newer comes with the field that holds it
      for (const SchemaField& field : type.fields) {
        if (field.since == since)
          texts.push_back(fmt::format("{}.{} (since 8.{})", type.name, field.name, since));
      }
    }
    for (const SchemaEnumValue& value : kEnumValues) {
      if (value.since != since || value.owner == "ArgumentKind") continue;  // comes with NamedArgument.kind
      texts.push_back(fmt::format("{}.{} = {} (since 8.{})", value.owner, value.name, value.value, since));
    }
  }
  return texts;
}

}  // namespace flambeau::pt2
