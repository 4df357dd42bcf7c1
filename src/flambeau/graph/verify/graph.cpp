// Names: every value is given once, before it is used, and described; in every graph of the program.
#include <fmt/format.h>

#include <bit>
#include <deque>

#include "flambeau/base/error.h"
#include "flambeau/graph/verify/context.h"

namespace flambeau::graph::verifying {
namespace {

// What kind of value an argument of that kind refers to.
ValueKind referred_kind(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::kTensor:
    case ArgumentKind::kTensors:
    case ArgumentKind::kOptionalTensor:
    case ArgumentKind::kOptionalTensors:
    case ArgumentKind::kNestedTensors:
      return ValueKind::kTensor;
    case ArgumentKind::kSymInt:
    case ArgumentKind::kSymInts:
      return ValueKind::kSymInt;
    case ArgumentKind::kSymFloat:
    case ArgumentKind::kSymFloats:
      return ValueKind::kSymFloat;
    case ArgumentKind::kSymBool:
    case ArgumentKind::kSymBools:
      return ValueKind::kSymBool;
    case ArgumentKind::kCustomObj:
      return ValueKind::kCustomObj;
    default:
      return ValueKind::kUnknown;
  }
}

// Which values were met. A large graph has a million of them: one block of memory, no allocation for each.
class ValueSet {
 public:
  explicit ValueSet(size_t most) : slots_(std::bit_ceil(2 * most + 2)) {}

  // Whether it is new.
  bool insert(const Value& value) {
    const Value*& slot = slots_[find(value)];
    if (slot != nullptr) return false;
    slot = &value;
    return true;
  }
  bool contains(const Value& value) const { return slots_[find(value)] != nullptr; }

 private:
  // Where it is, or where it belongs.
  size_t find(const Value& value) const {
    const size_t mask = slots_.size() - 1;
    size_t at = (reinterpret_cast<uintptr_t>(&value) * 0x9E3779B97F4A7C15ULL >> 20) & mask;
    while (slots_[at] != nullptr && slots_[at] != &value) at = (at + 1) & mask;
    return at;
  }

  std::vector<const Value*> slots_;
};

class GraphVerifier {
 public:
  GraphVerifier(Context& context, const Scope& scope)
      : context_(context), scope_(scope), graph_(*scope.graph), defined_(scope.graph->value_count()) {}

  // Adds the graphs inside.
  void run(std::deque<Scope>& scopes) {
    check_inputs();
    for (const Node& node : graph_.nodes()) check_node(node, scopes);
    check_outputs();
    check_tables();
    // A symbol of a subgraph may come from any graph around it.
    if (scope_.outer == nullptr) verify_symbols(context_, scope_, symbols_);
  }

 private:
  void check_inputs() {
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const Argument& input = graph_.inputs()[i];
      const std::string what = fmt::format("graph input {}", i);
      const Place place = {&scope_, nullptr, what};
      switch (input.kind()) {
        case ArgumentKind::kTensor:
        case ArgumentKind::kCustomObj:
        case ArgumentKind::kSymInt:
          if (input.value() == nullptr)
            context_.add("graph-input-kind", place, "it names no value",
                         "constants are as_int, as_float, ...");
          break;
        case ArgumentKind::kInt:
        case ArgumentKind::kFloat:
        case ArgumentKind::kBool:
        case ArgumentKind::kString:
        case ArgumentKind::kNone:
          break;
        case ArgumentKind::kUnknown:
          report_unknown(place, input);
          break;
        default:
          context_.add("graph-input-kind", place,
                       fmt::format("it is {}; expected a tensor, a SymInt, an object, or a constant",
                                   kind_words(input)),
                       kExportAgain);
      }
      define(input, place);
    }
  }

  void check_node(const Node& node, std::deque<Scope>& scopes) {
    const Place place = {&scope_, &node};
    if (node.name) check_node_name(node, place);
    // Lists of values given to a higher-order operator are written as tensors, whatever they are.
    const Callee& callee = context_.callee(node.target);
    const bool has_schema = callee.kind == Callee::Kind::kOperator;
    for (const NamedArgument& input : node.inputs()) {
      // Of what is passed by position the name is only looked up in the schema: uniform's is "from".
      const bool is_looked_up =
          has_schema && input.passed_by == PassedBy::kPositional && is_python_keyword(input.name);
      if (!input.name.empty() && !is_looked_up) check_name(input.name, "argument", place);
      if (input.argument.is(ArgumentKind::kGraph)) {
        const GraphArgument& inner = input.argument.get<ArgumentKind::kGraph>();
        check_name(inner.name, "subgraph", place);
        if (inner.graph != nullptr) scopes.push_back({inner.graph.get(), &scope_, inner.name});
        continue;
      }
      use(input.argument, place, has_schema);
    }
    verify_node(context_, place, node, callee);
    for (const Argument& output : node.outputs()) define(output, place);
  }

