// Sizes as values of the graph: read from tensors, and computed in the steps that the model took.
#include "flambeau/trace/tracer.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/literals.h"
#include "flambeau/shapes/shape_env.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::trace {
namespace {

using graph::Argument;
using graph::ArgumentKind;
using symbolic::Arithmetic;
using symbolic::Expr;

std::string_view function_of(Arithmetic how) {
  switch (how) {
    case Arithmetic::kAdd:
      return "_operator.add";
    case Arithmetic::kSubtract:
      return "_operator.sub";
    case Arithmetic::kMultiply:
      return "_operator.mul";
    case Arithmetic::kFloorDivide:
      return "_operator.floordiv";
    case Arithmetic::kModulo:
      return "_operator.mod";
    case Arithmetic::kMin:
      return "torch.sym_min";
    case Arithmetic::kMax:
      break;
  }
  return "torch.sym_max";
}

// "mul" of "_operator.mul".
std::string_view last_part(std::string_view target) { return target.substr(target.rfind('.') + 1); }

}  // namespace

graph::Value& Tracer::size_value(graph::Value& tensor, std::optional<size_t> dim, const Expr& expr) {
  graph::Node& node = dim ? new_node("torch.ops.aten.sym_size.int", "sym_size_int")
                          : new_node("torch.ops.aten.sym_numel.default", "sym_numel");
  node.add_input("self", Argument::tensor(tensor));
  if (dim) node.add_input("dim", Argument::make<ArgumentKind::kInt>(static_cast<int64_t>(*dim)));
  graph::Value& value = graph_.add_value(*node.name, graph::SymInt());
  node.add_output(Argument::sym_int(value));
  symbols_.emplace(expr, &value);
  numbers_.emplace_back(&value, expr);
  return value;
}

void Tracer::bind_symbols(const Tensor& tensor, graph::Value& value) {
  if (!tensor.is_traced()) return;
  const SymIntList sizes = shape_of(tensor).sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const Expr expr = sizes[d].expr();
    if (expr.is_symbol() && !symbols_.contains(expr)) size_value(value, d, expr);
  }
}

void Tracer::note_size(const Tensor& tensor, std::optional<size_t> dim) {
  if (!tensor.is_traced() || is_inside_) return;
  graph::Value* const value = is_inner() ? &value_of(tensor) : find(tensor);
  if (value == nullptr) return;
  const Within within(is_inside_);
  const SymIntList sizes = shape_of(tensor).sizes;
  SymInt number = dim ? sizes[*dim] : SymInt(1);
  if (!dim) {
    for (const SymInt& size : sizes) number = number * size;
  }
  if (!number.is_literal())
    origins_.try_emplace(number.expr(), Origin{Arithmetic::kAdd, Expr(), Expr(), value, dim});
}

void Tracer::note(Arithmetic how, const Expr& a, const Expr& b, const Expr& result) {
  if (!is_inside_ && result != a && result != b) origins_.try_emplace(result, Origin{how, a, b});
}

graph::Value& Tracer::computed_value(std::string_view function, const Expr& a, const Expr& b,
                                     const Expr& result) {
  Argument left = argument(SymInt(a, env_));
  Argument right = argument(SymInt(b, env_));
  graph::Node& node = new_node(std::string(function), last_part(function));
  node.add_input("a", std::move(left));
  node.add_input("b", std::move(right));
  graph::Value& value = graph_.add_value(*node.name, graph::SymInt());
  node.add_output(Argument::sym_int(value));
  symbols_.emplace(result, &value);
  numbers_.emplace_back(&value, result);
  return value;
}

