#include "flambeau/migrate/both_ways.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "flambeau/interpreter/machine.h"
#include "flambeau/nn/functional/control_flow.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/relation.h"

namespace flambeau::migration {
namespace {

namespace ir = script::ir;

using Tag = IValue::Tag;

nn::ControlFlow& control_flow() {
  nn::Observer* const observer = nn::observer();
  nn::ControlFlow* const flow = observer == nullptr ? nullptr : observer->control_flow();
  if (flow == nullptr) throw Error(ErrorCode::kInternal, "a branch is traced, and nobody traces");
  return *flow;
}

nn::Tree tree_of(const TensorList& tensors) {
  std::vector<nn::Tree> children;
  for (const Tensor& tensor : tensors) children.push_back(nn::Tree::leaf(tensor));
  return nn::Tree::tuple(children);
}

// What a person called it: "x" of "x.3".
std::string name_of(const interpreter::UnknownFlow& flow, size_t result) {
  const ir::Node& node = flow.node();
  if (result >= node.outputs().size()) return "a value";
  const ir::Value& value = *node.output(result);
  return value.has_name() ? fmt::format("'{}'", printable(value.base_name())) : "a value";
}

Tensor condition_tensor(const IValue& condition) {
  if (const Tensor* const tensor =
          condition.is(Tag::kSymbolic) ? condition.as_symbolic().get_if<Tensor>() : nullptr)
    return *tensor;
  throw Error(ErrorCode::kUnsupported, "a branch asks for something that is no bool");
}

struct Deeper {
  int& depth;
  explicit Deeper(int& of) : depth(of) { ++depth; }
  ~Deeper() { --depth; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
};

}  // namespace

// What a side or a turn gives.
struct BothWays::Outcome {
  std::vector<IValue> results;
  Effects::Changes changes;
  std::optional<interpreter::ScriptError> raised;
  std::optional<Error> failed;