  // PyTorch writes names into the source code of the module that it makes.
  void check_name(std::string_view name, std::string_view what, const Place& place) {
    if (is_python_name(name)) return;
    context_.add(
        "unsafe-name", place,
        fmt::format("'{}' is no name for a {}: PyTorch would run it as code", printable(name, 200), what),
        kNameRemedy);
  }

  void check_node_name(const Node& node, const Place& place) {
    check_name(*node.name, "node", place);
    // Named after its value, as nearly all are: then nobody else's name can be the same unnoticed.
    const Value* const first = node.outputs().empty() ? nullptr : node.outputs()[0].value();
    if (first != nullptr && first->producer() == &node && first->name() == *node.name) return;
    const auto [other, is_new] = names_.try_emplace(*node.name, &node);
    const Value* const value = graph_.find(*node.name);
    const bool is_taken = value != nullptr && value->is_defined() && value->producer() != &node;
    if (is_new && !is_taken) return;
    context_.add("duplicate-node-name", place,
                 is_new ? fmt::format("its name is also that of a value which {} gives",
                                      value->producer() == nullptr
                                          ? std::string("an input of the graph")
                                          : fmt::format("node '{}'", printable(value->producer()->label())))
                        : "another node before it has the same name",
                 "give every node a name of its own");
  }

  void check_outputs() {
    if (graph_.is_single_tensor_return &&
        (graph_.outputs().size() != 1 || graph_.outputs()[0].value() == nullptr)) {
      context_.add("single-return", Place{&scope_},
                   fmt::format("it is marked to give one value by itself, but has {} outputs{}",
                               graph_.outputs().size(),
                               graph_.outputs().size() == 1 ? ", and that is a constant" : ""),
                   "is_single_tensor_return must be false here");
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const Argument& output = graph_.outputs()[i];
      const std::string what = fmt::format("graph output {}", i);
      const Place place = {&scope_, nullptr, what};
      switch (output.kind()) {
        case ArgumentKind::kTensor:
        case ArgumentKind::kSymInt:
        case ArgumentKind::kSymFloat:
        case ArgumentKind::kSymBool:
        case ArgumentKind::kCustomObj:
        case ArgumentKind::kInt:
        case ArgumentKind::kFloat:
        case ArgumentKind::kBool:
        case ArgumentKind::kString:
        case ArgumentKind::kNone:
          break;
        case ArgumentKind::kUnknown:
          report_unknown(place, output);
          continue;
        default:
          context_.add("graph-output-kind", place,
                       fmt::format("it is {}; expected one tensor, symbol or object, or a constant",
                                   kind_words(output)),
                       "outputs are flat: one entry for each value");
      }
      use(output, place, true);
    }
  }

  void report_unknown(const Place& place, const Argument& argument) {
    context_.add("unknown-kind", place,
                 fmt::format("'{}' is a kind of argument of a newer schema, which cannot be checked",
                             printable(argument.get<ArgumentKind::kUnknown>().first)),
                 "use a newer version, or export with an older PyTorch");
  }

  void define(const Argument& argument, const Place& place) {
    const ValueKind expected = referred_kind(argument.kind());
    argument.for_each_ref([&](const ValueRef& ref) {
      if (!ref) return;
      if (!defined_.insert(*ref)) {
        const Node* const first = ref->producer();
        context_.add("duplicate-value", place,
                     fmt::format("it gives '{}', which {} gives already", printable(ref->name()),
                                 first == nullptr      ? std::string("an input of the graph")
                                 : first == place.node ? std::string("it")
                                                       : fmt::format("node '{}'", printable(first->label()))),
                     "give every value a name of its own");
        return;
      }
      check_name(ref->name(), "value", place);
      check_description(*ref, expected, place);
    });
    if (place.node == nullptr) return;
    if (argument.is(ArgumentKind::kUnknown)) {
      report_unknown(place, argument);
    } else if (expected != ValueKind::kUnknown && !list_length(argument) && argument.value() == nullptr &&
               !argument.is(ArgumentKind::kOptionalTensor)) {
      context_.add(
          "output-not-a-value", place,
          fmt::format("an output of it is {} without a name; a node gives values", kind_words(argument)),
          kExportAgain);
    }
  }

