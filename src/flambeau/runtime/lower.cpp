#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/graph/values.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/runtime/code.h"

namespace flambeau::runtime {
namespace {

using graph::Argument;
using graph::ArgumentKind;

class Lowering {
 public:
  Lowering(const graph::Graph& graph, const ops::Library& library, std::vector<MissingOperator>& missing)
      : graph_(graph), library_(library), missing_(missing) {}

  std::unique_ptr<Code> run() {
    code_->is_single_tensor_return = graph_.is_single_tensor_return;
    for (const Argument& input : graph_.inputs()) {
      const graph::Value* const value = input.value();
      code_->inputs.push_back(value == nullptr ? kNoSlot : slot_of(*value));
    }
    for (const graph::Node& node : graph_.nodes()) add(node);
    for (const Argument& output : graph_.outputs()) code_->outputs.push_back(source_of(output));
    code_->slot_count = code_->slot_names.size();
    find_last_uses();
    return std::move(code_);
  }

 private:
  Slot slot_of(const graph::Value& value) {
    const auto [found, is_new] = slots_.try_emplace(&value, static_cast<Slot>(slots_.size()));
    if (is_new) code_->slot_names.push_back(value.name());
    return found->second;
  }
  Source slot_source(const graph::Value& value) {
    Source source;
    source.kind = Source::Kind::kSlot;
    source.slot = slot_of(value);
    return source;
  }
  static Source constant(Value value) {
    Source source;
    source.constant = std::move(value);
    return source;
  }
  Source tensor_source(const graph::ValueRef& ref) { return ref ? slot_source(*ref) : constant({}); }
  template <typename Number>
  Source number_source(const graph::SymArgument<Number>& number) {
    return number.ref ? slot_source(*number.ref) : constant(Value(number.literal));
  }
  template <typename List, typename Make>
  Source list_source(Source::Kind kind, const List& list, Make&& make) {
    Source source;
    source.kind = kind;
    for (const auto& item : list) source.items.push_back(make(item));
    return source;
  }

  Source source_of(const Argument& argument);
  Source graph_source(const graph::GraphArgument& argument) {
    Source source;
    source.kind = Source::Kind::kCode;
    source.code = code_->subgraphs.size();
    code_->subgraphs.push_back(lower(*argument.graph, library_, missing_));
    return source;
  }

  void add(const graph::Node& node) {
    Instruction instruction;
    instruction.node = &node;
    const std::string_view target = node.target;
    if (target.starts_with("torch.ops.higher_order.")) {
      instruction.kind = Instruction::Kind::kHigherOrder;
      instruction.target = target.substr(sizeof("torch.ops.higher_order.") - 1);
      add_plain_arguments(node, instruction);
    } else if (const std::optional<OperatorName> name = find_python_operator(target)) {
      instruction.op = library_.find(*name);
      if (instruction.op != nullptr) {
        add_operator_arguments(node, instruction);
      } else {
        note_missing(node, instruction);
      }
    } else if ((instruction.function = ops::find_python_function(target)) != nullptr) {
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
    instruction.target = node.target;
    const auto found = std::ranges::find(missing_, node.target, &MissingOperator::target);
    if (found != missing_.end()) {
      ++found->count;
    } else {
      missing_.push_back({node.target, std::string(node.label()), 1});
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

  const graph::Graph& graph_;
  const ops::Library& library_;
  std::vector<MissingOperator>& missing_;
  std::unique_ptr<Code> code_ = std::make_unique<Code>();
  std::unordered_map<const graph::Value*, Slot> slots_;
};

Source Lowering::source_of(const Argument& argument) {
  using K = ArgumentKind;
  using S = Source::Kind;
  switch (argument.kind()) {
    case K::kTensor:
      return tensor_source(argument.get<K::kTensor>());
    case K::kOptionalTensor:
      return tensor_source(argument.get<K::kOptionalTensor>());
    case K::kTensors:
      return list_source(S::kTensors, argument.get<K::kTensors>(),
                         [&](const auto& ref) { return tensor_source(ref); });
    case K::kOptionalTensors:
      return list_source(S::kTensors, argument.get<K::kOptionalTensors>(),
                         [&](const auto& ref) { return tensor_source(ref); });
    case K::kNestedTensors:
      return list_source(S::kItems, argument.get<K::kNestedTensors>(), [&](const auto& list) {
        return list_source(S::kTensors, list, [&](const auto& ref) { return tensor_source(ref); });
      });
    case K::kSymInt:
      return number_source(argument.get<K::kSymInt>());
    case K::kSymFloat:
      return number_source(argument.get<K::kSymFloat>());
    case K::kSymBool:
      return number_source(argument.get<K::kSymBool>());
    case K::kSymInts:
      return list_source(S::kInts, argument.get<K::kSymInts>(),
                         [&](const auto& item) { return number_source(item); });
    case K::kSymFloats:
      return list_source(S::kItems, argument.get<K::kSymFloats>(),
                         [&](const auto& item) { return number_source(item); });
    case K::kSymBools:
      return list_source(S::kItems, argument.get<K::kSymBools>(),
                         [&](const auto& item) { return number_source(item); });
    case K::kGraph:
      return graph_source(argument.get<K::kGraph>());
    case K::kCustomObj:
      return tensor_source(argument.get<K::kCustomObj>().ref);
    case K::kStringToArgument: {
      // Pairs of key and value.
      Source source;
      source.kind = S::kItems;
      if (const auto& dict = argument.get<K::kStringToArgument>()) {
        for (const auto& [key, item] : *dict) {
          source.items.push_back(constant(key));
          source.items.push_back(source_of(item));
        }
      }
      return source;
    }
    case K::kDevice: {
      // One that nobody here knows is left out.
      const std::optional<Device> device = parse_device(argument.get<K::kDevice>().to_string());
      return constant(device ? Value(*device) : Value());
    }
    default:
      return constant(graph::to_value(argument, {}));  // refers to nothing
  }
}

}  // namespace

std::unique_ptr<Code> lower(const graph::Graph& graph, const ops::Library& library,
                            std::vector<MissingOperator>& missing) {
  return Lowering(graph, library, missing).run();
}

}  // namespace flambeau::runtime
