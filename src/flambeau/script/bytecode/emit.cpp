#include "flambeau/script/bytecode/emit.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/script/bytecode/emission_plan.h"
#include "flambeau/script/bytecode/types.h"
#include "flambeau/script/ir/walk.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/operators/rewrites/promoted.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script::bytecode {
namespace {

using ir::Node;
using ir::NodeKind;
using ir::Value;

class Emitter {
 public:
  Emitter(const ir::Graph& graph, const Unit& unit, const EmitMode& mode)
      : graph_(graph), unit_(unit), mode_(mode), plan_(graph) {}

  Code run() {
    ir::for_each_node(graph_.block(), [&](const Node& node) { count_arguments(node); });
    emit_block(graph_.block());
    check_result();
    add(Opcode::kReturn);
    for (auto& [at, name] : method_names_) {
      code_.instructions[at].x = narrow(code_.constants.size());
      code_.constants.emplace_back(std::move(name));
    }
    for (OperatorUse& use : code_.operators) {
      if (mode_.loads_defaults) {
        use.specified.reset();
        continue;
      }
      const auto counts = counts_.find({use.name, use.overload});
      use.specified = counts == counts_.end() ? -1 : static_cast<int64_t>(counts->second.specified);
    }
    code_.register_count = register_count_;
    return std::move(code_);
  }

 private:
  struct Counts {
    size_t specified = 0;
    size_t outs = 0;
  };

  static int32_t narrow(size_t value) {
    if (value > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
      throw Error(ErrorCode::kLimit, "the function is too large for bytecode");
    return static_cast<int32_t>(value);
  }
  void add(Opcode opcode, int64_t x = 0, size_t n = 0) {
    if (!is_mobile(opcode)) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("mobile modules have no instruction {}", opcode_name(opcode)));
    }
    if (n > std::numeric_limits<uint16_t>::max())
      throw Error(ErrorCode::kLimit, fmt::format("{} of {} values", opcode_name(opcode), n));
    code_.instructions.push_back({opcode, static_cast<int32_t>(x), static_cast<uint16_t>(n)});
  }
  size_t here() const { return code_.instructions.size(); }

  // ---- operators
  // The operator that a node is, also one that graphs have a kind for; null for none.
  const OperatorEntry* entry_of(const Node& node) const {
    if (node.is(NodeKind::kOperator)) return node.op;
    const std::string_view name = ir::node_kind_name(node.kind());
    return node_kind_in_bytecode(name) ? unit_.operators().find(name, {}) : nullptr;
  }

  // How many arguments a use needs, and how many of an overload are for results.
  void count_arguments(const Node& node) {
    const OperatorEntry* const entry = entry_of(node);
    if (entry == nullptr || entry->schema.is_vararg) return;
    const Signature& signature = unit_.operator_table().overload(*entry).signature;
    const auto& arguments = entry->schema.arguments;
    size_t outs = 0;
    if (mode_.leaves_out_before_outs) {
      while (outs < arguments.size() && arguments[arguments.size() - 1 - outs].is_kwarg_only &&
             arguments[arguments.size() - 1 - outs].is_written())
        ++outs;
    }
    size_t needed = arguments.size() - outs;
    if (arguments.size() < node.inputs().size()) {
      needed = node.inputs().size();
    } else {
      while (needed > 0 && has_default(signature.arguments[needed - 1], *node.input(needed - 1))) --needed;
    }
    const OperatorName& name = entry->schema.name;
    Counts& counts = counts_.try_emplace({name.name, name.overload}, Counts{0, outs}).first->second;
    counts.specified = std::max(counts.specified, needed + outs);
  }
  static bool has_default(const Argument& argument, const Value& given) {
    const Node& node = *given.node();
    if (!argument.default_value || !node.is(NodeKind::kConstant) || !node.name.empty()) return false;
    if (argument.default_value->tag() != node.constant.tag()) return false;
    if (node.constant.is_boxed() && !node.constant.is(IValue::Tag::kString) &&
        !node.constant.is(IValue::Tag::kList)) {
      return false;
    }
    return equal_keys(*argument.default_value, node.constant);
  }

