#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/ops/left_out.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/runtime/code.h"
#include "flambeau/runtime/higher_order.h"

namespace flambeau::runtime {
namespace {

using graph::Argument;
using graph::ArgumentKind;

class Lowering {
 public:
  Lowering(const ops::Library& library, std::vector<MissingOperator>& missing)
      : library_(library), missing_(missing) {}

  std::unique_ptr<Code> run(const graph::Graph& graph) {
    code_->is_single_tensor_return = graph.is_single_tensor_return;
    for (const Argument& input : graph.inputs()) add_input(input.value());
    for (const graph::Node& node : graph.nodes()) add(node);
    return finish(graph.outputs());
  }
  std::unique_ptr<Code> run(const GraphPart& part) {
    for (const graph::Value* const input : part.inputs) add_input(input);
    for (const graph::Node* const node : part.nodes) add(*node);
    return finish(part.outputs);
  }

 private:
  void add_input(const graph::Value* value) {
    code_->inputs.push_back(value == nullptr ? kNoSlot : slot_of(*value));
  }
  std::unique_ptr<Code> finish(std::span<const Argument> outputs) {
    for (const Argument& output : outputs) code_->outputs.push_back(source_of(output));
    code_->slot_count = code_->slot_names.size();
    find_last_uses();
    return std::move(code_);
  }

  Slot slot_of(const graph::Value& value) {
    const auto [found, is_new] = slots_.try_emplace(&value, static_cast<Slot>(slots_.size()));
    if (is_new) code_->slot_names.push_back(value.name());
    return found->second;
  }
  static Source constant(Value value) {
    Source source;
    source.constant = std::move(value);
    return source;
  }
  // A list of constants is one, and fitted as such.
  static Source joined(Source list) {
    const auto is_constant = [](const Source& item) { return item.kind == Source::Kind::kConstant; };
    if (!std::ranges::all_of(list.items, is_constant)) return list;
    ValueList items;
    for (Source& item : list.items) items.push_back(std::move(item.constant));
    return constant(graph::join_items(list.kind, std::move(items)));
  }
  Source source_of(const Argument& argument) { return source_of(graph::parts_of(argument)); }
  Source source_of(graph::ArgumentParts parts);

  void add(const graph::Node& node) {
    Instruction instruction;
    instruction.node = &node;
    const graph::Target& target = node.target;
    if (target.is_higher_order()) {
      instruction.kind = Instruction::Kind::kHigherOrder;
      instruction.higher_order = find_higher_order_function(target.name());
      add_plain_arguments(node, instruction);
    } else if (const auto* const op = target.op() != nullptr ? library_.find(*target.op()) : nullptr) {
      instruction.op = op;
      add_operator_arguments(node, instruction);
    } else if (const auto function = ops::find_python_function(target.text())) {
      instruction.function = function;
      instruction.kind = Instruction::Kind::kPythonFunction;
      add_plain_arguments(node, instruction);
    } else {
      note_missing(node, instruction);
    }
    for (const Argument& output : node.outputs()) instruction.results.push_back(target_of(output));
    code_->instructions.push_back(std::move(instruction));
  }

  void note_missing(const graph::Node& node, Instruction& instruction) {
    instruction.kind = Instruction::Kind::kMissing;
    const std::string& target = node.target.text();
    const auto found = std::ranges::find(missing_, target, &MissingOperator::target);
    if (found != missing_.end()) {
      ++found->count;
    } else {
      const OperatorName* const name = node.target.op();
      missing_.push_back({target, std::string(node.label()), 1,
                          name == nullptr ? std::string_view() : ops::option_left_out(name->name)});
    }
  }

  void add_plain_arguments(const graph::Node& node, Instruction& instruction) {
    for (const graph::NamedArgument& input : node.inputs()) {
      instruction.arguments.push_back(source_of(input.argument));
      instruction.names.push_back(input.name);
    }
  }

