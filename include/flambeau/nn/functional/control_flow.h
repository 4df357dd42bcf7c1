// Branches and loops that data decides, as PyTorch's torch.cond, torch.while_loop and map: run while a model
// runs, and one operator with graphs inside when it is traced. The functions may use whatever they can see;
// what they use from outside becomes an operand.
//
//   Tensor y = cond(sum(x) > 0, [&](const Tensor& a) { return a * scale; },
//                               [&](const Tensor& a) { return a - 1; }, x);
//   auto [i, z] = while_loop([&](const Tensor& i, const Tensor&) { return lt(i, n); },
//                            [&](const Tensor& i, const Tensor& a) { return std::tuple(i + 1, a * 2); },
//                            zero, x);
//   Tensor rows = map([&](const Tensor& row, const Tensor& b) { return row + b; }, x, bias);
#pragma once

#include <functional>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <variant>

#include "flambeau/nn/functional/conditions.h"
#include "flambeau/nn/tree.h"

namespace flambeau::nn {

// What cond() asks: a tensor with one element, a comparison of sizes, or something known already.
class Predicate {
 public:
  Predicate(bool known, std::source_location line = std::source_location::current())  // NOLINT
      : data_(known), where_(line) {}
  Predicate(Condition condition, std::source_location line = std::source_location::current())  // NOLINT
      : data_(std::move(condition)), where_(line) {}
  Predicate(Tensor tensor, std::source_location line = std::source_location::current())  // NOLINT
      : data_(std::move(tensor)), where_(line) {}

  const std::variant<bool, Condition, Tensor>& data() const { return data_; }
  const std::source_location& where() const { return where_; }

 private:
  std::variant<bool, Condition, Tensor> data_;
  std::source_location where_;
};

// A function of the model, over trees.
using Body = std::function<Tree(const Tree& arguments)>;

// Who traces, and so writes control flow down instead of following it.
class ControlFlow {
 public:
  virtual ~ControlFlow() = default;
  virtual Tree cond(const Predicate& predicate, const Body& if_true, const Body& if_false,
                    const Tree& operands) = 0;
  virtual Tree while_loop(const Body& condition, const Body& body, const Tree& carried) = 0;
  // `over` is gone through along its first dimension; `others` is the same each time.
  virtual Tree map(const Body& body, const Tree& over, const Tree& others) = 0;

  // For whoever must know what functions give before the operator is written down. Runs the function as one
  // inside of an operator, and forgets what it wrote.
  virtual void rehearse(const std::function<void()>& body) = 0;
  virtual bool is_rehearsing() const = 0;
  // While rehearsing: what cond() would give, whose functions gave these; what while_loop() would carry.
  virtual Tree pretend_cond(const Tree& when_true, const Tree& when_false) = 0;
  virtual Tree pretend_carried(const Tree& carried) = 0;
  // Inside of an operator: whether the tensor is one of those outside, or a view of one.
  virtual bool is_from_outside(const Tensor& tensor) const = 0;
  // Inside of an operator: from now on a tensor from outside is this one, which is of this graph and may be
  // written to.
  virtual void stand_for(const Tensor& outside, const Tensor& inside) = 0;
};

// The same over trees.
Tree cond_tree(const Predicate& predicate, const Body& if_true, const Body& if_false, const Tree& operands);
Tree while_loop_tree(const Body& condition, const Body& body, const Tree& carried);
Tree map_tree(const Body& body, const Tree& over, const Tree& others);

namespace control_flow {

template <typename Function, typename... Arguments>
using ResultOf = std::decay_t<std::invoke_result_t<Function&, const Arguments&...>>;

template <typename... Arguments, typename Function>
Body body_of(Function& function) {
  return [&function](const Tree& arguments) {
    return to_tree(std::apply(function, from_tree<std::tuple<Arguments...>>(arguments)));
  };
}

}  // namespace control_flow

// Both functions take the operands and give the same kinds of tensors.
template <typename True, typename False, typename... Operands>
auto cond(const Predicate& predicate, True&& if_true, False&& if_false, const Operands&... operands) {
  using Result = control_flow::ResultOf<True, Operands...>;
  static_assert(std::is_same_v<Result, control_flow::ResultOf<False, Operands...>>,
                "both branches of cond() give the same type");
  return from_tree<Result>(cond_tree(predicate, control_flow::body_of<Operands...>(if_true),
                                     control_flow::body_of<Operands...>(if_false),
                                     to_tree(std::tuple<Operands...>(operands...))));
}

// As long as `condition` gives a tensor that is true: `body` makes the next ones of what is carried along, as
// a tuple.
template <typename Until, typename Next, typename... Carried>
std::tuple<Carried...> while_loop(Until&& condition, Next&& body, const Carried&... carried) {
  return from_tree<std::tuple<Carried...>>(while_loop_tree(control_flow::body_of<Carried...>(condition),
                                                           control_flow::body_of<Carried...>(body),
                                                           to_tree(std::tuple<Carried...>(carried...))));
}

// What the function gives for each row of `over`, stacked.
template <typename Function, typename Over, typename... Others>
auto map(Function&& function, const Over& over, const Others&... others) {
  using Result = control_flow::ResultOf<Function, Over, Others...>;
  const Body body = control_flow::body_of<Over, Others...>(function);
  return from_tree<Result>(map_tree(body, to_tree(over), to_tree(std::tuple<Others...>(others...))));
}

}  // namespace flambeau::nn
