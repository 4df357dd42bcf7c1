// Nodes that are expressions.
#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/script/operators/print_forms.h"
#include "flambeau/script/printer/code_writer.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

using ir::Node;
using ir::NodeKind;
using ir::Value;

namespace {

bool is_default(const DefaultValue& wanted, const IValue& value);

bool is_default_list(const DefaultValue::List& wanted, const IValue& value) {
  if (!value.is(IValue::Tag::kList) || value.items().size() != wanted.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!is_default(wanted[i], value.items()[i])) return false;
  }
  return true;
}

// Of the same kind and equal; a NaN equals nothing.
bool is_default(const DefaultValue& wanted, const IValue& value) {
  struct Visitor {
    const IValue& given;
    bool operator()(std::monostate) const { return given.is_none(); }
    bool operator()(bool data) const { return given.is(IValue::Tag::kBool) && given.as_bool() == data; }
    bool operator()(int64_t data) const { return given.is(IValue::Tag::kInt) && given.as_int() == data; }
    bool operator()(double data) const { return given.is(IValue::Tag::kFloat) && given.as_float() == data; }
    bool operator()(std::complex<double> data) const {
      return given.is(IValue::Tag::kComplex) && given.as_complex() == data;
    }
    bool operator()(const std::string& data) const {
      return given.is(IValue::Tag::kString) && given.as_string() == data;
    }
    bool operator()(const DefaultValue::List& data) const { return is_default_list(data, given); }
  };
  return std::visit(Visitor{value}, wanted.data);
}

bool is_constant_default(const SchemaArgument& argument, const Value* value) {
  const Node* node = value->node();
  return argument.default_value && node->is(NodeKind::kConstant) && node->name.empty() &&
         is_default(*argument.default_value, node->constant);
}

bool is_out(const SchemaArgument& argument) { return argument.is_kwarg_only && argument.is_written(); }

bool is_none(const Value* value) {
  return value->type().is(TypeKind::kNone) ||
         (value->node()->is(NodeKind::kConstant) && value->node()->name.empty() &&
          value->node()->constant.is_none());
}

}  // namespace

void CodeWriter::append_around(TaggedText& to, std::string_view before, const Node& node,
                               std::string_view after) {
  put(to, before);
  append_uses(to, node.inputs());
  put(to, after);
}

void CodeWriter::append_typed(TaggedText& to, std::string_view word, const Type& type, const Value* value) {
  put(to, fmt::format("{}({}, ", word, type_of(type)));
  append_use(to, value);
  put(to, ")");
}

void CodeWriter::append_constant(TaggedText& to, const Node& node) {
  if (!node.name.empty()) {
    dependencies_.add_function(node.name);
    put(to, printed_name(node.name, printed_names_));
  } else {
    put(to, constant_text(node.constant, constants_, printed_names_));
  }
}

// Where the members do not say what the list holds, and where there are none, its type is written down.
void CodeWriter::append_list(TaggedText& to, const Node& node) {
  const Type& type = node.output()->type();
  const Type& element = type.element();
  if (!node.inputs().empty() && is_inferred_from_members(element, is_interface(element))) {
    return append_around(to, "[", node, "]");
  }
  put(to, fmt::format("annotate({}, ", type_of(type)));
  append_around(to, "[", node, "])");
}

void CodeWriter::append_dict(TaggedText& to, const Node& node) {
  const Type& type = node.output()->type();
  bool is_plain = !node.inputs().empty();
  for (const Type& part : type.elements()) {
    is_plain = is_plain && is_inferred_from_members(part, is_interface(part));
  }
  if (!is_plain) put(to, fmt::format("annotate({}, ", type_of(type)));
  put(to, "{");
  for (size_t i = 0; i + 1 < node.inputs().size(); i += 2) {
    if (i > 0) put(to, ", ");
    append_use(to, node.input(i));
    put(to, ": ");
    append_use(to, node.input(i + 1));
  }
  put(to, is_plain ? "}" : "})");
}

void CodeWriter::append_types(TaggedText& to, const std::vector<Type>& types) {
  std::string text;
  for (const Type& type : types) text += (text.empty() ? "" : ", ") + type_of(type);
  put(to, types.size() == 1 ? text : "(" + text + ")");
}

void CodeWriter::append_method_call(TaggedText& to, const Node& node) {
  put(to, "(");
  append_use(to, node.input(0));
  put(to, fmt::format(").{}(", node.name));
  for (const Value* argument : node.inputs().subspan(1)) {
    append_use(to, argument);
    put(to, ", ");
  }
  put(to, ")");
}

