#include "flambeau/formats/mobile/bytecode_reader.h"

#include <fmt/format.h>

#include <limits>
#include <unordered_map>

#include "flambeau/base/error.h"

namespace flambeau::script {
namespace {

using bytecode::Code;
using bytecode::Instruction;
using bytecode::Opcode;
using pickle::Kind;
using pickle::Node;

std::span<Node* const> tuple_items(const Node& node, std::string_view what) {
  if (!node.is(Kind::kTuple)) {
    corrupt(fmt::format("{} should be a tuple, found {}", what, a_kind(node.kind())));
  }
  return node.items();
}

// The value that stands at `index` of a table, under that key.
const Node& field(std::span<Node* const> table, size_t index, std::string_view key) {
  if (index >= table.size()) corrupt(fmt::format("the field '{}' is missing", key));
  const std::span<Node* const> pair = tuple_items(*table[index], key);
  if (pair.size() != 2 || !pair[0]->is(Kind::kString) || pair[0]->as_string() != key) {
    corrupt(fmt::format("the field '{}' is expected at place {}", key, index));
  }
  return *pair[1];
}

template <typename T>
T narrow(const Node& node, std::string_view what) {
  const int64_t value = node.as_int();
  if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) {
    corrupt(fmt::format("{} is out of range for {}", value, what));
  }
  return static_cast<T>(value);
}

class CodeReader {
 public:
  CodeReader(const ReadConstant& read_constant) : read_constant_(read_constant) {
    for (size_t i = 0; i < bytecode::kOpcodeCount; ++i) {
      const auto opcode = static_cast<Opcode>(i);
      opcodes_.emplace(bytecode::opcode_name(opcode), opcode);
    }
  }

  Code read(const Node& node, bool has_schema) {
    const std::span<Node* const> parts = tuple_items(node, "a function");
    if (parts.size() < 2) corrupt("a function should have a name and code");
    Code code;
    code.name = parts[0]->as_string();
    return with_location("function", printable(code.name), [&] {
      const std::span<Node* const> table = tuple_items(*parts[1], "the code of a function");
      read_instructions(tuple_items(field(table, 0, "instructions"), "instructions"), code);
      read_operators(tuple_items(field(table, 1, "operators"), "operators"), code);
      for (const Node* item : tuple_items(field(table, 2, "constants"), "constants"))
        code.constants.push_back(read_constant_(*item));
      for (const Node* item : tuple_items(field(table, 3, "types"), "types"))
        code.types.emplace_back(item->as_string());
      code.register_count = field(table, 4, "register_size").as_int();
      if (has_schema && parts.size() >= 3) read_schema(*parts[2], code);
      return std::move(code);
    });
  }

 private:
  void read_instructions(std::span<Node* const> items, Code& code) {
    code.instructions.reserve(items.size());
    for (const Node* item : items) {
      const std::span<Node* const> parts = tuple_items(*item, "an instruction");
      if (parts.size() != 3) corrupt("an instruction should be (name, X, N)");
      const auto found = opcodes_.find(parts[0]->as_string());
      if (found == opcodes_.end()) {
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("'{}' is no instruction", printable(parts[0]->as_string())));
      }
      if (!bytecode::is_mobile(found->second)) {
        throw Error(ErrorCode::kUnsupported,
                    fmt::format("{} is no instruction of mobile modules", found->first));
      }
      code.instructions.push_back(
          {found->second, narrow<int32_t>(*parts[1], "X"), narrow<uint16_t>(*parts[2], "N")});
    }
  }

  static void read_operators(std::span<Node* const> items, Code& code) {
    for (const Node* item : items) {
      const std::span<Node* const> parts = tuple_items(*item, "an operator");
      if (parts.size() != 2 && parts.size() != 3)
        corrupt("an operator should be (name, overload, arguments)");
      bytecode::OperatorUse use;
      use.name = parts[0]->as_string();
      use.overload = parts[1]->as_string();
      if (parts.size() == 3) use.specified = parts[2]->as_int();
      code.operators.push_back(std::move(use));
    }
  }

  void read_schema(const Node& node, Code& code) {
    const std::span<Node* const> table = tuple_items(node, "the schema of a function");
    bytecode::FunctionSchema schema;
    const auto read_arguments = [&](const Node& items, std::vector<bytecode::SchemaArgument>& to) {
      for (const Node* item : tuple_items(items, "arguments")) {
        const std::span<Node* const> argument = tuple_items(*item, "an argument");
        bytecode::SchemaArgument made;
        made.name = field(argument, 0, "name").as_string();
        made.type = field(argument, 1, "type").as_string();
        made.default_value = read_constant_(field(argument, 2, "default_value"));
        to.push_back(std::move(made));
      }
    };
    read_arguments(field(table, 0, "arguments"), schema.arguments);
    read_arguments(field(table, 1, "returns"), schema.returns);
    code.schema = std::move(schema);
  }

  const ReadConstant& read_constant_;
  std::unordered_map<std::string_view, Opcode> opcodes_;
};

}  // namespace

bytecode::Program read_bytecode(const Node& root, int64_t operator_version,
                                const ReadConstant& read_constant) {
  const std::span<Node* const> items = tuple_items(root, "bytecode");
  if (items.empty()) corrupt("bytecode without a version or a function");
  bytecode::Program program;
  program.operator_version = operator_version;
  program.version = bytecode::kOldestVersion;  // the one that does not say so
  size_t first = 0;
  if (items[0]->is(Kind::kInt)) {
    program.version = items[0]->as_int();
    first = 1;
  }
  if (program.version < bytecode::kOldestVersion || program.version > bytecode::kNewestVersion) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("bytecode of version {}; {} to {} are known", program.version,
                            bytecode::kOldestVersion, bytecode::kNewestVersion),
                program.version > bytecode::kNewestVersion ? "a newer Flambeau may know it" : "");
  }
  CodeReader reader(read_constant);
  for (const Node* item : items.subspan(first))
    program.functions.push_back(reader.read(*item, program.version >= 4));
  return program;
}

void read_debug_handles(const Node& root, bytecode::Program& program) {
  const std::span<Node* const> items = tuple_items(root, "debug handles");
  std::unordered_map<std::string_view, Code*> by_name;
  for (Code& code : program.functions) by_name.emplace(code.name, &code);
  for (const Node* item : items) {
    if (!item->is(Kind::kTuple) || item->items().size() != 2) continue;
    const auto found = by_name.find(item->items()[0]->as_string());
    if (found == by_name.end()) continue;
    const Node* handles =
        &field(tuple_items(*item->items()[1], "debug handles"), 0, "function_debug_handles");
    // ([...],), the list being one of TorchScript's.
    if (handles->is(Kind::kTuple) && handles->items().size() == 1) handles = handles->items()[0];
    if (handles->is(Kind::kCall)) {
      const Node& arguments = *handles->as_call().args;
      if (!arguments.is(Kind::kTuple) || arguments.items().size() != 1) continue;
      handles = arguments.items()[0];
    }
    if (!handles->is(Kind::kList) && !handles->is(Kind::kTuple)) continue;
    std::vector<int64_t> numbers;
    for (const Node* handle : handles->items()) numbers.push_back(handle->as_int());
    if (numbers.size() == found->second->instructions.size())
      found->second->debug_handles = std::move(numbers);
  }
}

}  // namespace flambeau::script
