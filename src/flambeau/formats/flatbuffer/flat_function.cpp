#include "flambeau/formats/flatbuffer/flat_function.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/formats/flatbuffer/schema.h"

namespace flambeau::script {
namespace {

using bytecode::Code;
using bytecode::Opcode;
using flat::ArgumentFields;
using flat::FunctionFields;
using flat::InstructionLayout;
using flat::OperatorFields;
using flat::SchemaFields;
using flatbuffer::Table;
using flatbuffer::Tables;

void read_flat_instructions(const Table& function, Code& code) {
  const ByteSpan bytes = function.structures(FunctionFields::kInstructions, InstructionLayout::kSize,
                                             InstructionLayout::kAlignment, "the instructions");
  code.instructions.reserve(bytes.size() / InstructionLayout::kSize);
  for (size_t at = 0; at < bytes.size(); at += InstructionLayout::kSize) {
    const uint8_t* const from = bytes.data() + at;
    const uint8_t opcode = from[InstructionLayout::kOpcode];
    if (opcode >= bytecode::kOpcodeCount || !bytecode::is_mobile(static_cast<Opcode>(opcode))) {
      throw Error(ErrorCode::kUnsupported, opcode < bytecode::kOpcodeCount
                                               ? fmt::format("{} is no instruction of mobile modules",
                                                             opcode_name(static_cast<Opcode>(opcode)))
                                               : fmt::format("{} is the number of no instruction", opcode));
    }
    code.instructions.push_back({static_cast<Opcode>(opcode), load_le<int32_t>(from + InstructionLayout::kX),
                                 load_le<uint16_t>(from + InstructionLayout::kN)});
  }
}

std::vector<bytecode::SchemaArgument> read_flat_arguments(const Tables& arguments) {
  std::vector<bytecode::SchemaArgument> made;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Table argument = arguments[i];
    made.push_back({std::string(argument.text(ArgumentFields::kName, "the name of an argument")),
                    std::string(argument.text(ArgumentFields::kType, "the type of an argument")),
                    {}});
  }
  return made;
}

void fill_flat_arguments(const Tables& arguments, const std::function<IValue(uint32_t number)>& value_at,
                         std::vector<bytecode::SchemaArgument>& made) {
  for (size_t i = 0; i < made.size(); ++i) {
    made[i].default_value = value_at(arguments[i].number<uint32_t>(ArgumentFields::kDefault, "a default"));
  }
}

}  // namespace

Code read_flat_function(const Table& function, size_t object_type_count) {
  Code code;
  code.name = function.text(FunctionFields::kName, "the name of a function");
  return with_location("function", printable(code.name), [&] {
    read_flat_instructions(function, code);
    const Tables operators = function.tables(FunctionFields::kOperators, "the operators");
    for (size_t i = 0; i < operators.size(); ++i) {
      const Table use = operators[i];
      bytecode::OperatorUse& made = code.operators.emplace_back();
      made.name = use.text(OperatorFields::kName, "the name of an operator");
      made.overload = use.text(OperatorFields::kOverload, "the overload of an operator");
      const auto specified = use.number<int32_t>(OperatorFields::kSpecified, "a number of arguments", -1);
      if (specified >= 0) made.specified = specified;
    }
    const flatbuffer::Strings types = function.texts(FunctionFields::kTypes, "the types");
    for (size_t i = 0; i < types.size(); ++i) code.types.emplace_back(types[i]);
    code.register_count = function.number<int32_t>(FunctionFields::kRegisters, "the number of registers");
    if (const std::optional<Table> schema = function.find_table(FunctionFields::kSchema, "the schema")) {
      code.schema = {read_flat_arguments(schema->tables(SchemaFields::kArguments, "the arguments")),
                     read_flat_arguments(schema->tables(SchemaFields::kReturns, "the results"))};
      const auto type = function.number<uint32_t>(FunctionFields::kClass, "the class of a function");
      if (type >= object_type_count) corrupt(fmt::format("it is of type {} of {}", type, object_type_count));
    }
    if (const std::optional<Table> debug = function.find_table(FunctionFields::kDebug, "debug handles")) {
      const auto handles = debug->numbers<int64_t>(flat::DebugFields::kHandles, "debug handles");
      if (handles.size() == code.instructions.size()) {
        for (size_t i = 0; i < handles.size(); ++i) code.debug_handles.push_back(handles[i]);
      }
    }
    return std::move(code);
  });
}

void fill_flat_function(const Table& function, const std::function<IValue(uint32_t number)>& value_at,
                        Code& code) {
  with_location("function", printable(code.name), [&] {
    const auto constants = function.numbers<uint32_t>(FunctionFields::kConstants, "the constants");
    code.constants.reserve(constants.size());
    for (size_t i = 0; i < constants.size(); ++i) code.constants.push_back(value_at(constants[i]));
    if (!code.schema) return;
    const Table schema = function.table(FunctionFields::kSchema, "the schema");
    fill_flat_arguments(schema.tables(SchemaFields::kArguments, "the arguments"), value_at,
                        code.schema->arguments);
    fill_flat_arguments(schema.tables(SchemaFields::kReturns, "the results"), value_at, code.schema->returns);
  });
}

}  // namespace flambeau::script