void CodeWriter::append_expression(TaggedText& to, const Node& node) {
  switch (node.kind()) {
    case NodeKind::kConstant:
      return append_constant(to, node);
    case NodeKind::kUninitialized:
      return put(to, fmt::format("uninitialized({})", type_of(node.output()->type())));
    case NodeKind::kPrint:
      return append_around(to, "print(", node, ")");
    case NodeKind::kTupleConstruct:
      if (node.output()->type().is(TypeKind::kClass)) put(to, type_of(node.output()->type()));
      return append_around(to, "(", node, node.inputs().size() == 1 ? ",)" : ")");
    case NodeKind::kTupleIndex:
      put(to, "(");
      append_use(to, node.input(0));
      put(to, ")[");
      append_use(to, node.input(1));
      return put(to, "]");
    case NodeKind::kTupleSlice:
      return append_around(to, "(", node, fmt::format(")[{}:{}]", node.begin, node.end));
    case NodeKind::kListConstruct:
      return append_list(to, node);
    case NodeKind::kDictConstruct:
      return append_dict(to, node);
    case NodeKind::kCreateObject: {
      const std::string type = type_of(node.output()->type());
      return put(to, fmt::format("{}.__new__({})", type, type));
    }
    case NodeKind::kGetAttr:
      if (is_identifier(node.name)) return append_around(to, "", node, "." + node.name);
      return append_around(to, "getattr(", node, fmt::format(", {})", quoted_text(node.name)));
    case NodeKind::kCallFunction:
      append_use(to, node.input(0));
      put(to, "(");
      for (const Value* argument : node.inputs().subspan(1)) {
        append_use(to, argument);
        put(to, ", ");
      }
      return put(to, ")");
    case NodeKind::kCallMethod:
      return append_method_call(to, node);
    case NodeKind::kUncheckedCast:
      return append_typed(to, "unchecked_cast", node.output()->type(), node.input(0));
    case NodeKind::kIsInstance:
      append_around(to, "isinstance(", node, ", ");
      append_types(to, node.types);
      return put(to, ")");
    case NodeKind::kToList:
      put(to, fmt::format("annotate({}, ", type_of(node.output()->type())));
      append_use(to, node.input(0));
      return put(to, ".tolist())");
    case NodeKind::kRaiseException: {
      const bool has_class = node.inputs().size() > 1 && !is_none(node.input(1));
      put(to, "ops.prim.RaiseException(");
      append_uses(to, node.inputs().first(has_class ? 2 : 1));
      return put(to, ")");
    }
    case NodeKind::kOperator:
      return append_operator(to, node);
    default:
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("{} cannot be written as code", ir::node_kind_name(node.kind())));
  }
}

void CodeWriter::append_operator(TaggedText& to, const Node& node) {
  const PrintRule rule = print_rule(node.op->schema.name);
  switch (rule.form) {
    case PrintForm::kWord:
      return append_around(to, fmt::format("{}(", rule.word), node, ")");
    case PrintForm::kAnnotate:
      return append_typed(to, "annotate", node.output()->type(), node.input(0));
    case PrintForm::kCast:
      return append_typed(to, "unchecked_cast", node.output()->type(), node.input(0));
    case PrintForm::kIndex: {
      const std::string indexed = text_of(node.input(0));
      put(to, is_identifier(indexed) ? indexed + "[" : "(" + indexed + ")[");
      append_use(to, node.input(1));
      return put(to, "]");
    }
    case PrintForm::kUnwrapOptional:
      // The type of a bare None would be lost.
      put(to, printed_operator(node.op->schema.name) + "(");
      if (is_none(node.input(0))) {
        append_typed(to, "annotate", Type::optional(node.output()->type()), node.input(0));
      } else {
        append_use(to, node.input(0));
      }
      return put(to, ")");
    case PrintForm::kEnumValue:
      return append_around(to, "(", node, ").value");
    case PrintForm::kEnumName:
      return append_around(to, "(", node, ").name");
    case PrintForm::kContainerIndex:
    case PrintForm::kCall:
      return append_call(to, node);
  }
}

// Arguments at the end that have their default are left out, also those before the ones for results.
void CodeWriter::append_call(TaggedText& to, const Node& node) {
  const std::vector<SchemaArgument>& arguments = node.op->schema.arguments;
  const std::span<Value* const> inputs = node.inputs();
  put(to, printed_operator(node.op->schema.name) + "(");
  const bool has_short_devices = print_rule(node.op->schema.name).has_short_devices;
  size_t outs = 0;
  while (outs < arguments.size() && is_out(arguments[arguments.size() - outs - 1])) ++outs;
  size_t needed = inputs.size();
  if (inputs.size() <= arguments.size()) {
    needed = std::min(needed, arguments.size() - outs);
    while (needed > 0 && is_constant_default(arguments[needed - 1], inputs[needed - 1])) --needed;
  }
  if (arguments.empty()) needed = 0;
  for (size_t i = 0; i < needed; ++i) {
    if (i > 0) put(to, ", ");
    if (i < arguments.size() && arguments[i].is_kwarg_only) put(to, arguments[i].name + "=");
    const Node* maker = inputs[i]->node();
    if (has_short_devices && maker->is(NodeKind::kConstant) && maker->constant.is(IValue::Tag::kDevice)) {
      put(to, quoted_text(maker->constant.as_device().to_string()));
    } else {
      append_use(to, inputs[i]);
    }
  }
  for (size_t i = arguments.size() - outs; i < arguments.size(); ++i) {
    put(to, ", ");
    const size_t from_end = arguments.size() - i;
    if (from_end > inputs.size()) continue;
    put(to, arguments[i].name + "=");
    append_use(to, inputs[inputs.size() - from_end]);
  }
  put(to, ")");
}

}  // namespace flambeau::script
