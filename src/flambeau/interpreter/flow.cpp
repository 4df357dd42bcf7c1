#include "flambeau/interpreter/flow.h"

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/machine.h"

namespace flambeau::interpreter {
namespace {

using Tag = IValue::Tag;

[[noreturn]] void fail_unknown(const IValue& value, const char* wanted) {
  if (value.is(Tag::kSymbolic)) {
    throw Error(ErrorCode::kUnsupported,
                std::string("the script needs ") + wanted + " here, which depends on the data of its inputs");
  }
  throw Error(ErrorCode::kInvalidArgument,
              std::string("expected ") + wanted + ", found " + printable(value.kind_name()));
}

}  // namespace

// ---- the machine's side

void Machine::choose_side(const BranchSite& site, IValue condition) {
  Frame& frame = frames_.back();
  if (condition.is(Tag::kBool)) {
    frame.next = site.sides[condition.as_bool() ? 0 : 1].begin;
    return;
  }
  if (options_.flow == nullptr || !condition.is(Tag::kSymbolic)) fail_unknown(condition, "bool");
  UnknownBranch branch(*this, frames_.size() - 1, site, std::move(condition));
  options_.flow->branch(branch);
}

void Machine::choose_turn(const LoopSite& site, IValue turn, IValue most, IValue condition) {
  Frame& frame = frames_.back();
  const bool is_over = (condition.is(Tag::kBool) && !condition.as_bool()) ||
                       (turn.is(Tag::kInt) && most.is(Tag::kInt) && turn.as_int() >= most.as_int());
  if (is_over) {
    frame.next = site.behind;
  } else if (condition.is(Tag::kBool) && turn.is(Tag::kInt) && most.is(Tag::kInt)) {
    frame.registers[site.turn] = std::move(turn);
    frame.next = site.body.begin;
  } else {
    if (options_.flow == nullptr) fail_unknown(condition.is(Tag::kBool) ? most : condition, "bool");
    UnknownLoop loop(*this, frames_.size() - 1, site, std::move(turn), std::move(most), std::move(condition));
    options_.flow->loop(loop);
  }
}

void Machine::begin_block(size_t frame, BlockRange block) {
  if (runs_ >= kMostRuns) {
    throw Error(ErrorCode::kLimit,
                "branches and loops that data decides stand too deep inside of each other");
  }
  count_step();
  const Code& code = *frames_[frame].code;
  const IValue* const given = frames_[frame].registers;
  push(code, kNoResult);
  Frame& made = frames_.back();
  made.next = block.begin;
  made.stop = block.end;
  std::copy_n(given, code.register_count, made.registers);
}

// ---- the other side

const Code& UnknownFlow::code() const { return *machine_.frames_.at(frame_).code; }
IValue* UnknownFlow::registers() const { return machine_.frames_.at(frame_).registers; }

const ir::Node& UnknownFlow::node() const {
  const Machine::Frame& frame = machine_.frames_.at(frame_);
  return *code().nodes.at(frame.next - 1);
}

const IValue& UnknownFlow::read(const Operand& operand) const {
  return operand.is_constant() ? code().constants.at(operand.index()) : registers()[operand.index()];
}

void UnknownFlow::go_on(uint32_t next) { machine_.frames_.at(frame_).next = next; }

IValue UnknownFlow::variables() const {
  return IValue::tuple(std::vector<IValue>(registers(), registers() + code().register_count));
}

std::vector<IValue> UnknownFlow::run(BlockRange block, std::span<const std::pair<uint32_t, IValue>> preset,
                                     std::span<const Operand> results) {
  const size_t bottom = machine_.frames_.size();
  machine_.begin_block(frame_, block);
  for (const auto& [place, value] : preset) machine_.frames_.back().registers[place] = value;
  machine_.run_above(bottom);
  std::vector<IValue> values;
  const IValue* const made = machine_.frames_.back().registers;
  for (const Operand& result : results) {
    if (result.is_none()) {
      values.emplace_back();
    } else {
      values.push_back(result.is_constant() ? code().constants.at(result.index()) : made[result.index()]);
    }
  }
  machine_.pop();
  return values;
}

std::vector<IValue> UnknownBranch::run(bool side) {
  return UnknownFlow::run(site_.sides[side ? 0 : 1], {}, site_.results);
}

void UnknownBranch::finish(std::vector<IValue> results) {
  for (size_t i = 0; i < site_.results.size(); ++i) {
    if (!site_.results[i].is_none()) registers()[site_.results[i].index()] = std::move(results.at(i));
  }
  go_on(site_.behind);
}

void UnknownBranch::follow(bool side) { go_on(site_.sides[side ? 0 : 1].begin); }

UnknownLoop::UnknownLoop(Machine& machine, size_t frame, const LoopSite& site, IValue its_turn,
                         IValue its_most, IValue its_condition)
    : UnknownFlow(machine, frame),
      turn(std::move(its_turn)),
      most(std::move(its_most)),
      condition(std::move(its_condition)),
      site_(site) {
  for (const uint32_t place : site.carried) carried.push_back(registers()[place]);
}

bool UnknownLoop::reads_turn() const { return node().block(0)->input(0)->has_uses(); }

std::vector<IValue> UnknownLoop::run(const IValue& its_turn, std::span<const IValue> its_carried) {
  std::vector<std::pair<uint32_t, IValue>> preset = {{site_.turn, its_turn}};
  for (size_t i = 0; i < site_.carried.size(); ++i) preset.emplace_back(site_.carried[i], its_carried[i]);
  std::vector<Operand> results = {site_.condition};
  for (const uint32_t place : site_.carried) results.push_back(Operand::of_register(place));
  return UnknownFlow::run(site_.body, preset, results);
}

void UnknownLoop::finish(std::vector<IValue> results) {
  for (size_t i = 0; i < site_.carried.size(); ++i) registers()[site_.carried[i]] = std::move(results.at(i));
  go_on(site_.behind);
}

void UnknownLoop::follow(int64_t known_turn, int64_t known_most, bool known_condition) {
  const bool goes_on = known_condition && known_turn < known_most;
  if (goes_on) registers()[site_.turn] = IValue(known_turn);
  go_on(goes_on ? site_.body.begin : site_.behind);
}

}  // namespace flambeau::interpreter
