// Deep copies: the same structure over values of the new graph.
#include "flambeau/graph/clone.h"

#include <type_traits>

namespace flambeau::graph {
namespace {

ValueRef copy_ref(const ValueRef& from, Graph& to) {
  return from ? ValueRef(to.value(from->name())) : ValueRef();
}

template <typename T>
T copy_data(const T& from, Graph& to) {
  if constexpr (std::is_same_v<T, ValueRef>) {
    return copy_ref(from, to);
  } else if constexpr (std::is_same_v<T, CustomObjArgument>) {
    return {copy_ref(from.ref, to), from.class_fqn, from.extras};
  } else if constexpr (std::is_same_v<T, GraphArgument>) {
    GraphArgument copy;
    copy.name = from.name;
    copy.graph = from.graph->clone();
    copy.extras = from.extras;
    return copy;
  } else if constexpr (requires { from.literal; }) {
    T copy;
    copy.ref = copy_ref(from.ref, to);
    copy.literal = from.literal;
    return copy;
  } else if constexpr (std::is_same_v<T, std::unique_ptr<ArgumentDict>>) {
    auto copy = std::make_unique<ArgumentDict>();
    if (from == nullptr) return copy;
    for (const auto& [key, argument] : *from) copy->emplace_back(key, clone(argument, to));
    return copy;
  } else if constexpr (!std::is_copy_constructible_v<T> || std::is_same_v<T, Argument::List<ValueRef>> ||
                       std::is_same_v<T, Argument::List<Argument::List<ValueRef>>> ||
                       std::is_same_v<T, Argument::List<SymArgument<int64_t>>> ||
                       std::is_same_v<T, Argument::List<SymArgument<double>>> ||
                       std::is_same_v<T, Argument::List<SymArgument<bool>>>) {
    T copy;
    copy.reserve(from.size());
    for (const auto& item : from) copy.push_back(copy_data(item, to));
    return copy;
  } else {
    return from;
  }
}

}  // namespace

Argument clone(const Argument& argument, Graph& to) {
  Argument copy;
  std::visit(
      [&](const auto& holder) {
        using Holder = std::decay_t<decltype(holder)>;
        copy.data().emplace<Holder>().data = copy_data(holder.data, to);
      },
      argument.data());
  return copy;
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  copy->is_single_tensor_return = is_single_tensor_return;
  copy->extras = extras;
  // First the values, so that every kind's list has the same order.
  for (size_t kind = 0; kind < kValueKinds; ++kind) {
    for (const Value* value : values_of(static_cast<ValueKind>(kind)))
      copy->add_value(value->name(), value->meta());
  }
  for (const Argument& input : inputs_) copy->add_input(graph::clone(input, *copy));
  for (const Node& node : nodes()) {
    Node& to = copy->append(node.target);
    to.name = node.name;
    to.metadata = node.metadata;
    to.is_hop_single_tensor_return = node.is_hop_single_tensor_return;
    to.extras = node.extras;
    for (const NamedArgument& input : node.inputs()) {
      to.add_input({input.name, graph::clone(input.argument, *copy), input.passed_by, input.extras});
    }
    for (const Argument& output : node.outputs()) to.add_output(graph::clone(output, *copy));
  }
  for (const Argument& output : outputs_) copy->add_output(graph::clone(output, *copy));
  return copy;
}

}  // namespace flambeau::graph