  void check_description(const Value& value, ValueKind expected, const Place& place) {
    if (value.kind() == ValueKind::kUnknown) {
      // Older files have no tables for objects and symbolic floats.
      if (expected == ValueKind::kCustomObj && !context_.program.style.has_custom_obj_values) return;
      if (expected == ValueKind::kSymFloat && !context_.program.style.has_sym_float_values) return;
      context_.add("undescribed-value", place,
                   fmt::format("it gives '{}', which the graph does not describe; expected an entry among "
                               "the {} values",
                               printable(value.name()), value_kind_name(expected)),
                   kExportAgain);
    } else if (expected != ValueKind::kUnknown && value.kind() != expected) {
      report_kind(value, expected, place, "gives");
    }
  }

  void report_kind(const Value& value, ValueKind expected, const Place& place, std::string_view verb) {
    context_.add(
        "kind-mismatch", place,
        fmt::format("it {} '{}' as a {}, but the graph describes a {}", verb, printable(value.name()),
                    value_kind_name(expected), value_kind_name(value.kind())),
        kExportAgain);
  }

  void use(const Argument& argument, const Place& place, bool lists_are_exact) {
    // Dictionaries nest as deep as a stranger likes: no recursion.
    std::vector<const Argument*> open = {&argument};
    while (!open.empty()) {
      const Argument& at = *open.back();
      open.pop_back();
      if (at.is(ArgumentKind::kStringToArgument)) {
        const auto& members = at.get<ArgumentKind::kStringToArgument>();
        if (members == nullptr) continue;
        for (const auto& [key, member] : *members) open.push_back(&member);
        continue;
      }
      if (at.is(ArgumentKind::kUnknown)) {
        report_unknown(place, at);
        continue;
      }
      ValueKind expected = referred_kind(at.kind());
      if (expected == ValueKind::kUnknown) continue;
      if (!lists_are_exact && list_length(at)) expected = ValueKind::kUnknown;
      if (at.is(ArgumentKind::kTensor) && at.value() == nullptr)
        context_.add("undefined-value", place, "an argument of it refers to no value", kExportAgain);
      at.for_each_ref([&](const ValueRef& ref) {
        if (ref) check_use(*ref, at, expected, place);
      });
    }
  }

  void check_use(const Value& value, const Argument& argument, ValueKind expected, const Place& place) {
    if (!defined_.contains(value)) {
      if (argument.is(ArgumentKind::kCustomObj) && context_.may_be_constant(value.name())) return;
      if (value.producer() != nullptr) {
        context_.add("use-before-definition", place,
                     fmt::format("it uses '{}' before node '{}' gives it", printable(value.name()),
                                 printable(value.producer()->label())),
                     "nodes must stand in the order in which they run");
      } else {
        const bool is_outside = scope_.outer != nullptr && scope_.outer->graph->find(value.name()) != nullptr;
        context_.add(
            "undefined-value", place,
            fmt::format("it uses '{}', which nothing gives{}", printable(value.name()),
                        is_outside ? "; the graph around it does, but a subgraph sees its own inputs "
                                     "only"
                                   : ""),
            is_outside ? "give it to the subgraph as an operand" : kExportAgain);
      }
      return;
    }
    if (expected == ValueKind::kUnknown || value.kind() == ValueKind::kUnknown || value.kind() == expected)
      return;
    report_kind(value, expected, place, "uses");
  }

  void check_tables() {
    for (size_t kind = 1; kind < kValueKinds; ++kind) {
      for (const Value* value : graph_.values_of(static_cast<ValueKind>(kind))) {
        verify_meta(context_, scope_, *value, symbols_);
        if (value->is_defined() || value->has_uses()) continue;
        context_.add("dead-description", Place{&scope_},
                     fmt::format("it describes the {} '{}', which nothing gives",
                                 value_kind_name(value->kind()), printable(value->name())),
                     "remove the description");
      }
    }
  }

  Context& context_;
  const Scope& scope_;
  const Graph& graph_;
  ValueSet defined_;
  Symbols symbols_;
  std::unordered_map<std::string_view, const Node*> names_;
};

}  // namespace

void verify_graphs(Context& context) {
  // A queue rather than recursion: a stranger's file decides how deep graphs nest. A deque, because scopes
  // refer to each other.
  std::deque<Scope> scopes = {{&context.program.graph(), nullptr, {}}};
  for (size_t i = 0; i < scopes.size(); ++i) GraphVerifier(context, scopes[i]).run(scopes);
}

}  // namespace flambeau::graph::verifying
