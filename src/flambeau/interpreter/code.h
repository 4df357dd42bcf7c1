// A function as the machine runs it: instructions over numbered registers, everything they need found before.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "flambeau/script/ir/graph.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/ivalue.h"
#include "flambeau/value/type.h"

namespace flambeau::interpreter {

using script::IValue;
namespace ir = script::ir;

struct Builtin;
struct Code;
struct OperatorSite;

// Where a value is: a register of the frame or a constant of the code, and whether this is its last use.
class Operand {
 public:
  Operand() = default;
  static Operand of_register(uint32_t index, bool is_last = false) {
    return Operand(index << 2 | (is_last ? kLast : 0));
  }
  static Operand of_constant(uint32_t index) { return Operand(index << 2 | kConstant); }
  // Of a result that nobody takes.
  static Operand none() { return Operand(kNone); }

  bool is_none() const { return bits_ == kNone; }
  bool is_constant() const { return (bits_ & kConstant) != 0; }
  bool is_last() const { return (bits_ & kLast) != 0; }
  uint32_t index() const { return bits_ >> 2; }
  // Which of the two tables, 0 for registers.
  uint32_t table() const { return bits_ & kConstant; }

 private:
  explicit Operand(uint32_t bits) : bits_(bits) {}
  static constexpr uint32_t kConstant = 1;
  static constexpr uint32_t kLast = 2;
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t bits_ = kNone;
};
// What 30 bits can number.
constexpr size_t kMostOperands = size_t{1} << 29;

enum class Opcode : uint8_t {
  kBuiltin,     // index: builtins
  kOperator,    // index: operators
  kMove,        // (value) -> (value)
  kClear,       // (registers...): their values are let go
  kJump,        // index: the instruction to go on with
  kJumpUnless,  // (condition)
  kLoopBegin,   // (most turns, condition) -> (turn): turn 0, or the jump
  kLoopNext,    // (turn, most turns, condition): the next turn, and the jump back
  kReturn,      // (value)
  kCall,        // (arguments...) -> (value), index: calls
  kCallMethod,  // the same by the class of the first, index: methods
  kFork,        // (arguments...) -> (future), index: subroutines
  kAwaitable,
  kEnter,  // (object) -> (value), index: methods
  kExit,
  kTuple,
  kNamedTuple,   // index: classes
  kUnpackTuple,  // (tuple) -> (values...)
  kTupleSlice,   // (tuple) -> (tuple), index: slices
  kList,         // index: types, the element
  kUnpackList,
  kDict,          // (key, value, ...), index: types, the dict
  kGetAttribute,  // (object) -> (value), index: attributes
  kSetAttribute,  // (object, value)
  kCreateObject,  // index: classes
  kIsInstance,    // index: type lists
  // Of a program that keeps blocks apart, in the place of jumps.
  kBranch,       // (condition), index: branches
  kRepeatBegin,  // (most turns, condition), index: repeats
  kRepeatNext,   // (turn, most turns, condition), index: repeats
  kBlockEnd,     // index: the instruction to go on with
};

struct Instruction {
  Opcode opcode = Opcode::kMove;
  bool has_last_uses = false;  // some input's register is cleared behind it
  uint16_t result_count = 0;
  uint32_t input_count = 0;
  uint32_t operands = 0;  // the first of its inputs, results behind them
  uint32_t index = 0;
};

// A function, and its code once it was called.
struct CodeSlot {
  const script::Function* function = nullptr;
  std::atomic<const Code*> code = nullptr;
};

// A name that means something by the class of an object: found once for each class. Threads share it.
template <typename Found>
class ByClass {
 public:
  struct Entry {
    std::shared_ptr<const script::Class> type;  // keeps its address from becoming another's
    Found found;
  };
  // Null until add() was called with that class, or when another class came in between.
  const Entry* last() const { return last_.load(std::memory_order_acquire); }
  // `find` is called once for a class, with nobody else here.
  template <typename Find>
  const Entry& get(const std::shared_ptr<const script::Class>& type, Find&& find) {
    const std::scoped_lock lock(mutex_);
    const script::Class* const key = type.get();
    auto place = entries_.find(key);
    if (place == entries_.end()) {
      auto made = std::make_unique<Entry>(Entry{type, find()});
      place = entries_.emplace(key, std::move(made)).first;
    }
    last_.store(place->second.get(), std::memory_order_release);
    return *place->second;
  }

 private:
  std::atomic<const Entry*> last_ = nullptr;
  std::mutex mutex_;
  std::unordered_map<const script::Class*, std::unique_ptr<Entry>> entries_;
};

struct AttributeSite {
  std::string name;
  ByClass<size_t> slots;
};
struct MethodSite {
  std::string name;
  ByClass<CodeSlot*> targets;
};

// A block inside of a function's code: from an instruction to its kBlockEnd.
struct BlockRange {
  uint32_t begin = 0;
  uint32_t end = 0;
};
struct BranchSite {
  BlockRange sides[2];           // when true, when false
  std::vector<Operand> results;  // where both put what they give
  uint32_t behind = 0;
};
struct LoopSite {
  BlockRange body;
  uint32_t turn = 0;              // its register
  std::vector<uint32_t> carried;  // registers, before and behind a turn
  Operand condition;              // of the next turn
  uint32_t behind = 0;
};

struct Code {
  std::string function;                    // "__torch__.M.forward"
  std::shared_ptr<const ir::Graph> graph;  // that it was made of: nodes below are its
  uint32_t register_count = 0;
  uint32_t argument_count = 0;  // they come in the first registers
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<const ir::Node*> nodes;  // of each instruction; null for a function's end
  std::vector<IValue> constants;
  std::vector<const Builtin*> builtins;
  std::vector<std::unique_ptr<OperatorSite>> operators;
  std::vector<CodeSlot*> calls;
  std::vector<std::unique_ptr<MethodSite>> methods;
  std::vector<std::unique_ptr<AttributeSite>> attributes;
  std::vector<std::shared_ptr<const Code>> subroutines;
  std::vector<std::shared_ptr<const script::Class>> classes;
  std::vector<Type> types;
  std::vector<std::vector<Type>> type_lists;
  std::vector<std::pair<int64_t, int64_t>> slices;
  std::vector<std::unique_ptr<BranchSite>> branches;
  std::vector<std::unique_ptr<LoopSite>> repeats;

  std::span<const Operand> inputs_of(const Instruction& instruction) const {
    return {operands.data() + instruction.operands, instruction.input_count};
  }
  std::span<const Operand> results_of(const Instruction& instruction) const {
    return {operands.data() + instruction.operands + instruction.input_count, instruction.result_count};
  }
};

// As a listing, for tests and for people: an instruction a line.
std::string to_string(const Code& code);

}  // namespace flambeau::interpreter
