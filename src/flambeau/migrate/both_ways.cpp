#include "flambeau/migrate/both_ways.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "flambeau/interpreter/machine.h"
#include "flambeau/migrate/ways.h"
#include "flambeau/nn/functional/control_flow.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/symbolic/forms/relation.h"

namespace flambeau::migration {
namespace {

namespace ir = script::ir;

using Tag = IValue::Tag;

Tensor condition_tensor(const IValue& condition) {
  if (const Tensor* const tensor =
          condition.is(Tag::kSymbolic) ? condition.as_symbolic().get_if<Tensor>() : nullptr)
    return *tensor;
  throw Error(ErrorCode::kUnsupported, "a branch asks for something that is no bool");
}

}  // namespace

nn::Tree tree_of(const TensorList& tensors) {
  std::vector<nn::Tree> children;
  for (const Tensor& tensor : tensors) children.push_back(nn::Tree::leaf(tensor));
  return nn::Tree::tuple(children);
}

std::string name_of(const interpreter::UnknownFlow& flow, size_t result) {
  const ir::Node& node = flow.node();
  if (result >= node.outputs().size()) return "a value";
  const ir::Value& value = *node.output(result);
  return value.has_name() ? fmt::format("'{}'", printable(value.base_name())) : "a value";
}

// What a side gives.
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

BothWays::Outcome BothWays::run_side(interpreter::UnknownBranch& branch, bool side, Effects& effects,
                                     OuterWrites& writes) {
  Outcome outcome;
  const Deeper deeper(depth_);
  const Writing writing(calls_, writes);
  writes.begin_with_copies();
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
  OuterWrites writes;
  for (const size_t side : {0, 1}) {
    do {
      flow.rehearse([&] { sides[side] = run_side(branch, side == 0, effects, writes); });
    } while (writes.take_found());
  }

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
    if (are_made) {
      writes.add_to(leaves);
    } else {
      leaves.insert(leaves.end(), writes.own.begin(), writes.own.end());
    }
    return leaves;
  };
  const bool has_leaves = !writes.own.empty() || std::ranges::any_of(joints, [](const Joint& joint) {
    return joint.leaf_count() > 0;
  });
  const bool has_only_assertions = !has_leaves && assertions_ != assertions;
  nn::Tree made = nn::Tree::tuple({});
  if (flow.is_rehearsing() && has_leaves) {
    made = flow.pretend_cond(tree_of(leaves_of(*sides[0], false)), tree_of(leaves_of(*sides[1], false)));
  } else if (has_leaves || (has_only_assertions && !flow.is_rehearsing())) {
    const auto body = [&](bool side) {
      return [&, side](const nn::Tree&) {
        const Outcome outcome = run_side(branch, side, effects, writes);
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
  if (has_leaves) writes.write_back(calls_.machine->context(), leaves);
  values.resize(results);
  branch.finish(std::move(values));
}

}  // namespace flambeau::migration
