#include "flambeau/graph/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/graph/report/summary.h"
#include "flambeau/graph/text/atoms.h"

namespace flambeau::graph {
namespace {

// Gives equal texts the same small number.
class Identities {
 public:
  size_t of(const std::string& text) { return ids_.try_emplace(text, ids_.size()).first->second; }

 private:
  std::unordered_map<std::string, size_t> ids_;
};

// What each value is, made once and kept short: a hostile program may name one of many dimensions thousands
// of times.
class Types {
 public:
  const std::string& of(const Value& value) {
    const auto [found, is_new] = texts_.try_emplace(&value);
    if (!is_new) return found->second;
    std::string text = type_text(value);
    if (text.size() > 4000) {
      text = fmt::format("{} ({} bytes, {:x})", printable(text, 200), text.size(),
                         std::hash<std::string>()(text));
    }
    return found->second = std::move(text);
  }

 private:
  std::unordered_map<const Value*, std::string> texts_;
};

struct SeenNode {
  size_t identity;
  std::vector<size_t> operands;
  const Node* node;
};

// What one program is made of, by identities that the two share.
class Side {
 public:
  Side(const ExportedProgram& program, Identities& identities) : program_(program), identities_(identities) {}

  void look_at() {
    const GraphSignature& signature = program_.signature;
    size_t user_input = 0;
    const auto& inputs = program_.graph().inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const InputSpec* const spec = i < signature.inputs.size() ? &signature.inputs[i] : nullptr;
      const bool is_user = spec == nullptr || spec->kind == InputKind::kUserInput;
      const std::string meaning = is_user ? fmt::format("user input {}", user_input++)
                                          : fmt::format("{} '{}'", input_kind_key(spec->kind), spec->target);
      std::string type;
      inputs[i].for_each_value([&](const Value& value) {
        values_[&value] = identities_.of(meaning);
        type = types_.of(value);
      });
      if (type.empty()) type = atom(inputs[i]);
      inputs_[meaning] = type;
    }
    look_at(program_.graph(), true);
    const auto& outputs = program_.graph().outputs();
    size_t user_output = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const OutputSpec* const spec = i < signature.outputs.size() ? &signature.outputs[i] : nullptr;
      const bool is_user = spec == nullptr || spec->kind == OutputKind::kUserOutput;
      const std::string meaning = is_user ? fmt::format("output {}", user_output++)
                                          : fmt::format("{} '{}'", output_kind_key(spec->kind),
                                                        spec->input ? spec->input->name() : spec->target);
      outputs_[meaning] = atom(outputs[i]);
    }
  }

  const std::map<std::string, std::string>& inputs() const { return inputs_; }
  const std::map<std::string, std::string>& outputs() const { return outputs_; }
  const std::vector<SeenNode>& nodes() const { return nodes_; }
  size_t identity(const Value& value) const {
    const auto found = values_.find(&value);
    return found == values_.end() ? SIZE_MAX : found->second;
  }

 private:
  // The argument with identities in the place of names.
  std::string atom(const Argument& argument, std::vector<size_t>* operands = nullptr) {
    std::string text;
    append_atom(
        text, argument,
        {[&](const Value& value) {
           const auto found = values_.find(&value);
           if (found == values_.end()) return fmt::format("%{}", value.name());
           if (operands != nullptr) operands->push_back(found->second);
           return fmt::format("%{}", found->second);
         },
         [&](const GraphArgument& inner) { return fmt::format("graph {}", look_at(*inner.graph, false)); },
         true});
    return fmt::format("{}:{}", static_cast<int>(argument.kind()), text);
  }

