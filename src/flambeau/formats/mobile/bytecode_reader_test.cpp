#include "flambeau/formats/mobile/bytecode_reader.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"

namespace flambeau::script {
namespace {

using pickle::Node;
using pickle::Tree;

Node* row(Tree& tree, std::string_view key, Node* value) { return tree.tuple({tree.string(key), value}); }

// (version, ("__torch__.M.forward", code)), whose one instruction is given.
Node* bytecode_with(Tree& tree, Node* version, std::string_view opcode, int64_t x, int64_t n) {
  Node* const instruction = tree.tuple({tree.string(opcode), tree.integer(x), tree.integer(n)});
  Node* const code =
      tree.tuple({row(tree, "instructions", tree.tuple({instruction})), row(tree, "operators", tree.tuple()),
                  row(tree, "constants", tree.tuple()), row(tree, "types", tree.tuple()),
                  row(tree, "register_size", tree.integer(1))});
  Node* const function = tree.tuple({tree.string("__torch__.M.forward"), code});
  return version == nullptr ? tree.tuple({function}) : tree.tuple({version, function});
}

bytecode::Program read(const Node& root) {
  return read_bytecode(root, 10, [](const Node&) { return IValue(); });
}
std::string refusal(const Node& root) {
  try {
    read(root);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(BytecodeReader, TheOldestVersionDoesNotSayWhichItIs) {
  Tree tree;
  const bytecode::Program program = read(*bytecode_with(tree, nullptr, "RET", 0, 0));
  EXPECT_EQ(program.version, 3);
  ASSERT_EQ(program.functions.size(), 1U);
  EXPECT_EQ(program.functions[0].name, "__torch__.M.forward");
  EXPECT_EQ(program.functions[0].instructions[0].opcode, bytecode::Opcode::kReturn);
}

TEST(BytecodeReader, RefusesWhatItDoesNotKnow) {
  Tree tree;
  EXPECT_NE(refusal(*bytecode_with(tree, tree.integer(8), "JUMP", 0, 0)).find("'JUMP' is no instruction"),
            std::string::npos);
  EXPECT_NE(
      refusal(*bytecode_with(tree, tree.integer(8), "FORK", 0, 0)).find("FORK is no instruction of mobile"),
      std::string::npos);
  EXPECT_NE(refusal(*bytecode_with(tree, tree.integer(10), "RET", 0, 0)).find("bytecode of version 10"),
            std::string::npos);
  EXPECT_NE(
      refusal(*bytecode_with(tree, tree.integer(8), "RET", int64_t{1} << 40, 0)).find("out of range for X"),
      std::string::npos);
  EXPECT_NE(refusal(*bytecode_with(tree, tree.integer(8), "RET", 0, -1)).find("out of range for N"),
            std::string::npos);
}

TEST(BytecodeReader, RefusesOtherShapes) {
  Tree tree;
  EXPECT_NE(refusal(*tree.tuple()).find("without a version or a function"), std::string::npos);
  EXPECT_NE(refusal(*tree.list()).find("bytecode should be a tuple, found a list"), std::string::npos);
  EXPECT_NE(refusal(*tree.tuple({tree.integer(8), tree.tuple({tree.string("f"), tree.tuple()})}))
                .find("the field 'instructions' is missing"),
            std::string::npos);
}

}  // namespace
}  // namespace flambeau::script
