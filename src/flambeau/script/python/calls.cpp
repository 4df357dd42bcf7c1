// Operators: signs, functions, methods, attributes.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/script/python/body.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

bool is_python_default(const DefaultValue& wanted, const IValue& value) {
  if (wanted.is_none()) return value.is_none();
  if (const bool* data = std::get_if<bool>(&wanted.data)) {
    return value.is(IValue::Tag::kBool) && value.as_bool() == *data;
  }
  if (const int64_t* data = std::get_if<int64_t>(&wanted.data)) {
    return (value.is(IValue::Tag::kInt) && value.as_int() == *data) ||
           (value.is(IValue::Tag::kFloat) && value.as_float() == static_cast<double>(*data));
  }
  if (const double* data = std::get_if<double>(&wanted.data)) {
    return value.is(IValue::Tag::kFloat) && value.as_float() == *data;
  }
  if (const std::string* data = std::get_if<std::string>(&wanted.data)) {
    return value.is(IValue::Tag::kString) && value.as_string() == *data;
  }
  const auto* const list = std::get_if<DefaultValue::List>(&wanted.data);
  if (list == nullptr || !value.is(IValue::Tag::kList) || value.items().size() != list->size()) return false;
  for (size_t i = 0; i < list->size(); ++i) {
    if (!is_python_default((*list)[i], value.items()[i])) return false;
  }
  return true;
}

bool is_of_kind(const Type& type, TypeKind kind) { return type.without_optional().is(kind); }

std::string_view memory_format_text(int64_t number) {
  constexpr std::string_view kFormats[] = {"torch.contiguous_format", "torch.preserve_format",
                                           "torch.channels_last", "torch.channels_last_3d"};
  return number >= 0 && number < 4 ? kFormats[number] : std::string_view();
}

std::string_view layout_text(int64_t number) {
  constexpr std::string_view kLayouts[] = {"torch.strided",   "torch.sparse_coo", "torch.sparse_csr",
                                           "torch._mkldnn",   "torch.sparse_csc", "torch.sparse_bsr",
                                           "torch.sparse_bsc"};
  return number >= 0 && number < 7 ? kLayouts[number] : std::string_view();
}

// "torch.ops.aten.add.Tensor". Inside of classes Python makes other names of those that begin with "__".
std::string ops_text(const OperatorName& name) {
  const std::string_view base = name.base_name();
  if (!base.starts_with("__") || base.ends_with("__")) return name.to_python();
  return fmt::format("getattr(torch.ops.{}, \"{}\").{}", name.name_space(), base,
                     name.overload.empty() ? "default" : name.overload);
}

PythonForm form_of(const Node& node) {
  return node.is(NodeKind::kOperator) ? python_rule(node.op->schema).form : PythonForm::kSame;
}

bool is_nonzero(const IValue* value) {
  if (value == nullptr) return false;
  return (value->is(IValue::Tag::kInt) && value->as_int() != 0) ||
         (value->is(IValue::Tag::kFloat) && value->as_float() != 0);
}

}  // namespace

// A result that is an object in Python: when all that is done with it is to give it to operators that take
// such objects, or to compare it. Otherwise it is the number that it is in TorchScript.
bool PythonBody::is_object_of(const Value* value, PythonForm form) const {
  if (form_of(*value->node()) != form) return false;
  const TypeKind kind = form == PythonForm::kDataType ? TypeKind::kScalarType : TypeKind::kLayout;
  return std::ranges::all_of(value->uses(), [&](const ir::Use& use) {
    if (!use.user->is(NodeKind::kOperator)) return false;
    const std::vector<SchemaArgument>& arguments = use.user->op->schema.arguments;
    if (use.index < arguments.size() && is_of_kind(arguments[use.index].type, kind)) return true;
    return is_type_comparison(*use.user, form);
  });
}

// x.dtype == y.dtype, x.dtype == torch.float32.
bool PythonBody::is_type_comparison(const Node& node, PythonForm form) const {
  if (form != PythonForm::kDataType || node.inputs().size() != 2) return false;
  const PythonRule rule = python_rule(node.op->schema);
  if (rule.form != PythonForm::kInfix || (rule.word != "==" && rule.word != "!=")) return false;
  return std::ranges::all_of(node.inputs(), [&](const Value* input) {
    const IValue* const known = constant(input);
    if (known != nullptr)
      return known->is(IValue::Tag::kInt) && !PythonFile::dtype_text(known->as_int()).empty();
    // The other one must be an object, too, whatever else happens to it.
    return form_of(*input->node()) == form &&
           std::ranges::all_of(input->uses(), [&](const ir::Use& use) { return use.user == &node; });
  });
}