graph::Value& Tracer::symbol_value(const Expr& given) {
  const Expr expr = env_.simplify(given);
  if (const auto found = symbols_.find(expr); found != symbols_.end()) return *found->second;
  auto origin = origins_.find(given);
  if (origin == origins_.end()) origin = origins_.find(expr);
  if (origin != origins_.end()) {
    const Origin from = origin->second;
    if (from.tensor != nullptr) return size_value(*from.tensor, from.dim, expr);
    // Taken out meanwhile: what it was computed from may be computed from it, as n is in (n + 1) - 1.
    auto taken = origins_.extract(origin);
    graph::Value& value = computed_value(function_of(from.how), from.a, from.b, expr);
    origins_.insert(std::move(taken));
    return value;
  }
  const auto fold = [&](std::string_view function, auto combine) -> graph::Value& {
    Expr sum = expr.arg(0);
    for (size_t i = 1; i + 1 < expr.args().size(); ++i) {
      const Expr next = combine(sum, expr.arg(i));
      if (!symbols_.contains(next)) computed_value(function, sum, expr.arg(i), next);
      sum = next;
    }
    return computed_value(function, sum, expr.args().back(), expr);
  };
  switch (expr.kind()) {
    case symbolic::Kind::kAdd:
      return fold("_operator.add", [](const Expr& a, const Expr& b) { return symbolic::add(a, b); });
    case symbolic::Kind::kMul:
      return fold("_operator.mul", [](const Expr& a, const Expr& b) { return symbolic::mul(a, b); });
    case symbolic::Kind::kMax:
      return fold("torch.sym_max", [](const Expr& a, const Expr& b) { return symbolic::max({a, b}); });
    case symbolic::Kind::kMin:
      return fold("torch.sym_min", [](const Expr& a, const Expr& b) { return symbolic::min({a, b}); });
    case symbolic::Kind::kFloorDiv:
    case symbolic::Kind::kCleanDiv:
      return computed_value("_operator.floordiv", expr.arg(0), expr.arg(1), expr);
    case symbolic::Kind::kMod:
    case symbolic::Kind::kPythonMod:
      return computed_value("_operator.mod", expr.arg(0), expr.arg(1), expr);
    case symbolic::Kind::kPow:
      return computed_value("_operator.pow", expr.arg(0), expr.arg(1), expr);
    default:
      break;
  }
  if (expr.is_symbol() && is_inner() && lift_symbol(expr)) {
    if (const auto found = symbols_.find(expr); found != symbols_.end()) return *found->second;
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("no operators compute the size {}", symbolic::to_string(expr)),
              "compute sizes with +, -, *, whole division, the remainder, min and max");
}

graph::SymArgument<int64_t> Tracer::number_reference(const SymInt& number) {
  if (number.is_literal()) return graph::SymArgument<int64_t>(number.literal());
  const Expr plain = env_.simplify(number.expr());
  if (plain.is_integer()) return graph::SymArgument<int64_t>(plain.integer());
  return graph::SymArgument<int64_t>(symbol_value(number.expr()));
}

// What the trace found to be the same number is computed once: from the size whose symbol is left.
void Tracer::join_equal_numbers() {
  std::unordered_map<Expr, graph::Value*, symbolic::ExprHash> first;
  for (const auto& [value, expr] : numbers_) {
    if (expr.is_symbol() && env_.simplify(expr) == expr) first.try_emplace(expr, value);
  }
  std::unordered_map<const graph::Value*, int64_t> literals;
  for (const auto& [value, expr] : numbers_) {
    // A number from data stays, whatever it was found to be: the program asserts that.
    if (expr.is_symbol() && env_.has_unbacked(expr)) continue;
    const Expr plain = env_.simplify(expr);
    if (plain.is_integer()) {
      literals.emplace(value, plain.integer());
    } else if (graph::Value* const known = first.try_emplace(plain, value).first->second; known != value) {
      value->replace_uses_with(*known);
    }
  }
  graph::replace_by_literals(graph_, literals);
  // Those made last use the others.
  std::vector<std::pair<graph::Value*, Expr>> left;
  for (size_t i = numbers_.size(); i-- > 0;) {
    graph::Value& value = *numbers_[i].first;
    if (value.producer() != nullptr && !value.has_uses()) {
      graph_.erase(*value.producer());
    } else {
      left.push_back(numbers_[i]);
    }
  }
  numbers_.assign(left.rbegin(), left.rend());
}

// What comes from data has no hint, also where it was found to be a size.
graph::SymInt Tracer::describe_number(const Expr& expr) {
  graph::SymInt described = describer_.describe(SymInt(expr, env_));
  if (described.is_literal() || !env_.has_unbacked(expr)) return described;
  auto text = std::make_shared<graph::SymExpr>();
  text->text = described.expr().text;
  return graph::SymInt(std::move(text));
}

}  // namespace flambeau::trace