  // A result, or what stands at a place afterwards.
  IValue at(Effects::Place place, const Effects& effects) const {
    const auto found = changes.find(place);
    return found == changes.end() ? effects.before(place) : found->second;
  }
};

void BothWays::add_obstacle(const Error& error) {
  const std::string text = error.what();
  const bool is_known =
      std::ranges::any_of(obstacles_, [&](const Error& other) { return text == other.what(); });
  if (!is_known) obstacles_.push_back(error);
}

void BothWays::check_obstacles() const {
  if (obstacles_.empty()) return;
  if (obstacles_.size() == 1) throw Error(obstacles_[0]);
  std::string text = fmt::format("{} things cannot be said by a program", obstacles_.size());
  for (size_t i = 0; i < obstacles_.size(); ++i)
    text += fmt::format("\n  {}. {}", i + 1, obstacles_[i].what());
  throw Error(ErrorCode::kUnsupported, std::move(text));
}

void BothWays::assert_that(const Tensor& flag, bool wanted, const std::string& message) {
  ++assertions_;
  const std::optional<symbolic::Expr> asked = depth_ == 0 ? calls_.condition_of(flag) : std::nullopt;
  if (asked && nn::observer() != nullptr) {
    nn::observer()->check(wanted ? *asked : symbolic::negated(*asked), message);
    return;
  }
  const Tensor what = wanted ? flag : ops::call<Tensor>(nn::current(), "aten::logical_not", flag);
  const Value arguments[] = {what, message};
  ops::call_named(nn::current(), "aten::_assert_async.msg", arguments);
}

BothWays::Outcome BothWays::run_side(interpreter::UnknownBranch& branch, bool side, Effects& effects) {
  Outcome outcome;
  const Deeper deeper(depth_);
  try {
    outcome.results = branch.run(side);
  } catch (const interpreter::ScriptError& error) {
    if (error.is_raised()) {
      outcome.raised = error;
    } else if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kLimit) {
      effects.take();
      throw;
    } else {
      outcome.failed = error;
    }
  }
  outcome.changes = effects.take();
  return outcome;
}

void BothWays::branch(interpreter::UnknownBranch& branch) {
  calls_.tell_place();
  nn::ControlFlow& flow = control_flow();
  const Tensor flag = condition_tensor(branch.condition());
  Effects effects(branch.variables());
  const size_t assertions = assertions_;
  std::optional<Outcome> sides[2];
  for (const size_t side : {0, 1}) flow.rehearse([&] { sides[side] = run_side(branch, side == 0, effects); });

  // A side that raises is one that must not be taken.
  if (sides[0]->raised && sides[1]->raised) throw interpreter::ScriptError(*sides[0]->raised);
  for (const size_t side : {0, 1}) {
    if (!sides[side]->raised) continue;
    assert_that(flag, side == 1, sides[side]->raised->message());
    return branch.follow(side == 1);
  }
  // One that cannot be said is told at the end.
  for (const size_t side : {0, 1}) {
    if (sides[side]->failed) add_obstacle(*sides[side]->failed);
  }
  if (sides[0]->failed && sides[1]->failed) throw Error(*sides[0]->failed);
  if (sides[0]->failed || sides[1]->failed) return branch.follow(!sides[0]->failed);

  std::vector<Effects::Place> places;
  for (const auto& side : sides) {
    for (const auto& [place, value] : side->changes) places.push_back(place);
  }
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  const size_t results = sides[0]->results.size();
  const auto value_at = [&](const Outcome& outcome, size_t i) {
    return i < results ? outcome.results[i] : outcome.at(places[i - results], effects);
  };
  std::vector<Joint> joints;
  bool is_possible = true;
  for (size_t i = 0; i < results + places.size(); ++i) {
    joints.emplace_back(value_at(*sides[0], i));
    try {
      joints.back().join(value_at(*sides[1], i));
      if (i < results) continue;
    } catch (const Error& error) {
      is_possible = false;
      add_obstacle(calls_.located(Error(
          ErrorCode::kUnsupported,
          fmt::format("data decides a branch whose two sides disagree about {}: {}",
                      i < results ? name_of(branch, i) : effects.name(places[i - results]), error.message()),
          error.remedy())));
    }
  }
  if (!is_possible) return branch.follow(true);

  const auto leaves_of = [&](const Outcome& outcome, bool are_made) {
    TensorList leaves;
    for (size_t i = 0; i < joints.size(); ++i) {
      if (are_made) {
        joints[i].add_leaves(value_at(outcome, i), true, leaves);
      } else {
        joints[i].add_pretended(value_at(outcome, i), leaves);
      }
    }
    return leaves;
  };
  bool has_leaves = std::ranges::any_of(joints, [](const Joint& joint) { return joint.leaf_count() > 0; });
  const bool has_only_assertions = !has_leaves && assertions_ != assertions;
  nn::Tree made = nn::Tree::tuple({});
  if (flow.is_rehearsing() && has_leaves) {
    made = flow.pretend_cond(tree_of(leaves_of(*sides[0], false)), tree_of(leaves_of(*sides[1], false)));
  } else if (has_leaves || (has_only_assertions && !flow.is_rehearsing())) {
    const auto body = [&](bool side) {
      return [&, side](const nn::Tree&) {
        const Outcome outcome = run_side(branch, side, effects);
        if (outcome.raised) throw interpreter::ScriptError(*outcome.raised);
        if (outcome.failed) throw Error(*outcome.failed);
        TensorList leaves = leaves_of(outcome, true);
        // An operator gives something.
        if (has_only_assertions)
          leaves.push_back(ops::call_with<Tensor>(nn::current(), "aten::scalar_tensor", {true},
                                                  {{"dtype", DType::kBool}}));
        return tree_of(leaves);
      };
    };
    try {
      made = flow.cond(flag, body(true), body(false), nn::Tree::tuple({}));
    } catch (const interpreter::ScriptError&) {
      throw;
    } catch (const Error& error) {
      add_obstacle(calls_.located(error));
      return branch.follow(true);
    }
  }
  std::span<const Value> leaves = made.leaves;
  std::vector<IValue> values;
  for (const Joint& joint : joints) values.push_back(joint.value(leaves));
  for (size_t i = 0; i < places.size(); ++i) effects.put(places[i], values[results + i]);
  values.resize(results);
  branch.finish(std::move(values));
}

// ---- loops

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

  nn::Tree tree(const Tensor& turn, const IValue& its_condition, std::span<const IValue> values,
                bool copies) const {
    TensorList leaves;
    if (has_turn) leaves.push_back(turn);
    condition.add_leaves(its_condition, copies, leaves);
    for (size_t i = 0; i < joints.size(); ++i) joints[i].add_leaves(values[i], copies, leaves);
    return tree_of(leaves);
  }
  // Takes what belongs to the loop, and puts the rest in its places.
  std::vector<IValue> take(std::span<const Value> leaves, Tensor& turn, IValue& its_condition) {
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
      std::vector<IValue> values = state.take(given.leaves, its_turn, condition);
      const size_t own = loop.carried.size();
      for (size_t i = 0; i < state.places.size(); ++i) state.effects.put(state.places[i], values[own + i]);
      std::vector<IValue> results;
      Effects::Changes changes;
      try {
        results = loop.run(state.has_turn ? turn_in(its_turn) : loop.turn, std::span(values).first(own));
        changes = state.effects.take();
      } catch (...) {
        state.effects.take();
        throw;
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
    const std::vector<IValue> values = state.take(given.leaves, turn, condition);
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
  std::vector<IValue> values = state.take(made.leaves, turn, condition);
  for (size_t i = 0; i < state.places.size(); ++i) state.effects.put(state.places[i], values[own + i]);
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
