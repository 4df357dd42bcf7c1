#include "flambeau/trace/replay.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/values.h"
#include "flambeau/nn/functional/control_flow.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/facts.h"
#include "flambeau/ops/symbol/python_functions.h"
#include "flambeau/shapes/symbol_arithmetic.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/trace/fake.h"

namespace flambeau::trace {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using symbolic::Expr;

constexpr std::string_view kHigherOrder = "torch.ops.higher_order.";

// A comparison of two numbers, at least one of which is a symbol.
std::optional<Expr> comparison(std::string_view target, std::span<const Value> arguments) {
  if (arguments.size() != 2) return std::nullopt;
  const auto expr_of = [](const Value& value) -> std::optional<Expr> {
    if (const SymInt* const number = value.get_if<SymInt>()) return number->expr();
    if (const int64_t* const number = value.get_if<int64_t>()) return Expr(*number);
    return std::nullopt;
  };
  if (!arguments[0].is<SymInt>() && !arguments[1].is<SymInt>()) return std::nullopt;
  const std::optional<Expr> a = expr_of(arguments[0]);
  const std::optional<Expr> b = expr_of(arguments[1]);
  if (!a || !b) return std::nullopt;
  if (target == "_operator.eq") return symbolic::eq(*a, *b);
  if (target == "_operator.ne") return symbolic::ne(*a, *b);
  if (target == "_operator.lt") return symbolic::lt(*a, *b);
  if (target == "_operator.le") return symbolic::le(*a, *b);
  if (target == "_operator.gt") return symbolic::gt(*a, *b);
  if (target == "_operator.ge") return symbolic::ge(*a, *b);
  return std::nullopt;
}

const graph::Graph& graph_of(const Argument& argument) { return *argument.get<ArgumentKind::kGraph>().graph; }

nn::Tree list_tree(std::span<const Value> values) {
  std::vector<nn::Tree> leaves;
  for (const Value& value : values) leaves.push_back(nn::Tree::leaf(value));
  return nn::Tree::tuple(leaves);
}

}  // namespace

Value Replay::get(const Argument& argument) const {
  return graph::to_value(argument, [this](const graph::Value& value) {
    const auto found = values_.find(&value);
    if (found == values_.end())
      throw Error(ErrorCode::kCorrupt,
                  fmt::format("'{}' is used before it is given", printable(value.name())));
    return found->second;
  });
}

void Replay::run(const graph::Node& node) {
  try {
    give(node, results_of(node));
  } catch (Error& error) {
    error.add_location("node", std::string(node.label()));
    throw;
  }
}

std::vector<Value> Replay::run(const graph::Graph& graph, std::span<const Value> inputs) {
  for (size_t i = 0; i < graph.inputs().size() && i < inputs.size(); ++i) {
    if (const graph::Value* const value = graph.inputs()[i].value()) set(*value, inputs[i]);
  }
  for (const graph::Node& node : graph.nodes()) run(node);
  std::vector<Value> outputs;
  for (const Argument& output : graph.outputs()) outputs.push_back(get(output));
  return outputs;
}

std::vector<Value> Replay::run_inner(const graph::Graph& graph, std::span<const Value> inputs) {
  return Replay(nn::current()).run(graph, inputs);
}

std::vector<Value> Replay::results_of(const graph::Node& node) {
  if (node.target.starts_with(kHigherOrder)) return call_higher_order(node);
  if (const std::optional<OperatorName> name = find_python_operator(node.target)) {
    const ops::Operator& op = context_.library().get(*name);
    if (assert_again(node, op)) return {};
    return call_operator(node, op);
  }
  return call_function(node);
}

bool Replay::assert_again(const graph::Node& node, const ops::Operator& op) {
  if (op.is(ops::Trait::kAssertsMetadata)) return nn::observer() != nullptr;  // the tracer adds them
  if (!op.is(ops::Trait::kAssertsNumber)) return false;
  const graph::Value* const value = node.inputs().at(0).argument.value();
  const auto condition = conditions_.find(value);
  if (condition == conditions_.end()) return false;
  nn::check(nn::Condition{condition->second}, get(node.inputs().at(1).argument).get<std::string>());
  return true;
}

