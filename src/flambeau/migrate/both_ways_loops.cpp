// The turns of a loop that data ends, as while_loop.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "flambeau/interpreter/machine.h"
#include "flambeau/migrate/both_ways.h"
#include "flambeau/migrate/ways.h"
#include "flambeau/nn/functional/control_flow.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/symbolic/build.h"

namespace flambeau::migration {

namespace {
using Tag = IValue::Tag;
}

struct BothWays::LoopState {
  LoopState(const interpreter::UnknownLoop& loop) : effects(loop.variables()), condition(loop.condition) {
    for (const IValue& value : loop.carried) add(value);
  }
  void add(const IValue& value) {
    entry.push_back(value);
    joints.emplace_back(value);
  }

  Effects effects;
  std::vector<Effects::Place> places;  // behind the loop's own
  std::vector<IValue> entry;
  std::vector<Joint> joints;
  Joint condition;
  bool has_turn = false;
  OuterWrites writes;

  nn::Tree tree(const Tensor& turn, const IValue& its_condition, std::span<const IValue> values,
                bool copies) const {
    TensorList leaves;
    if (has_turn) leaves.push_back(turn);
    condition.add_leaves(its_condition, copies, leaves);
    for (size_t i = 0; i < joints.size(); ++i) joints[i].add_leaves(values[i], copies, leaves);
    writes.add_to(leaves);
    return tree_of(leaves);
  }
  // Takes what belongs to the loop off the front: what is written to is left.
  std::vector<IValue> take(std::span<const Value>& leaves, Tensor& turn, IValue& its_condition) const {
    if (has_turn) {
      turn = leaves.front().tensor();
      leaves = leaves.subspan(1);
    }
    its_condition = condition.value(leaves);
    std::vector<IValue> values;
    for (const Joint& joint : joints) values.push_back(joint.value(leaves));
    return values;
  }
};

namespace {

Tensor int_tensor(const IValue& number) {
  const Value value = number.is(Tag::kSymbolic) ? number.as_symbolic() : Value(number.as_int());
  return ops::call_with<Tensor>(nn::current(), "aten::scalar_tensor", {value}, {{"dtype", DType::kInt64}});
}

IValue turn_in(const Tensor& tensor) {
  const Value arguments[] = {tensor};
  const Value number = ops::call_named(nn::current(), "aten::item", arguments).at(0);
  if (!number.is<SymInt>()) return IValue(number.get<int64_t>());
  // Turns are counted from 0.
  if (nn::Observer* const observer = nn::observer())
    observer->check(symbolic::ge(number.get<SymInt>().expr(), symbolic::Expr(0)), {});
  return IValue::symbolic(number);
}

}  // namespace

// Runs turns until what is carried has one form before and behind each.
void BothWays::find_form(interpreter::UnknownLoop& loop, LoopState& state) {
  nn::ControlFlow& flow = control_flow();
  constexpr int kMostPasses = 50;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    bool is_stable = true;
    flow.rehearse([&] {
      const Deeper deeper(depth_);
      const Tensor turn = state.has_turn ? int_tensor(loop.turn) : Tensor();
      const nn::Tree given = flow.pretend_carried(state.tree(turn, loop.condition, state.entry, false));
      Tensor its_turn;
      IValue condition;
      std::span<const Value> leaves = given.leaves;
      std::vector<IValue> values = state.take(leaves, its_turn, condition);
      const Writing writing(calls_, state.writes);
      state.writes.begin_with_copies(leaves);
      const size_t own = loop.carried.size();
      for (size_t i = 0; i < state.places.size(); ++i) state.effects.put(state.places[i], values[own + i]);
      std::vector<IValue> results;
      Effects::Changes changes;
      try {
        results = loop.run(state.has_turn ? turn_in(its_turn) : loop.turn, std::span(values).first(own));
        changes = state.effects.take();
      } catch (...) {
        state.effects.take();
        if (!state.writes.take_found()) throw;
        is_stable = false;
        return;
      }
      const auto join = [&](Joint& joint, const IValue& value, const std::string& name) {
        const Joint before = joint;
        try {
          joint.join(value);
        } catch (const Error& error) {
          throw calls_.located(Error(
              ErrorCode::kUnsupported,
              fmt::format("data decides how often a loop runs that changes what kind of thing {} is: {}",
                          name, error.message()),
              error.remedy()));
        }
        is_stable = is_stable && joint == before;
      };
      join(state.condition, results.at(0), "its condition");
      for (size_t i = 0; i < own; ++i) join(state.joints[i], results.at(i + 1), name_of(loop, i));
      for (size_t i = 0; i < state.places.size(); ++i) {
        const auto found = changes.find(state.places[i]);
        const IValue now = found == changes.end() ? state.effects.before(state.places[i]) : found->second;
        join(state.joints[own + i], now, state.effects.name(state.places[i]));
      }
      for (const auto& [place, value] : changes) {
        if (std::ranges::find(state.places, place) != state.places.end()) continue;
        state.places.push_back(place);
        state.add(state.effects.before(place));
        join(state.joints.back(), value, state.effects.name(place));
        is_stable = false;
      }
    });
    if (is_stable) return;
  }
  throw Error(ErrorCode::kUnsupported, "what the loop carries along is of another form in each turn");
}

