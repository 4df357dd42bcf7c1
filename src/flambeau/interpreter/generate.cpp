#include "flambeau/interpreter/generate.h"

#include <fmt/format.h>

#include <limits>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/operators.h"
#include "flambeau/interpreter/program.h"
#include "flambeau/interpreter/registers.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::interpreter {
namespace {

using ir::NodeKind;

class Generator {
 public:
  Generator(const Program& program, std::shared_ptr<const ir::Graph> graph, std::string function)
      : program_(program), code_(std::make_shared<Code>()) {
    code_->function = std::move(function);
    code_->graph = std::move(graph);
  }

  std::shared_ptr<const Code> run() {
    const ir::Block& block = code_->graph->block();
    code_->argument_count = static_cast<uint32_t>(block.inputs().size());
    for (const ir::Value* const input : block.inputs()) place(*input, registers_.take());
    for (const ir::Value* const input : block.inputs()) {
      if (lifetimes_.at(input).last == nullptr) give_back(*input);
    }
    nodes_of(block);
    const ir::Node* const end = block.return_node();
    if (block.outputs().size() != 1) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("a graph of {} outputs, a function has one", block.outputs().size()));
    }
    emit(Opcode::kReturn, *end, inputs_of(*end), {});
    code_->register_count = registers_.count();
    return std::move(code_);
  }

 private:
  using Operands = std::vector<Operand>;

  // ---- values
  void place(const ir::Value& value, uint32_t at) {
    places_[&value] = at;
    const Lifetime lifetime = lifetime_of(value);
    lifetimes_[&value] = lifetime;
    // Values that are read inside of a node are let go when that node ends.
    if (lifetime.last != nullptr && lifetime.is_inside) captured_[lifetime.last].push_back(&value);
  }
  void give_back(const ir::Value& value) { registers_.give_back(places_.at(&value)); }

  uint32_t constant(IValue value) {
    if (code_->constants.size() >= kMostOperands)
      throw Error(ErrorCode::kLimit, "the function has more constants than a machine can number");
    code_->constants.push_back(std::move(value));
    return static_cast<uint32_t>(code_->constants.size() - 1);
  }

  static bool is_constant(const ir::Value& value) {
    return value.node()->is(NodeKind::kConstant) || value.node()->is(NodeKind::kUninitialized);
  }

  // What `user` reads at one of its inputs.
  Operand input_of(const ir::Node& user, size_t index) {
    const ir::Value& value = *user.input(index);
    if (is_constant(value)) {
      const auto [found, is_new] = constants_.try_emplace(&value, 0);
      if (is_new) {
        const ir::Node& node = *value.node();
        found->second = constant(node.is(NodeKind::kUninitialized) ? IValue::uninitialized() : node.constant);
      }
      return Operand::of_constant(found->second);
    }
    const Lifetime& lifetime = lifetimes_.at(&value);
    const bool is_last = lifetime.last == &user && !lifetime.is_inside && lifetime.last_input == index &&
                         may_be_boxed(value.type());
    return Operand::of_register(places_.at(&value), is_last);
  }
  Operands inputs_of(const ir::Node& node, size_t from = 0) {
    Operands operands;
    for (size_t i = from; i < node.inputs().size(); ++i) operands.push_back(input_of(node, i));
    return operands;
  }
  Operand result_of(const ir::Value& value) {
    if (!value.has_uses()) return Operand::none();
    const auto chosen = chosen_.find(&value);
    place(value, chosen != chosen_.end() ? chosen->second : registers_.take());
    if (chosen != chosen_.end()) dead_.insert(&value);  // its register is not its own
    return Operand::of_register(places_.at(&value));
  }
  Operands results_of(const ir::Node& node) {
    Operands operands;
    for (const ir::Value* const output : node.outputs()) operands.push_back(result_of(*output));
    return operands;
  }

  // ---- instructions
  size_t emit(Opcode opcode, const ir::Node& node, const Operands& inputs, const Operands& results,
              size_t index = 0) {
    if (results.size() > std::numeric_limits<uint16_t>::max() ||
        code_->operands.size() + inputs.size() + results.size() > kMostOperands ||
        code_->instructions.size() > kMostOperands) {
      throw Error(ErrorCode::kLimit, "the function is too large for a machine");
    }
    Instruction instruction = {.opcode = opcode,
                               .result_count = static_cast<uint16_t>(results.size()),
                               .input_count = static_cast<uint32_t>(inputs.size()),
                               .operands = static_cast<uint32_t>(code_->operands.size()),
                               .index = static_cast<uint32_t>(index)};
    for (const Operand& input : inputs) {
      instruction.has_last_uses =
          instruction.has_last_uses || (!input.is_none() && !input.is_constant() && input.is_last());
      code_->operands.push_back(input);
    }
    for (const Operand& result : results) code_->operands.push_back(result);
    code_->instructions.push_back(instruction);
    code_->nodes.push_back(&node);
    return code_->instructions.size() - 1;
  }
  uint32_t next_place() const { return static_cast<uint32_t>(code_->instructions.size()); }
  void aim(size_t jump) {
    code_->instructions[jump].index = static_cast<uint32_t>(code_->instructions.size());
  }
  void emit_moves(const ir::Node& node, std::vector<Move> at_once) {
    for (const Move& move : in_order(std::move(at_once), registers_))
      emit(Opcode::kMove, node, {move.from}, {Operand::of_register(move.to)});
  }
  template <typename T, typename Made>
  static size_t added(std::vector<T>& table, Made&& made) {
    table.push_back(std::forward<Made>(made));
    return table.size() - 1;
  }

  // ---- nodes
  void nodes_of(const ir::Block& block) {
    for (const ir::Node* node = block.first(); node != nullptr; node = node->next()) {
      if (node->is(NodeKind::kConstant) || node->is(NodeKind::kUninitialized)) continue;
      one_node(*node);
      let_go(*node);
    }
  }

  // Registers of what nobody reads behind the node; values that its blocks read are still there.
  void let_go(const ir::Node& node) {
    Operands cleared;
    const auto end_of = [&](const ir::Value& value) {
      if (is_constant(value) || dead_.contains(&value)) return;
      const auto found = lifetimes_.find(&value);
      if (found == lifetimes_.end() || found->second.last != &node) return;
      dead_.insert(&value);
      if (found->second.is_inside && may_be_boxed(value.type()))
        cleared.push_back(Operand::of_register(places_.at(&value)));
      give_back(value);
    };
    for (const ir::Value* const input : node.inputs()) end_of(*input);
    if (!node.blocks().empty()) {
      for (const ir::Value* const value : captured_[&node]) end_of(*value);
      captured_.erase(&node);
    }
    if (!cleared.empty()) emit(Opcode::kClear, node, cleared, {});
  }
  void one_node(const ir::Node& node);
  void if_node(const ir::Node& node);
  void loop_node(const ir::Node& node);
  void kept_if(const ir::Node& node, const Operand& condition, const Operands& goals);
  static bool can_replace(const ir::Block& body, size_t index);
  void operator_node(const ir::Node& node);
  void builtin_node(const ir::Node& node, std::string_view name);
  void end_block(const ir::Block& block, size_t first_output, std::span<const Operand> goals,
                 Operand* condition = nullptr);
  std::shared_ptr<const script::Class> class_of(const Type& type) const;

  const Program& program_;
  std::shared_ptr<Code> code_;
  Registers registers_;
  std::unordered_map<const ir::Value*, uint32_t> places_;
  std::unordered_map<const ir::Value*, Lifetime> lifetimes_;
  std::unordered_map<const ir::Value*, uint32_t> constants_;
  std::unordered_map<const ir::Node*, std::vector<const ir::Value*>> captured_;
  std::unordered_set<const ir::Value*> dead_;
  std::vector<uint32_t> spares_;
  std::unordered_map<const ir::Value*, uint32_t> chosen_;  // registers that values are made in
};

