#include "flambeau/graph/report/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

#include "flambeau/base/error.h"

namespace flambeau::graph {
namespace {

using Names = std::unordered_set<std::string>;

[[noreturn]] void invalid(std::string message) {
  throw Error(ErrorCode::kCorrupt, std::move(message), "see what flambeau verify says of it");
}

// Dictionaries are one opaque thing to PyTorch's canonical form; everything else shows its values.
template <typename Visit>
void for_each_visible_ref(const Argument& argument, Visit&& visit) {
  if (!argument.is(ArgumentKind::kStringToArgument)) argument.for_each_ref(visit);
}

bool is_list(ArgumentKind kind) {
  return kind == ArgumentKind::kTensors || kind == ArgumentKind::kSymInts ||
         kind == ArgumentKind::kSymFloats || kind == ArgumentKind::kSymBools ||
         kind == ArgumentKind::kOptionalTensors || kind == ArgumentKind::kNestedTensors;
}

// Orders the nodes of one graph: whichever node has all its operands may come next, and among several the one
// whose operator and operands sort first.
class NodeOrder {
 public:
  NodeOrder(const Graph& graph, const Names& constants) : graph_(graph), constants_(constants) {}

  std::vector<Node*> order() {
    collect();
    for (const Argument& input : graph_.inputs()) rank(input);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (waiting_[i] == 0) add_candidate(i);
    }
    std::vector<Node*> ordered;
    ordered.reserve(nodes_.size());
    while (!candidates_.empty()) {
      const size_t index = candidates_.top().index;
      candidates_.pop();
      ordered.push_back(nodes_[index]);
      for (const Argument& output : nodes_[index]->outputs()) rank(output);
      for (const size_t user : users_[index]) {
        if (--waiting_[user] == 0) add_candidate(user);
      }
    }
    if (ordered.size() != nodes_.size()) {
      invalid(fmt::format("{} of {} nodes cannot be ordered: they wait for each other's values",
                          nodes_.size() - ordered.size(), nodes_.size()));
    }
    return ordered;
  }

 private:
  struct Candidate {
    const std::string* target;
    std::vector<std::pair<const std::string*, std::vector<int64_t>>> operands;
    size_t index;
    // A heap gives the largest first, so this is "sorts later".
    bool operator<(const Candidate& other) const {
      if (const int c = target->compare(*other.target); c != 0) return c > 0;
      const size_t common = std::min(operands.size(), other.operands.size());
      for (size_t i = 0; i < common; ++i) {
        if (const int c = operands[i].first->compare(*other.operands[i].first); c != 0) return c > 0;
        if (operands[i].second != other.operands[i].second)
          return operands[i].second > other.operands[i].second;
      }
      if (operands.size() != other.operands.size()) return operands.size() > other.operands.size();
      return index > other.index;
    }
  };

  void collect() {
    graph_.number_nodes();
    for (Node* node = graph_.first_node(); node != nullptr; node = node->next()) nodes_.push_back(node);
    users_.resize(nodes_.size());
    waiting_.resize(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const Argument& output : nodes_[i]->outputs()) {
        for_each_visible_ref(output, [&](const ValueRef& ref) {
          if (ref && ref->producer() != nodes_[i])
            invalid(fmt::format("the value '{}' is given twice", printable(ref->name())));
        });
      }
      for (const NamedArgument& input : nodes_[i]->inputs()) {
        for_each_visible_ref(input.argument, [&](const ValueRef& ref) {
          if (!ref || constants_.contains(ref->name())) return;
          const Node* const producer = ref->producer();
          if (producer != nullptr) {
            users_[producer->position()].push_back(i);
            ++waiting_[i];
          } else if (!ref->is_input()) {
            invalid(fmt::format("node '{}' uses '{}', which nothing gives", printable(nodes_[i]->label()),
                                printable(ref->name())));
          }
        });
      }
    }
  }

  void rank(const Argument& argument) {
    for_each_visible_ref(argument, [&](const ValueRef& ref) {
      if (!ref) return;
      if (!ranks_.emplace(ref.get(), static_cast<int64_t>(ranks_.size())).second) {
        invalid(fmt::format("the value '{}' is given twice", printable(ref->name())));
      }
    });
  }

