// Calls of higher-order operators: whether the arguments have the form that the table of them says, and
// whether the graphs fit what goes in and comes out.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/graph/verify/context.h"

namespace flambeau::graph::verifying {
namespace {

using K = ArgumentKind;

bool fits(char letter, const Argument& argument) {
  const K kind = argument.kind();
  switch (letter) {
    case 'G':
      return kind == K::kGraph && argument.get<K::kGraph>().graph != nullptr;
    case 'l':
      return list_length(argument).has_value();
    case 'p':
      return kind == K::kTensor || kind == K::kSymBool || kind == K::kBool || kind == K::kSymInt;
    case 't':
      return kind == K::kTensor;
    case 'b':
      return kind == K::kBool;
    case 'n':
      return kind == K::kBool || kind == K::kNone;
    case 's':
      return kind == K::kString;
    case 'S':
      return kind == K::kString || kind == K::kNone;
    case 'd':
      return kind == K::kScalarType || kind == K::kNone;
    case 'o':
      return kind == K::kOperator;
    case 'c':
      return kind == K::kCustomObj;
    default:
      return true;
  }
}

std::string_view words(char letter) {
  switch (letter) {
    case 'G':
      return "a graph";
    case 'l':
      return "a list of values";
    case 'p':
      return "a tensor, a SymBool or a boolean";
    case 't':
      return "a tensor";
    case 'b':
      return "a boolean";
    case 'n':
      return "a boolean or none";
    case 's':
      return "a text";
    case 'S':
      return "a text or none";
    case 'd':
      return "an element type or none";
    case 'o':
      return "an operator";
    default:
      return "an object";
  }
}

class HigherOrderVerifier {
 public:
  HigherOrderVerifier(Context& context, const Place& place, const Node& node, const HigherOrder& form)
      : context_(context), place_(place), node_(node), form_(form) {
    for (const NamedArgument& input : node.inputs()) {
      if (input.name.empty() || input.passed_by == PassedBy::kPositional)
        positional_.push_back(&input.argument);
    }
  }

  void run() {
    if (form_.arguments.empty() || !check_form()) return;
    switch (form_.fit) {
      case GraphFit::kNone:
        return;
      case GraphFit::kOperands:
      case GraphFit::kLists:
        check_inputs(0, operands());
        return check_outputs(0, node_outputs(), "as the node has outputs");
      case GraphFit::kCond:
        for (const size_t which : {0, 1}) {
          check_inputs(which, operands());
          check_outputs(which, node_outputs(), "as the node has outputs");
        }
        return;
      case GraphFit::kWhile:
        for (const size_t which : {0, 1}) check_inputs(which, operands());
        check_outputs(0, 1, "one: whether to go on");
        check_outputs(1, list(0), "as there are carried values");
        return check_node_outputs(list(0), "as there are carried values");
      case GraphFit::kScan:
        check_inputs(0, operands());
        if (outputs_of(0) < list(0)) check_outputs(0, list(0), "at least, as there are carried values");
        return check_node_outputs(outputs_of(0), "as its graph has outputs");
      case GraphFit::kAssociative:
        check_inputs(0, operands() + list(0));
        check_outputs(0, list(0), "as there are scanned values");
        return check_node_outputs(list(0), "as there are scanned values");
    }
  }

 private:
  void add(std::string_view rule, std::string message) {
    context_.add(rule, place_, std::move(message),
                 "the file is damaged or its writer is wrong: export the program again");
  }

  bool check_form() {
    const bool is_open = form_.arguments.ends_with('.');
    const size_t least = form_.arguments.size() - (is_open ? 1 : 0);
    if (positional_.size() < least || (!is_open && positional_.size() > least)) {
      add("higher-order-arguments", fmt::format("{} has {} arguments; expected {}{}", form_.name,
                                                positional_.size(), is_open ? "at least " : "", least));
      return false;
    }
    bool is_good = true;
    for (size_t i = 0; i < least; ++i) {
      if (!fits(form_.arguments[i], *positional_[i])) {
        add("higher-order-arguments", fmt::format("argument {} of {} is {}; expected {}", i, form_.name,
                                                  kind_words(*positional_[i]), words(form_.arguments[i])));
        is_good = false;
        continue;
      }
      if (form_.arguments[i] == 'G') {
        graphs_.push_back(&positional_[i]->get<ArgumentKind::kGraph>());
        behind_graphs_ = i + 1;
      }
    }
    return is_good;
  }

  // How many values the graph is given.
  size_t operands() const {
    if (form_.fit == GraphFit::kOperands) return positional_.size() - form_.arguments.size() + 1;
    size_t count = 0;
    for (size_t i = behind_graphs_; i < positional_.size(); ++i)
      count += list_length(*positional_[i]).value_or(0);
    return count;
  }
  // The length of the first, second... list.
  size_t list(size_t which) const { return list_length(*positional_[behind_graphs_ + which]).value_or(0); }
  size_t outputs_of(size_t which) const { return graphs_[which]->graph->outputs().size(); }
  // Older files have the values of one call in one list.
  size_t node_outputs() const {
    size_t count = 0;
    for (const Argument& output : node_.outputs()) count += list_length(output).value_or(1);
    return count;
  }

  void check_inputs(size_t which, size_t expected) {
    const size_t found = graphs_[which]->graph->inputs().size();
    if (found == expected) return;
    add("subgraph-inputs", fmt::format("the graph '{}' of {} has {} inputs, but is given {} values",
                                       printable(graphs_[which]->name), form_.name, found, expected));
  }

  void check_outputs(size_t which, size_t expected, std::string_view why) {
    if (outputs_of(which) == expected) return;
    add("subgraph-outputs",
        fmt::format("the graph '{}' of {} has {} outputs; expected {}, {}", printable(graphs_[which]->name),
                    form_.name, outputs_of(which), expected, why));
  }

  void check_node_outputs(size_t expected, std::string_view why) {
    if (node_outputs() == expected) return;
    add("higher-order-outputs",
        fmt::format("{} has {} outputs; expected {}, {}", form_.name, node_outputs(), expected, why));
  }

  Context& context_;
  const Place& place_;
  const Node& node_;
  const HigherOrder& form_;
  std::vector<const Argument*> positional_;
  std::vector<const GraphArgument*> graphs_;
  size_t behind_graphs_ = 0;
};

}  // namespace

void verify_higher_order(Context& context, const Place& place, const Node& node, const HigherOrder& form) {
  HigherOrderVerifier(context, place, node, form).run();
}

}  // namespace flambeau::graph::verifying
