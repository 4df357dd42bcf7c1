// What can be done with a meaning: taken as a value or as several, asked for an attribute, given one.
#include <algorithm>

#include "flambeau/base/ascii.h"
#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/compiler/text.h"
#include "flambeau/script/operators/attributes.h"
#include "flambeau/script/operators/functional_texts.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/operators/python_names.h"
#include "flambeau/script/syntax/failure.h"
#include "flambeau/script/types/relations.h"
#include "flambeau/script/types/variables.h"

namespace flambeau::script::compiler {

using syntax::fail_at;

ir::Value* Emitter::as_value(const Meaning& meaning, const SourceRange& place) {
  switch (meaning.kind) {
    case Meaning::Kind::kValue:
    case Meaning::Kind::kClosure:
      return meaning.value;
    case Meaning::Kind::kTuple: {
      std::vector<Value*> values;
      for (const Meaning& part : meaning.parts) values.push_back(as_value(part, place));
      return make_tuple(values);
    }
    default:
      fail_at(place, ErrorCode::kInvalidArgument, "this is no value");
  }
}

std::vector<Meaning> Emitter::as_tuple(const Meaning& meaning, const SourceRange& place,
                                       std::optional<size_t> size) {
  if (meaning.is(Meaning::Kind::kTuple)) return meaning.parts;
  Value* value = as_value(meaning, place);
  std::vector<Meaning> parts;
  if (tuple_type(value->type())) {
    for (Value* part : unpack_tuple(value)) parts.push_back(Meaning::of(part));
    return parts;
  }
  if (!value->type().is(TypeKind::kList)) {
    fail_at(place, ErrorCode::kInvalidArgument, with_article(value->type()) + " is no tuple");
  }
  if (!size) fail_at(place, ErrorCode::kInvalidArgument, "how many items the list has is not known here");
  Value* const inputs[] = {value};
  ir::Node* node = graph_->insert(graph_->make(ir::NodeKind::kListUnpack, inputs, 0));
  for (size_t i = 0; i < *size; ++i) parts.push_back(Meaning::of(node->add_output(value->type().element())));
  return parts;
}

Meaning Emitter::attribute(const Meaning& of, const std::string& name, const SourceRange& place) {
  switch (of.kind) {
    case Meaning::Kind::kValue:
      return value_attribute(of.value, name, place);
    case Meaning::Kind::kTorch:
      // torch.autograd.grad is an operator like the others.
      if (name == "autograd") return of;
      if (name == "ops") return Meaning::of(Meaning::Kind::kOps);
      return Meaning::of(Meaning::Kind::kOperator, "aten::" + name);
    case Meaning::Kind::kPython:
      return python_attribute(of.name, name, place);
    case Meaning::Kind::kOps:
      return Meaning::of(Meaning::Kind::kOpsNamespace, name);
    case Meaning::Kind::kOpsNamespace:
      return Meaning::of(Meaning::Kind::kOperator, of.name + "::" + name);
    case Meaning::Kind::kConstants: {
      const IValue value = names_.constant(name, place);
      return Meaning::of(constant(value, place));
    }
    case Meaning::Kind::kNamespace: {
      const std::string full = of.name + "." + name;
      if (std::shared_ptr<Class> found = names_.find_class(full)) {
        const ClassKind kind = found->kind();
        return Meaning::of(kind == ClassKind::kNamedTuple ? Meaning::Kind::kNamedTuple
                           : kind == ClassKind::kEnum     ? Meaning::Kind::kEnum
                                                          : Meaning::Kind::kClass,
                           std::move(found));
      }
      if (std::shared_ptr<Function> found = names_.find_function(full)) return Meaning::of(std::move(found));
      return Meaning::of(Meaning::Kind::kNamespace, full);
    }
    case Meaning::Kind::kClass: {
      if (name == "__new__") return Meaning::of(Form::kCreateObject);
      // A static method.
      if (std::shared_ptr<Function> found = unit_.find_function(of.type->qualified_name() + "." + name))
        return Meaning::of(std::move(found));
      for (const auto* hooks : {&of.type->forward_hooks, &of.type->forward_pre_hooks}) {
        for (const std::shared_ptr<Function>& hook : *hooks) {
          if (hook->name() == name) return Meaning::of(hook);
        }
      }
      break;
    }
    case Meaning::Kind::kEnum:
      if (const Enumerator* found = of.type->find_enumerator(name)) {
        return Meaning::of(constant(IValue::enumerator(of.type, found->name, found->value), place));
      }
      break;
    default:
      break;
  }
  if (of.type != nullptr) {
    fail_at(place, ErrorCode::kInvalidArgument,
            "the class " + printable(of.type->qualified_name()) + " has no '" + printable(name) + "'",
            near_attribute(of.type->type(), name));
  }
  fail_at(place, ErrorCode::kInvalidArgument, "there is no attribute '" + printable(name) + "' here");
}

// Of a module that users know from Python.
Meaning Emitter::python_attribute(const std::string& module, const std::string& name,
                                  const SourceRange& place) {
  struct PythonForm {
    std::string_view name;
    Form form;
  };
  static constexpr PythonForm kForms[] = {
      {"torch.jit.annotate", Form::kAnnotate},
      {"torch.jit.isinstance", Form::kIsInstance},
      {"torch.jit.fork", Form::kFork},
      {"torch.jit._fork", Form::kFork},
      {"torch.jit._awaitable", Form::kAwaitable},
  };
  const std::string full = module + "." + name;
  if (is_python_module(full)) return Meaning::of(Meaning::Kind::kPython, full);
  if (full == "torch.ops") return Meaning::of(Meaning::Kind::kOps);
  if (full == "torch.classes") return Meaning::of(Meaning::Kind::kNamespace, "__torch__.torch.classes");
  for (const PythonForm& form : kForms) {
    if (form.name == full) return Meaning::of(form.form);
  }
  if (const auto known = python_constant(full)) return Meaning::of(constant(*known, place));
  std::string behind = python_operator(module, name);
  if (behind.empty() && module == "torch.nn.functional" && is_functional_name(name))
    return Meaning::of(functional_function(unit_, name));
  if (behind.empty()) {
    fail_at(place, ErrorCode::kUnsupported, printable(full) + " is a function of Python's, not an operator",
            "call operators, as torch.relu, or write the function out");
  }
  if (!has_operator(unit_, behind) && behind != LanguageOperators::kCheck) {
    std::string remedy = unit_.operator_table().did_you_mean(behind);
    for (size_t found = remedy.find("aten::"); found != std::string::npos; found = remedy.find("aten::"))
      remedy.replace(found, 6, module == "math" ? "math." : "torch.");
    fail_at(place, ErrorCode::kNotFound, printable(module) + " has no '" + printable(name) + "' for scripts",
            std::move(remedy));
  }
  return Meaning::of(Meaning::Kind::kOperator, std::move(behind));
}

Meaning Emitter::value_attribute(Value* value, const std::string& name, const SourceRange& place) {
  const Type& type = value->type();
  if (type.is(TypeKind::kTensor)) {
    if (const auto cast = cast_method(name)) {
      Meaning made = Meaning::of(Meaning::Kind::kTensorCast, {}, value);
      made.number = *cast;
      return made;
    }
  }
  if (const std::string_view behind = attribute_operator(type, name); !behind.empty()) {
    return Meaning::of(operate(behind, {value}, {}));
  }
  if (type.is(TypeKind::kAwait)) {
    return value_attribute(operate(LanguageOperators::kAwaitableWait, {value}, place), name, place);
  }
  if (auto found = class_attribute(value, name, place)) return *found;
  if (name == "type") {
    if (auto found = operator_method(value, "to")) return *found;
  }
  if (auto found = operator_method(value, name)) return *found;
  if (type.is(TypeKind::kTensor)) {
    if (name == "tolist") return Meaning::of(Form::kToList);
    if (name == "__getitem__") return Meaning::of(Form::kTensorIndex);
  }
  fail_at(place, ErrorCode::kInvalidArgument,
          with_article(type) + " has no attribute or method '" + printable(name) + "'",
          near_attribute(type, name));
}

// Of objects, named tuples, interfaces and enums.
std::optional<Meaning> Emitter::class_attribute(Value* value, const std::string& name,
                                                const SourceRange& place) {
  const Type type = value->type();
  Value* const inputs[] = {value};
  if (const std::optional<Type> tuple = tuple_type(type)) {
    std::vector<std::string> fields;
    if (type.is(TypeKind::kClass)) {
      for (const Attribute& field : unit_.get_class(type.name()).attributes) fields.push_back(field.name);
    } else {
      fields.assign(type.fields().begin(), type.fields().end());
    }
    const auto found = std::ranges::find(fields, name);
    if (found == fields.end()) return std::nullopt;
    const auto at = static_cast<int64_t>(found - fields.begin());
    Value* const both[] = {value, constant(at, {})};
    return Meaning::of(
        insert_one(ir::NodeKind::kTupleIndex, both, tuple->elements()[static_cast<size_t>(at)]));
  }
  const std::shared_ptr<Class> of = class_of(type);
  if (of == nullptr) return std::nullopt;
  if (of->kind() == ClassKind::kEnum) {
    if (name == "name") return Meaning::of(operate(LanguageOperators::kEnumName, {value}, {}));
    if (name != "value") return std::nullopt;
    const std::string_view overload = of->value_type.is(TypeKind::kFloat)    ? "float"
                                      : of->value_type.is(TypeKind::kString) ? "str"
                                                                             : "int";
    const OperatorEntry& op = unit_.operators().get(LanguageOperators::kEnumValue, overload);
    return Meaning::of(graph_->insert(graph_->make_operator(op, inputs))->output());
  }
  if (of->find_method(name) != nullptr) return Meaning::of(Meaning::Kind::kMethod, name, value);
  if (const auto found = of->find_attribute(name)) {
    Value* made = insert_one(ir::NodeKind::kGetAttr, inputs, of->attributes[*found].type);
    made->node()->name = name;
    // A number is no name.
    const bool is_number = std::ranges::all_of(name, is_digit);
    made->set_name(is_number ? "_" + name : name);
    return Meaning::of(made);
  }
  if (const ClassConstant* found = of->find_constant(name)) {
    return Meaning::of(insert_constant(*graph_, found->value, found->type, place));
  }
  // A property is a method.
  if (const std::string getter = "__" + name + "_getter"; of->find_method(getter) != nullptr)
    return call_method(value, getter, {}, {}, place);
  return std::nullopt;
}

std::optional<Meaning> Emitter::operator_method(Value* value, const std::string& name) {
  if (!has_method(value->type(), name)) return std::nullopt;
  return Meaning::of(Meaning::Kind::kOperator, "aten::" + name, value);
}

// Whether an operator takes such a value as its "self"; which one is settled when it is called.
bool Emitter::has_method(const Type& type, const std::string& name) const {
  for (const Overload* overload : unit_.operator_table().candidates("aten::" + name, names_.version())) {
    const auto& arguments = overload->signature.arguments;
    const auto self = std::ranges::find(arguments, std::string_view("self"), &Argument::name);
    if (self == arguments.end()) continue;
    TypeBindings bindings;
    if (!bind_type_variables(&unit_, self->type, type, bindings).empty()) continue;
    const std::optional<Type> formal = resolve_type_variables(self->type, bindings);
    if (formal && is_subtype(type, *formal)) return true;
  }
  return false;
}

bool Emitter::has_attribute(const Meaning& of, const std::string& name, const SourceRange& place) {
  if (of.is(Meaning::Kind::kValue)) {
    const Type& type = of.value->type();
    if (const std::shared_ptr<Class> found = class_of(type)) {
      return found->find_method(name) != nullptr || found->find_attribute(name) ||
             found->find_constant(name) != nullptr;
    }
    if (tuple_type(type)) {
      if (type.is(TypeKind::kClass)) return unit_.get_class(type.name()).find_attribute(name).has_value();
      if (!type.fields().empty()) return std::ranges::find(type.fields(), name) != type.fields().end();
    }
  }
  fail_at(place, ErrorCode::kInvalidArgument, "the first argument of hasattr is an object or a named tuple");
}

void Emitter::set_attribute(const Meaning& of, const std::string& name, Value* value,
                            const SourceRange& place) {
  if (!of.is(Meaning::Kind::kValue))
    fail_at(place, ErrorCode::kInvalidArgument, "this has no attributes to set");
  const std::shared_ptr<Class> type = is_object(of.value->type()) ? class_of(of.value->type()) : nullptr;
  if (type == nullptr) {
    fail_at(place, ErrorCode::kInvalidArgument, with_article(of.value->type()) + " has no attributes to set");
  }
  std::optional<size_t> found = type->find_attribute(name);
  if (!found) {
    if (const std::string setter = "__" + name + "_setter"; type->find_method(setter) != nullptr) {
      call_method(of.value, setter, {value}, {}, place);
      return;
    }
    if (type->find_method("__" + name + "_getter") != nullptr) {
      fail_at(place, ErrorCode::kInvalidArgument,
              "the property '" + printable(name) + "' cannot be set: it has no setter");
    }
    // What __init__ sets first, a class has.
    const bool is_init = function_.name() == "__init__" && self_ != nullptr && self_ == type.get();
    if (!is_init || &frame().block() != &graph_->block()) {
      fail_at(
          place, ErrorCode::kInvalidArgument,
          "the class " + printable(type->qualified_name()) + " has no attribute '" + printable(name) + "'",
          "set it in __init__ first");
    }
    type->attributes.push_back({name, value->type()});
    found = type->attributes.size() - 1;
  }
  const Type& wanted = type->attributes[*found].type;
  if (!is_subtype(value->type(), wanted)) {
    fail_at(place, ErrorCode::kInvalidArgument,
            "the attribute '" + printable(name) + "' is of type " + shown(wanted) + ", and is assigned " +
                with_article(value->type()));
  }
  Value* const inputs[] = {of.value, value};
  graph_->insert(graph_->make(ir::NodeKind::kSetAttr, inputs, 0))->name = name;
}

}  // namespace flambeau::script::compiler
