#include "flambeau/trace/replay.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/nn/functional/control_flow.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/facts.h"
#include "flambeau/shapes/symbol_arithmetic.h"
#include "flambeau/symbolic/build.h"

namespace flambeau::trace {
namespace {

using symbolic::Expr;

constexpr std::string_view kCondition = "condition";

const Expr* condition_of(const Value& value) {
  const Object* const object = value.get_if<Object>();
  return object != nullptr && object->class_name == kCondition
             ? static_cast<const Expr*>(object->pointer.get())
             : nullptr;
}

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

nn::Tree list_tree(std::span<const Value> values) {
  std::vector<nn::Tree> leaves;
  for (const Value& value : values) leaves.push_back(nn::Tree::leaf(value));
  return nn::Tree::tuple(leaves);
}

}  // namespace

std::vector<Value> Replay::call(ops::Context& context, const ops::Operator& op,
                                std::span<const Value> arguments) {
  if (op.is(ops::Trait::kAssertsMetadata) && nn::observer() != nullptr) return {};  // the tracer adds them
  if (op.is(ops::Trait::kAssertsNumber)) {
    if (const Expr* const condition = condition_of(arguments[0])) {
      nn::check(nn::Condition{*condition}, arguments[1].get<std::string>());
      return {};
    }
  }
  // Sizes are known; they are asked for as a model does, rather than computed.
  if (const std::optional<ops::SizeCall> call = op.facts().as<ops::SizeCall>(arguments))
    return {nn::int_value(call->dim ? nn::size(*call->tensor, *call->dim) : nn::numel(*call->tensor))};
  if (op.is(ops::Trait::kReadsGeometry)) return ops::execute(context, op, arguments);
  return ops::call(context, op, arguments);
}

Value Replay::call(const ops::PythonFunction& function, std::span<const Value> arguments) {
  if (const std::optional<Value> number = call_on_symbols(function.name, arguments)) return *number;
  if (std::optional<Expr> condition = comparison(function.name, arguments))
    return Object{std::string(kCondition), std::make_shared<Expr>(*std::move(condition))};
  return function.apply(arguments);
}

std::vector<Value> Replay::run_inner(const runtime::Code& code, std::vector<Value> inputs) {
  return runtime::Interpreter(nn::current(), nullptr, *this).run(code, std::move(inputs));
}

// One call of a higher-order operator that is traced.
class Replay::Tracing {
 public:
  Tracing(Replay& replay, const runtime::HigherOrderCall& call) : replay_(replay), call_(call) {}

  nn::Tree run() {
    using Function = nn::Tree (Tracing::*)();
    static constexpr graph::HigherOrderHook<Function> kTraced[] = {
        {"cond", &Tracing::cond}, {"while_loop", &Tracing::while_loop}, {"map_impl", &Tracing::map}};
    if (const Function traced = graph::find_hook(kTraced, call_.target)) return (this->*traced)();
    throw Error(ErrorCode::kUnsupported, fmt::format("{} cannot be traced again",
                                                     printable(graph::higher_order_target(call_.target))));
  }

 private:
  nn::Tree cond() { return nn::cond_tree(predicate(), body(1, {}), body(2, {}), list_tree(tensors(3))); }
  nn::Tree while_loop() {
    const std::vector<Value> more = tensors(3);
    return nn::while_loop_tree(body(0, more), body(1, more), list_tree(tensors(2)));
  }
  nn::Tree map() { return nn::map_tree(body(0, {}), list_tree(tensors(1)), list_tree(tensors(2))); }

  nn::Predicate predicate() {
    const Value& value = call_.arguments.at(0);
    if (const Expr* const condition = condition_of(value)) return nn::Condition{*condition};
    if (const bool* const flag = value.get_if<bool>()) return *flag;
    return replay_.unwrap(value.tensor());
  }
  std::vector<Value> tensors(size_t index) {
    std::vector<Value> values;
    for (const Tensor& tensor : call_.arguments.at(index).get<TensorList>())
      values.emplace_back(replay_.unwrap(tensor));
    return values;
  }
  nn::Body body(size_t index, std::vector<Value> more) {
    const runtime::Code* const code = call_.graphs.at(index);
    if (code == nullptr)
      throw Error(ErrorCode::kCorrupt, fmt::format("{} has no graph as argument {}", call_.target, index));
    return [this, code, more = std::move(more)](const nn::Tree& arguments) {
      std::vector<Value> inputs = arguments.leaves;
      inputs.insert(inputs.end(), more.begin(), more.end());
      const std::vector<Value> outputs = replay_.run_inner(*code, std::move(inputs));
      return code->is_single_tensor_return ? nn::Tree::leaf(outputs.at(0)) : list_tree(outputs);
    };
  }

  Replay& replay_;
  const runtime::HigherOrderCall& call_;
};

std::vector<Value> Replay::call(runtime::Interpreter& interpreter, runtime::HigherOrderFunction function,
                                const runtime::HigherOrderCall& call) {
  const bool is_traced = nn::observer() != nullptr && nn::observer()->control_flow() != nullptr;
  if (!is_traced) return Caller::call(interpreter, function, call);
  std::vector<Value> results = Tracing(*this, call).run().leaves;
  for (Value& result : results) result = wrap(result.tensor());
  return results;
}

}  // namespace flambeau::trace
