#include "flambeau/script/operators/python/rules.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "flambeau/script/operators/python/spellings.h"

namespace flambeau::script {

namespace {

enum class On : uint8_t { kAll, kTensors, kValues };
struct NamedRule {
  std::string_view name;
  PythonForm form;
  std::string_view word = {};
  PythonLevel level = kLevelAtom;
  On on = On::kAll;
};
using Form = PythonForm;

constexpr auto kRules = std::to_array<NamedRule>({
    // Signs.
    {"aten::add", Form::kInfix, "+", kLevelSum},
    {"aten::sub", Form::kInfix, "-", kLevelSum},
    {"aten::mul", Form::kInfix, "*", kLevelProduct},
    {"aten::div", Form::kInfix, "/", kLevelProduct, On::kTensors},
    {"aten::div", Form::kDivide, "/", kLevelProduct, On::kValues},
    {"aten::matmul", Form::kInfix, "@", kLevelProduct},
    {"aten::pow", Form::kInfix, "**", kLevelPower, On::kTensors},
    {"aten::eq", Form::kInfix, "==", kLevelCompare},
    {"aten::ne", Form::kInfix, "!=", kLevelCompare},
    {"aten::lt", Form::kInfix, "<", kLevelCompare},
    {"aten::le", Form::kInfix, "<=", kLevelCompare},
    {"aten::gt", Form::kInfix, ">", kLevelCompare},
    {"aten::ge", Form::kInfix, ">=", kLevelCompare},
    {"aten::__and__", Form::kInfix, "&", kLevelBitAnd},
    {"aten::__or__", Form::kInfix, "|", kLevelBitOr},
    {"aten::__xor__", Form::kInfix, "^", kLevelBitXor},
    {"aten::__lshift__", Form::kInfix, "<<", kLevelShift, On::kValues},
    {"aten::__rshift__", Form::kInfix, ">>", kLevelShift, On::kValues},
    {"aten::bitwise_and", Form::kInfix, "&", kLevelBitAnd},
    {"aten::bitwise_or", Form::kInfix, "|", kLevelBitOr},
    {"aten::bitwise_xor", Form::kInfix, "^", kLevelBitXor},
    {"aten::__is__", Form::kInfix, "is", kLevelCompare},
    {"aten::__isnot__", Form::kInfix, "is not", kLevelCompare},
    {"aten::__contains__", Form::kContains, "in", kLevelCompare},
    {"aten::neg", Form::kPrefix, "-", kLevelSign},
    {"aten::bitwise_not", Form::kPrefix, "~", kLevelSign},
    {"aten::__not__", Form::kPrefix, "not ", kLevelNot},
    // Python's own functions.
    {"aten::len", Form::kCall, "len"},
    {"aten::Bool", Form::kCall, "bool"},
    {"aten::Int", Form::kCall, "int"},
    {"aten::IntImplicit", Form::kCall, "int"},
    {"aten::Float", Form::kCall, "float"},
    {"aten::FloatImplicit", Form::kCall, "float"},
    {"aten::Complex", Form::kCall, "complex"},
    {"aten::ComplexImplicit", Form::kCall, "complex"},
    {"aten::ScalarImplicit", Form::kMethod, "item"},
    {"aten::sorted", Form::kCall, "sorted"},
    {"aten::list", Form::kCall, "list"},
    {"aten::dict", Form::kCall, "dict"},
    {"aten::hash", Form::kCall, "hash"},
    {"aten::ord", Form::kCall, "ord"},
    {"aten::chr", Form::kCall, "chr"},
    {"aten::all", Form::kCall, "all", kLevelAtom, On::kValues},
    {"aten::any", Form::kCall, "any", kLevelAtom, On::kValues},
    {"prim::min", Form::kCall, "min"},
    {"prim::max", Form::kCall, "max"},
    {"prim::abs", Form::kCall, "abs"},
    {"aten::floor", Form::kCall, "math.floor", kLevelAtom, On::kValues},
    {"aten::ceil", Form::kCall, "math.ceil", kLevelAtom, On::kValues},
    {"aten::device", Form::kCall, "torch.device"},
    {"aten::tensor", Form::kCall, "torch.tensor"},
    {"aten::as_tensor", Form::kCall, "torch.as_tensor"},
    {"aten::manual_seed", Form::kCall, "torch.manual_seed"},
    {"aten::Generator", Form::kCall, "torch.Generator"},
    {"aten::is_grad_enabled", Form::kCall, "torch.is_grad_enabled"},
    {"aten::set_grad_enabled", Form::kCall, "torch._C._set_grad_enabled"},
    {"aten::backward", Form::kCall, "torch.autograd.backward"},
    {"aten::grad", Form::kCall, "torch.autograd.grad"},
    {"aten::wait", Form::kCall, "torch.jit.wait"},
    {"prim::awaitable_wait", Form::kCall, "torch.jit._awaitable_wait"},
    {"prim::awaitable_nowait", Form::kCall, "torch.jit._awaitable_nowait"},
    // Where Python does otherwise.
    {"aten::str", Form::kText, "as_text"},
    {"aten::format", Form::kVariadic, "format_text"},
    {"aten::percentFormat", Form::kVariadic, "percent_text"},
    {"aten::_unwrap_optional", Form::kHelper, "unwrap"},
    {"prim::unchecked_unwrap_optional", Form::kSame},
    {"prim::unchecked_cast", Form::kSame},
    {"aten::warn", Form::kWarn, "warnings.warn"},
    // Lists, dicts.
    {"aten::keys", Form::kEntries, "keys"},
    {"aten::values", Form::kEntries, "values", kLevelAtom, On::kValues},
    {"aten::items", Form::kEntries, "items"},
    {"aten::__getitem__", Form::kItem},
    {"prim::ModuleContainerIndex", Form::kItem},
    {"aten::_set_item", Form::kSetItem},
    {"aten::Delete", Form::kDelete},
    {"aten::slice", Form::kTensorSlice, {}, kLevelAtom, On::kTensors},
    {"aten::slice", Form::kListSlice, {}, kLevelAtom, On::kValues},
    {"aten::select", Form::kSelect, {}, kLevelAtom, On::kTensors},
    {"aten::index", Form::kIndex, {}, kLevelAtom, On::kTensors},
    {"aten::index_put_", Form::kIndexPut},
    {"aten::__range_length", Form::kRangeLength, "range"},
    {"aten::__derive_index", Form::kDeriveIndex},
    // What TorchScript knows as operators.
    {"prim::dtype", Form::kDataType, "dtype"},
    {"prim::layout", Form::kLayout, "layout"},
    {"prim::device", Form::kAttribute, "device"},
    {"prim::type", Form::kAttribute, "type"},
    {"prim::index", Form::kAttribute, "index"},
    {"prim::requires_grad", Form::kAttribute, "requires_grad"},
    {"prim::is_cuda", Form::kAttribute, "is_cuda"},
    {"prim::is_cpu", Form::kAttribute, "is_cpu"},
    {"prim::is_xpu", Form::kAttribute, "is_xpu"},
    {"prim::is_mps", Form::kAttribute, "is_mps"},
    {"prim::is_vulkan", Form::kAttribute, "is_vulkan"},
    {"prim::is_ipu", Form::kAttribute, "is_ipu"},
    {"prim::is_sparse", Form::kAttribute, "is_sparse"},
    {"prim::is_sparse_csr", Form::kAttribute, "is_sparse_csr"},
    {"prim::is_mkldnn", Form::kAttribute, "is_mkldnn"},
    {"prim::is_quantized", Form::kAttribute, "is_quantized"},
    {"prim::is_meta", Form::kAttribute, "is_meta"},
    {"prim::is_maia", Form::kAttribute, "is_maia"},
    {"prim::is_nested", Form::kAttribute, "is_nested"},
    {"prim::data", Form::kAttribute, "data"},
    {"prim::itemsize", Form::kAttribute, "itemsize"},
    {"prim::nbytes", Form::kAttribute, "nbytes"},
    {"prim::name", Form::kAttribute, "name"},
    {"prim::EnumName", Form::kAttribute, "name"},
    {"prim::EnumValue", Form::kAttribute, "value"},
    {"aten::numpy_T", Form::kAttribute, "T"},
    {"aten::matrix_H", Form::kAttribute, "H"},
    {"aten::mT", Form::kAttribute, "mT"},
    {"aten::mH", Form::kAttribute, "mH"},
    {"aten::data", Form::kAttribute, "data"},
    {"aten::is_leaf", Form::kAttribute, "is_leaf"},
    {"aten::output_nr", Form::kAttribute, "output_nr"},
    {"aten::_version", Form::kAttribute, "_version"},
    {"aten::retains_grad", Form::kAttribute, "retains_grad"},
});

// Of lists, dicts and strings: the same in Python.
constexpr auto kMethods = std::to_array<std::string_view>({
    "append",     "capitalize", "center",     "clear",        "copy",     "count",      "endswith",
    "expandtabs", "extend",     "find",       "get",          "index",    "insert",     "isalnum",
    "isalpha",    "isdecimal",  "isdigit",    "isidentifier", "islower",  "isnumeric",  "isprintable",
    "isspace",    "istitle",    "isupper",    "join",         "ljust",    "lower",      "lstrip",
    "partition",  "pop",        "popitem",    "remove",       "replace",  "reverse",    "rfind",
    "rindex",     "rjust",      "rpartition", "rsplit",       "rstrip",   "setdefault", "sort",
    "split",      "splitlines", "startswith", "strip",        "swapcase", "title",      "update",
    "upper",      "zfill",
});

bool holds_tensor(const Type& type) {
  if (type.is(TypeKind::kTensor)) return true;
  return std::ranges::any_of(type.elements(), holds_tensor);
}

// Whether it computes on tensors: not what keeps them in a list.
bool is_on_tensors(const Schema& schema) {
  if (schema.arguments.empty())
    return std::ranges::any_of(schema.returns,
                               [](const SchemaArgument& result) { return holds_tensor(result.type); });
  const Type& first = schema.arguments[0].type.without_optional();
  return first.is(TypeKind::kTensor);
}

// Two operands, and nothing else that matters.
bool is_plain_infix(const Schema& schema) {
  if (schema.arguments.size() == 3 && schema.arguments[2].name == "alpha") return true;
  return schema.arguments.size() == 2 && !schema.arguments[1].is_kwarg_only;
}

bool is_of(const Schema& schema, TypeKind kind) {
  return std::ranges::any_of(schema.arguments,
                             [&](const SchemaArgument& argument) { return argument.type.is(kind); });
}

// Nothing where there is more to say than two operands.
std::optional<PythonRule> infix_rule(const Schema& schema, const NamedRule& rule) {
  if (!is_plain_infix(schema)) return {};
  // Lists of tensors have no == in Python that says what TorchScript's does.
  if (schema.arguments[0].type.is(TypeKind::kList) && holds_tensor(schema.arguments[0].type) &&
      rule.level == kLevelCompare)
    return PythonRule{};
  if (is_of(schema, TypeKind::kBool) && !is_on_tensors(schema)) {
    if (rule.word == "&") return PythonRule{rule.form, "and", kLevelAnd};
    if (rule.word == "|") return PythonRule{rule.form, "or", kLevelOr};
  }
  return PythonRule{rule.form, std::string(rule.word), rule.level};
}

using RuleTable = std::unordered_multimap<std::string_view, const NamedRule*>;
const RuleTable& rule_table() {
  static const RuleTable kTable = [] {
    RuleTable table;
    for (const NamedRule& rule : kRules) table.emplace(rule.name, &rule);
    return table;
  }();
  return kTable;
}

PythonRule spelled_rule(const Schema& schema) {
  // These are objects in Python.
  for (const SchemaArgument& result : schema.returns) {
    if (result.type.is(TypeKind::kScalarType) || result.type.is(TypeKind::kLayout) ||
        result.type.is(TypeKind::kQScheme))
      return {};
  }
  const auto outs = std::ranges::count_if(schema.arguments, [](const SchemaArgument& argument) {
    return argument.is_kwarg_only && argument.is_written();
  });
  if (outs > 1) return {};
  const PythonSpelling spelling = python_spelling(schema.name.name);
  switch (spelling.place) {
    case PythonPlace::kNone:
      return {};
    case PythonPlace::kFunction:
      return {PythonForm::kCall, spelling.word};
    case PythonPlace::kMethod:
      if (schema.arguments.empty() || !schema.arguments[0].type.is(TypeKind::kTensor)) return {};
      return {PythonForm::kMethod, spelling.word};
  }
  return {};
}

}  // namespace

PythonRule python_rule(const Schema& schema) {
  const bool on_tensors = is_on_tensors(schema);
  const auto [first, last] = rule_table().equal_range(schema.name.name);
  for (auto at = first; at != last; ++at) {
    const NamedRule& rule = *at->second;
    if (rule.on != On::kAll && (rule.on == On::kTensors) != on_tensors) continue;
    if (rule.form == Form::kInfix || rule.form == Form::kDivide) {
      if (std::optional<PythonRule> infix = infix_rule(schema, rule)) return *std::move(infix);
      break;
    }
    if (rule.form == Form::kPrefix && schema.arguments.size() != 1) break;
    return {rule.form, std::string(rule.word), rule.level};
  }
  const std::string_view base = schema.name.base_name();
  if (!on_tensors && schema.name.name_space() == "aten" && !schema.arguments.empty()) {
    const Type& self = schema.arguments[0].type;
    const bool has_methods =
        self.is(TypeKind::kList) || self.is(TypeKind::kDict) || self.is(TypeKind::kString);
    if (has_methods && std::ranges::find(kMethods, base) != kMethods.end())
      return {PythonForm::kMethod, std::string(base)};
  }
  const bool is_of_pytorch =
      on_tensors ||
      std::ranges::any_of(schema.arguments,
                          [](const auto& argument) { return holds_tensor(argument.type); }) ||
      std::ranges::any_of(schema.returns, [](const auto& result) { return holds_tensor(result.type); });
  return is_of_pytorch ? spelled_rule(schema) : PythonRule{};
}

}  // namespace flambeau::script
