// How lifting keeps track of the stack and the registers while it follows the code.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "flambeau/script/bytecode/lift.h"
#include "flambeau/script/operators/operator_table.h"

namespace flambeau::script::bytecode {

// Registers as values. What a branch or a loop stores is not there behind it; what a loop reads of the
// outside must stay as it is.
class RegisterFile {
 public:
  explicit RegisterFile(size_t count) : registers_(count) {}

  size_t size() const { return registers_.size(); }
  // Null when it has no value, or not on every way here.
  ir::Value* read(size_t at);
  // Each gives false where a loop has read the register's value of before the loop.
  bool write(size_t at, ir::Value* value);
  bool forget(size_t at) { return write(at, nullptr); }
  // Whether its value is of before the loops around.
  bool is_of_outside(size_t at) const;

  void enter_loop() { loops_.push_back(++time_); }
  void leave_loop() { loops_.pop_back(); }
  // What is written behind a mark can be taken back, or made unknown.
  size_t mark() const { return changes_.size(); }
  void take_back(size_t mark, std::vector<size_t>& changed);
  void make_unknown(std::span<const size_t> changed);

 private:
  struct Register {
    ir::Value* value = nullptr;
    uint64_t written = 0;
    uint64_t read = 0;
  };
  struct Change {
    size_t at;
    Register before;
  };
  std::vector<Register> registers_;
  std::vector<Change> changes_;
  std::vector<uint64_t> loops_;  // when each began
  uint64_t time_ = 0;
};

// What loops carry, by the place of their LOOP: its types are known when a turn has been followed.
using LoopTypes = std::map<size_t, std::vector<Type>>;

class Lifter {
 public:
  // `loop_types`: what was found when the code was followed before.
  Lifter(const Code& code, const Signature& signature, Unit& unit, const LiftOptions& options,
         LoopTypes& loop_types);
  std::shared_ptr<ir::Graph> run();
  // Whether loop_types has become another while it ran.
  bool has_learned() const { return has_learned_; }
  size_t at() const { return at_; }  // of the instruction that is followed

 private:
  using Values = std::vector<ir::Value*>;

  // ---- control flow (lift.cpp)
  void run_block(size_t begin, size_t end, int depth);
  size_t branch(size_t at, size_t end, int depth);
  void known_branch(bool is_taken, size_t begin, size_t otherwise, size_t behind, int depth);
  size_t loop(size_t at, size_t end, int depth);
  // Of a block that began with nothing on the stack above `floor`.
  Values take_above(size_t floor);
  void step(size_t at);
  size_t jump_target(size_t at, size_t begin, size_t end) const;

  // ---- stack
  void push(ir::Value* value) { stack_.push_back(value); }
  ir::Value* pop();
  Values pop(size_t count);
  size_t available() const { return stack_.size() - floor_; }
  size_t register_at(int64_t index) const;
  template <typename T>
  const T& entry(const std::vector<T>& table, int64_t index, std::string_view what) const;

  // ---- nodes (lift_nodes.cpp)
  void operation(const Instruction& instruction);
  void call_operator(const Instruction& instruction);
  void operator_node(std::string_view name, std::string_view overload, Values inputs);
  void kind_node(ir::NodeKind kind, std::string_view name, const Instruction& instruction,
                 const OperatorUse& use);
  void raise_node();
  void to_list();
  Values with_defaults(const OperatorUse& use, const Signature& signature, const OperatorEntry& entry);
  const Overload& overload_of(std::string_view name, std::string_view overload) const;
  void constant(int64_t index);
  ir::Value* made_constant(const IValue& value, const Type& type);
  void attribute(const Instruction& instruction);
  void method_call(const Instruction& instruction);
  void tuple_index();
  void unpack(ir::NodeKind kind, size_t count, const Type& element);
  // Puts it in and pushes what it gives.
  ir::Node* add(ir::Node* node);
  ir::Value* add_one(ir::NodeKind kind, const Values& inputs, const Type& type);
  Type type_at(int64_t index);

  // ---- types (lift_types.cpp): bytecode has none for values, and no casts
  // The value itself, or a cast of it where its type says less than what is wanted.
  ir::Value* fitted(ir::Value* value, const Type& wanted);
  void fit(Values& inputs, const Signature& signature);
  // Pushes what the operator gives where that is known already.
  bool fold(const OperatorEntry& entry, const Signature& signature, const Values& inputs);
  std::optional<bool> known_test_for_none(std::string_view name, const Values& inputs) const;
  bool cannot_be_none(const ir::Value& value) const;
  Type joined_type(const ir::Value& a, const ir::Value& b) const;
  // What stands for the value where one of that type is given on: at the end of the insertion point's block.
  ir::Value* given_on(ir::Value* value, const Type& type);
  bool is_unset(const ir::Value& value) const { return unset_.contains(&value); }
  static Type to_list_type(const Values& inputs);

  const Code& code_;
  const Signature& signature_;
  Unit& unit_;
  const LiftOptions& options_;
  std::shared_ptr<ir::Graph> graph_;
  Values stack_;
  size_t floor_ = 0;  // what lies below belongs to code around
  RegisterFile registers_;
  Values constants_;
  std::vector<std::optional<Type>> types_;
  size_t at_ = 0;  // the instruction that is followed
  LoopTypes& loop_types_;
  bool has_learned_ = false;
  std::unordered_set<const ir::Value*> unset_;  // never given a value: they are of any type
};

}  // namespace flambeau::script::bytecode