std::shared_ptr<const script::Class> Generator::class_of(const Type& type) const {
  if (!type.is(TypeKind::kClass)) return nullptr;
  return program_.unit().find_class(type.name());
}

// The block's outputs go to their goals, and what is its own is let go. `condition` is read behind that.
void Generator::end_block(const ir::Block& block, size_t first_output, std::span<const Operand> goals,
                          Operand* condition) {
  const ir::Node& end = *block.return_node();
  std::unordered_map<const ir::Value*, size_t> occurrences;
  for (const ir::Value* const output : block.outputs()) ++occurrences[output];
  std::unordered_set<uint32_t> kept;
  for (const Operand& goal : goals) {
    if (!goal.is_none()) kept.insert(goal.index());
  }
  std::vector<Move> moves;
  std::unordered_set<const ir::Value*> moved;
  for (size_t i = 0; i < goals.size(); ++i) {
    if (goals[i].is_none()) continue;
    const ir::Value* const value = end.input(first_output + i);
    Operand from = input_of(end, first_output + i);
    if (!from.is_constant() && occurrences[value] > 1) from = Operand::of_register(from.index());
    if (!from.is_constant() && from.is_last()) moved.insert(value);
    moves.push_back({from, goals[i].index()});
  }
  if (condition != nullptr) {
    *condition = input_of(end, 0);
    if (!condition->is_constant() && kept.contains(condition->index())) {
      const uint32_t copy = registers_.take();
      moves.push_back({*condition, copy});
      *condition = Operand::of_register(copy);
      spares_.push_back(copy);
    }
  }
  emit_moves(end, std::move(moves));
  Operands cleared;
  for (const auto& [value, count] : occurrences) {
    if (is_constant(*value) || dead_.contains(value) || lifetimes_.at(value).last != &end) continue;
    dead_.insert(value);
    const uint32_t at = places_.at(value);
    if (may_be_boxed(value->type()) && !moved.contains(value) && !kept.contains(at))
      cleared.push_back(Operand::of_register(at));
    give_back(*value);
  }
  if (!cleared.empty()) emit(Opcode::kClear, end, cleared, {});
}

