#include "flambeau/script/bytecode/lift.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/script/bytecode/emit.h"
#include "flambeau/script/ir/text.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script::bytecode {
namespace {

std::shared_ptr<Unit> new_unit() { return std::make_shared<Unit>(std::make_shared<const SchemaTable>()); }

// f(int x) -> int; operators: 0 aten::add.int, 1 aten::gt.int; constants: 1, 0, True.
Code function_of(std::vector<Instruction> instructions, int64_t registers = 4) {
  Code code;
  code.name = "__torch__.M.f";
  code.instructions = std::move(instructions);
  code.operators = {{"aten::add", "int", 2}, {"aten::gt", "int", 2}};
  code.constants = {IValue(1), IValue(0), IValue(true)};
  code.register_count = registers;
  FunctionSchema schema;
  schema.arguments = {{"x", "int", {}}};
  schema.returns = {{"", "int", {}}};
  code.schema = schema;
  return code;
}

std::string lifted(const Code& code) {
  const std::shared_ptr<Unit> unit = new_unit();
  return ir::to_text(*lift(code, signature_of(code, *unit), *unit));
}

std::string refusal(std::vector<Instruction> instructions, int64_t registers = 4) {
  try {
    lifted(function_of(std::move(instructions), registers));
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Lift, BranchesAndLoopsComeBackAsTheyWere) {
  // x = x + 1 if x > 1 else x, as the emitter writes it.
  const std::vector<std::vector<Instruction>> codes = {
      {{Opcode::kStore, 1},
       {Opcode::kMove, 1},
       {Opcode::kLoadConstant, 0},
       {Opcode::kOp, 0},
       {Opcode::kReturn}},
      {{Opcode::kStore, 1},
       {Opcode::kLoad, 1},
       {Opcode::kLoadConstant, 0},
       {Opcode::kOp, 1},
       {Opcode::kJumpFalse, 5},
       {Opcode::kLoad, 1},
       {Opcode::kLoadConstant, 0},
       {Opcode::kOp, 0},
       {Opcode::kJump, 2},
       {Opcode::kLoad, 1},
       {Opcode::kStore, 2},
       {Opcode::kDropRegister, 1},
       {Opcode::kMove, 2},
       {Opcode::kReturn}},
  };
  for (const std::vector<Instruction>& instructions : codes) {
    Code code = function_of(instructions);
    const std::shared_ptr<Unit> unit = new_unit();
    const std::shared_ptr<ir::Graph> graph = lift(code, signature_of(code, *unit), *unit);
    graph->check();
    const Code emitted = emit(*graph, *unit, emit_mode(8));
    const Code again = [&] {
      Code copy = emitted;
      copy.name = code.name;
      copy.schema = code.schema;
      return emit(*lift(copy, signature_of(copy, *unit), *unit), *unit, emit_mode(8));
    }();
    EXPECT_EQ(to_string(emitted), to_string(again));
    EXPECT_EQ(emitted.instructions.back().opcode, Opcode::kReturn);
  }
}

TEST(Lift, LoopsCarryValues) {
  const Code code = function_of({{Opcode::kStore, 1},
                                 {Opcode::kLoadConstant, 1},
                                 {Opcode::kLoad, 1},
                                 {Opcode::kLoadConstant, 2},
                                 {Opcode::kMove, 1},
                                 {Opcode::kLoop, 7, 3},
                                 {Opcode::kStoreN, 2, 2},
                                 {Opcode::kLoadConstant, 2},
                                 {Opcode::kMove, 2},
                                 {Opcode::kMove, 3},
                                 {Opcode::kOp, 0},
                                 {Opcode::kJump, -6},
                                 {Opcode::kReturn}});
  const std::string text = lifted(code);
  EXPECT_NE(text.find("prim::Loop"), std::string::npos) << text;
  EXPECT_NE(text.find("aten::add"), std::string::npos) << text;
}

TEST(Lift, RefusesJumpsThatLeaveTheirBlock) {
  EXPECT_NE(
      refusal({{Opcode::kStore, 1}, {Opcode::kLoadConstant, 2}, {Opcode::kJumpFalse, 90}, {Opcode::kReturn}})
          .find("jumps to 92, outside of its block"),
      std::string::npos);
  EXPECT_NE(refusal({{Opcode::kJump, -1}, {Opcode::kReturn}}).find("belongs to no branch and no loop"),
            std::string::npos);
  EXPECT_NE(refusal({{Opcode::kLoadConstant, 2}, {Opcode::kJumpFalse, 2}, {Opcode::kDrop}, {Opcode::kReturn}})
                .find("a JMP is expected before"),
            std::string::npos);
  EXPECT_NE(refusal({{Opcode::kStore, 1}}).find("does not end with RET"), std::string::npos);
  EXPECT_NE(refusal({{Opcode::kReturn}, {Opcode::kReturn}}).find("RET stands before the end"),
            std::string::npos);
}

TEST(Lift, RefusesStacksOfTheWrongHeight) {
  EXPECT_NE(refusal({{Opcode::kDrop}, {Opcode::kDrop}, {Opcode::kReturn}}).find("the stack is empty"),
            std::string::npos);
  EXPECT_NE(refusal({{Opcode::kOp, 0}, {Opcode::kReturn}}).find("2 values are taken, and 1 are on the stack"),
            std::string::npos);
  EXPECT_NE(refusal({{Opcode::kLoadConstant, 0}, {Opcode::kReturn}}).find("2 are on the stack at its end"),
            std::string::npos);
  EXPECT_NE(refusal({{Opcode::kLoadConstant, 2},
                     {Opcode::kJumpFalse, 3},
                     {Opcode::kLoadConstant, 0},
                     {Opcode::kJump, 1},
                     {Opcode::kReturn}})
                .find("one branch leaves 1 values on the stack, the other 0"),
            std::string::npos);
}

TEST(Lift, RefusesRegistersWithoutAValue) {
  EXPECT_NE(refusal({{Opcode::kLoad, 1}, {Opcode::kReturn}}).find("register 1"), std::string::npos);
  EXPECT_NE(refusal({{Opcode::kStore, 9}, {Opcode::kReturn}}).find("register 9"), std::string::npos);
  EXPECT_NE(refusal({{Opcode::kStore, 1}, {Opcode::kMove, 1}, {Opcode::kLoad, 1}, {Opcode::kReturn}})
                .find("is read where it has no value"),
            std::string::npos);
  EXPECT_NE(refusal({{Opcode::kStore, 1}, {Opcode::kReturn}}, -1).find("-1 registers"), std::string::npos);
}

TEST(Lift, RefusesIndicesOutsideOfTheirTables) {
  EXPECT_NE(refusal({{Opcode::kOp, 2}, {Opcode::kReturn}}).find("operator 2, of 2"), std::string::npos);
  EXPECT_NE(refusal({{Opcode::kLoadConstant, -1}, {Opcode::kReturn}}).find("constant -1, of 3"),
            std::string::npos);
  EXPECT_NE(refusal({{Opcode::kListConstruct, 0, 1}, {Opcode::kReturn}}).find("type 0, of 0"),
            std::string::npos);
  EXPECT_NE(refusal({{Opcode::kGetAttribute, 0}, {Opcode::kReturn}}).find("no object of a known class"),
            std::string::npos);
}

TEST(Lift, RefusesConditionsThatAreNoBooleans) {
  EXPECT_NE(refusal({{Opcode::kJumpFalse, 2}, {Opcode::kJump, 1}, {Opcode::kReturn}})
                .find("the condition of a branch should be of type bool, found int"),
            std::string::npos);
}

TEST(Lift, NamesTheInstruction) {
  EXPECT_NE(refusal({{Opcode::kDrop}, {Opcode::kDrop}, {Opcode::kReturn}}).find("1 (DROP)"),
            std::string::npos);
}

TEST(Lift, BranchesThatAreNeverTakenGo) {
  const Code code = function_of({{Opcode::kStore, 1},
                                 {Opcode::kLoadConstant, 2},
                                 {Opcode::kJumpFalse, 3},
                                 {Opcode::kMove, 1},
                                 {Opcode::kJump, 2},
                                 {Opcode::kLoadConstant, 0},
                                 {Opcode::kReturn}});
  const std::string text = lifted(code);
  EXPECT_EQ(text.find("prim::If"), std::string::npos) << text;
  EXPECT_NE(text.find("return (%x)"), std::string::npos) << text;
}

TEST(Lift, WhatWasNeverGivenAValueIsOfTheOtherBranchsType) {
  const Code code = function_of({{Opcode::kStore, 1},
                                 {Opcode::kLoad, 1},
                                 {Opcode::kLoadConstant, 0},
                                 {Opcode::kOp, 1},
                                 {Opcode::kJumpFalse, 3},
                                 {Opcode::kMove, 1},
                                 {Opcode::kJump, 2},
                                 {Opcode::kUninitialized},
                                 {Opcode::kReturn}});
  const std::string text = lifted(code);
  EXPECT_NE(text.find(" : int = prim::If("), std::string::npos) << text;
  EXPECT_NE(text.find(" : int = prim::Uninitialized()"), std::string::npos) << text;
}

TEST(Lift, UnknownOperatorsAreNamed) {
  Code code = function_of({{Opcode::kOp, 0}, {Opcode::kReturn}});
  code.operators[0].name = "aten::nosuch";
  try {
    lifted(code);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the operator aten::nosuch.int is not known"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace flambeau::script::bytecode