std::vector<Value> Replay::call_operator(const graph::Node& node, const ops::Operator& op) {
  std::vector<Value> positional;
  ops::KeywordArguments keywords;
  for (const graph::NamedArgument& input : node.inputs()) {
    if (input.name.empty()) {
      positional.push_back(get(input.argument));
    } else {
      keywords.emplace_back(input.name, get(input.argument));
    }
  }
  const std::vector<Value> arguments = ops::bind_arguments(op.schema, positional, keywords);
  // Sizes are known; they are asked for as a model does, rather than computed.
  if (const std::optional<ops::SizeCall> call = op.facts().as<ops::SizeCall>(arguments))
    return {nn::int_value(call->dim ? nn::size(*call->tensor, *call->dim) : nn::numel(*call->tensor))};
  if (op.is(ops::Trait::kReadsGeometry)) return ops::execute(context_, op, arguments);
  return ops::call(context_, op, arguments);
}

std::vector<Value> Replay::call_function(const graph::Node& node) {
  std::vector<Value> arguments;
  for (const graph::NamedArgument& input : node.inputs()) arguments.push_back(get(input.argument));
  if (const std::optional<Value> number = call_on_symbols(node.target, arguments)) return {*number};
  if (const std::optional<Expr> condition = comparison(node.target, arguments)) {
    for (const Argument& output : node.outputs()) conditions_.emplace(output.value(), *condition);
    return {};
  }
  if (const ops::PythonFunction* const function = ops::find_python_function(node.target))
    return {function->apply(arguments)};
  throw Error(ErrorCode::kUnsupported, fmt::format("{} cannot be traced again", printable(node.target)));
}

std::vector<Value> Replay::tensors_of(const Argument& argument) {
  std::vector<Value> values;
  const Value list = get(argument);
  for (const Tensor& tensor : list.get<TensorList>()) values.emplace_back(unwrap(tensor));
  return values;
}

std::vector<Value> Replay::call_higher_order(const graph::Node& node) {
  const std::string_view name = std::string_view(node.target).substr(kHigherOrder.size());
  const auto input = [&](size_t index) -> const Argument& { return node.inputs().at(index).argument; };
  const auto body = [this](const graph::Graph& graph, std::vector<Value> more) -> nn::Body {
    return [this, &graph, more = std::move(more)](const nn::Tree& arguments) {
      std::vector<Value> inputs = arguments.leaves;
      inputs.insert(inputs.end(), more.begin(), more.end());
      const std::vector<Value> outputs = run_inner(graph, inputs);
      return graph.is_single_tensor_return ? nn::Tree::leaf(outputs.at(0)) : list_tree(outputs);
    };
  };
  const auto given = [&]() -> nn::Tree {
    if (name == "cond") {
      const auto known = conditions_.find(input(0).value());
      const nn::Predicate predicate = [&]() -> nn::Predicate {
        if (known != conditions_.end()) return nn::Condition{known->second};
        const Value value = get(input(0));
        if (const bool* const flag = value.get_if<bool>()) return *flag;
        return unwrap(value.tensor());
      }();
      return nn::cond_tree(predicate, body(graph_of(input(1)), {}), body(graph_of(input(2)), {}),
                           list_tree(tensors_of(input(3))));
    }
    if (name == "while_loop") {
      const std::vector<Value> more = tensors_of(input(3));
      return nn::while_loop_tree(body(graph_of(input(0)), more), body(graph_of(input(1)), more),
                                 list_tree(tensors_of(input(2))));
    }
    if (name == "map_impl") {
      return nn::map_tree(body(graph_of(input(0)), {}), list_tree(tensors_of(input(1))),
                          list_tree(tensors_of(input(2))));
    }
    throw Error(ErrorCode::kUnsupported, fmt::format("{} cannot be traced again", printable(node.target)));
  };
  std::vector<Value> results = given().leaves;
  for (Value& result : results) result = wrap(result.tensor());
  return results;
}

void Replay::give(const graph::Node& node, const std::vector<Value>& results) {
  for (size_t i = 0; i < node.outputs().size() && i < results.size(); ++i) {
    const Argument& output = node.outputs()[i];
    if (const graph::Value* const value = output.value()) {
      set(*value, results[i]);
    } else if (const TensorList* const tensors = results[i].get_if<TensorList>()) {
      size_t index = 0;
      output.for_each_ref([&](const graph::ValueRef& ref) {
        if (ref && index < tensors->size()) set(*ref.get(), (*tensors)[index]);
        ++index;
      });
    }
  }
}

}  // namespace flambeau::trace
