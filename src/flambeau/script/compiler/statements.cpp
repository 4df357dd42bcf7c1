// Definitions and plain statements.
#include <algorithm>

#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/compiler/type_reader.h"
#include "flambeau/script/syntax/failure.h"

namespace flambeau::script::compiler {

using syntax::fail_at;
using syntax::Kind;

Emitter::Emitter(Unit& unit, const OuterNames& names, const syntax::Tree& tree, Function& function,
                 const Class* self)
    : unit_(unit),
      names_(names),
      tree_(tree),
      function_(function),
      self_(self),
      graph_(std::make_shared<ir::Graph>()) {}

std::shared_ptr<ir::Graph> Emitter::emit_definition(const Node& definition) {
  Signature signature = function_.is_declared() ? function_.signature()
                                                : read_signature(unit_, names_, tree_, definition, self_);
  graph_->set_insert_point(graph_->block());
  push_frame(graph_->block());
  definitions_.emplace_back();
  emit_function(definition, self_, graph_->block(), signature);
  if (has_errors_) throw syntax::ConsequentError();
  if (!function_.is_declared()) function_.set_signature(std::move(signature));
  frames_.clear();
  return graph_;
}

void Emitter::emit_function(const Node& definition, const Class* self, ir::Block& block,
                            Signature& signature) {
  if (!signature.returns.empty()) definitions_.back().declared = signature.returns[0];
  emit_parameters(definition, self, block, signature);
  emit_block(definition.child(2));
  finish_returns(definition, block);
  // Return statements become this output when variables become values; until then it has the right type.
  const Type returned = *definitions_.back().merged;
  block.add_output(insert_one(ir::NodeKind::kUninitialized, {}, returned));
  signature.returns = {returned};
}

void Emitter::emit_parameters(const Node& definition, const Class* self, ir::Block& block,
                              Signature& signature) {
  const auto& parameters = definition.child(0).children;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Node& parameter = *parameters[i];
    const bool is_self = self != nullptr && i == 0;
    Value* input = block.add_input(signature.arguments.at(i).type);
    if (is_self || is_meaningful(parameter.text)) input->set_name(parameter.text);
    if (is_self) {
      frame().set_meaning(parameter.text, Meaning::of(input));
    } else {
      assign(parameter.text, Meaning::of(input), range(parameter));
    }
  }
}

// What ends without returning returns None.
void Emitter::finish_returns(const Node& definition, ir::Block& block) {
  Definition& current = definitions_.back();
  if (exits(block)) {
    // It may be that it always raises.
    if (!current.merged) current.merged = current.declared.value_or(TypeKind::kNone);
    return;
  }
  if (has_errors_) {
    // It may be that a statement with errors returns.
    if (!current.merged) current.merged = current.declared.value_or(TypeKind::kNone);
    return;
  }
  if (current.declared && !current.declared->is(TypeKind::kNone)) {
    fail_at(
        range(definition), ErrorCode::kInvalidArgument,
        "the function is annotated to return " + shown(*current.declared) + ", but not every path returns");
  }
  const InsertAt guard(*graph_, block);
  emit_return(definition, nullptr);
}

void Emitter::emit_block(const Node& statements) {
  for (const Node* statement : statements.children) {
    const Place place{frames_.size(), definitions_.size(), graph_->insert_point()};
    const LoopKind loop = loop_;
    try {
      emit_statement(*statement);
    } catch (Error& error) {
      syntax::locate(error, range(*statement));
      if (names_.diagnostics() == nullptr) throw;
      recover(error, *statement, place);
      loop_ = loop;
    }
    // What follows is never reached.
    if (exits(frame().block())) return;
  }
}

void Emitter::emit_statement(const Node& statement) {
  switch (statement.kind) {
    case Kind::kIf: {
      const Condition condition = emit_condition(statement.child(0));
      return emit_if(
          range(statement), condition, [&] { emit_block(statement.child(1)); },
          [&] { emit_block(statement.child(2)); });
    }
    case Kind::kWhile:
      return emit_loop(range(statement), nullptr, {}, &statement.child(0),
                       [&] { emit_block(statement.child(1)); });
    case Kind::kFor:
      if (statement.child(1).children.size() != 1)
        fail_at(range(statement), "a loop walks one thing, not several");
      return emit_for(statement.child(0).children, statement.child(1).child(0), range(statement),
                      [&] { emit_block(statement.child(2)); });
    case Kind::kWith:
      return emit_with(statement);
    case Kind::kAssign:
      return emit_assignment(statement);
    case Kind::kAugmentedAssign:
      return emit_augmented(statement);
    case Kind::kExpression:
      emit_meaning(statement.child(0), 0);
      return;
    case Kind::kReturn:
      return emit_return(statement, &statement.child(0));
    case Kind::kRaise:
      return emit_raise(range(statement), statement.child(0));
    case Kind::kAssert:
      return emit_assert(statement);
    case Kind::kDelete:
      return emit_delete(statement);
    case Kind::kPass:
      return;
    case Kind::kBreak:
    case Kind::kContinue: {
      if (loop_ != LoopKind::kLoop) {
        fail_at(range(statement),
                std::string("'") + (statement.is(Kind::kBreak) ? "break" : "continue") +
                    (loop_ == LoopKind::kNone ? "' stands outside of a loop"
                                              : "' stands in a loop over modules or a tuple, which is "
                                                "unrolled"));
      }
      ir::Node* node = graph_->insert(graph_->make(
          statement.is(Kind::kBreak) ? ir::NodeKind::kBreakStatement : ir::NodeKind::kContinueStatement, {},
          0));
      node->range = range(statement);
      return;
    }
    case Kind::kDefinition:
      return emit_closure_definition(statement);
    default:
      fail_at(range(statement), ErrorCode::kUnsupported,
              "TorchScript has no such statement inside of functions");
  }
}