std::string PythonBody::operand(const Node& node, size_t index) {
  const std::vector<SchemaArgument>& arguments = node.op->schema.arguments;
  const Value* const value = node.input(index);
  if (index >= arguments.size()) return use(value);
  const IValue* const known = constant(value);
  const Type& type = arguments[index].type;
  const auto number = known != nullptr && known->is(IValue::Tag::kInt) ? known->as_int() : int64_t{-1};
  if (known != nullptr && known->is_none()) return "None";
  // Some of TorchScript's own overloads say "int" where they mean a data type.
  if (is_of_kind(type, TypeKind::kScalarType) ||
      (arguments[index].name == "dtype" && is_of_kind(type, TypeKind::kInt))) {
    if (std::string text = PythonFile::dtype_text(number); !text.empty()) return text;
    if (is_object_of(value, PythonForm::kDataType)) return use(value);
    return fmt::format("{}({})", file_.need("dtype_of"), use(value));
  }
  if (is_of_kind(type, TypeKind::kLayout)) {
    if (!layout_text(number).empty()) return std::string(layout_text(number));
    if (is_object_of(value, PythonForm::kLayout)) return use(value);
    return fmt::format("{}({})", file_.need("layout_of"), use(value));
  }
  if (is_of_kind(type, TypeKind::kMemoryFormat)) {
    if (!memory_format_text(number).empty()) return std::string(memory_format_text(number));
    return fmt::format("{}({})", file_.need("memory_format_of"), use(value));
  }
  return use(value);
}

// Arguments that have their default are left out: at the end, and those that are given by name.
std::string PythonBody::operands(const Node& node, size_t first, bool is_ops) {
  const std::vector<SchemaArgument>& arguments = node.op->schema.arguments;
  const std::span<Value* const> inputs = node.inputs();
  const auto has_default = [&](size_t i) {
    if (i >= arguments.size() || !arguments[i].default_value) return false;
    const IValue* const known = constant(inputs[i]);
    if (known != nullptr) return is_python_default(*arguments[i].default_value, *known);
    const Node& maker = *inputs[i]->node();
    const auto* const list = std::get_if<DefaultValue::List>(&arguments[i].default_value->data);
    return list != nullptr && list->empty() && maker.is(NodeKind::kListConstruct) && maker.inputs().empty();
  };
  const auto drop = [&](size_t i) {
    // Nobody else looks at an empty list that was made for it.
    if (constant(inputs[i]) == nullptr) std::erase(pending_, inputs[i]);
  };
  // memory_format of to() is no keyword in schemas, and one in Python; reverse of sort() likewise.
  const auto is_keyword = [&](size_t i) {
    if (i >= arguments.size()) return false;
    return arguments[i].is_kwarg_only ||
           (!is_ops &&
            (is_of_kind(arguments[i].type, TypeKind::kMemoryFormat) || arguments[i].name == "reverse"));
  };
  size_t positions = first;  // up to there arguments are needed by their places
  for (size_t i = first; i < inputs.size() && !is_keyword(i); ++i) {
    if (!has_default(i)) positions = i + 1;
  }
  std::string text;
  for (size_t i = first; i < inputs.size(); ++i) {
    const bool by_name = is_keyword(i);
    if (by_name ? has_default(i) : i >= positions && has_default(i)) {
      drop(i);
      continue;
    }
    if (!text.empty()) text += ", ";
    if (i < arguments.size() && (by_name || i >= positions)) text += arguments[i].name + "=";
    text += operand(node, i);
  }
  return text;
}

// Whether Python gives a tuple, or something like it, where somebody needs a list.
bool PythonBody::gives_list(const Node& node) const {
  if (node.outputs().size() != 1 || !node.output()->type().is(TypeKind::kList)) return false;
  return !std::ranges::all_of(node.output()->uses(), [](const ir::Use& use) {
    if (use.user->is(NodeKind::kListUnpack)) return true;
    if (!use.user->is(NodeKind::kOperator)) return false;
    const PythonRule rule = python_rule(use.user->op->schema);
    const bool is_call = rule.form == PythonForm::kCall || rule.form == PythonForm::kMethod;
    const bool is_torch = rule.form == PythonForm::kCall && rule.word.starts_with("torch.");
    return rule.form == PythonForm::kItem || is_torch || (is_call && rule.word == "len") ||
           (rule.form == PythonForm::kMethod && use.index > 0 &&
            use.user->op->schema.arguments[0].type.is(TypeKind::kTensor));
  });
}

