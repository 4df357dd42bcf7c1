#include "flambeau/formats/mobile/bytecode_writer.h"

#include <utility>

#include "flambeau/script/values/boxes.h"

namespace flambeau::script {
namespace {

IValue table(std::vector<std::pair<const char*, IValue>> entries) {
  std::vector<IValue> rows;
  for (auto& [key, value] : entries) rows.push_back(IValue::tuple({IValue(key), std::move(value)}));
  return IValue::tuple(std::move(rows));
}

IValue code_table(const bytecode::Code& code) {
  std::vector<IValue> instructions, operators, types;
  for (const bytecode::Instruction& instruction : code.instructions) {
    instructions.push_back(IValue::tuple({IValue(bytecode::opcode_name(instruction.opcode)),
                                          IValue(int64_t{instruction.x}), IValue(int64_t{instruction.n})}));
  }
  for (const bytecode::OperatorUse& use : code.operators) {
    std::vector<IValue> parts{IValue(use.name), IValue(use.overload)};
    if (use.specified) parts.emplace_back(*use.specified);
    operators.push_back(IValue::tuple(std::move(parts)));
  }
  for (const std::string& type : code.types) types.emplace_back(type);
  return table({{"instructions", IValue::tuple(std::move(instructions))},
                {"operators", IValue::tuple(std::move(operators))},
                {"constants", IValue::tuple(code.constants)},
                {"types", IValue::tuple(std::move(types))},
                {"register_size", IValue(code.register_count)}});
}

IValue argument_tables(const std::vector<bytecode::SchemaArgument>& arguments) {
  std::vector<IValue> tables;
  for (const bytecode::SchemaArgument& argument : arguments) {
    tables.push_back(table({{"name", IValue(argument.name)},
                            {"type", IValue(argument.type)},
                            {"default_value", argument.default_value}}));
  }
  return IValue::tuple(std::move(tables));
}

}  // namespace

IValue bytecode_value(const bytecode::Program& program) {
  std::vector<IValue> parts{IValue(program.version)};
  for (const bytecode::Code& code : program.functions) {
    std::vector<IValue> function{IValue(code.name), code_table(code)};
    if (code.schema) {
      function.push_back(table({{"arguments", argument_tables(code.schema->arguments)},
                                {"returns", argument_tables(code.schema->returns)}}));
    }
    parts.push_back(IValue::tuple(std::move(function)));
  }
  return IValue::tuple(std::move(parts));
}

}  // namespace flambeau::script
