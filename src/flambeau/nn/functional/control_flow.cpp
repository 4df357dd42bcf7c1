#include "flambeau/nn/functional/control_flow.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/nn/functional/shape.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau::nn {
namespace {

ControlFlow* tracing() { return observer() == nullptr ? nullptr : observer()->control_flow(); }

// Nothing where only a program can tell.
std::optional<bool> known(const Predicate& predicate) {
  if (const bool* const flag = std::get_if<bool>(&predicate.data())) return *flag;
  if (const auto* const condition = std::get_if<Condition>(&predicate.data())) {
    if (condition->expr.kind() == symbolic::Kind::kTrue) return true;
    if (condition->expr.kind() == symbolic::Kind::kFalse) return false;
  }
  return std::nullopt;
}

bool is_true(const Tensor& tensor, std::string_view what) {
  if (tensor.element_count() != 1) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} decides by a tensor {}; it takes one with a single element", what, tensor.summary()));
  }
  const Value arguments[] = {tensor};
  const ops::Operator& op = current().library().get("aten::item");
  const Value number = ops::call(current(), op, arguments).at(0);
  if (const bool* const flag = number.get_if<bool>()) return *flag;
  return number.scalar().to_double() != 0;
}

const Tensor& tensor_leaf(const Value& leaf, std::string_view what) {
  if (leaf.is_tensor() && leaf.tensor().defined()) return leaf.tensor();
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} is given a {}; it takes tensors", what, leaf.kind_name()));
}

}  // namespace

Tree cond_tree(const Predicate& predicate, const Body& if_true, const Body& if_false, const Tree& operands) {
  set_where(predicate.where());
  if (const std::optional<bool> answer = known(predicate)) return (*answer ? if_true : if_false)(operands);
  if (ControlFlow* const tracer = tracing()) return tracer->cond(predicate, if_true, if_false, operands);
  if (const auto* const tensor = std::get_if<Tensor>(&predicate.data()))
    return (is_true(*tensor, "cond") ? if_true : if_false)(operands);
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("cond asks for sizes that are not known here: {}",
                          symbolic::to_string(std::get<Condition>(predicate.data()).expr)));
}

Tree while_loop_tree(const Body& condition, const Body& body, const Tree& carried) {
  if (ControlFlow* const tracer = tracing()) return tracer->while_loop(condition, body, carried);
  Tree state = carried;
  for (;;) {
    const Tree answer = condition(state);
    if (answer.leaves.size() != 1) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("the condition of while_loop gives {} values; it gives one tensor",
                              answer.leaves.size()));
    }
    if (!is_true(tensor_leaf(answer.leaves[0], "the condition of while_loop"), "while_loop")) return state;
    Tree next = body(state);
    if (next.spec != state.spec) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("the body of while_loop gives {} where {} is carried", next.spec.to_string(),
                              state.spec.to_string()));
    }
    state = std::move(next);
  }
}

Tree map_tree(const Body& body, const Tree& over, const Tree& others) {
  if (ControlFlow* const tracer = tracing()) return tracer->map(body, over, others);
  const int64_t count = over.leaves.empty() ? 0 : size(tensor_leaf(over.leaves[0], "map"), 0).literal();
  if (count == 0) throw Error(ErrorCode::kInvalidArgument, "map has no rows to go through");
  std::vector<Tree> given = {{}};
  for (Tree& other : others.children()) given.push_back(std::move(other));
  std::vector<TensorList> results;
  TreeSpec spec;
  for (int64_t row = 0; row < count; ++row) {
    given[0] = over;
    for (Value& leaf : given[0].leaves) leaf = select(tensor_leaf(leaf, "map"), 0, row);
    const Tree result = body(Tree::tuple(given));
    spec = result.spec;
    results.resize(result.leaves.size());
    for (size_t i = 0; i < results.size(); ++i)
      results[i].push_back(tensor_leaf(result.leaves[i], "the result of map"));
  }
  Tree stacked;
  stacked.spec = spec;
  stacked.leaves.clear();
  for (const TensorList& rows : results) stacked.leaves.emplace_back(stack(rows, 0));
  return stacked;
}

}  // namespace flambeau::nn