  size_t operator_index(const OperatorEntry& entry, size_t inputs) {
    const OperatorName& name = entry.schema.name;
    const size_t next = code_.operators.size();
    if (!entry.schema.is_vararg) {
      const auto [place, is_new] = operators_.try_emplace({name.to_string(), inputs}, next);
      if (!is_new) return place->second;
    }
    code_.operators.push_back({name.name, name.overload, {}});
    return next;
  }
  // With all of its arguments.
  void whole_operator(const Node& node, const OperatorEntry& entry) {
    load_inputs(node.inputs());
    const size_t index = operator_index(entry, node.inputs().size());
    // PyTorch makes an operator of its own for each use of this one, though its schema has no arguments.
    const bool has_counted = entry.schema.is_vararg && !node.is(NodeKind::kToList);
    if (has_counted) return add(Opcode::kOpN, narrow(index), node.inputs().size());
    add(Opcode::kOp, narrow(index));
  }
  void plain_operator(const Node& node, const OperatorEntry& entry) {
    if (mode_.loads_defaults || entry.schema.is_vararg) return whole_operator(node, entry);
    const std::span<Value* const> inputs = node.inputs();
    const Counts& counts = counts_.at({entry.schema.name.name, entry.schema.name.overload});
    load_inputs(inputs.first(std::min(counts.specified - counts.outs, inputs.size())));
    load_inputs(inputs.last(std::min(counts.outs, inputs.size())));
    add(Opcode::kOp, narrow(operator_index(entry, inputs.size())));
  }
  void promoted(const Node& node, Opcode opcode, int64_t x = 0) {
    if (!mode_.has_promoted) {
      const OperatorEntry* const entry = entry_of(node);
      if (entry == nullptr) throw Error(ErrorCode::kInternal, "an instruction that is no operator");
      return whole_operator(node, *entry);
    }
    load_inputs(node.inputs());
    add(opcode, x);
  }
  void operator_node(const Node& node) {
    const OperatorName& name = node.op->schema.name;
    if (is_dict_index(name.name, name.overload)) return promoted(node, Opcode::kDictIndex);
    const PromotedOperator* const found = find_promoted(std::string_view(name.name));
    if (found == nullptr) return plain_operator(node, *node.op);
    if (found->opcode == Opcode::kWarn || !is_mobile(found->opcode)) {
      load_inputs(node.inputs());
      return add(found->opcode, node.warn_id);
    }
    promoted(node, found->opcode,
             found->opcode == Opcode::kFormat ? static_cast<int64_t>(node.inputs().size()) : 0);
  }

  // ---- values
  void load_inputs(std::span<Value* const> inputs) {
    for (Value* const input : inputs) use(*input, false);
  }
  void use(const Value& value, bool is_dropped) {
    if (plan_.is_inline(value)) {
      emit_node(*value.node());
      if (is_dropped) add(Opcode::kDrop);
      return;
    }
    const auto place = places_.find(&value);
    if (place == places_.end()) {
      throw Error(ErrorCode::kUnsupported, "a function as a value cannot be in a mobile module");
    }
    if (value.node()->is(NodeKind::kConstant)) return add(Opcode::kLoadConstant, place->second);
    const bool is_last = ++uses_[&value] == plan_.use_count(value);
    add(is_dropped ? Opcode::kDropRegister : is_last ? Opcode::kMove : Opcode::kLoad, place->second);
  }
  void store(std::span<Value* const> values) {
    if (values.empty()) return;
    const int64_t first = register_count_ + 1;
    for (const Value* const value : values) places_[value] = ++register_count_;
    narrow(static_cast<size_t>(register_count_));
    if (values.size() == 1) return add(Opcode::kStore, first);
    add(Opcode::kStoreN, first, values.size());
  }
  int64_t type(const Type& of) {
    code_.types.push_back(mode_.has_plain_types ? annotation_text(of) : type_text(of, unit_));
    return narrow(code_.types.size() - 1);
  }

