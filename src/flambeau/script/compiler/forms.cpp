// Special forms: calls that do not simply evaluate their arguments.
#include <limits>

#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/syntax/failure.h"
#include "flambeau/script/types/relations.h"

namespace flambeau::script::compiler {

using syntax::fail_at;
using syntax::Kind;

std::span<const syntax::Node* const> Emitter::arguments_of(const Node& node, size_t least, size_t most) {
  const std::span<const Node* const> arguments = std::span(node.children).subspan(1);
  for (const Node* argument : arguments) {
    if (argument->is(Kind::kKeyword))
      fail_at(range(*argument), ErrorCode::kInvalidArgument, "no keyword is known here");
  }
  if (arguments.size() < least || arguments.size() > most) {
    fail_at(range(node), ErrorCode::kInvalidArgument,
            "expected " + std::to_string(least) + (most > least ? " to " + std::to_string(most) : "") +
                " arguments, found " + std::to_string(arguments.size()));
  }
  return arguments;
}

Meaning Emitter::emit_form(Form form, const Node& node, const Type* hint) {
  const SourceRange place = range(node);
  constexpr size_t kMany = std::numeric_limits<size_t>::max();
  switch (form) {
    case Form::kPrint: {
      arguments_of(node, 0, kMany);
      const std::vector<Value*> values = emit_values(std::span(node.children).subspan(1));
      graph_->insert(graph_->make(ir::NodeKind::kPrint, values, 0))->range = range(node.child(0));
      return Meaning::of(Meaning::Kind::kNothing);
    }
    case Form::kAnnotate:
      return emit_annotate(node);
    case Form::kFork:
      return emit_fork(node, ir::NodeKind::kFork);
    case Form::kAwaitable:
      return emit_fork(node, ir::NodeKind::kAwaitable);
    case Form::kUncheckedCast: {
      const auto arguments = arguments_of(node, 2, 2);
      const Type type = read_type(*arguments[0]);
      Value* value = emit(*arguments[1]);
      // Casts that were printed are not cast again.
      if (!value->node()->is(ir::NodeKind::kUncheckedCast) || !(value->type() == type)) {
        value = cast_unchecked(value, type);
      }
      return Meaning::of(value);
    }
    case Form::kUninitialized:
      return Meaning::of(
          insert_one(ir::NodeKind::kUninitialized, {}, read_type(*arguments_of(node, 1, 1)[0]), place));
    case Form::kGetAttr:
      return emit_get_attribute(node);
    case Form::kHasAttr: {
      const auto arguments = arguments_of(node, 2, 2);
      return Meaning::of(emit_has_attribute(*arguments[0], *arguments[1]).value);
    }
    case Form::kIsInstance: {
      const auto arguments = arguments_of(node, 2, 2);
      return Meaning::of(emit_is_instance(*arguments[0], *arguments[1]).value);
    }
    case Form::kTuple: {
      std::vector<Value*> values;
      for (const Meaning& part : as_tuple(emit_meaning(*arguments_of(node, 1, 1)[0]), place)) {
        values.push_back(as_value(part, place));
      }
      return Meaning::of(make_tuple(values));
    }
    case Form::kToList: {
      if (hint == nullptr) {
        fail_at(place, ErrorCode::kInvalidArgument, "the type that tolist() gives must be said",
                "assign it to a variable with an annotation");
      }
      const Node& tensor = node.child(0).child(0);
      return Meaning::of(insert_to_list(emit(tensor), *hint, place));
    }
    case Form::kTensorIndex: {
      Value* tensor = emit(node.child(0).child(0));
      Value* index = emit(*arguments_of(node, 1, 1)[0]);
      std::vector<Value*> indices{index};
      if (tuple_type(index->type())) indices = unpack_tuple(index);
      return Meaning::of(index_with(tensor, indices, place));
    }
    case Form::kCreateObject: {
      const Meaning type = emit_meaning(*arguments_of(node, 1, 1)[0]);
      if (!type.is(Meaning::Kind::kClass))
        fail_at(place, ErrorCode::kInvalidArgument, "__new__ takes a class");
      return Meaning::of(insert_one(ir::NodeKind::kCreateObject, {}, type.type->type(), place));
    }
    case Form::kRange:
      arguments_of(node, 1, 3);
      return make_range(emit_values(std::span(node.children).subspan(1)), place);
    case Form::kSlice: {
      // Of one argument alone it is the end.
      const auto arguments = arguments_of(node, 1, 3);
      Meaning made = Meaning::of(Meaning::Kind::kSlice);
      made.parts.resize(3);
      for (size_t i = 0; i < arguments.size(); ++i) {
        Value* bound = emit(*arguments[i]);
        if (!bound->type().is(TypeKind::kNone))
          made.parts[arguments.size() == 1 ? 1 : i] = Meaning::of(bound);
      }
      if (made.parts[0].value == nullptr) made.parts[0] = Meaning::of(constant(0, place));
      return made;
    }
    case Form::kEnumerate:
      return emit_enumerate(node);
    case Form::kZip: {
      Meaning made = Meaning::of(Meaning::Kind::kIterables);
      for (const Node* argument : arguments_of(node, 1, kMany)) {
        add_iterable(made, iterate(emit_meaning(*argument), place), place);
      }
      return made;
    }
    case Form::kList:
      return emit_list_call(node, hint);
    case Form::kDict:
      return emit_dict_call(node, hint);
  }
  fail_at(place, ErrorCode::kInternal, "a special form without a rule");
}

Meaning Emitter::emit_annotate(const Node& node) {
  const auto arguments = arguments_of(node, 2, 2);
  const SourceRange place = range(node);
  const Type type = read_type(*arguments[0]);
  CallContext calls = context();
  Value* value = convert_implicitly(calls, type, emit(*arguments[1], &type), true, place);
  if (!is_subtype(value->type(), type)) {
    fail_at(place, ErrorCode::kInvalidArgument,
            "expected " + with_article(type) + ", found " + with_article(value->type()));
  }
  // A None remembers what else it could be.
  if (may_be_none(type) && !type.is(TypeKind::kAny) && !type.is(TypeKind::kNone) &&
      value->type().is(TypeKind::kNone)) {
    value = insert_constant(*graph_, IValue(), type);
  }
  return Meaning::of(value);
}

Meaning Emitter::emit_get_attribute(const Node& node) {
  const auto arguments = arguments_of(node, 2, 3);
  const SourceRange place = range(node);
  const Meaning object = emit_meaning(*arguments[0]);
  if (!arguments[1]->is(Kind::kString)) fail_at(place, "the second argument of getattr is a string literal");
  const std::string& name = arguments[1]->text;
  if (arguments.size() == 3 && !has_attribute(object, name, place)) return emit_meaning(*arguments[2]);
  return attribute(object, name, place);
}

// What is forked is a closure, or a call that becomes one.
Meaning Emitter::emit_fork(const Node& node, ir::NodeKind kind) {
  const SourceRange place = range(node);
  const std::span<const Node* const> all = std::span(node.children).subspan(1);
  if (all.empty() || all[0]->is(Kind::kKeyword)) {
    fail_at(place, ErrorCode::kInvalidArgument, "what shall run must be the first argument");
  }
  const Meaning forked = emit_meaning(*all[0]);
  Given given = emit_arguments(all.subspan(1), true);
  Given keywords;
  for (const Node* argument : all) {
    if (argument->is(Kind::kKeyword)) keywords.emplace_back(argument->text, emit(argument->child(0)));
  }
  ir::Node* made = graph_->insert(graph_->make(kind, {}, 1));
  made->range = place;
  Meaning closure = forked;
  const InsertAt guard(*graph_, made);
  if (!forked.is(Meaning::Kind::kClosure)) {
    closure = emit_closure([&](ir::Block& block) {
      block.add_output(as_value(call(forked, std::move(given), std::move(keywords), place), place));
    });
  }
  const Type type = closure.value->node()->block(0)->output(0)->type();
  made->add_input(closure.value);
  made->output()->set_type(kind == ir::NodeKind::kFork ? Type::future(type) : Type::await(type));
  return Meaning::of(made->output());
}

Meaning Emitter::emit_enumerate(const Node& node) {
  const SourceRange place = range(node);
  std::vector<const Node*> positional;
  const Node* start = nullptr;
  for (const Node* argument : std::span(node.children).subspan(1)) {
    if (!argument->is(Kind::kKeyword)) {
      positional.push_back(argument);
    } else if (argument->text == "start" && start == nullptr) {
      start = &argument->child(0);
    } else {
      fail_at(range(*argument), ErrorCode::kInvalidArgument, "enumerate knows the keyword 'start' alone");
    }
  }
  if (positional.size() == 2 && start == nullptr) {
    start = positional[1];
    positional.pop_back();
  }
  if (positional.size() != 1)
    fail_at(place, ErrorCode::kInvalidArgument, "enumerate takes one thing and a start");
  std::vector<Value*> bounds;
  if (start != nullptr) bounds.push_back(emit(*start));
  bounds.push_back(number(std::numeric_limits<int64_t>::max(), place));
  Meaning walked = iterate(emit_meaning(*positional[0]), place);
  Meaning counted = make_range(bounds, place, known_length(walked));
  Meaning made = Meaning::of(Meaning::Kind::kIterables);
  add_iterable(made, std::move(counted), place);
  add_iterable(made, std::move(walked), place);
  return made;
}

ir::Value* Emitter::insert_to_list(Value* tensor, const Type& type, const SourceRange& place) {
  int64_t dimensions = 0;
  Type element = type;
  for (; element.is(TypeKind::kList); ++dimensions) {
    const Type inner = element.element();
    element = inner;
  }
  int64_t kind = 0;
  switch (element.kind()) {
    case TypeKind::kInt:
      break;
    case TypeKind::kFloat:
      kind = 1;
      break;
    case TypeKind::kBool:
      kind = 2;
      break;
    case TypeKind::kComplex:
      kind = 3;
      break;
    default:
      fail_at(place, ErrorCode::kInvalidArgument,
              "tolist() gives int, float, bool or complex, no " + shown(element));
  }
  Value* const inputs[] = {tensor, constant(dimensions, {}), constant(kind, {})};
  return insert_one(ir::NodeKind::kToList, inputs, type);
}

// list(x) is [item for item in x], but for what has an operator.
Meaning Emitter::emit_list_call(const Node& node, const Type* hint) {
  const SourceRange place = range(node);
  const auto arguments = arguments_of(node, 0, 1);
  if (arguments.empty()) {
    const Type type = hint != nullptr ? *hint : Type::list(TypeKind::kTensor);
    if (!type.is(TypeKind::kList)) {
      fail_at(place, ErrorCode::kInvalidArgument, "list() gives a list, not " + with_article(type));
    }
    return Meaning::of(make_list(type.element(), {}));
  }
  Meaning walked = emit_meaning(*arguments[0]);
  if (walked.is(Meaning::Kind::kValue) &&
      (walked.value->type().is(TypeKind::kList) || walked.value->type().is(TypeKind::kString))) {
    return Meaning::of(operate(LanguageOperators::kList, {walked.value}, place));
  }
  const std::string iterable = temporary("$_iter");
  assign(iterable, std::move(walked), place);
  const std::string element = temporary("$_elem");
  const Node iterable_name{
      .kind = Kind::kName, .start = node.start, .end = node.end, .text = iterable, .children = {}};
  const Node element_name{
      .kind = Kind::kName, .start = node.start, .end = node.end, .text = element, .children = {}};
  return Meaning::of(emit_list_comprehension(element_name, element_name, iterable_name, place, hint));
}

}  // namespace flambeau::script::compiler
