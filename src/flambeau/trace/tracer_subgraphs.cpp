// Graphs inside of others: higher-order operators, and what a graph inside may not write.
#include "flambeau/trace/tracer.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/shapes/shape_env.h"
#include "flambeau/trace/fake.h"

namespace flambeau::trace {
namespace {

using graph::Argument;
using symbolic::Expr;

}  // namespace

std::optional<Tensor> Tracer::tensor_with(const Expr& symbol) const {
  for (const auto& [value, tensor] : tensors_) {
    if (!tensor.is_traced()) continue;
    for (const SymInt& size : shape_of(tensor).sizes) {
      if (!size.is_literal() && env_.simplify(size.expr()) == symbol) return tensor;
    }
  }
  return std::nullopt;
}

const graph::Value* Tracer::aliased_input(const Tensor& tensor) const {
  const graph::Value* const value = find(tensor);
  if (value == nullptr || value->is_input()) return value;
  const auto found = aliases_.find(value);
  return found == aliases_.end() ? nullptr : found->second;
}

void Tracer::note_aliases(const ops::Operator& op, std::span<const Value> arguments,
                          std::span<const Value> results) {
  const graph::Value* input = nullptr;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_tensor() || !op.schema.arguments[i].is_written()) continue;
    // Its node is there: what is written is what the node gives now.
    const graph::Value* const before = graph_.last_node()->input(op.schema.arguments[i].name)->value();
    if (before->is_input() || aliases_.contains(before)) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} writes to a tensor that comes from outside of the branch or loop", op.name()),
          "use the operator that gives a new tensor, and give that back");
    }
  }
  if (op.kind == ops::Kind::kView) input = aliased_input(arguments[0].tensor());
  if (input == nullptr) return;
  const auto note = [&](const Tensor& tensor) { aliases_.emplace(find(tensor), input); };
  for (const Value& result : results) {
    if (const Tensor* const tensor = result.get_if<Tensor>()) note(*tensor);
    if (const TensorList* const tensors = result.get_if<TensorList>()) std::ranges::for_each(*tensors, note);
  }
}

void Tracer::add_higher_order(std::string_view name, std::vector<Argument> inputs,
                              std::span<const Tensor> results) {
  graph::Node& node = new_node(graph::higher_order_target(name), name);
  for (Argument& input : inputs) node.add_input("", std::move(input));
  for (const Tensor& tensor : results) {
    graph::Value& value = add_tensor_value(fresh_name("getitem"), tensor);
    hold(tensor, value);
    node.add_output(Argument::tensor(value));
  }
  node.is_hop_single_tensor_return = false;
  for (const Tensor& tensor : results) bind_symbols(tensor, *find(tensor));
}

void Tracer::add_result(const Tensor& tensor) {
  graph::Node& node = new_node("torch.ops.aten.empty.memory_format", "result");
  graph::Value& value = add_tensor_value(*node.name, tensor);
  node.add_output(Argument::tensor(value));
  hold(tensor, value);
}

std::optional<Tensor> Tracer::number_tensor(const Expr& symbol) {
  if (const auto known = number_tensors_.find(symbol); known != number_tensors_.end()) return known->second;
  if (!env_.has_unbacked(symbol)) return {};
  if (!symbols_.contains(symbol) && !(is_inner() && lift_symbol(symbol))) return {};
  const Tensor tensor = make_fake(ops::contiguous<SymInt>(DType::kInt64, {}, Device()));
  graph::Node& node = new_node("torch.ops.aten.scalar_tensor.default", "scalar_tensor");
  node.add_input("s", Argument::sym_int(*symbols_.at(symbol)));
  node.add_input("dtype", argument(DType::kInt64), graph::PassedBy::kKeyword);
  graph::Value& value = add_tensor_value(*node.name, tensor);
  node.add_output(Argument::tensor(value));
  hold(tensor, value);
  number_tensors_.emplace(symbol, tensor);
  return tensor;
}

void Tracer::read_number(const Tensor& tensor, const Expr& symbol) {
  graph::Value& holder = value_of(tensor);
  graph::Node& node = new_node("torch.ops.aten.item.default", "item");
  node.add_input("self", Argument::tensor(holder));
  graph::Value& value = graph_.add_value(*node.name, graph::SymInt());
  node.add_output(Argument::sym_int(value));
  symbols_.emplace(symbol, &value);
  numbers_.emplace_back(&value, symbol);
}

}  // namespace flambeau::trace