  // ---- blocks and nodes
  void emit_block(const ir::Block& block) {
    store(block.inputs());
    for (const EmissionPlan::Item* const item : plan_.items(block)) {
      if (item->node == nullptr) {
        for (const Value* const value : item->dropped) use(*value, true);
      } else if (item->node->is(NodeKind::kConstant)) {
        emit_constant(*item->node);
      } else if (!item->is_inline) {
        emit_node(*item->node);
        store(item->node->outputs());
      }
    }
    load_inputs(block.outputs());
  }
  void emit_constant(const Node& node) {
    if (node.output()->type().is(TypeKind::kFunction)) return;
    places_[node.output()] = narrow(code_.constants.size());
    code_.constants.push_back(node.constant);
  }
  void emit_node(const Node& node);
  void emit_if(const Node& node) {
    load_inputs(node.inputs());
    const size_t begin = here();
    add(Opcode::kJumpFalse);
    emit_block(*node.block(0));
    add(Opcode::kJump);
    const size_t otherwise = here();
    code_.instructions[begin].x = narrow(otherwise - begin);
    emit_block(*node.block(1));
    code_.instructions[otherwise - 1].x = narrow(here() - (otherwise - 1));
  }
  void emit_loop(const Node& node) {
    code_.constants.emplace_back(int64_t{0});
    add(Opcode::kLoadConstant, narrow(code_.constants.size() - 1));
    load_inputs(node.inputs());
    const size_t begin = here();
    add(Opcode::kLoop, 0, node.inputs().size());
    emit_block(*node.block(0));
    add(Opcode::kJump, -static_cast<int64_t>(narrow(here() - begin)));
    code_.instructions[begin].x = narrow(here() - begin);
  }
  void emit_call(const Node& node) {
    load_inputs(node.inputs());
    const Type& of = node.input(0)->type();
    const std::shared_ptr<Class> owner = of.is(TypeKind::kClass) ? unit_.find_class(of.name()) : nullptr;
    if (owner != nullptr && owner->is_interface()) {
      code_.constants.emplace_back(node.name);
      return add(Opcode::kInterfaceCall, narrow(code_.constants.size() - 1), node.inputs().size());
    }
    method_names_.emplace_back(here(), node.name);
    add(Opcode::kInterfaceCall, 0, node.inputs().size());
  }
  int64_t slot_of(const Node& node) const {
    const Type& of = node.input(0)->type();
    const std::shared_ptr<Class> owner = of.is(TypeKind::kClass) ? unit_.find_class(of.name()) : nullptr;
    const std::optional<size_t> slot = owner == nullptr ? std::nullopt : owner->find_attribute(node.name);
    if (!slot) {
      throw Error(ErrorCode::kUnsupported, fmt::format("the attribute '{}' of {} has no slot",
                                                       printable(node.name), printable(of.to_string())));
    }
    return narrow(*slot);
  }
  void check_result() const {
    for (const Value* const output : graph_.outputs()) {
      if (!output->type().is(TypeKind::kList) && !output->type().is(TypeKind::kDict)) continue;
      for (const Type& element : output->type().elements()) {
        if (!element.is(TypeKind::kClass) || is_tuple(element)) continue;
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("mobile modules cannot return {}", printable(output->type().to_string())),
                    "return lists and dicts of values that are no objects");
      }
    }
  }
  bool is_tuple(const Type& named) const {
    const std::shared_ptr<Class> found = unit_.find_class(named.name());
    return found != nullptr && found->kind() != ClassKind::kModule && found->kind() != ClassKind::kPlain;
  }

  const ir::Graph& graph_;
  const Unit& unit_;
  const EmitMode& mode_;
  EmissionPlan plan_;
  Code code_;
  int64_t register_count_ = 0;
  std::unordered_map<const Value*, int64_t> places_;  // registers, or places of constants
  std::unordered_map<const Value*, size_t> uses_;
  std::map<std::pair<std::string, size_t>, size_t> operators_;
  std::map<std::pair<std::string, std::string>, Counts> counts_;
  std::vector<std::pair<size_t, std::string>> method_names_;  // by instruction
};

