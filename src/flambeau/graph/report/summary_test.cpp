#include "flambeau/graph/report/summary.h"

#include <gtest/gtest.h>

#include <chrono>

#include "flambeau/graph/verify/test_programs.h"
#include "support/patience.h"

namespace flambeau::graph {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::vector<ProgramSummary::Port>& ports) {
  Lines lines;
  for (const ProgramSummary::Port& port : ports) {
    lines.push_back(port.name + " at " + port.path + ": " + port.type +
                    (port.effect.empty() ? "" : ", " + port.effect));
  }
  return lines;
}

TEST(Summary, APage) {
  const ProgramSummary summary = summarize(valid_program());
  EXPECT_EQ(lines_of(summary.inputs), (Lines{"x at inputs[0]: f32[s77, 3]", "three at inputs[1]: 3"}));
  EXPECT_EQ(lines_of(summary.outputs),
            (Lines{"add_1 at : f32[2], updates buffer 'total'", "getitem_3 at output[0]: f32[s77, 2]",
                   "add at output[1]: Sym(s77 + 1)"}));
  ASSERT_EQ(summary.symbols.size(), 1U);
  EXPECT_EQ(summary.symbols[0].name, "s77");
  EXPECT_EQ(summary.symbols[0].max, 64);
  EXPECT_EQ(summary.symbols[0].example, 2);
  EXPECT_EQ(summary.subgraphs, 4U);
  EXPECT_EQ(summary.nodes, valid_program().graph().node_count() + 4);
  EXPECT_EQ(summary.parameters, 1U);
  EXPECT_EQ(summary.parameter_elements, 12U);
  EXPECT_EQ(summary.parameter_bytes, 48U);
  EXPECT_EQ(summary.buffers, 1U);
  EXPECT_EQ(summary.constants, 1U);
  EXPECT_EQ(summary.constant_bytes, 16U);
  ASSERT_EQ(summary.modules.size(), 2U);
  EXPECT_EQ(summary.modules[0].name, "linear");
  EXPECT_EQ(summary.modules[1].name, "");
  uint64_t calls = 0;
  for (const auto& [name, count] : summary.operators) calls += count;
  EXPECT_EQ(calls, summary.nodes);
}

TEST(Summary, ModulesByDepth) {
  ExportedProgram program;
  for (const char* target : {"a.b.c.w", "a.b.d.w", "a.e", "w"}) {
    add_input(program, InputKind::kParameter, std::string("p_") + target, target, tensor_meta({2, 3}));
  }
  const auto modules = [&](size_t depth) {
    Lines lines;
    for (const ProgramSummary::Module& module : summarize(program, depth).modules) {
      lines.push_back(module.name + "=" + std::to_string(module.elements));
    }
    return lines;
  };
  EXPECT_EQ(modules(0), Lines{"=24"});
  EXPECT_EQ(modules(1), (Lines{"a=18", "=6"}));
  EXPECT_EQ(modules(2), (Lines{"a.b=12", "a=6", "=6"}));
  EXPECT_EQ(modules(9), (Lines{"a.b.c=6", "a.b.d=6", "a=6", "=6"}));
}

TEST(Summary, OddPrograms) {
  const ProgramSummary empty = summarize(ExportedProgram());
  EXPECT_EQ(empty.nodes, 0U);
  EXPECT_EQ(empty.subgraphs, 0U);
  ExportedProgram program;
  // Sizes whose product is no number, and negative ones.
  const int64_t large = int64_t{1} << 62;
  TensorMeta huge = tensor_meta({1, 1});
  huge.sizes = {large, large};
  add_input(program, InputKind::kParameter, "p", "p", huge);
  add_input(program, InputKind::kParameter, "q", "q", tensor_meta({-5, 3}));
  add_input(program, InputKind::kParameter, "r", "r", tensor_meta({batch(), 3}));
  program.signature.inputs.emplace_back().kind = InputKind::kParameter;
  program.signature.outputs.emplace_back().kind = OutputKind::kUserInputMutation;
  const ProgramSummary summary = summarize(program);
  EXPECT_EQ(summary.parameters, 4U);
  EXPECT_EQ(summary.parameter_elements, 0U);
  EXPECT_EQ(lines_of(summary.outputs), Lines{" at : None, updates input '?'"});
}

TEST(Summary, TypesOfValues) {
  TensorMeta meta = tensor_meta({batch(), 3}, DType::kBFloat16);
  meta.device.type = "cuda";
  meta.device.index = 1;
  EXPECT_EQ(type_text(meta), "bf16[s77, 3] on cuda:1");
  Graph graph;
  EXPECT_EQ(type_text(graph.add_value("a", SymFloat(1.5))), "float(1.5)");
  EXPECT_EQ(type_text(graph.add_value("b", SymBool(false))), "False");
  EXPECT_EQ(type_text(graph.add_value("c", CustomObjMeta{"c", "my.Class", {}})), "my.Class");
  EXPECT_EQ(type_text(graph.value("d")), "?");
}

TEST(Summary, LongDescriptionsAreMadeOnceAndCut) {
  ExportedProgram program;
  add_input(program, InputKind::kUserInput, "x", "", tensor_meta(std::vector<SymInt>(20'000, SymInt(1))));
  Value& x = *program.graph().find("x");
  for (int i = 0; i < 20'000; ++i) {
    add_output(program, OutputKind::kUserOutput, Argument::tensor(x), Argument::tensor(x));
  }
  const auto start = std::chrono::steady_clock::now();
  const ProgramSummary summary = summarize(program);
  EXPECT_EQ(summary.outputs.size(), 20'000U);
  EXPECT_LE(summary.outputs[7].type.size(), 203U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5) * patience());
}

}  // namespace
}  // namespace flambeau::graph