  int64_t rank_of(const ValueRef& ref) const {
    if (!ref || constants_.contains(ref->name())) return -1;
    const auto found = ranks_.find(ref.get());
    if (found == ranks_.end()) {
      invalid(
          fmt::format("the value '{}' is given in a dictionary, which has no order", printable(ref->name())));
    }
    return found->second;
  }

  void add_candidate(size_t index) {
    Candidate candidate = {&nodes_[index]->target.text(), {}, index};
    for (const NamedArgument& input : nodes_[index]->inputs()) {
      std::vector<int64_t> ranks;
      for_each_visible_ref(input.argument, [&](const ValueRef& ref) { ranks.push_back(rank_of(ref)); });
      // What is no list counts as one operand, also when it is a constant.
      if (ranks.empty() && !is_list(input.argument.kind())) ranks.push_back(-1);
      candidate.operands.emplace_back(&input.name, std::move(ranks));
    }
    candidates_.push(std::move(candidate));
  }

  const Graph& graph_;
  const Names& constants_;
  std::vector<Node*> nodes_;
  std::vector<std::vector<size_t>> users_;
  std::vector<size_t> waiting_;
  std::unordered_map<const Value*, int64_t> ranks_;
  std::priority_queue<Candidate> candidates_;
};

// References that keep the name they have while their values are renamed. Until then they refer to nothing.
class KeptNames {
 public:
  void keep(Argument& argument) {
    argument.for_each_ref([&](ValueRef& ref) {
      if (!ref) return;
      kept_.emplace_back(&ref, ref->name());
      ref.set(nullptr);
    });
  }
  void restore(Graph& graph) {
    for (auto& [ref, name] : kept_) ref->set(&graph.value(name));
  }

 private:
  std::vector<std::pair<ValueRef*, std::string>> kept_;
};

void canonicalize_graph(Graph& graph, const Names& constants, KeptNames& kept) {
  for (Node* const node : NodeOrder(graph, constants).order()) graph.move_before(*node, nullptr);

  std::vector<std::pair<Value*, std::string>> names;
  const auto name_definitions = [&](const Argument& argument) {
    for_each_visible_ref(argument, [&](const ValueRef& ref) {
      if (!ref) return;
      if (ref->kind() == ValueKind::kUnknown) {
        invalid(fmt::format("the value '{}' is not described", printable(ref->name())));
      }
      names.emplace_back(ref.get(), fmt::format("_{}", names.size()));
    });
  };
  for (const Argument& input : graph.inputs()) name_definitions(input);
  for (Node& node : graph.nodes()) {
    for (const Argument& output : node.outputs()) name_definitions(output);
    node.metadata.clear();
  }
  for (Node& node : graph.nodes()) {
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      if (node.inputs()[i].argument.is(ArgumentKind::kStringToArgument)) kept.keep(node.mutable_input(i));
    }
  }
  // What only those mention is no value of the graph, and takes no name.
  for (Value* const value : graph.values_of(ValueKind::kUnknown)) {
    if (!value->is_defined() && value->refs().begin() == value->refs().end()) graph.erase(*value);
  }
  std::unordered_set<const Value*> renamed;
  for (const auto& [value, name] : names) renamed.insert(value);
  for (const auto& [value, name] : names) {
    const Value* const other = graph.find(name);
    if (other == nullptr || renamed.contains(other)) continue;
    invalid(fmt::format("nothing gives the value '{}', and the canonical form needs its name", name));
  }
  graph.rename_all(names);
  kept.restore(graph);
  graph.sort_values_by_name();

  size_t counter = 0;
  for (Node& node : graph.nodes()) {
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      if (!node.inputs()[i].argument.is(ArgumentKind::kGraph)) continue;
      GraphArgument& inner = node.mutable_input(i).get<ArgumentKind::kGraph>();
      KeptNames none;
      canonicalize_graph(*inner.graph, constants, none);
      inner.name = fmt::format("_g{}", counter++);
    }
  }
}

// PyTorch's order: a number for the kind, then the target, then the place.
using SpecRank = std::tuple<int, std::string_view, size_t>;

