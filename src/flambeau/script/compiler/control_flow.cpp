// Branches, loops and `with`.
#include <algorithm>
#include <limits>
#include <set>

#include "flambeau/script/compiler/emitter.h"
#include "flambeau/script/syntax/failure.h"

namespace flambeau::script::compiler {

using syntax::fail_at;

void Emitter::insert_refinements(const SourceRange& place, const Refinements& refinements) {
  for (const Refinement& refinement : refinements.if_true()) {
    Value* value = as_value(find_name(refinement.name, place), place);
    assign(refinement.name, Meaning::of(cast_unchecked(value, refinement.type)), place);
  }
}

std::unique_ptr<Frame> Emitter::emit_branch(ir::Block& block, const SourceRange& place,
                                            const Refinements& refinements, const Body& body) {
  push_frame(block);
  const InsertAt guard(*graph_, block);
  insert_refinements(place, refinements);
  body();
  return pop_frame();
}

void Emitter::emit_if(const SourceRange& place, const Condition& condition, const Body& then,
                      const Body& otherwise) {
  if (condition.known) {
    insert_refinements(place, *condition.known ? condition.refinements : condition.refinements.opposite());
    return *condition.known ? then() : otherwise();
  }
  Value* const inputs[] = {condition.value};
  ir::Node* node = graph_->insert(graph_->make(ir::NodeKind::kIf, inputs, 0));
  node->range = place;
  ir::Block& if_true = *node->add_block();
  ir::Block& if_false = *node->add_block();
  const auto true_frame = emit_branch(if_true, place, condition.refinements, then);
  const auto false_frame = emit_branch(if_false, place, condition.refinements.opposite(), otherwise);
  if (exits(if_true) && exits(if_false)) {
    exits_.insert(node->block());
    return;
  }
  merge_branches(place, node, *true_frame, *false_frame);
}

// A variable is there behind an `if` when each branch that goes on has it.
void Emitter::merge_branches(const SourceRange& place, ir::Node* node, const Frame& then,
                             const Frame& otherwise) {
  ir::Block& if_true = *node->block(0);
  ir::Block& if_false = *node->block(1);
  const bool true_exits = exits(if_true);
  const bool false_exits = exits(if_false);
  std::set<std::string> changed;
  const auto gather = [&](const Frame& from, const Frame& other, bool other_exits, const char* branch) {
    for (const std::string& name : from.variables()) {
      if (other_exits || other.has(name)) {
        changed.insert(name);
      } else {
        missing_[name] = "'" + printable(name) + "' is not set where the condition is " + branch;
      }
    }
  };
  gather(then, otherwise, false_exits, "false");
  gather(otherwise, then, true_exits, "true");

  const auto load = [&](ir::Block& block, const Frame& from, const std::string& name) {
    const InsertAt guard(*graph_, block);
    const std::optional<Meaning> found = from.find(name);
    return as_value(found ? *found : find_name(name, place), place);
  };
  const auto store_nothing = [&](ir::Block& block, const std::string& name, const Type& type) {
    const InsertAt guard(*graph_, block);
    Value* nothing = insert_one(ir::NodeKind::kUninitialized, {}, type);
    Value* const stored[] = {nothing};
    graph_->insert(graph_->make(ir::NodeKind::kStore, stored, 0))->name = name;
    return nothing;
  };
  for (const std::string& name : changed) {
    Value* true_value = true_exits ? nullptr : load(if_true, then, name);
    Value* false_value = false_exits ? nullptr : load(if_false, otherwise, name);
    if (true_exits) true_value = store_nothing(if_true, name, false_value->type());
    if (false_exits) false_value = store_nothing(if_false, name, true_value->type());

    // A variable that was declared wider may become anything that it can hold.
    const std::optional<Meaning> before = frame().find(name);
    const bool is_wide =
        before && before->is(Meaning::Kind::kValue) &&
        (before->value->type().is(TypeKind::kUnion) || before->value->type().is(TypeKind::kOptional) ||
         before->value->type().is(TypeKind::kNumber));
    const std::optional<Type> unified = unify(true_value->type(), false_value->type(), is_wide);
    if (unified) {
      frame().set_type(name, *unified);
      continue;
    }
    const std::string why = "'" + printable(name) + "' is of type " + shown(true_value->type()) +
                            " where the condition is true, and " + shown(false_value->type()) +
                            " where it is false";
    if (before) fail_at(place, ErrorCode::kInvalidArgument, why);
    missing_[name] = why;
  }
}

ir::Value* Emitter::emit_if_value(const SourceRange& place, const Condition& condition,
                                  const std::function<Value*()>& then,
                                  const std::function<Value*()>& otherwise) {
  Value* const inputs[] = {condition.value};
  ir::Node* node = graph_->insert(graph_->make(ir::NodeKind::kIf, inputs, 0));
  node->range = place;
  ir::Block& if_true = *node->add_block();
  ir::Block& if_false = *node->add_block();
  const auto branch = [&](ir::Block& block, const Refinements& refinements,
                          const std::function<Value*()>& make) {
    emit_branch(block, place, refinements, [&] { block.add_output(make()); });
  };
  branch(if_true, condition.refinements, then);
  branch(if_false, condition.refinements.opposite(), otherwise);
  const Type& true_type = if_true.output(0)->type();
  const Type& false_type = if_false.output(0)->type();
  const std::optional<Type> unified = unify(true_type, false_type);
  if (!unified) {
    fail_at(place, ErrorCode::kInvalidArgument,
            "the expression is of type " + shown(true_type) + " where the condition is true, and " +
                shown(false_type) + " where it is false");
  }
  return node->add_output(*unified);
}

void Emitter::emit_for(std::span<const Node* const> targets, const Node& iterable, const SourceRange& place,
                       const Body& body) {
  const Meaning walked = iterate(emit_meaning(iterable), place);
  if (known_length(walked)) {
    emit_unrolled(place, walked, targets, body);
  } else {
    emit_loop(place, &walked, targets, nullptr, body);
  }
}

// A loop has its body and, until variables become values, its condition as a second block.
void Emitter::emit_loop(const SourceRange& place, const Meaning* iterable,
                        std::span<const Node* const> targets, const Node* condition, const Body& body) {
  Value* turns =
      iterable != nullptr ? length_of(*iterable, place) : number(std::numeric_limits<int64_t>::max(), place);
  ir::Node* node = graph_->insert(graph_->make(ir::NodeKind::kLoop, {}, 0));
  node->range = place;
  ir::Block& body_block = *node->add_block();
  ir::Block& condition_block = *node->add_block();
  push_frame(condition_block);
  if (condition != nullptr) {
    const InsertAt guard(*graph_, condition_block);
    condition_block.add_output(to_bool(emit(*condition), range(*condition)));
  } else {
    const InsertAt guard(*graph_, node);
    condition_block.add_output(constant(true, place));
  }
  pop_frame();
  node->add_input(turns);

  const LoopKind outer_loop = std::exchange(loop_, LoopKind::kLoop);
  Value* turn = body_block.add_input(TypeKind::kInt);
  push_frame(body_block);
  {
    const InsertAt guard(*graph_, body_block);
    if (iterable != nullptr) {
      const Meaning item = Meaning::of(as_value(item_of(*iterable, turn, place), place));
      check_targets(targets, place);
      if (targets.size() == 1) {
        assign_targets(targets, {&item, 1}, place, 1);
      } else {
        const std::vector<Meaning> items = as_tuple(item, place, targets.size());
        if (items.size() != targets.size()) {
          fail_at(place, ErrorCode::kInvalidArgument,
                  "the loop has " + std::to_string(targets.size()) + " targets for " +
                      std::to_string(items.size()) + " values");
        }
        assign_targets(targets, items, place, targets.size());
      }
    }
    body();
  }
  pop_frame();
  loop_ = outer_loop;
}

// Modules and tuples may be of different types in each turn. No frame: what a turn sets, the next one sees.
void Emitter::emit_unrolled(const SourceRange& place, const Meaning& iterable,
                            std::span<const Node* const> targets, const Body& body) {
  const LoopKind outer_loop = std::exchange(loop_, LoopKind::kUnrolled);
  for (int64_t turn = 0; turn < *known_length(iterable); ++turn) {
    const Meaning item = item_of(iterable, number(turn, place), place);
    if (targets.size() == 1) {
      assign_targets(targets, {&item, 1}, place, 1);
    } else {
      assign_targets(targets, as_tuple(item, place, targets.size()), place, targets.size());
    }
    body();
  }
  loop_ = outer_loop;
}

void Emitter::emit_with(const Node& statement) {
  std::vector<Value*> entered;
  for (const Node* item : statement.child(0).children) {
    const SourceRange place = range(item->child(0));
    Value* object = emit(item->child(0));
    entered.push_back(object);
    Value* const inputs[] = {object};
    ir::Node* enter = graph_->insert(graph_->make(ir::NodeKind::kEnter, inputs, 1));
    const std::shared_ptr<Class> type = class_of(object->type());
    const auto* enters = type != nullptr ? type->find_method("__enter__") : nullptr;
    const auto* leaves = type != nullptr ? type->find_method("__exit__") : nullptr;
    if (enters == nullptr || leaves == nullptr) {
      fail_at(place, ErrorCode::kInvalidArgument,
              "a 'with' needs an object with __enter__ and __exit__, this is " + shown(object->type()));
    }
    const Signature& leaving = (*leaves)->signature();
    const bool takes_any =
        leaving.arguments.size() == 4 &&
        std::all_of(leaving.arguments.begin() + 1, leaving.arguments.end(),
                    [](const Argument& argument) { return argument.type.is(TypeKind::kAny); });
    if ((*enters)->signature().arguments.size() != 1 || !takes_any) {
      fail_at(place, ErrorCode::kInvalidArgument,
              "__enter__ takes the object alone, and __exit__ three more arguments of type Any");
    }
    enter->output()->set_type((*enters)->signature().returns.at(0));
    if (const Node* name = item->maybe(1)) assign(name->text, Meaning::of(enter->output()), range(*name));
  }
  emit_block(statement.child(1));
  for (auto object = entered.rbegin(); object != entered.rend(); ++object) {
    Value* const inputs[] = {*object};
    graph_->insert(graph_->make(ir::NodeKind::kExit, inputs, 1));
  }
}

}  // namespace flambeau::script::compiler