void Generator::if_node(const ir::Node& node) {
  const Operand condition = input_of(node, 0);
  const Operands goals = results_of(node);
  if (program_.keeps_blocks()) return kept_if(node, condition, goals);
  const size_t to_else = emit(Opcode::kJumpUnless, node, {condition}, {});
  nodes_of(*node.block(0));
  end_block(*node.block(0), 0, goals);
  const size_t to_end = emit(Opcode::kJump, node, {}, {});
  aim(to_else);
  nodes_of(*node.block(1));
  end_block(*node.block(1), 0, goals);
  aim(to_end);
}

void Generator::kept_if(const ir::Node& node, const Operand& condition, const Operands& goals) {
  BranchSite& site = *code_->branches.emplace_back(std::make_unique<BranchSite>());
  site.results = goals;
  emit(Opcode::kBranch, node, {condition}, {}, code_->branches.size() - 1);
  for (size_t side = 0; side < 2; ++side) {
    site.sides[side].begin = next_place();
    nodes_of(*node.block(side));
    end_block(*node.block(side), 0, goals);
    site.sides[side].end = static_cast<uint32_t>(emit(Opcode::kBlockEnd, node, {}, {}));
  }
  site.behind = next_place();
  for (const BlockRange& side : site.sides) aim(side.end);
}

// Whether the next turn's value can be made in the register of this turn's: nobody reads that any more, and
// neither is anything but a number.
bool Generator::can_replace(const ir::Block& body, size_t index) {
  const ir::Value& carried = *body.input(index);
  const ir::Value& next = *body.output(index);
  const ir::Node& maker = *next.node();
  if (maker.block() != &body || !maker.is(NodeKind::kOperator) || maker.outputs().size() != 1 ||
      may_be_boxed(next.type()) || may_be_boxed(carried.type()))
    return false;
  size_t occurrences = 0;
  for (const ir::Use& use : next.uses()) {
    if (use.user == body.return_node()) ++occurrences;
  }
  const ir::Node* const last = lifetime_of(carried).last;
  return occurrences == 1 && (last == nullptr || last == &maker || last->is_before(&maker));
}

