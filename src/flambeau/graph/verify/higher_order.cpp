// Higher-order operators: they have no schema, so the forms of their arguments stand here, and how the graphs
// they are given must fit what goes in and comes out.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/graph/verify/context.h"

namespace flambeau::graph::verifying {
namespace {

using K = ArgumentKind;

// How the numbers of inputs and outputs of the graphs follow from the call.
enum class Fit : uint8_t {
  kNone,
  kOperands,     // all arguments behind the graph are its inputs; it gives what the node gives
  kLists,        // the elements of all lists behind the graph are
  kCond,         // two graphs alike
  kWhile,        // a graph that says whether to go on, and one that gives the next state
  kScan,         // state and slices in, state and results out
  kAssociative,  // two of each in, one of each out
};

struct Form {
  std::string_view name;
  // One letter for each argument: G graph, l list, p predicate, t tensor, b boolean, s text, d element type,
  // o operator, c object; small n: boolean or none, S: text or none; '.': anything may follow. Empty: not
  // checked.
  std::string_view arguments;
  Fit fit = Fit::kNone;
};

// Every higher-order operator of PyTorch 2.13.
constexpr Form kForms[] = {
    {"_export_tracepoint", ""},
    {"aoti_call_delegate", ""},
    {"associative_scan", "Gl.", Fit::kAssociative},
    {"auto_functionalized", "o."},
    {"auto_functionalized_v2", "o."},
    {"autograd_function_apply", ""},
    {"call_torchbind", "cs."},
    {"cond", "pGGl", Fit::kCond},
    {"custom_function_call", ""},
    {"dynamo_bypassing_wrapper", ""},
    {"executorch_call_delegate", ""},
    {"flat_apply", ""},
    {"flex_attention", "tttG."},
    {"flex_attention_backward", ""},
    {"foreach_map", ""},
    {"graphsafe_run_with_rng_state", ""},
    {"hints_wrapper", "Gl."},
    {"inductor_compiled_code", ""},
    {"inline_asm_elementwise", ""},
    {"invoke_leaf_function", ""},
    {"invoke_quant", ""},
    {"invoke_quant_packed", ""},
    {"invoke_subgraph", "GS.", Fit::kOperands},
    {"local_map_hop", ""},
    {"map_impl", "Gll", Fit::kLists},
    {"out_dtype", "o."},
    {"print", "s."},
    {"register_hook", ""},
    {"run_and_save_rng_state", ""},
    {"run_const_graph", "Gl", Fit::kLists},
    {"run_dtensor_rng_op", ""},
    {"run_with_rng_state", ""},
    {"scan", "Gll.", Fit::kScan},
    {"strict_mode", "Gl", Fit::kLists},
    {"tag_activation_checkpoint", "G."},
    {"trace_wrapped", ""},
    {"triton_kernel_wrapper_functional", ""},
    {"triton_kernel_wrapper_mutation", ""},
    {"while_loop", "GGll", Fit::kWhile},
    {"while_loop_stack_output", "GGll"},
    {"with_effects", "to."},
    {"wrap", "G."},
    {"wrap_activation_checkpoint", "G."},
    {"wrap_with_autocast", "sdbnG.", Fit::kOperands},
    {"wrap_with_set_grad_enabled", "bG.", Fit::kOperands},
};

const Form* find_form(std::string_view name) {
  const auto found = std::ranges::lower_bound(kForms, name, {}, &Form::name);
  return found != std::end(kForms) && found->name == name ? found : nullptr;
}

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
  HigherOrderVerifier(Context& context, const Place& place, const Node& node, const Form& form)
      : context_(context), place_(place), node_(node), form_(form) {
    for (const NamedArgument& input : node.inputs()) {
      if (input.name.empty() || input.passed_by == PassedBy::kPositional)
        positional_.push_back(&input.argument);
    }
  }

  void run() {
    if (form_.arguments.empty() || !check_form()) return;
    switch (form_.fit) {
      case Fit::kNone:
        return;
      case Fit::kOperands:
      case Fit::kLists:
        check_inputs(0, operands());
        return check_outputs(0, node_outputs(), "as the node has outputs");
      case Fit::kCond:
        for (const size_t which : {0, 1}) {
          check_inputs(which, operands());
          check_outputs(which, node_outputs(), "as the node has outputs");
        }
        return;
      case Fit::kWhile:
        for (const size_t which : {0, 1}) check_inputs(which, operands());
        check_outputs(0, 1, "one: whether to go on");
        check_outputs(1, list(0), "as there are carried values");
        return check_node_outputs(list(0), "as there are carried values");
      case Fit::kScan:
        check_inputs(0, operands());
        if (outputs_of(0) < list(0)) check_outputs(0, list(0), "at least, as there are carried values");
        return check_node_outputs(outputs_of(0), "as its graph has outputs");
      case Fit::kAssociative:
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
    if (form_.fit == Fit::kOperands) return positional_.size() - form_.arguments.size() + 1;
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
  const Form& form_;
  std::vector<const Argument*> positional_;
  std::vector<const GraphArgument*> graphs_;
  size_t behind_graphs_ = 0;
};

}  // namespace

bool is_higher_order(std::string_view name) { return find_form(name) != nullptr; }

void verify_higher_order(Context& context, const Place& place, const Node& node, std::string_view name) {
  if (const Form* form = find_form(name)) HigherOrderVerifier(context, place, node, *form).run();
}

}  // namespace flambeau::graph::verifying
