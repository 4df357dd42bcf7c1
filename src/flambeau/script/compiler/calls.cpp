// Calls of everything that can be called by evaluating its arguments in order.
#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/syntax/failure.h"

namespace flambeau::script::compiler {

using syntax::fail_at;
using syntax::Kind;

ir::Value* Emitter::operate(std::string_view name, Given arguments, const SourceRange& place,
                            Given keywords) {
  CallContext calls = context();
  Call made;
  made.positional = std::move(arguments);
  made.keyword = std::move(keywords);
  made.range = place;
  return emit_operator(calls, name, made);
}

Meaning Emitter::emit_call(const Node& node, size_t, const Type* hint) {
  const Node& callee_node = node.child(0);
  const Meaning callee = emit_meaning(callee_node);
  if (callee.is(Meaning::Kind::kForm)) return emit_form(callee.form, node, hint);
  const std::span<const Node* const> arguments = std::span(node.children).subspan(1);
  Given given = emit_arguments(arguments, true);
  Given keywords;
  for (const Node* argument : arguments) {
    if (argument->is(Kind::kKeyword)) keywords.emplace_back(argument->text, emit(argument->child(0)));
  }
  return call(callee, std::move(given), std::move(keywords), range(callee_node));
}

Meaning Emitter::call(const Meaning& callee, Given arguments, Given keywords, const SourceRange& place) {
  switch (callee.kind) {
    case Meaning::Kind::kOperator: {
      CallContext calls = context();
      Call made;
      made.positional = std::move(arguments);
      made.keyword = std::move(keywords);
      made.range = place;
      if (callee.value != nullptr) made.self = GivenArgument("self", callee.value);
      if (callee.name == LanguageOperators::kRaise) {
        // It is no operator in graphs.
        std::vector<Value*> inputs;
        for (const GivenArgument& argument : made.positional) inputs.push_back(argument.value);
        if (inputs.size() == 1) inputs.push_back(constant(IValue(), SourceRange()));
        if (inputs.size() != 2 || !made.keyword.empty() || !inputs[0]->type().is(TypeKind::kString)) {
          fail_at(place, ErrorCode::kInvalidArgument,
                  "an exception is raised with its message, and its class's name");
        }
        graph_->insert(graph_->make(ir::NodeKind::kRaiseException, inputs, 0))->range = place;
        return Meaning::of(Meaning::Kind::kNothing);
      }
      if (callee.name == LanguageOperators::kCheck) {
        if (made.positional.size() + made.keyword.size() == 1)
          made.keyword.emplace_back("message", constant("", place));
        for (const std::string_view wanted : {"cond", "message"}) {
          for (const GivenArgument& argument : made.keyword) {
            if (argument.name == wanted) made.positional.emplace_back(argument.value);
          }
        }
        operate(LanguageOperators::kAssert, std::move(made.positional), place);
        return Meaning::of(Meaning::Kind::kNothing);
      }
      return Meaning::of(emit_operator(calls, callee.name, made));
    }
    case Meaning::Kind::kFunction:
      return call_function(callee.function, std::move(arguments), std::move(keywords), place);
    case Meaning::Kind::kMethod:
      return call_method(callee.value, callee.name, std::move(arguments), std::move(keywords), place);
    case Meaning::Kind::kBuiltin:
      return call_builtin(*callee.builtin, std::move(arguments), std::move(keywords), place);
    case Meaning::Kind::kTensorCast:
      return Meaning::of(operate(LanguageOperators::kTo, {}, place,
                                 {{"self", callee.value}, {"dtype", constant(callee.number, place)}}));
    case Meaning::Kind::kClass: {
      Value* object = insert_one(ir::NodeKind::kCreateObject, {}, callee.type->type(), place);
      if (callee.type->find_method("__init__") == nullptr) {
        fail_at(place, ErrorCode::kInvalidArgument,
                "the class " + printable(callee.type->qualified_name()) + " has no __init__");
      }
      call_method(object, "__init__", std::move(arguments), std::move(keywords), place);
      return Meaning::of(object);
    }
    case Meaning::Kind::kNamedTuple: {
      Signature signature;
      signature.name = callee.type->qualified_name();
      for (const Attribute& field : callee.type->attributes) {
        signature.arguments.push_back({field.name, field.type, field.default_value});
      }
      CallContext calls = context();
      Call made;
      made.positional = std::move(arguments);
      made.keyword = std::move(keywords);
      made.range = place;
      const MatchedCall matched = match_signature(calls, signature, made);
      return Meaning::of(
          insert_one(ir::NodeKind::kTupleConstruct, matched.inputs, callee.type->type(), place));
    }
    case Meaning::Kind::kException:
      return make_exception(callee.name, arguments, place);
    case Meaning::Kind::kValue:
      if (const std::shared_ptr<Class> type = class_of(callee.value->type())) {
        const bool is_module = type->is_module() || type->kind() == ClassKind::kModuleInterface;
        return call(attribute(callee, is_module ? "forward" : "__call__", place), std::move(arguments),
                    std::move(keywords), place);
      }
      fail_at(place, ErrorCode::kInvalidArgument, with_article(callee.value->type()) + " cannot be called");
    default:
      fail_at(place, ErrorCode::kInvalidArgument, "this cannot be called");
  }
}

// TorchScript's own exception has its name in the message; one of Python's is a message and the class's name.
Meaning Emitter::make_exception(const std::string& name, const Given& arguments, const SourceRange& place) {
  Meaning made = Meaning::of(Meaning::Kind::kExceptionMessage);
  if (name.find('.') == std::string::npos) {
    made.value = constant(name + ": ", place);
    for (const GivenArgument& argument : arguments) {
      Value* text = argument.value;
      if (!text->type().is(TypeKind::kString)) text = operate(LanguageOperators::kString, {text}, place);
      made.value = operate(LanguageOperators::kJoin, {made.value, text}, place);
    }
    return made;
  }
  if (arguments.empty()) {
    made.value = constant("", place);
  } else if (arguments.size() == 1) {
    made.value = arguments[0].value;
  } else {
    std::vector<Value*> values;
    for (const GivenArgument& argument : arguments) values.push_back(argument.value);
    made.value = make_tuple(values);
  }
  made.parts = {Meaning::of(constant(name, place))};
  return made;
}

Meaning Emitter::call_method(Value* object, const std::string& name, Given arguments, Given keywords,
                             const SourceRange& place) {
  const std::shared_ptr<Class> type = class_of(object->type());
  const auto* method = type == nullptr ? nullptr : type->find_method(name);
  if (method == nullptr) {
    fail_at(place, ErrorCode::kInvalidArgument,
            with_article(object->type()) + " has no method '" + printable(name) + "'");
  }
  arguments.insert(arguments.begin(), GivenArgument(object));
  CallContext calls = context();
  Call made;
  made.positional = std::move(arguments);
  made.keyword = std::move(keywords);
  made.range = place;
  const MatchedCall matched = match_signature(calls, (*method)->signature(), made);
  Value* result = insert_one(ir::NodeKind::kCallMethod, matched.inputs, matched.returns.at(0), place);
  result->node()->name = name;
  return Meaning::of(result);
}

Meaning Emitter::call_function(const std::shared_ptr<Function>& function, Given arguments, Given keywords,
                               const SourceRange& place) {
  CallContext calls = context();
  Call made;
  made.positional = std::move(arguments);
  made.keyword = std::move(keywords);
  made.range = place;
  const MatchedCall matched = match_signature(calls, function->signature(), made);
  Value* callee = insert_one(ir::NodeKind::kConstant, {}, Type::function_named(function->qualified_name()));
  callee->node()->name = function->qualified_name();
  std::vector<Value*> inputs{callee};
  inputs.insert(inputs.end(), matched.inputs.begin(), matched.inputs.end());
  return Meaning::of(insert_one(ir::NodeKind::kCallFunction, inputs, matched.returns.at(0), place));
}

Meaning Emitter::call_builtin(const Builtin& builtin, Given arguments, Given keywords,
                              const SourceRange& place) {
  if (!builtin.method.empty() && !arguments.empty() && is_object(arguments[0].value->type())) {
    return call_with_method(builtin.method, builtin.operator_name, std::move(arguments), std::move(keywords),
                            place);
  }
  if (builtin.cast && arguments.size() == 1 && keywords.empty()) {
    // PyTorch makes the zero whether it needs it or not, and it matters: an `if` that follows another one at
    // once is merged with it.
    Value* zero = constant(0, {});
    Value* value = arguments[0].value;
    const Type& type = value->type();
    if (is_subtype(type, *builtin.cast)) return Meaning::of(value);
    if (*builtin.cast == TypeKind::kBool &&
        (type.is(TypeKind::kList) || type.is(TypeKind::kString) || type.is(TypeKind::kDict))) {
      Value* length = operate(LanguageOperators::kLength, {value}, place);
      return Meaning::of(operate(LanguageOperators::kGreater, {length, zero}, place));
    }
  }
  return Meaning::of(operate(builtin.operator_name, std::move(arguments), place, std::move(keywords)));
}

// Objects answer by a method of their own, all else by the operator.
Meaning Emitter::call_with_method(std::string_view method, std::string_view operator_name, Given arguments,
                                  Given keywords, const SourceRange& place) {
  if (!arguments.empty() && is_object(arguments[0].value->type())) {
    Value* object = arguments[0].value;
    arguments.erase(arguments.begin());
    return call(attribute(Meaning::of(object), std::string(method), place), std::move(arguments),
                std::move(keywords), place);
  }
  return Meaning::of(operate(operator_name, std::move(arguments), place, std::move(keywords)));
}

}  // namespace flambeau::script::compiler