// Of a tensor that is made of a list: lists know what they hold in TorchScript, also empty ones.
std::string PythonBody::element_dtype(const Node& node) const {
  const std::optional<size_t> dtype = node.op->schema.find_argument("dtype");
  if (node.op->schema.arguments.empty() || node.op->schema.arguments[0].name != "data" || !dtype ||
      *dtype >= node.inputs().size())
    return {};
  const IValue* const given = constant(node.input(*dtype));
  const Node& maker = *node.input(0)->node();
  const bool is_full = maker.is(NodeKind::kListConstruct) && !maker.inputs().empty();
  if (given == nullptr || !given->is_none() || is_full || !node.input(0)->type().is(TypeKind::kList))
    return {};
  Type element = node.input(0)->type();
  while (element.is(TypeKind::kList)) element = Type(element.element());
  if (element.is(TypeKind::kInt)) return ", dtype=torch.int64";
  return element.is(TypeKind::kBool) ? ", dtype=torch.bool" : std::string();
}

PythonExpression PythonBody::infix(const Node& node, const PythonRule& rule) {
  const auto tighter = [](PythonLevel level) { return static_cast<PythonLevel>(level + 1); };
  const bool is_power = rule.level == kLevelPower;
  const PythonLevel left = is_power || rule.level == kLevelCompare ? tighter(rule.level) : rule.level;
  const PythonLevel right = is_power ? kLevelSign : tighter(rule.level);
  const bool of_types = is_type_comparison(node, PythonForm::kDataType);
  const auto side = [&](size_t index, PythonLevel level) {
    const IValue* const known = constant(node.input(index));
    return of_types && known != nullptr ? PythonFile::dtype_text(known->as_int())
                                        : use(node.input(index), level);
  };
  const std::string a = side(0, left);
  return {a + " " + rule.word + " " + side(1, right), rule.level};
}

// Nothing for what was a statement.
std::optional<PythonExpression> PythonBody::operation(const Node& node) {
  const PythonRule rule = python_rule(node.op->schema);
  const auto bound = [&](size_t index, PythonLevel level) { return use(node.input(index), level); };
  switch (rule.form) {
    case PythonForm::kSetItem: {
      const std::string object = bound(0, kLevelAtom);
      const std::string key = bound(1, kLevelConditional);
      line(fmt::format("{}[{}] = {}", object, key, bound(2, kLevelConditional)));
      // Lists of numbers give themselves back.
      if (!node.outputs().empty()) expressions_[node.output()] = {object};
      return {};
    }
    case PythonForm::kDelete: {
      const std::string object = bound(0, kLevelAtom);
      line(fmt::format("del {}[{}]", object, bound(1, kLevelConditional)));
      return {};
    }
    case PythonForm::kWarn:
      file_.need_import("warnings");
      line(fmt::format("warnings.warn({})", bound(0, kLevelConditional)));
      return {};
    case PythonForm::kIndexPut: {
      const IValue* const adds = node.inputs().size() > 3 ? constant(node.input(3)) : nullptr;
      const bool is_plain =
          node.inputs().size() == 3 || (adds != nullptr && adds->is(IValue::Tag::kBool) && !adds->as_bool());
      const Node& list = *node.input(1)->node();
      if (!is_plain || !list.is(NodeKind::kListConstruct) || list.inputs().empty() ||
          names_.contains(node.input(1)) || node.output()->has_uses()) {
        return call(node, {});
      }
      const std::string object = bound(0, kLevelAtom);
      const std::string index = index_text(node.input(1));
      line(fmt::format("{}[{}] = {}", object, index, bound(2, kLevelConditional)));
      return {};
    }
    case PythonForm::kTensorSlice:
    case PythonForm::kListSlice:
    case PythonForm::kSelect:
    case PythonForm::kIndex:
      return subscript(node);
    default:
      break;
  }
  // What gives itself back is a statement in Python: x.append(y).
  const Schema& schema = node.op->schema;
  const bool changes = rule.form == PythonForm::kMethod && !schema.arguments.empty() &&
                       !schema.arguments[0].type.is(TypeKind::kTensor) && schema.is_mutable();
  if (changes && node.outputs().size() == 1 && node.output()->type() == node.input(0)->type() &&
      schema.returns[0].alias) {
    const std::string object = use(node.input(0), kLevelAtom);
    line(fmt::format("{}.{}({})", object, rule.word, operands(node, 1, false)));
    expressions_[node.output()] = {object};
    return {};
  }
  return call(node, rule);
}