void Emitter::emit_node(const Node& node) {
  const auto construct = [&](Opcode opcode) {
    load_inputs(node.inputs());
    add(opcode, type(node.output()->type()), node.inputs().size());
  };
  switch (node.kind()) {
    case NodeKind::kOperator:
      return operator_node(node);
    case NodeKind::kIf:
      return emit_if(node);
    case NodeKind::kLoop:
      return emit_loop(node);
    case NodeKind::kCallMethod:
      return emit_call(node);
    case NodeKind::kGetAttr:
      load_inputs(node.inputs());
      return add(Opcode::kGetAttribute, slot_of(node));
    case NodeKind::kSetAttr:
      load_inputs(node.inputs());
      return add(Opcode::kSetAttribute, slot_of(node));
    case NodeKind::kListUnpack:
      load_inputs(node.inputs());
      return add(Opcode::kListUnpack, narrow(node.outputs().size()));
    case NodeKind::kTupleConstruct:
      if (node.output()->type().is(TypeKind::kClass)) return construct(Opcode::kNamedTupleConstruct);
      load_inputs(node.inputs());
      return add(Opcode::kTupleConstruct, narrow(node.inputs().size()));
    case NodeKind::kListConstruct:
      return construct(Opcode::kListConstruct);
    case NodeKind::kDictConstruct:
      return construct(Opcode::kDictConstruct);
    case NodeKind::kCreateObject:
      return add(Opcode::kCreateObject, type(node.output()->type()));
    case NodeKind::kIsInstance: {
      load_inputs(node.inputs());
      const size_t first = code_.types.size();
      for (const Type& of : node.types) type(of);
      return add(Opcode::kIsInstance, narrow(first), node.types.size());
    }
    case NodeKind::kTupleSlice:
      load_inputs(node.inputs());
      return add(Opcode::kTupleSlice, node.begin,
                 static_cast<size_t>(std::max<int64_t>(0, node.end - node.begin)));
    case NodeKind::kTupleIndex:
      return promoted(node, Opcode::kTupleIndex);
    case NodeKind::kRaiseException:
      return promoted(node, Opcode::kRaiseException);
    case NodeKind::kUninitialized:
      return promoted(node, Opcode::kUninitialized);
    case NodeKind::kToList:
      return promoted(node, Opcode::kToList);
    case NodeKind::kFork:
      return add(Opcode::kFork);
    case NodeKind::kAwaitable:
      return add(Opcode::kAwaitable);
    case NodeKind::kEnter:
      return add(Opcode::kEnter);
    case NodeKind::kExit:
      return add(Opcode::kExit);
    default:
      break;
  }
  const OperatorEntry* const entry = entry_of(node);
  if (entry == nullptr) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} cannot be in a mobile module", ir::node_kind_name(node.kind())));
  }
  plain_operator(node, *entry);
}

}  // namespace

EmitMode emit_mode(int64_t version) {
  if (version < 4 || version > kNewestVersion) {
    throw Error(ErrorCode::kUnsupported, fmt::format("bytecode of version {} cannot be written; 4 to {} can",
                                                     version, kNewestVersion));
  }
  return {.loads_defaults = version <= 5,
          .leaves_out_before_outs = version >= 7,
          .has_promoted = version >= 8,
          .has_plain_types = version >= 9};
}

Code emit(const ir::Graph& graph, const Unit& unit, const EmitMode& mode) {
  return Emitter(graph, unit, mode).run();
}

}  // namespace flambeau::script::bytecode
