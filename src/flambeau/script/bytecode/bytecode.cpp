#include "flambeau/script/bytecode/bytecode.h"

#include <fmt/format.h>

#include <array>

#include "flambeau/base/error.h"
#include "flambeau/script/ir/text.h"

namespace flambeau::script::bytecode {
namespace {

constexpr std::array<std::string_view, kOpcodeCount> kOpcodeNames = {
    "OP",
    "OPN",
    "LOAD",
    "MOVE",
    "STOREN",
    "STORE",
    "DROP",
    "DROPR",
    "LOADC",
    "JF",
    "JMP",
    "LOOP",
    "RET",
    "WAIT",
    "CALL",
    "GUARD",
    "TYPECHECK",
    "FAIL_GUARD",
    "PROFILE_OP",
    "TAIL_CALL",
    "INTERFACE_CALL",
    "GET_ATTR",
    "SET_ATTR",
    "LIST_UNPACK",
    "TUPLE_CONSTRUCT",
    "NAMED_TUPLE_CONSTRUCT",
    "LIST_CONSTRUCT",
    "DICT_CONSTRUCT",
    "CREATE_OBJECT",
    "ISINSTANCE",
    "TUPLE_SLICE",
    "TUPLE_INDEX",
    "RAISE_EXCEPTION",
    "DICT_INDEX",
    "UNCHECKED_CAST",
    "__IS__",
    "UN_INITIALIZED",
    "__ISNOT__",
    "FORMAT",
    "DEVICE",
    "DTYPE",
    "DIM",
    "__NOT__",
    "TO_LIST",
    "NUM_TO_TENSOR",
    "IS_CUDA",
    "FORK",
    "WARN",
    "ENTER",
    "EXIT",
    "AWAITABLE",
};

std::string comment_of(const Code& code, const Instruction& instruction) {
  const auto at = static_cast<size_t>(instruction.x);
  switch (instruction.opcode) {
    case Opcode::kOp:
    case Opcode::kOpN: {
      if (at >= code.operators.size()) return {};
      const OperatorUse& use = code.operators[at];
      return use.overload.empty() ? use.name : fmt::format("{}.{}", use.name, use.overload);
    }
    case Opcode::kLoadConstant:
    case Opcode::kInterfaceCall:
      if (at >= code.constants.size()) return {};
      return code.constants[at].is(IValue::Tag::kTensor) ? code.constants[at].as_tensor().summary()
                                                         : ir::to_text(code.constants[at]);
    case Opcode::kListConstruct:
    case Opcode::kDictConstruct:
    case Opcode::kNamedTupleConstruct:
    case Opcode::kCreateObject:
    case Opcode::kIsInstance:
      return at < code.types.size() ? code.types[at] : std::string();
    default:
      return {};
  }
}

}  // namespace

std::string_view opcode_name(Opcode opcode) { return kOpcodeNames[static_cast<size_t>(opcode)]; }

std::optional<Opcode> find_opcode(std::string_view name) {
  for (size_t i = 0; i < kOpcodeNames.size(); ++i) {
    if (kOpcodeNames[i] == name) return static_cast<Opcode>(i);
  }
  return std::nullopt;
}

bool is_mobile(Opcode opcode) {
  switch (opcode) {
    case Opcode::kWait:
    case Opcode::kGuard:
    case Opcode::kTypeCheck:
    case Opcode::kFailGuard:
    case Opcode::kProfile:
    case Opcode::kTailCall:
    case Opcode::kFork:
    case Opcode::kEnter:
    case Opcode::kExit:
    case Opcode::kAwaitable:
      return false;
    default:
      return true;
  }
}

std::string to_string(const Code& code) {
  std::string text = fmt::format("{}: {} registers\n", printable(code.name), code.register_count);
  for (size_t i = 0; i < code.instructions.size(); ++i) {
    const Instruction& instruction = code.instructions[i];
    const std::string comment = comment_of(code, instruction);
    text += fmt::format("{:4} {} {} {}{}{}\n", i, opcode_name(instruction.opcode), instruction.x,
                        instruction.n, comment.empty() ? "" : "  # ", printable(comment));
  }
  return text;
}

}  // namespace flambeau::script::bytecode
