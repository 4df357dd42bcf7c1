#include "flambeau/script/bytecode/lift.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/script/bytecode/lifter.h"
#include "flambeau/script/bytecode/types.h"
#include "flambeau/script/passes/load.h"
#include "flambeau/script/types/relations.h"

namespace flambeau::script::bytecode {
namespace {

constexpr int64_t kMostRegisters = int64_t{1} << 24;

bool is_zero(const ir::Value& value) {
  const ir::Node& node = *value.node();
  return node.is(ir::NodeKind::kConstant) && node.constant.is(IValue::Tag::kInt) &&
         node.constant.as_int() == 0;
}

// The rounds after which types of loops are taken as they are.
constexpr int kMostRounds = 8;

void need_type(const ir::Value& value, TypeKind kind, std::string_view what) {
  if (value.type().is(kind) || value.type().is(TypeKind::kAny)) return;
  if (value.type().is(TypeKind::kOptional) && value.type().without_optional().is(kind)) return;
  corrupt(fmt::format("{} should be of type {}, found {}", what, plain_type_name(kind),
                      printable(value.type().to_string())));
}

}  // namespace

// ---- registers

ir::Value* RegisterFile::read(size_t at) {
  registers_[at].read = ++time_;
  return registers_[at].value;
}

bool RegisterFile::is_of_outside(size_t at) const {
  return !loops_.empty() && registers_[at].value != nullptr && registers_[at].written < loops_.back();
}

bool RegisterFile::write(size_t at, ir::Value* value) {
  Register& place = registers_[at];
  const auto first = std::upper_bound(loops_.begin(), loops_.end(), place.written);
  if (place.value != nullptr && first != loops_.end() && place.read > *first) return false;
  changes_.push_back({at, place});
  place = {value, ++time_, 0};
  return true;
}

void RegisterFile::take_back(size_t mark, std::vector<size_t>& changed) {
  while (changes_.size() > mark) {
    const Change& last = changes_.back();
    changed.push_back(last.at);
    const uint64_t read = registers_[last.at].read;
    registers_[last.at] = last.before;
    registers_[last.at].read = std::max(read, last.before.read);
    changes_.pop_back();
  }
}

void RegisterFile::make_unknown(std::span<const size_t> changed) {
  for (const size_t at : changed) {
    if (registers_[at].value == nullptr) continue;
    changes_.push_back({at, registers_[at]});
    registers_[at] = {nullptr, ++time_, 0};
  }
}

// ---- control flow

Lifter::Lifter(const Code& code, const Signature& signature, Unit& unit, const LiftOptions& options,
               LoopTypes& loop_types)
    : code_(code),
      signature_(signature),
      unit_(unit),
      options_(options),
      graph_(std::make_shared<ir::Graph>()),
      registers_(0),
      constants_(code.constants.size()),
      types_(code.types.size()),
      loop_types_(loop_types) {
  // What nothing stores to needs no room, whatever the file says.
  if (code.register_count < 0 || code.register_count > kMostRegisters) {
    corrupt(fmt::format("a function of {} registers", code.register_count));
  }
  const size_t stored = [&] {
    int64_t most = 0;
    for (const Instruction& instruction : code.instructions) {
      if (instruction.opcode == Opcode::kStore) most = std::max<int64_t>(most, instruction.x);
      if (instruction.opcode == Opcode::kStoreN)
        most = std::max<int64_t>(most, int64_t{instruction.x} + instruction.n - 1);
    }
    return static_cast<size_t>(std::clamp<int64_t>(most, 0, code.register_count));
  }();
  registers_ = RegisterFile(stored);
}

std::shared_ptr<ir::Graph> Lifter::run() {
  for (const Argument& argument : signature_.arguments) {
    stack_.push_back(graph_->block().add_input(argument.type));
  }
  for (size_t i = 0; i < stack_.size(); ++i) stack_[i]->set_name(signature_.arguments[i].name);
  const size_t count = code_.instructions.size();
  if (count == 0 || code_.instructions.back().opcode != Opcode::kReturn) {
    corrupt("the code does not end with RET");
  }
  run_block(0, count - 1, 0);
  at_ = count - 1;
  if (stack_.size() != 1) {
    corrupt(fmt::format("a function gives one value, and {} are on the stack at its end", stack_.size()));
  }
  const bool is_said = signature_.returns.size() == 1;
  graph_->block().add_output(is_said ? fitted(stack_[0], signature_.returns[0]) : stack_[0]);
  replace_old_operators(*graph_, unit_);
  return graph_;
}

void Lifter::run_block(size_t begin, size_t end, int depth) {
  if (depth > ir::kMostBlockDepth) {
    throw Error(ErrorCode::kLimit,
                fmt::format("branches and loops are nested deeper than {}", ir::kMostBlockDepth));
  }
  for (size_t at = begin; at < end;) {
    at_ = at;
    switch (code_.instructions[at].opcode) {
      case Opcode::kJumpFalse:
        at = branch(at, end, depth);
        break;
      case Opcode::kLoop:
        at = loop(at, end, depth);
        break;
      case Opcode::kJump:
        corrupt("a jump that belongs to no branch and no loop");
      case Opcode::kReturn:
        corrupt("RET stands before the end");
      default:
        step(at++);
    }
  }
}

size_t Lifter::jump_target(size_t at, size_t begin, size_t end) const {
  const int64_t target = static_cast<int64_t>(at) + code_.instructions[at].x;
  if (target < static_cast<int64_t>(begin) || target > static_cast<int64_t>(end)) {
    corrupt(
        fmt::format("instruction {} jumps to {}, outside of its block ({} to {})", at, target, begin, end));
  }
  return static_cast<size_t>(target);
}

Lifter::Values Lifter::take_above(size_t floor) {
  Values taken(stack_.begin() + static_cast<ptrdiff_t>(floor), stack_.end());
  stack_.resize(floor);
  return taken;
}

// The other branch is never taken: it is followed all the same, since nothing is believed that was not
// checked, and thrown away.
void Lifter::known_branch(bool is_taken, size_t begin, size_t otherwise, size_t behind, int depth) {
  const size_t outer_floor = floor_;
  floor_ = stack_.size();
  const std::unordered_set<const ir::Value*> unset = unset_;
  ir::Node* const scratch = graph_->insert(graph_->make(ir::NodeKind::kIf, Values{}, 0));
  graph_->set_insert_point(*scratch->add_block());
  const size_t mark = registers_.mark();
  std::vector<size_t> changed;
  run_block(is_taken ? otherwise : begin, is_taken ? behind : otherwise - 1, depth + 1);
  registers_.take_back(mark, changed);
  const size_t others = take_above(floor_).size();
  graph_->set_insert_point(scratch);
  unset_ = unset;
  run_block(is_taken ? begin : otherwise, is_taken ? otherwise - 1 : behind, depth + 1);
  const size_t left = available();
  scratch->destroy();
  floor_ = outer_floor;
  if (left != others) {
    corrupt(fmt::format("one branch leaves {} values on the stack, the other {}", is_taken ? left : others,
                        is_taken ? others : left));
  }
}

// JF to the else branch, before which JMP leads behind it.
size_t Lifter::branch(size_t at, size_t end, int depth) {
  ir::Value* const condition = pop();
  need_type(*condition, TypeKind::kBool, "the condition of a branch");
  const size_t otherwise = jump_target(at, at + 2, end);
  if (code_.instructions[otherwise - 1].opcode != Opcode::kJump) {
    corrupt(fmt::format("JF leads to {}, where no branch ends: a JMP is expected before", otherwise));
  }
  const size_t behind = jump_target(otherwise - 1, otherwise, end);
  const ir::Node& maker = *condition->node();
  if (maker.is(ir::NodeKind::kConstant) && maker.constant.is(IValue::Tag::kBool)) {
    known_branch(maker.constant.as_bool(), at + 1, otherwise, behind, depth);
    return behind;
  }
  ir::Node* const node =
      graph_->insert(graph_->make(ir::NodeKind::kIf, Values{fitted(condition, TypeKind::kBool)}, 0));
  if (options_.locate && at < code_.debug_handles.size()) options_.locate(code_.debug_handles[at], *node);
  const size_t outer_floor = floor_;
  floor_ = stack_.size();
  const size_t mark = registers_.mark();
  std::vector<size_t> changed;
  const auto run_branch = [&](size_t begin, size_t until) {
    ir::Block& block = *node->add_block();
    graph_->set_insert_point(block);
    run_block(begin, until, depth + 1);
    registers_.take_back(mark, changed);
    return take_above(floor_);
  };
  const Values first = run_branch(at + 1, otherwise - 1);
  const Values second = run_branch(otherwise, behind);
  at_ = at;
  if (first.size() != second.size()) {
    corrupt(
        fmt::format("one branch leaves {} values on the stack, the other {}", first.size(), second.size()));
  }
  registers_.make_unknown(changed);
  floor_ = outer_floor;
  for (size_t i = 0; i < first.size(); ++i) {
    const Type type = joined_type(*first[i], *second[i]);
    graph_->set_insert_point(*node->block(0));
    node->block(0)->add_output(given_on(first[i], type));
    graph_->set_insert_point(*node->block(1));
    node->block(1)->add_output(given_on(second[i], type));
    push(node->add_output(type));
    if (is_unset(*first[i]) && is_unset(*second[i])) unset_.insert(stack_.back());
  }
  if (node->next() != nullptr) {
    graph_->set_insert_point(node->next());
  } else {
    graph_->set_insert_point(*node->block());
  }
  return behind;
}

// (turn, most turns, condition, carried...) on the stack; the body has (turn, carried...), ends with
// (condition, carried...) and jumps back.
size_t Lifter::loop(size_t at, size_t end, int depth) {
  const Instruction& instruction = code_.instructions[at];
  if (instruction.n < 2) corrupt(fmt::format("LOOP of {} values, at least 2 are expected", instruction.n));
  Values inputs = pop(size_t{instruction.n} + 1);
  if (!is_zero(*inputs[0])) corrupt("a loop that does not begin with turn 0");
  need_type(*inputs[1], TypeKind::kInt, "the number of turns");
  need_type(*inputs[2], TypeKind::kBool, "the condition of a loop");
  const size_t behind = jump_target(at, at + 2, end);
  const Instruction& back = code_.instructions[behind - 1];
  if (back.opcode != Opcode::kJump || static_cast<int64_t>(behind) - 1 + back.x != static_cast<int64_t>(at)) {
    corrupt(fmt::format("the loop's end at {} does not jump back to it", behind - 1));
  }
  inputs.erase(inputs.begin());
  inputs[0] = fitted(inputs[0], TypeKind::kInt);
  inputs[1] = fitted(inputs[1], TypeKind::kBool);
  const auto known = loop_types_.find(at);
  std::vector<Type> types;
  for (size_t i = 2; i < inputs.size(); ++i) {
    const bool is_known = known != loop_types_.end() && i - 2 < known->second.size();
    types.push_back(is_known ? known->second[i - 2] : inputs[i]->type());
    if (is_known) inputs[i] = given_on(inputs[i], types.back());
  }
  ir::Node* const node = graph_->insert(graph_->make(ir::NodeKind::kLoop, inputs, 0));
  if (options_.locate && at < code_.debug_handles.size()) options_.locate(code_.debug_handles[at], *node);
  ir::Block& body = *node->add_block();
  graph_->set_insert_point(body);
  const size_t outer_floor = floor_;
  floor_ = stack_.size();
  push(body.add_input(TypeKind::kInt));
  for (size_t i = 2; i < inputs.size(); ++i) {
    push(body.add_input(types[i - 2]));
    if (known == loop_types_.end() && is_unset(*inputs[i])) unset_.insert(stack_.back());
  }
  const size_t mark = registers_.mark();
  std::vector<size_t> changed;
  registers_.enter_loop();
  run_block(at + 1, behind - 1, depth + 1);
  registers_.leave_loop();
  registers_.take_back(mark, changed);
  registers_.make_unknown(changed);
  const Values results = take_above(floor_);
  at_ = at;
  floor_ = outer_floor;
  if (results.size() != inputs.size() - 1) {
    corrupt(fmt::format("a turn of the loop leaves {} values on the stack, {} are expected", results.size(),
                        inputs.size() - 1));
  }
  need_type(*results[0], TypeKind::kBool, "the condition of a loop");
  graph_->set_insert_point(body);
  body.add_output(fitted(results[0], TypeKind::kBool));
  for (size_t i = 1; i < results.size(); ++i) {
    const Type type = joined_type(*body.input(i), *results[i]);
    has_learned_ = has_learned_ || !(type == types[i - 1]);
    types[i - 1] = type;
    body.add_output(given_on(results[i], type));
    body.input(i)->set_type(type);
    push(node->add_output(type));
    if (is_unset(*body.input(i)) && is_unset(*results[i])) unset_.insert(stack_.back());
  }
  loop_types_[at] = std::move(types);
  if (node->next() != nullptr) {
    graph_->set_insert_point(node->next());
  } else {
    graph_->set_insert_point(*node->block());
  }
  return behind;
}

// ---- the stack

ir::Value* Lifter::pop() {
  if (available() == 0) corrupt("the stack is empty");
  ir::Value* const value = stack_.back();
  stack_.pop_back();
  return value;
}

Lifter::Values Lifter::pop(size_t count) {
  if (count > available()) {
    corrupt(fmt::format("{} values are taken, and {} are on the stack", count, available()));
  }
  return take_above(stack_.size() - count);
}

size_t Lifter::register_at(int64_t index) const {
  if (index < 1 || index > static_cast<int64_t>(registers_.size())) {
    corrupt(fmt::format("register {}, of {} that are there or stored to", index, registers_.size()));
  }
  return static_cast<size_t>(index - 1);
}

void Lifter::step(size_t at) {
  const Instruction& instruction = code_.instructions[at];
  const auto must_be = [&](bool is_right) {
    if (is_right) return;
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("a loop reads register {} and changes it: no compiler writes that", instruction.x));
  };
  switch (instruction.opcode) {
    case Opcode::kLoad:
    case Opcode::kMove: {
      const size_t place = register_at(instruction.x);
      const bool is_move = instruction.opcode == Opcode::kMove;
      if (is_move) must_be(!registers_.is_of_outside(place));
      ir::Value* const value = registers_.read(place);
      if (value == nullptr) {
        corrupt(fmt::format("register {} is read where it has no value, or not on every way", instruction.x));
      }
      push(value);
      if (is_move) registers_.forget(place);
      return;
    }
    case Opcode::kStore: {
      const size_t place = register_at(instruction.x);
      return must_be(registers_.write(place, pop()));
    }
    case Opcode::kStoreN: {
      if (instruction.n == 0) return;
      register_at(instruction.x);
      register_at(int64_t{instruction.x} + instruction.n - 1);
      const Values values = pop(instruction.n);
      const size_t first = register_at(instruction.x);
      for (size_t i = 0; i < values.size(); ++i) must_be(registers_.write(first + i, values[i]));
      return;
    }
    case Opcode::kDrop:
      pop();
      return;
    case Opcode::kDropRegister:
      return must_be(registers_.forget(register_at(instruction.x)));
    default:
      return operation(instruction);
  }
}