  // Returns the identity of the whole graph; a subgraph's nodes are part of it and not listed.
  size_t look_at(const Graph& graph, bool is_main) {
    if (!is_main) {
      size_t index = 0;
      for (const Argument& input : graph.inputs()) {
        input.for_each_value(
            [&](const Value& value) { values_[&value] = identities_.of(fmt::format("operand {}", index)); });
        ++index;
      }
    }
    std::string all;
    for (const Node& node : graph.nodes()) {
      SeenNode seen = {0, {}, &node};
      std::string text = node.target.text();
      for (const NamedArgument& input : node.inputs()) {
        text += fmt::format("\n{}={}", input.name, atom(input.argument, &seen.operands));
      }
      seen.identity = identities_.of(text);
      size_t index = 0;
      for (const Argument& output : node.outputs()) {
        output.for_each_value([&](const Value& value) {
          values_[&value] = identities_.of(fmt::format("value {} of {}", index++, seen.identity));
        });
      }
      all += fmt::format("{},", seen.identity);
      if (is_main) nodes_.push_back(std::move(seen));
    }
    for (const Argument& output : graph.outputs()) all += atom(output);
    return identities_.of("graph\n" + all);
  }

  const ExportedProgram& program_;
  Identities& identities_;
  std::unordered_map<const Value*, size_t> values_;
  std::map<std::string, std::string> inputs_;
  std::map<std::string, std::string> outputs_;
  std::vector<SeenNode> nodes_;
  Types types_;
};

std::string call_text(const Node& node) {
  std::string text = node.target.text() + "(";
  bool is_first = true;
  for (const NamedArgument& input : node.inputs()) {
    if (!is_first) text += ", ";
    is_first = false;
    if (!input.name.empty()) text += input.name + "=";
    append_atom(text, input.argument,
                {[](const Value& value) { return value.name(); },
                 [](const GraphArgument& inner) { return inner.name; }});
  }
  return printable(text + ")", 200);
}

class Comparer {
 public:
  Comparer(const ExportedProgram& a, const ExportedProgram& b)
      : a_(a), b_(b), first_(a, ids_), second_(b, ids_) {}

  ProgramComparison run() {
    first_.look_at();
    second_.look_at();
    compare_maps("input", first_.inputs(), second_.inputs(), true);
    compare_nodes();
    compare_outputs();
    compare_constraints();
    compare_lists("guard", a_.guards_code, b_.guards_code);
    std::map<std::string, std::string> opsets[2];
    for (const auto& [name, version] : a_.opset_version) opsets[0][name] = fmt::format("{}", version);
    for (const auto& [name, version] : b_.opset_version) opsets[1][name] = fmt::format("{}", version);
    compare_maps("operator set", opsets[0], opsets[1], true);
    return std::move(result_);
  }

 private:
  void add(std::string part, std::string name, std::string status, std::string detail) {
    result_.differences.push_back({std::move(part), std::move(name), std::move(status), std::move(detail)});
  }

  void compare_maps(std::string_view part, const std::map<std::string, std::string>& a,
                    const std::map<std::string, std::string>& b, bool shows_detail) {
    for (const auto& [name, text] : a) {
      const auto found = b.find(name);
      if (found == b.end()) {
        add(std::string(part), name, "only in the first", shows_detail ? text : "");
      } else if (found->second != text) {
        add(std::string(part), name, "different",
            shows_detail ? fmt::format("{} and {}", text, found->second) : "");
      }
    }
    for (const auto& [name, text] : b) {
      if (!a.contains(name)) add(std::string(part), name, "only in the second", shows_detail ? text : "");
    }
  }