void Generator::loop_node(const ir::Node& node) {
  const ir::Block& body = *node.block(0);
  const Operand most = input_of(node, 0), first_condition = input_of(node, 1);
  const uint32_t turn = registers_.take();
  // The carried values have the registers of the loop's results all the time.
  Operands goals;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const uint32_t goal = registers_.take();
    goals.push_back(Operand::of_register(goal));
    emit(Opcode::kMove, node, {input_of(node, i + 2)}, {goals.back()});
  }
  LoopSite* site = nullptr;
  if (program_.keeps_blocks()) {
    site = code_->repeats.emplace_back(std::make_unique<LoopSite>()).get();
    site->turn = turn;
    for (const Operand& goal : goals) site->carried.push_back(goal.index());
  }
  const size_t number = site == nullptr ? 0 : code_->repeats.size() - 1;
  const size_t begin = emit(site == nullptr ? Opcode::kLoopBegin : Opcode::kRepeatBegin, node,
                            {most, first_condition}, {Operand::of_register(turn)}, number);
  const size_t back = code_->instructions.size();
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    const ir::Value* const input = body.input(i);
    place(*input, i == 0 ? turn : goals.at(i - 1).index());
    dead_.insert(input);  // its register is not its own
    if (i > 0 && can_replace(body, i)) chosen_[body.output(i)] = goals[i - 1].index();
  }
  nodes_of(body);
  Operand condition;
  end_block(body, 1, goals, &condition);
  const Operands ends = {Operand::of_register(turn), most, condition};
  if (site == nullptr) {
    emit(Opcode::kLoopNext, node, ends, {}, back);
    aim(begin);
  } else {
    site->condition = condition;
    site->body = {static_cast<uint32_t>(back), static_cast<uint32_t>(emit(Opcode::kBlockEnd, node, {}, {}))};
    aim(site->body.end);
    emit(Opcode::kRepeatNext, node, ends, {}, number);
    site->behind = next_place();
  }
  for (const uint32_t spare : spares_) registers_.give_back(spare);
  spares_.clear();
  Operands cleared;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const ir::Value& output = *node.output(i);
    if (output.has_uses()) {
      place(output, goals[i].index());
      continue;
    }
    if (may_be_boxed(output.type())) cleared.push_back(goals[i]);
    registers_.give_back(goals[i].index());
  }
  if (!cleared.empty()) emit(Opcode::kClear, node, cleared, {});
  registers_.give_back(turn);
}

void Generator::builtin_node(const ir::Node& node, std::string_view name) {
  const Builtin* const builtin = program_.builtins().find(name);
  if (builtin == nullptr) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} cannot be run: it belongs to the compiler", printable(name)));
  }
  const Operands inputs = inputs_of(node);
  emit(Opcode::kBuiltin, node, inputs, results_of(node), added(code_->builtins, builtin));
}

void Generator::operator_node(const ir::Node& node) {
  const std::string name = node.op->schema.name.to_string();
  if (program_.builtins().find(name) != nullptr) return builtin_node(node, name);
  std::vector<const IValue*> constants;
  for (const ir::Value* const input : node.inputs())
    constants.push_back(input->node()->is(NodeKind::kConstant) ? &input->node()->constant : nullptr);
  const size_t site = added(code_->operators,
                            make_site(program_.library(), *node.op, constants, program_.next_site_number()));
  const Operands inputs = inputs_of(node);
  emit(Opcode::kOperator, node, inputs, results_of(node), site);
}