void Emitter::emit_return(const Node& place, const Node* value) {
  Definition& current = definitions_.back();
  std::optional<Type> type = current.declared;
  Value* returned =
      value != nullptr ? emit(*value, type ? &*type : nullptr) : constant(IValue(), range(place));
  if (type) {
    CallContext calls = context();
    returned = convert_implicitly(calls, *type, returned, true, range(place));
    if (!is_subtype(returned->type(), *type)) {
      fail_at(
          range(place), ErrorCode::kInvalidArgument,
          "the function is annotated to return " + shown(*type) + ", but this is " + shown(returned->type()));
    }
  } else {
    type = unify(current.merged.value_or(returned->type()), returned->type());
    if (!type) {
      fail_at(
          range(place), ErrorCode::kInvalidArgument,
          "an earlier return gives " + shown(*current.merged) + ", but this one " + shown(returned->type()));
    }
  }
  current.merged = type;
  if (type->is(TypeKind::kAny) && !returned->type().is(TypeKind::kAny))
    returned = cast_unchecked(returned, *type);
  Value* const inputs[] = {returned};
  graph_->insert(graph_->make(ir::NodeKind::kReturnStatement, inputs, 0));
  exits_.insert(&frame().block());
}

void Emitter::emit_raise(const SourceRange& place, const Node& exception) {
  raise(place, emit_meaning(exception));
}

void Emitter::raise(const SourceRange& place, const Meaning& exception) {
  Value* message = nullptr;
  Value* class_name = nullptr;
  if (exception.is(Meaning::Kind::kExceptionMessage)) {
    message = exception.value;
    class_name = exception.parts.empty() ? nullptr : exception.parts[0].value;
  } else if (exception.is(Meaning::Kind::kException)) {
    message = constant("", place);
  } else {
    fail_at(place, ErrorCode::kInvalidArgument, "only exceptions can be raised",
            "write raise RuntimeError(\"...\")");
  }
  if (!message->type().is(TypeKind::kString)) message = operate(LanguageOperators::kString, {message}, place);
  if (class_name == nullptr) class_name = constant(IValue(), place);
  Value* const inputs[] = {message, class_name};
  ir::Node* node = graph_->insert(graph_->make(ir::NodeKind::kRaiseException, inputs, 0));
  node->range = place;
  exits_.insert(&frame().block());
}

void Emitter::emit_assert(const Node& statement) {
  const Condition condition = emit_condition(statement.child(0));
  const SourceRange place = range(statement);
  emit_if(
      place, condition, [] {},
      [&] {
        const Node* message = statement.maybe(1);
        Meaning exception = Meaning::of(Meaning::Kind::kException, "AssertionError");
        Given given{message != nullptr ? emit(*message) : constant("", place)};
        raise(place, call(exception, std::move(given), {}, place));
      });
}

void Emitter::emit_delete(const Node& statement) {
  for (const Node* target : statement.children) {
    const SourceRange place = range(*target);
    if (target->is(Kind::kName)) {
      if (!frame().remove(target->text))
        fail_at(place, "there is no variable '" + printable(target->text) + "'");
      continue;
    }
    if (!target->is(Kind::kSubscript) || target->children.size() != 2 || target->child(1).is(Kind::kSlice)) {
      fail_at(place, ErrorCode::kUnsupported, "del takes variables and single items of lists and dicts");
    }
    Value* container = emit(target->child(0));
    Value* index = emit(target->child(1));
    if (is_object(container->type())) {
      call_method(container, "__delitem__", {index}, {}, range(statement));
    } else {
      operate(LanguageOperators::kDelete, {container, index}, place);
    }
  }
}

Meaning Emitter::emit_closure(const std::function<void(ir::Block&)>& body) {
  ir::Node* node = graph_->insert(graph_->make(ir::NodeKind::kClosure, {}, 1));
  node->output()->set_type(TypeKind::kNone);
  ir::Block& block = *node->add_block();
  const LoopKind outer_loop = std::exchange(loop_, LoopKind::kNone);
  {
    const InsertAt guard(*graph_, block);
    push_frame(block);
    definitions_.emplace_back();
    body(block);
    definitions_.pop_back();
    pop_frame();
  }
  loop_ = outer_loop;
  return Meaning::of(Meaning::Kind::kClosure, {}, node->output());
}

void Emitter::emit_closure_definition(const Node& definition) {
  Meaning closure = emit_closure([&](ir::Block& block) {
    Signature signature = read_signature(unit_, names_, tree_, definition, nullptr);
    emit_function(definition, nullptr, block, signature);
  });
  assign(definition.text, std::move(closure), range(definition));
}

}  // namespace flambeau::script::compiler