std::shared_ptr<ir::Graph> lift(const Code& code, const Signature& signature, Unit& unit,
                                const LiftOptions& options) {
  LoopTypes loop_types;
  const auto follow = [&](bool is_last) -> std::shared_ptr<ir::Graph> {
    Lifter lifter(code, signature, unit, options, loop_types);
    try {
      std::shared_ptr<ir::Graph> graph = lifter.run();
      return is_last || !lifter.has_learned() ? graph : nullptr;
    } catch (Error& error) {
      const size_t at = lifter.at();
      if (at >= code.instructions.size()) throw;
      throw error.add_location("instruction",
                               fmt::format("{} ({})", at, opcode_name(code.instructions[at].opcode)));
    }
  };
  return with_location("function", printable(code.name), [&] {
    for (int round = 1;; ++round) {
      if (std::shared_ptr<ir::Graph> graph = follow(round == kMostRounds)) return graph;
    }
  });
}

Signature signature_of(const Code& code, Unit& unit) {
  Signature signature;
  signature.name = code.name.substr(code.name.rfind('.') + 1);
  if (!code.schema) {
    const Instruction first = code.instructions.empty() ? Instruction() : code.instructions.front();
    const size_t count = first.opcode == Opcode::kStoreN ? first.n : first.opcode == Opcode::kStore ? 1 : 0;
    for (size_t i = 0; i < count; ++i) {
      Argument argument;
      argument.name = i == 0 ? "self" : fmt::format("x{}", i);
      if (i == 0) argument.type = Type::class_named(code.name.substr(0, code.name.rfind('.')));
      signature.arguments.push_back(std::move(argument));
    }
    signature.returns.push_back(signature.name == "__setstate__" ? TypeKind::kNone : TypeKind::kAny);
    return signature;
  }
  for (const SchemaArgument& given : code.schema->arguments) {
    Argument argument;
    argument.name = given.name;
    argument.type = parse_type_text(given.type, unit);
    // The file has None for an argument without a default, too.
    if (!given.default_value.is_none() || may_be_none(argument.type))
      argument.default_value = given.default_value;
    signature.arguments.push_back(std::move(argument));
  }
  // None is a default where all that follow have one.
  bool may_have_default = true;
  for (auto argument = signature.arguments.rbegin(); argument != signature.arguments.rend(); ++argument) {
    may_have_default = may_have_default && argument->default_value.has_value();
    if (!may_have_default) argument->default_value.reset();
  }
  if (code.schema->returns.size() != 1) {
    corrupt(fmt::format("{} gives {} values, one is expected", printable(code.name),
                        code.schema->returns.size()));
  }
  signature.returns.push_back(parse_type_text(code.schema->returns[0].type, unit));
  return signature;
}

}  // namespace flambeau::script::bytecode
