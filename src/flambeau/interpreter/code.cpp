#include "flambeau/interpreter/code.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/builtin.h"
#include "flambeau/interpreter/operators.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::interpreter {
namespace {

constexpr std::string_view kOpcodeNames[] = {
    "builtin",       "operator",    "move",        "clear",        "jump",          "jump_unless",
    "loop_begin",    "loop_next",   "return",      "call",         "call_method",   "fork",
    "awaitable",     "enter",       "exit",        "tuple",        "named_tuple",   "unpack_tuple",
    "tuple_slice",   "list",        "unpack_list", "dict",         "get_attribute", "set_attribute",
    "create_object", "is_instance", "branch",      "repeat_begin", "repeat_next",   "block_end"};

std::string operand_text(const Operand& operand) {
  if (operand.is_none()) return "_";
  if (operand.is_constant()) return fmt::format("c{}", operand.index());
  return fmt::format("r{}{}", operand.index(), operand.is_last() ? "!" : "");
}

std::string what_of(const Code& code, const Instruction& in) {
  switch (in.opcode) {
    case Opcode::kBuiltin:
      return " " + code.builtins[in.index]->name;
    case Opcode::kOperator:
      return " " + code.operators[in.index]->entry->schema.name.to_string();
    case Opcode::kJump:
    case Opcode::kJumpUnless:
    case Opcode::kLoopBegin:
    case Opcode::kLoopNext:
    case Opcode::kBlockEnd:
      return fmt::format(" {}", in.index);
    case Opcode::kCall:
      return " " + code.calls[in.index]->function->qualified_name();
    case Opcode::kCallMethod:
    case Opcode::kEnter:
    case Opcode::kExit:
      return " " + code.methods[in.index]->name;
    case Opcode::kGetAttribute:
    case Opcode::kSetAttribute:
      return " " + code.attributes[in.index]->name;
    default:
      return "";
  }
}

}  // namespace

std::string to_string(const Code& code) {
  std::string text = fmt::format("{}: {} registers\n", printable(code.function), code.register_count);
  for (size_t i = 0; i < code.instructions.size(); ++i) {
    const Instruction& in = code.instructions[i];
    text += fmt::format("{:4} ", i);
    for (const Operand& result : code.results_of(in)) text += operand_text(result) + " ";
    if (in.result_count > 0) text += "= ";
    text += fmt::format("{}{}", kOpcodeNames[static_cast<size_t>(in.opcode)], what_of(code, in));
    for (const Operand& input : code.inputs_of(in)) text += " " + operand_text(input);
    text += '\n';
  }
  return text;
}

}  // namespace flambeau::interpreter