SpecRank rank_of(const InputSpec& spec, size_t index) {
  switch (spec.kind) {
    case InputKind::kToken:
      return {0, {}, index};
    case InputKind::kParameter:
      return {1, spec.target, index};
    case InputKind::kBuffer:
      return {2, spec.target, index};
    case InputKind::kTensorConstant:
      return {3, spec.target, index};
    case InputKind::kCustomObj:
      return {4, spec.target, index};
    case InputKind::kUserInput:
      return {5, {}, index};
    case InputKind::kConstantInput:
      return {6, spec.target, index};
    case InputKind::kUnknown:
      break;
  }
  return {7, {}, index};
}

SpecRank rank_of(const OutputSpec& spec, size_t index) {
  switch (spec.kind) {
    case OutputKind::kToken:
      return {0, {}, index};
    case OutputKind::kParameterMutation:
      return {1, spec.target, index};
    case OutputKind::kBufferMutation:
      return {2, spec.target, index};
    case OutputKind::kUserInputMutation:
      return {3, {}, index};
    case OutputKind::kUserOutput:
    case OutputKind::kLossOutput:
      return {4, {}, index};
    case OutputKind::kGradientToParameter:
      return {5, spec.target, index};
    case OutputKind::kGradientToUserInput:
      return {6, {}, index};
    case OutputKind::kUnknown:
      break;
  }
  return {7, {}, index};
}

// Brings the specs and the graph's arguments, which go in pairs, into the order of their ranks.
template <typename Spec>
void sort_specs(std::vector<Spec>& specs, std::vector<Argument>& arguments, std::string_view what) {
  if (specs.size() != arguments.size()) {
    invalid(fmt::format("the graph has {} {}, and the signature {}", arguments.size(), what, specs.size()));
  }
  std::vector<size_t> order(specs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return rank_of(specs[a], a) < rank_of(specs[b], b); });
  std::vector<Spec> sorted_specs;
  std::vector<Argument> sorted_arguments;
  for (const size_t i : order) {
    sorted_specs.push_back(std::move(specs[i]));
    sorted_arguments.push_back(std::move(arguments[i]));
  }
  specs = std::move(sorted_specs);
  arguments = std::move(sorted_arguments);
}

template <typename Items>
void sort_by_key(Items& items) {
  std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

}  // namespace

ExportedProgram canonicalize(const ExportedProgram& program,
                             const std::unordered_set<std::string>& constants) {
  ExportedProgram made = program.clone();
  Graph& graph = made.graph();
  sort_by_key(made.opset_version);
  sort_by_key(made.range_constraints);
  std::sort(made.guards_code.begin(), made.guards_code.end());
  // In place: two modules of one name keep their order.
  std::vector<size_t> order(made.module_call_graph.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tie(made.module_call_graph[a].fqn, a) < std::tie(made.module_call_graph[b].fqn, b);
  });
  std::vector<ModuleCallEntry> calls;
  for (const size_t i : order) calls.push_back(std::move(made.module_call_graph[i]));
  made.module_call_graph = std::move(calls);
  made.metadata.clear();
  made.named_tuples.clear();
  made.style = {};

  std::vector<Argument> inputs = graph.take_inputs();
  sort_specs(made.signature.inputs, inputs, "inputs");
  for (Argument& input : inputs) graph.add_input(std::move(input));
  std::vector<Argument> outputs = graph.take_outputs();
  sort_specs(made.signature.outputs, outputs, "outputs");
  for (Argument& output : outputs) graph.add_output(std::move(output));

  KeptNames kept;
  for (ModuleCallEntry& entry : made.module_call_graph) {
    if (!entry.signature) continue;
    for (Argument& argument : entry.signature->inputs) kept.keep(argument);
    for (Argument& argument : entry.signature->outputs) kept.keep(argument);
  }
  for (InputSpec& spec : made.signature.inputs) {
    if (spec.kind == InputKind::kUserInput && spec.argument.is(ArgumentKind::kCustomObj))
      kept.keep(spec.argument);
  }
  canonicalize_graph(graph, constants, kept);
  return made;
}

ExportedProgram canonicalize(const ExportedProgram& program) {
  Names constants;
  for (const Weight& constant : program.constants) constants.insert(constant.name);
  for (const NamedObject& object : program.objects) constants.insert(object.name);
  return canonicalize(program, constants);
}

}  // namespace flambeau::graph