  void compare_lists(std::string_view part, std::vector<std::string> a, std::vector<std::string> b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::vector<std::string> only;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
    for (const std::string& text : only)
      add(std::string(part), "", "only in the first", printable(text, 200));
    only.clear();
    std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(only));
    for (const std::string& text : only)
      add(std::string(part), "", "only in the second", printable(text, 200));
  }

  void compare_nodes() {
    // How often each identity is there, and what the values of the nodes are.
    std::unordered_map<size_t, std::vector<const Node*>> in_second;
    for (const SeenNode& seen : second_.nodes()) in_second[seen.identity].push_back(seen.node);
    std::unordered_map<size_t, size_t> taken;
    std::vector<const SeenNode*> only_first;
    for (const SeenNode& seen : first_.nodes()) {
      const auto found = in_second.find(seen.identity);
      size_t& used = taken[seen.identity];
      if (found == in_second.end() || used == found->second.size()) {
        only_first.push_back(&seen);
        continue;
      }
      compare_values(*seen.node, *found->second[used++]);
      ++result_.equal_nodes;
    }
    std::vector<const SeenNode*> only_second;
    std::unordered_map<size_t, size_t> passed;
    for (const SeenNode& seen : second_.nodes()) {
      const auto used = taken.find(seen.identity);
      if (passed[seen.identity]++ >= (used == taken.end() ? 0 : used->second)) only_second.push_back(&seen);
    }
    list_causes(only_first, "only in the first");
    list_causes(only_second, "only in the second");
  }

  // Those whose operands are no consequence of another difference.
  void list_causes(const std::vector<const SeenNode*>& only, std::string_view status) {
    std::unordered_map<size_t, bool> changed;
    for (const SeenNode* seen : only) {
      bool follows = false;
      for (const size_t operand : seen->operands) follows = follows || changed.contains(operand);
      for (const Argument& output : seen->node->outputs()) {
        output.for_each_value([&](const Value& value) {
          changed[status == "only in the first" ? first_.identity(value) : second_.identity(value)] = true;
        });
      }
      if (follows) {
        ++result_.follows;
      } else {
        add("node", std::string(seen->node->label()), std::string(status), call_text(*seen->node));
      }
    }
  }

  // Of two nodes that are the same call.
  void compare_values(const Node& a, const Node& b) {
    std::vector<const Value*> given[2];
    for (const Argument& output : a.outputs()) {
      output.for_each_value([&](const Value& value) { given[0].push_back(&value); });
    }
    for (const Argument& output : b.outputs()) {
      output.for_each_value([&](const Value& value) { given[1].push_back(&value); });
    }
    for (size_t i = 0; i < std::min(given[0].size(), given[1].size()); ++i) {
      const std::string& first = types_.of(*given[0][i]);
      const std::string& second = types_.of(*given[1][i]);
      if (first != second)
        add("value", given[0][i]->name(), "different", fmt::format("{} and {}", first, second));
    }
  }

  // An output that follows from a difference listed already says nothing new.
  void compare_outputs() {
    const bool has_node_differences =
        std::any_of(result_.differences.begin(), result_.differences.end(),
                    [](const ProgramDifference& each) { return each.part == "node"; });
    for (const auto& [name, text] : first_.outputs()) {
      const auto found = second_.outputs().find(name);
      if (found == second_.outputs().end()) {
        add("output", name, "only in the first", "");
      } else if (found->second != text && !has_node_differences) {
        add("output", name, "different", "it is another value");
      }
    }
    for (const auto& [name, text] : second_.outputs()) {
      if (!first_.outputs().contains(name)) add("output", name, "only in the second", "");
    }
  }

  void compare_constraints() {
    const auto text = [](const RangeConstraint& range) {
      return fmt::format("{} to {}", range.min ? fmt::format("{}", *range.min) : "unbounded",
                         range.max ? fmt::format("{}", *range.max) : "unbounded");
    };
    std::map<std::string, std::string> ranges[2];
    for (const auto& [symbol, range] : a_.range_constraints) ranges[0][symbol] = text(range);
    for (const auto& [symbol, range] : b_.range_constraints) ranges[1][symbol] = text(range);
    compare_maps("constraint", ranges[0], ranges[1], true);
  }

  const ExportedProgram& a_;
  const ExportedProgram& b_;
  Identities ids_;
  Side first_;
  Side second_;
  Types types_;
  ProgramComparison result_;
};

}  // namespace

ProgramComparison compare_programs(const ExportedProgram& a, const ExportedProgram& b) {
  return Comparer(a, b).run();
}

}  // namespace flambeau::graph