  // Constants are fitted to their types now, once; a slot's value is when it is there.
  void add_operator_arguments(const graph::Node& node, Instruction& instruction) {
    const Schema& schema = instruction.op->schema;
    instruction.arguments.resize(schema.arguments.size());
    std::vector<bool> is_given(schema.arguments.size(), false);
    size_t position = 0;
    for (const graph::NamedArgument& input : node.inputs()) {
      const std::optional<size_t> index =
          input.name.empty() ? std::optional<size_t>(position) : schema.find_argument(input.name);
      ++position;
      if (!index || *index >= schema.arguments.size()) {
        throw Error(ErrorCode::kCorrupt,
                    fmt::format("node '{}' gives {} an argument '{}' that it does not have",
                                printable(node.label()), schema.name.to_string(), printable(input.name)));
      }
      Source source = source_of(input.argument);
      if (source.kind == Source::Kind::kConstant) {
        source.constant = ops::fit_argument(schema, *index, source.constant);
      }
      instruction.arguments[*index] = std::move(source);
      is_given[*index] = true;
    }
    for (size_t i = 0; i < schema.arguments.size(); ++i) {
      if (!is_given[i]) instruction.arguments[i] = constant(ops::default_argument(schema, i));
    }
  }

  Target target_of(const Argument& output) {
    Target target;
    target.is_list = output.is(ArgumentKind::kTensors) || output.is(ArgumentKind::kSymInts) ||
                     output.is(ArgumentKind::kOptionalTensors) || output.is(ArgumentKind::kNestedTensors);
    output.for_each_ref(
        [&](const graph::ValueRef& ref) { target.slots.push_back(ref ? slot_of(*ref) : kNoSlot); });
    return target;
  }

  void find_last_uses() {
    std::vector<bool> is_used(code_->slot_count, false);
    for (const Source& output : code_->outputs) {
      for_each_slot(output, [&](Slot slot) { is_used[slot] = true; });
    }
    for (size_t i = code_->instructions.size(); i-- > 0;) {
      Instruction& instruction = code_->instructions[i];
      const auto see = [&](Slot slot) {
        if (slot == kNoSlot || is_used[slot]) return;
        is_used[slot] = true;
        instruction.last_uses.push_back(slot);
      };
      for (const Target& target : instruction.results) {
        for (const Slot slot : target.slots) see(slot);
      }
      for (const Source& argument : instruction.arguments) for_each_slot(argument, see);
    }
  }

  const ops::Library& library_;
  std::vector<MissingOperator>& missing_;
  std::unique_ptr<Code> code_ = std::make_unique<Code>();
  std::unordered_map<const graph::Value*, Slot> slots_;
};

Source Lowering::source_of(graph::ArgumentParts parts) {
  Source source;
  source.kind = parts.kind;
  source.constant = std::move(parts.constant);
  // A device that nobody here knows is left out.
  if (const auto* const device = source.constant.get_if<Device>();
      device != nullptr && device->type == DeviceType::kOther)
    source.constant = Value();
  if (parts.value != nullptr) source.slot = slot_of(*parts.value);
  if (parts.graph != nullptr) {
    source.code = code_->subgraphs.size();
    code_->subgraphs.push_back(lower(*parts.graph->graph, library_, missing_));
  }
  for (graph::ArgumentParts& item : parts.items) source.items.push_back(source_of(std::move(item)));
  return source.kind == Source::Kind::kItems || source.kind == Source::Kind::kIntegers
             ? joined(std::move(source))
             : source;
}

}  // namespace

std::unique_ptr<Code> lower(const graph::Graph& graph, const ops::Library& library,
                            std::vector<MissingOperator>& missing) {
  return Lowering(library, missing).run(graph);
}

std::unique_ptr<Code> lower(const GraphPart& part, const ops::Library& library,
                            std::vector<MissingOperator>& missing) {
  return Lowering(library, missing).run(part);
}

}  // namespace flambeau::runtime
