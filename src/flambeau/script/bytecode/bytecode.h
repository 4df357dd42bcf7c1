// Bytecode of mobile modules: instructions of a stack machine with registers, and the tables they index. What
// bytecode.pkl and flatbuffers hold, without their forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/script/values/ivalue.h"

namespace flambeau::script::bytecode {

// By PyTorch's numbers, which flatbuffers hold.
enum class Opcode : uint8_t {
  kOp,      // x: operators
  kOpN,     // the same, of n arguments
  kLoad,    // x: register
  kMove,    // the register has no value afterwards
  kStoreN,  // x: first of n registers
  kStore,
  kDrop,
  kDropRegister,
  kLoadConstant,  // x: constants
  kJumpFalse,     // x: how far, from here
  kJump,
  kLoop,  // x: how far to its end; n: (most turns, condition, carried...), below them is the turn
  kReturn,
  kWait,
  kCall,
  kGuard,
  kTypeCheck,
  kFailGuard,
  kProfile,
  kTailCall,
  kInterfaceCall,        // x: constants, the method's name; n arguments, the object first
  kGetAttribute,         // x: slot
  kSetAttribute,         // (object, value)
  kListUnpack,           // x values
  kTupleConstruct,       // x values
  kNamedTupleConstruct,  // x: types; n values
  kListConstruct,
  kDictConstruct,
  kCreateObject,
  kIsInstance,  // x: the first of n types
  kTupleSlice,  // x: begin; n elements
  kTupleIndex,
  kRaiseException,
  kDictIndex,
  kUncheckedCast,
  kIs,
  kUninitialized,
  kIsNot,
  kFormat,  // x values
  kDevice,
  kDtype,
  kDim,
  kNot,
  kToList,
  kNumberToTensor,
  kIsCuda,
  kFork,
  kWarn,
  kEnter,
  kExit,
  kAwaitable,
};
constexpr size_t kOpcodeCount = static_cast<size_t>(Opcode::kAwaitable) + 1;

// "LOADC".
std::string_view opcode_name(Opcode opcode);
std::optional<Opcode> find_opcode(std::string_view name);
// Whether mobile modules may hold it.
bool is_mobile(Opcode opcode);

struct Instruction {
  Opcode opcode = Opcode::kOp;
  int32_t x = 0;
  uint16_t n = 0;
  bool operator==(const Instruction&) const = default;
};

struct OperatorUse {
  std::string name = {};      // "aten::add"
  std::string overload = {};  // "Tensor"
  // How many arguments are on the stack, those for results among them; the others have their defaults. None
  // before version 6: then all are.
  std::optional<int64_t> specified = {};
};

struct SchemaArgument {
  std::string name = {};
  std::string type = {};
  IValue default_value;  // None for none
};
struct FunctionSchema {
  std::vector<SchemaArgument> arguments = {};
  std::vector<SchemaArgument> returns = {};
};

struct Code {
  std::string name = {};  // "__torch__.M.forward"
  std::vector<Instruction> instructions = {};
  std::vector<OperatorUse> operators = {};
  std::vector<IValue> constants = {};
  std::vector<std::string> types = {};
  int64_t register_count = 0;
  std::optional<FunctionSchema> schema = {};  // none before version 4
  // Of each instruction, where the file says so; -1 for none.
  std::vector<int64_t> debug_handles = {};
};

constexpr int64_t kOldestVersion = 3;
constexpr int64_t kNewestVersion = 9;

struct Program {
  int64_t version = 8;            // of the bytecode
  int64_t operator_version = 10;  // decides which operators mean something else than today
  std::vector<Code> functions = {};
};

// For people: an instruction a line.
std::string to_string(const Code& code);

}  // namespace flambeau::script::bytecode
