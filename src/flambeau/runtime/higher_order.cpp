#include "flambeau/runtime/higher_order.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/runtime/functionalized.h"
#include "flambeau/runtime/interpreter.h"

namespace flambeau::runtime {
namespace {

const Code& graph_at(const HigherOrderCall& call, size_t index) {
  if (index < call.graphs.size() && call.graphs[index] != nullptr) return *call.graphs[index];
  throw Error(ErrorCode::kCorrupt, fmt::format("{} has no graph as argument {}", call.target, index));
}

const Value& argument_at(const HigherOrderCall& call, size_t index) {
  if (index < call.arguments.size()) return call.arguments[index];
  throw Error(ErrorCode::kCorrupt, fmt::format("{} has no argument {}", call.target, index));
}

void append(std::vector<Value>& to, const Value& value) {
  if (const auto* const tensors = value.get_if<TensorList>()) {
    for (const Tensor& tensor : *tensors) to.emplace_back(tensor);
  } else if (const auto* const numbers = value.get_if<Dims>()) {
    for (const int64_t number : *numbers) to.emplace_back(number);
  } else if (const auto* const items = value.get_if<ValueList>()) {
    for (const Value& item : *items) append(to, item);
  } else {
    to.push_back(value);
  }
}

std::vector<Value> flat(const Value& value) {
  std::vector<Value> list;
  append(list, value);
  return list;
}

std::vector<Value> flat(const std::vector<Value>& values) {
  std::vector<Value> list;
  for (const Value& value : values) append(list, value);
  return list;
}

bool truth(const Value& value) {
  return value.is_tensor() ? ops::item(value.tensor()).to_bool() : value.scalar().to_bool();
}

std::vector<Value> run_cond(Interpreter& interpreter, const HigherOrderCall& call) {
  const Code& branch = graph_at(call, truth(argument_at(call, 0)) ? 1 : 2);
  return flat(interpreter.run(branch, flat(argument_at(call, 3))));
}

std::vector<Value> run_while_loop(Interpreter& interpreter, const HigherOrderCall& call) {
  const Code& condition = graph_at(call, 0);
  const Code& body = graph_at(call, 1);
  std::vector<Value> carried = flat(argument_at(call, 2));
  const std::vector<Value> more = call.arguments.size() > 3 ? flat(call.arguments[3]) : std::vector<Value>();
  const auto inputs = [&] {
    std::vector<Value> all = carried;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  for (;;) {
    const std::vector<Value> answer = interpreter.run(condition, inputs());
    if (answer.empty() || !truth(answer[0])) return carried;
    interpreter.context().step();
    carried = flat(interpreter.run(body, inputs()));
  }
}

Tensor select(Interpreter& interpreter, const Tensor& tensor, int64_t index) {
  return ops::call(interpreter.context(), "aten::select.int", tensor, 0, index);
}

Value stack(Interpreter& interpreter, const std::vector<Value>& parts) {
  TensorList tensors;
  for (const Value& part : parts) tensors.push_back(part.tensor());
  return ops::call(interpreter.context(), "aten::stack", tensors, 0);
}

// How many slices along the first dimension all of them have.
int64_t slice_count(const HigherOrderCall& call, const std::vector<Value>& xs) {
  int64_t count = -1;
  for (const Value& x : xs) {
    const Tensor& tensor = x.tensor();
    if (tensor.dim() == 0 || (count >= 0 && tensor.sizes()[0] != count)) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} goes over tensors whose first sizes differ: {}", call.target, tensor.summary()));
    }
    count = tensor.sizes()[0];
  }
  if (count <= 0)
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} has nothing to go over", call.target));
  return count;
}

std::vector<Value> run_map(Interpreter& interpreter, const HigherOrderCall& call) {
  const Code& body = graph_at(call, 0);
  const std::vector<Value> xs = flat(argument_at(call, 1));
  const std::vector<Value> more = flat(argument_at(call, 2));
  std::vector<std::vector<Value>> parts;
  for (int64_t i = 0, count = slice_count(call, xs); i < count; ++i) {
    std::vector<Value> inputs;
    for (const Value& x : xs) inputs.emplace_back(select(interpreter, x.tensor(), i));
    inputs.insert(inputs.end(), more.begin(), more.end());
    const std::vector<Value> outputs = flat(interpreter.run(body, std::move(inputs)));
    parts.resize(outputs.size());
    for (size_t j = 0; j < outputs.size(); ++j) parts[j].push_back(outputs[j]);
  }
  std::vector<Value> results;
  for (const std::vector<Value>& part : parts) results.push_back(stack(interpreter, part));
  return results;
}

std::vector<Value> run_scan(Interpreter& interpreter, const HigherOrderCall& call) {
  const Code& combine = graph_at(call, 0);
  std::vector<Value> carried = flat(argument_at(call, 1));
  const std::vector<Value> xs = flat(argument_at(call, 2));
  const std::vector<Value> more = call.arguments.size() > 3 ? flat(call.arguments[3]) : std::vector<Value>();
  const size_t carries = carried.size();
  std::vector<std::vector<Value>> parts;
  for (int64_t i = 0, count = slice_count(call, xs); i < count; ++i) {
    std::vector<Value> inputs = carried;
    for (const Value& x : xs) inputs.emplace_back(select(interpreter, x.tensor(), i));
    inputs.insert(inputs.end(), more.begin(), more.end());
    const std::vector<Value> outputs = flat(interpreter.run(combine, std::move(inputs)));
    if (outputs.size() < carries) throw Error(ErrorCode::kCorrupt, "the body of scan gives too few results");
    carried.assign(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(carries));
    parts.resize(outputs.size() - carries);
    for (size_t j = carries; j < outputs.size(); ++j) parts[j - carries].push_back(outputs[j]);
  }
  for (const std::vector<Value>& part : parts) carried.push_back(stack(interpreter, part));
  return carried;
}

// A graph that is simply called: gradients have no meaning here.
std::vector<Value> run_wrapped(Interpreter& interpreter, const HigherOrderCall& call) {
  size_t at = 0;
  while (at < call.graphs.size() && call.graphs[at] == nullptr) ++at;
  const Code& body = graph_at(call, at);
  if (call.target == "invoke_subgraph") ++at;  // its name follows
  std::vector<Value> inputs;
  for (size_t i = at + 1; i < call.arguments.size(); ++i) append(inputs, call.arguments[i]);
  return flat(interpreter.run(body, std::move(inputs)));
}

// Autocast chooses other types than the graph says.
std::vector<Value> run_autocast(Interpreter& interpreter, const HigherOrderCall& call) {
  if (truth(argument_at(call, 2))) {
    throw Error(ErrorCode::kUnsupported,
                "a part of the program runs under autocast, whose choice of types is not supported",
                "export the model after run_decompositions(), which writes the types down");
  }
  return run_wrapped(interpreter, call);
}

}  // namespace

HigherOrderFunction find_higher_order_function(std::string_view name) {
  static constexpr graph::HigherOrderHook<HigherOrderFunction> kKnown[] = {
      {"cond", run_cond},
      {"while_loop", run_while_loop},
      {"map_impl", run_map},
      {"scan", run_scan},
      {"wrap_with_set_grad_enabled", run_wrapped},
      {"wrap_with_autocast", run_autocast},
      {"invoke_subgraph", run_wrapped},
      {"auto_functionalized", run_auto_functionalized},
      {"auto_functionalized_v2", run_auto_functionalized_v2},
      {"with_effects", run_with_effects},
  };
  return graph::find_hook(kKnown, name);
}

}  // namespace flambeau::runtime