PythonExpression PythonBody::call(const Node& node, const PythonRule& rule) {
  const auto bound = [&](size_t index, PythonLevel level) { return use(node.input(index), level); };
  const auto as_list = [&](std::string text) {
    return gives_list(node) ? PythonExpression{builtin("list") + "(" + text + ")"}
                            : PythonExpression{std::move(text)};
  };
  switch (rule.form) {
    case PythonForm::kInfix: {
      const IValue* const alpha = node.inputs().size() == 3 ? constant(node.input(2)) : nullptr;
      const bool is_one = alpha != nullptr && alpha->is(IValue::Tag::kInt) && alpha->as_int() == 1;
      if (node.inputs().size() == 2 || is_one) return infix(node, rule);
      return {fmt::format("{}({})", ops_text(node.op->schema.name), operands(node, 0, true))};
    }
    case PythonForm::kDivide:
      if (is_nonzero(constant(node.input(1)))) return infix(node, {PythonForm::kInfix, "/", kLevelProduct});
      return {fmt::format("{}({})", file_.need("divide"), uses(node.inputs()))};
    case PythonForm::kContains: {
      const std::string container = bound(0, kLevelBitOr);
      return {bound(1, kLevelBitOr) + " in " + container, kLevelCompare};
    }
    case PythonForm::kPrefix: {
      const Value* const tested = node.input(0);
      const Node& test = *tested->node();
      if (rule.level != kLevelNot || form_of(test) != PythonForm::kContains || names_.contains(tested)) {
        return {rule.word + bound(0, rule.level), rule.level};
      }
      std::erase(pending_, tested);
      const std::string item = use(test.input(1), kLevelBitOr);
      return {item + " not in " + use(test.input(0), kLevelBitOr), kLevelCompare};
    }
    case PythonForm::kAttribute:
      return {bound(0, kLevelAtom) + "." + rule.word};
    case PythonForm::kDataType:
      if (is_object_of(node.output(), rule.form)) return {bound(0, kLevelAtom) + ".dtype"};
      return {fmt::format("{}({}.dtype)", file_.need("dtype_number"), bound(0, kLevelAtom))};
    case PythonForm::kLayout:
      if (is_object_of(node.output(), rule.form)) return {bound(0, kLevelAtom) + ".layout"};
      return {fmt::format("{}({}.layout)", file_.need("layout_number"), bound(0, kLevelAtom))};
    case PythonForm::kHelper:
    case PythonForm::kVariadic:
      return {fmt::format("{}({})", file_.need(rule.word), uses(node.inputs()))};
    case PythonForm::kText: {
      const TypeKind kind = node.input(0)->type().kind();
      const bool is_same = kind == TypeKind::kInt || kind == TypeKind::kString || kind == TypeKind::kBool;
      return {fmt::format("{}({})", is_same ? builtin("str") : std::string(file_.need(rule.word)),
                          bound(0, kLevelConditional))};
    }
    case PythonForm::kEntries:
      return {fmt::format("{}({}.{}())", builtin("list"), bound(0, kLevelAtom), rule.word)};
    case PythonForm::kItem: {
      const std::string object = bound(0, kLevelAtom);
      return {object + "[" + bound(1, kLevelConditional) + "]"};
    }
    case PythonForm::kRangeLength:
      return {fmt::format("{}({}({}))", builtin("len"), builtin("range"), uses(node.inputs()))};
    case PythonForm::kDeriveIndex: {
      // (index, start, step)
      const std::string index = bound(0, kLevelProduct);
      const std::string start = bound(1, kLevelSum);
      return {start + " + " + index + " * " + bound(2, kLevelSign), kLevelSum};
    }
    case PythonForm::kMethod: {
      const std::string object = bound(0, kLevelAtom);
      return as_list(fmt::format("{}.{}({})", object, rule.word, operands(node, 1, false)));
    }
    case PythonForm::kCall: {
      const bool is_builtin = rule.word.find('.') == std::string::npos;
      if (rule.word.starts_with("math.")) file_.need_import("math");
      const std::string word = is_builtin ? builtin(rule.word) : rule.word;
      const std::string text = fmt::format("{}({}{})", word, operands(node, 0, false), element_dtype(node));
      return is_builtin ? PythonExpression{text} : as_list(text);
    }
    default:
      return {fmt::format("{}({})", ops_text(node.op->schema.name), operands(node, 0, true))};
  }
}

}  // namespace flambeau::script