bool BothWays::loop_as_operator(interpreter::UnknownLoop& loop) {
  nn::ControlFlow& flow = control_flow();
  LoopState state(loop);
  const bool is_bounded = !loop.most.is(Tag::kInt) || loop.most.as_int() != INT64_MAX;
  state.has_turn = is_bounded || loop.reads_turn();
  find_form(loop, state);
  const size_t own = loop.carried.size();
  const Tensor first_turn = state.has_turn ? int_tensor(loop.turn) : Tensor();
  const Tensor most = loop.most.is(Tag::kSymbolic) ? int_tensor(loop.most) : Tensor();
  const nn::Tree carried = state.tree(first_turn, loop.condition, state.entry, false);
  if (carried.leaves.empty()) {
    throw Error(ErrorCode::kUnsupported, "data decides how often a loop runs that changes nothing",
                "a loop that never ends is none that a program can have");
  }
  const nn::Body goes_on = [&](const nn::Tree& given) {
    std::span<const Value> leaves = given.leaves;
    std::optional<Tensor> answer;
    if (state.has_turn) {
      const Tensor turn = leaves.front().tensor();
      leaves = leaves.subspan(1);
      if (is_bounded) {
        answer = loop.most.is(Tag::kSymbolic)
                     ? ops::call<Tensor>(nn::current(), "aten::lt.Tensor", turn, most)
                     : ops::call<Tensor>(nn::current(), "aten::lt.Scalar", turn, loop.most.as_int());
      }
    }
    if (state.condition.leaf_count() == 1) {
      const Tensor flag = leaves.front().tensor();
      answer = answer ? ops::call<Tensor>(nn::current(), "aten::logical_and", flag, *answer)
                      : ops::call<Tensor>(nn::current(), "aten::clone", flag);
    }
    if (!answer) throw Error(ErrorCode::kUnsupported, "a loop never ends");
    return nn::Tree::leaf(*answer);
  };
  const nn::Body turn_of = [&](const nn::Tree& given) {
    const Deeper deeper(depth_);
    Tensor turn;
    IValue condition;
    std::span<const Value> leaves = given.leaves;
    const std::vector<IValue> values = state.take(leaves, turn, condition);
    const Writing writing(calls_, state.writes);
    state.writes.begin_with_copies(leaves);
    for (size_t i = 0; i < state.places.size(); ++i) state.effects.put(state.places[i], values[own + i]);
    std::vector<IValue> results;
    Effects::Changes changes;
    try {
      results = loop.run(loop.reads_turn() ? turn_in(turn) : loop.turn, std::span(values).first(own));
      changes = state.effects.take();
    } catch (...) {
      state.effects.take();
      throw;
    }
    const IValue next_condition = results.at(0);
    results.erase(results.begin());
    for (const Effects::Place& place : state.places) {
      const auto found = changes.find(place);
      results.push_back(found == changes.end() ? state.effects.before(place) : found->second);
    }
    const Tensor next =
        state.has_turn ? ops::call<Tensor>(nn::current(), "aten::add.Scalar", turn, int64_t{1}) : Tensor();
    return state.tree(next, next_condition, results, true);
  };
  const nn::Tree made =
      flow.is_rehearsing() ? flow.pretend_carried(carried) : flow.while_loop(goes_on, turn_of, carried);
  Tensor turn;
  IValue condition;
  std::span<const Value> leaves = made.leaves;
  std::vector<IValue> values = state.take(leaves, turn, condition);
  for (size_t i = 0; i < state.places.size(); ++i) state.effects.put(state.places[i], values[own + i]);
  state.writes.write_back(calls_.machine->context(), leaves);
  values.resize(own);
  loop.finish(std::move(values));
  return true;
}

void BothWays::loop(interpreter::UnknownLoop& loop) {
  calls_.tell_place();
  const bool may_unroll = loop.condition.is(Tag::kBool) && loop.most.is(Tag::kSymbolic) &&
                          !is_from_data(loop.most.as_symbolic().get<SymInt>());
  try {
    loop_as_operator(loop);
  } catch (const Error& error) {
    if (!may_unroll || error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kLimit) throw;
    // A size that may vary, but the loop does something for each that no operator says: it is fixed.
    loop.follow(loop.turn.as_int(), calls_.specialize(loop.most.as_symbolic().get<SymInt>()), true);
  }
}

}  // namespace flambeau::migration
