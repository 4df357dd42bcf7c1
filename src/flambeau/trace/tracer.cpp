#include "flambeau/trace/tracer.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/shapes/shape_env.h"

namespace flambeau::trace {
namespace {

using graph::Argument;
using symbolic::Expr;

// Operators that are called as something in Python is. Its graphs give no node such a name: they start with
// "max_1", and would rename a "max" from a file to it.
constexpr std::string_view kPythonNames[] = {"abs",  "all",    "any",    "bin",  "chr", "complex", "device",
                                             "dict", "divmod", "format", "hash", "hex", "len",     "list",
                                             "max",  "min",    "oct",    "ord",  "pow", "range",   "round",
                                             "set",  "slice",  "sorted", "str",  "sum"};

}  // namespace

Tracer::Tracer(graph::Graph& graph, ShapeEnv& env)
    : graph_(graph),
      env_(env),
      describer_([&env](const Expr& expr) { return env.hint(expr); },
                 [&env](const Expr& expr) { return env.simplify(expr); }) {}
Tracer::~Tracer() = default;

std::string Tracer::graph_name(const std::string& base) {
  return fmt::format("{}_{}", base, graph_names_[base]++);
}

void Tracer::hold(const Tensor& tensor, graph::Value& value) {
  slots_[tensor.storage().get()] = {&value, tensor.storage()};
}

graph::Value* Tracer::find(const Tensor& tensor) const {
  const auto found = slots_.find(tensor.storage().get());
  return found == slots_.end() ? nullptr : found->second.value;
}

graph::Value& Tracer::add_tensor_value(const std::string& name, const Tensor& tensor) {
  graph::Value& value = graph_.add_value(name, graph::TensorMeta{});
  tensors_.emplace_back(&value, tensor);
  return value;
}

graph::Value& Tracer::add_input(const std::string& name, const Tensor& tensor) {
  graph::Value& value = add_tensor_value(name, tensor);
  graph_.add_input(Argument::tensor(value));
  hold(tensor, value);
  return value;
}

graph::Value& Tracer::add_number_input(const std::string& name, const Expr& expr) {
  graph::Value& value = graph_.add_value(name, graph::SymInt());
  graph_.add_input(Argument::sym_int(value));
  symbols_.emplace(expr, &value);
  numbers_.emplace_back(&value, expr);
  return value;
}

graph::Node& Tracer::new_node(std::string_view target, std::string_view name) {
  graph::Node& node = before_ == nullptr ? graph_.append(target) : graph_.insert_before(*before_, target);
  node.name = fresh_name(name);
  if (metadata) node.metadata = metadata();
  return node;
}

// Free among values and nodes: a node that gives several values has a name that none of them has.
std::string Tracer::fresh_name(std::string_view base) {
  const bool is_python_name = std::ranges::find(kPythonNames, base) != std::end(kPythonNames);
  size_t& next = next_.try_emplace(std::string(base), is_python_name ? 1 : 0).first->second;
  for (;;) {
    std::string name = next == 0 ? std::string(base) : fmt::format("{}_{}", base, next);
    ++next;
    if (graph_.find(name) == nullptr && names_.insert(name).second) return name;
  }
}

const graph::Value* Tracer::find_held(std::span<const Value> held) const {
  std::unordered_map<const Storage*, long> counts;
  std::unordered_set<const Storage*> given;  // what inputs and state hold is somebody else's anyway
  const auto count = [&](const Tensor& tensor) {
    if (tensor.defined()) ++counts[tensor.storage().get()];
  };
  for (const auto& [value, tensor] : tensors_) {
    count(tensor);
    if (value->producer() == nullptr) given.insert(tensor.storage().get());
  }
  for (const auto& [storage, slot] : slots_) ++counts[storage];
  for (const Value& value : held) {
    if (const Tensor* const tensor = value.get_if<Tensor>()) count(*tensor);
    if (const TensorList* const tensors = value.get_if<TensorList>()) std::ranges::for_each(*tensors, count);
  }
  for (const auto& [value, tensor] : tensors_) {
    const std::shared_ptr<Storage>& storage = tensor.storage();
    if (!given.contains(storage.get()) && storage.use_count() > counts[storage.get()]) return value;
  }
  return nullptr;
}

void Tracer::add_copy(graph::Value& input, const Tensor& tensor) {
  Argument source = Argument::tensor(value_of(tensor));
  graph::Node& node = new_node("torch.ops.aten.copy_.default", "copy__default");
  node.add_input("self", Argument::tensor(input));
  node.add_input("src", std::move(source));
  node.add_output(Argument::tensor(graph_.add_value(*node.name, graph::TensorMeta{})));
  tensors_.emplace_back(node.outputs()[0].value(), tensor);
}

void Tracer::finish() {
  for (const auto& inner : inner_) inner->finish();
  add_assertions();
  join_equal_numbers();
  for (const auto& [value, tensor] : tensors_) *value->tensor() = describer_.describe(tensor);
  for (const auto& [value, expr] : numbers_) graph_.set_meta(*value, describe_number(expr));
}

}  // namespace flambeau::trace
