// Branches and loops that nobody knows the way of, while a script is traced: the machine asks, and whoever
// traces runs the blocks as often as it likes, each time with copies of the variables, and says what they
// gave.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "flambeau/interpreter/code.h"

namespace flambeau::interpreter {

class Machine;

// What both have: the code that waits, with its variables.
class UnknownFlow {
 public:
  // `frame`: of the machine's, the uppermost one.
  UnknownFlow(Machine& machine, size_t frame) : machine_(machine), frame_(frame) {}
  UnknownFlow(const UnknownFlow&) = delete;
  UnknownFlow& operator=(const UnknownFlow&) = delete;

  Machine& machine() const { return machine_; }
  const ir::Node& node() const;
  // Everything that the code holds, as a tuple.
  IValue variables() const;

 protected:
  const Code& code() const;
  IValue* registers() const;
  const IValue& read(const Operand& operand) const;
  void go_on(uint32_t next);
  // The values of `results` when the block ends. `preset`: what registers hold when it begins.
  std::vector<IValue> run(BlockRange block, std::span<const std::pair<uint32_t, IValue>> preset,
                          std::span<const Operand> results);

 private:
  Machine& machine_;
  size_t frame_;
};

class UnknownBranch : public UnknownFlow {
 public:
  UnknownBranch(Machine& machine, size_t frame, const BranchSite& site, IValue condition)
      : UnknownFlow(machine, frame), site_(site), condition_(std::move(condition)) {}

  const IValue& condition() const { return condition_; }
  // What the side gives. Throws what it throws. What it does to lists and objects stays done.
  std::vector<IValue> run(bool side);
  // The code goes on behind the branch, with these results.
  void finish(std::vector<IValue> results);
  // The code goes on with that side, as if the condition were known.
  void follow(bool side);

 private:
  const BranchSite& site_;
  IValue condition_;
};

class UnknownLoop : public UnknownFlow {
 public:
  UnknownLoop(Machine& machine, size_t frame, const LoopSite& site, IValue turn, IValue most,
              IValue condition);

  // Of the turn that would come now.
  IValue turn;
  IValue most;  // how many turns at most
  IValue condition;
  std::vector<IValue> carried;

  // Whether the body reads which turn it is.
  bool reads_turn() const;
  // One turn: the next condition, and behind it what is carried then.
  std::vector<IValue> run(const IValue& its_turn, std::span<const IValue> its_carried);
  // The code goes on behind the loop.
  void finish(std::vector<IValue> results);
  // The code goes on with this turn, or behind the loop where there is none, as if it were known.
  void follow(int64_t known_turn, int64_t known_most, bool known_condition);

 private:
  const LoopSite& site_;
};

// Who decides.
class Flow {
 public:
  virtual ~Flow() = default;
  // Each calls finish() or follow(), or throws.
  virtual void branch(UnknownBranch& branch) = 0;
  virtual void loop(UnknownLoop& loop) = 0;
};

}  // namespace flambeau::interpreter