void Generator::one_node(const ir::Node& node) {
  const auto plain = [&](Opcode opcode, size_t index = 0) {
    const Operands inputs = inputs_of(node);
    emit(opcode, node, inputs, results_of(node), index);
  };
  const auto method = [&](std::string name) {
    auto site = std::make_unique<MethodSite>();
    site->name = std::move(name);
    return added(code_->methods, std::move(site));
  };
  const auto attribute = [&] {
    auto site = std::make_unique<AttributeSite>();
    site->name = node.name;
    return added(code_->attributes, std::move(site));
  };
  switch (node.kind()) {
    case NodeKind::kOperator:
      return operator_node(node);
    case NodeKind::kIf:
      return if_node(node);
    case NodeKind::kLoop:
      return loop_node(node);
    case NodeKind::kTupleConstruct:
      if (std::shared_ptr<const script::Class> named = class_of(node.output()->type()))
        return plain(Opcode::kNamedTuple, added(code_->classes, std::move(named)));
      return plain(Opcode::kTuple);
    case NodeKind::kTupleUnpack:
      return plain(Opcode::kUnpackTuple);
    case NodeKind::kTupleSlice:
      return plain(Opcode::kTupleSlice, added(code_->slices, std::pair(node.begin, node.end)));
    case NodeKind::kListConstruct:
      return plain(Opcode::kList, added(code_->types, node.output()->type().without_optional().element()));
    case NodeKind::kListUnpack:
      return plain(Opcode::kUnpackList);
    case NodeKind::kDictConstruct:
      return plain(Opcode::kDict, added(code_->types, node.output()->type().without_optional()));
    case NodeKind::kGetAttr:
      return plain(Opcode::kGetAttribute, attribute());
    case NodeKind::kSetAttr:
      return plain(Opcode::kSetAttribute, attribute());
    case NodeKind::kCallMethod: {
      const std::shared_ptr<const script::Class> type = class_of(node.input(0)->type());
      // Methods of PyTorch's own classes have no code.
      const bool has_code =
          type != nullptr && !type->is_interface() && !script::is_native_class(type->qualified_name());
      const std::shared_ptr<script::Function>* const found =
          has_code ? type->find_method(node.name) : nullptr;
      if (found != nullptr) return plain(Opcode::kCall, added(code_->calls, &program_.slot_of(*found)));
      return plain(Opcode::kCallMethod, method(node.name));
    }
    case NodeKind::kCallFunction: {
      const std::string& name = node.input(0)->node()->name;
      const std::shared_ptr<script::Function> found = program_.unit().find_function(name);
      if (found == nullptr) {
        throw Error(ErrorCode::kNotFound, fmt::format("there is no function {}", printable(name)));
      }
      const Operands inputs = inputs_of(node, 1);
      emit(Opcode::kCall, node, inputs, results_of(node), added(code_->calls, &program_.slot_of(found)));
      return;
    }
    case NodeKind::kCreateObject: {
      std::shared_ptr<const script::Class> type = class_of(node.output()->type());
      if (type == nullptr) {
        throw Error(ErrorCode::kUnsupported, fmt::format("objects of {} cannot be made",
                                                         printable(node.output()->type().to_string())));
      }
      return plain(Opcode::kCreateObject, added(code_->classes, std::move(type)));
    }
    case NodeKind::kIsInstance:
      return plain(Opcode::kIsInstance, added(code_->type_lists, node.types));
    case NodeKind::kUncheckedCast:
      return plain(Opcode::kMove);
    case NodeKind::kFork:
    case NodeKind::kAwaitable: {
      const size_t index = added(code_->subroutines, generate(program_, node.subgraph, code_->function));
      return plain(node.is(NodeKind::kFork) ? Opcode::kFork : Opcode::kAwaitable, index);
    }
    case NodeKind::kEnter:
      return plain(Opcode::kEnter, method("__enter__"));
    case NodeKind::kExit:
      return plain(Opcode::kExit, method("__exit__"));
    default:
      return builtin_node(node, ir::node_kind_name(node.kind()));
  }
}

}  // namespace

std::shared_ptr<const Code> generate(const Program& program, std::shared_ptr<const ir::Graph> graph,
                                     std::string function) {
  return Generator(program, std::move(graph), std::move(function)).run();
}

}  // namespace flambeau::interpreter
