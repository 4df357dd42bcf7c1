#include "flambeau/graph/report/compare.h"

#include <gtest/gtest.h>

#include <chrono>

#include "flambeau/graph/report/canonical.h"
#include "flambeau/graph/verify/test_programs.h"
#include "support/patience.h"

namespace flambeau::graph {
namespace {

using Lines = std::vector<std::string>;

Lines differences(const ExportedProgram& a, const ExportedProgram& b) {
  Lines lines;
  for (const ProgramDifference& each : compare_programs(a, b).differences) {
    lines.push_back(each.part + " '" + each.name + "' " + each.status + ": " + each.detail);
  }
  return lines;
}

// x -> sin -> cos -> ... a chain of so many calls.
ExportedProgram chain(size_t length, const std::string& first = "sin") {
  ExportedProgram program;
  const TensorMeta meta = tensor_meta({2});
  add_input(program, InputKind::kUserInput, "x", "", meta);
  Value* last = program.graph().find("x");
  for (size_t i = 0; i < length; ++i) {
    last = &call_tensor(program.graph(), "v" + std::to_string(i),
                        "aten." + (i == 0 ? first : "cos") + ".default",
                        given(Input{"self", Argument::tensor(*last)}), meta);
  }
  add_output(program, OutputKind::kUserOutput, Argument::tensor(*last), Argument::tensor(*last));
  return program;
}

TEST(Compare, EqualPrograms) {
  const ExportedProgram program = valid_program();
  const ProgramComparison comparison = compare_programs(program, program.clone());
  EXPECT_TRUE(comparison.differences.empty());
  EXPECT_EQ(comparison.equal_nodes, program.graph().node_count());
  EXPECT_EQ(comparison.follows, 0U);
}

TEST(Compare, NamesAndOrderDoNotMatter) {
  const ExportedProgram program = chain(5);
  ExportedProgram renamed = program.clone();
  renamed.graph().rename(*renamed.graph().find("v2"), "other");
  EXPECT_EQ(differences(program, renamed), Lines());
  EXPECT_EQ(differences(program, canonicalize(program)), Lines());
}

TEST(Compare, OnlyTheCauseIsListed) {
  const ProgramComparison comparison = compare_programs(chain(6), chain(6, "tan"));
  ASSERT_EQ(comparison.differences.size(), 2U);
  EXPECT_EQ(comparison.differences[0].detail, "torch.ops.aten.sin.default(self=x)");
  EXPECT_EQ(comparison.differences[0].status, "only in the first");
  EXPECT_EQ(comparison.differences[1].detail, "torch.ops.aten.tan.default(self=x)");
  EXPECT_EQ(comparison.differences[1].status, "only in the second");
  EXPECT_EQ(comparison.follows, 10U);
  EXPECT_EQ(comparison.equal_nodes, 0U);
}

TEST(Compare, EachPart) {
  const ExportedProgram program = valid_program();
  ExportedProgram other = program.clone();
  other.range_constraints[0].second.max.reset();
  EXPECT_EQ(differences(program, other), Lines{"constraint 's77' different: 0 to 64 and 0 to unbounded"});
  other = program.clone();
  other.guards_code = {"x > 1"};
  EXPECT_EQ(differences(program, other), (Lines{"guard '' only in the first: L['x'].size()[1] == 3",
                                                "guard '' only in the second: x > 1"}));
  other = program.clone();
  other.opset_version[0].second = 11;
  EXPECT_EQ(differences(program, other), Lines{"operator set 'aten' different: 10 and 11"});
  other = program.clone();
  other.graph().find("mul")->tensor()->sizes[1] = int64_t{5};
  EXPECT_EQ(differences(program, other), Lines{"value 'mul' different: f32[s77, 4] and f32[s77, 5]"});
  other = program.clone();
  other.graph().find("x")->tensor()->dtype = DType::kFloat16;
  EXPECT_EQ(differences(program, other),
            Lines{"input 'user input 0' different: f32[s77, 3] and f16[s77, 3]"});
  other = program.clone();
  other.signature.outputs[0].target = "sum";
  EXPECT_EQ(differences(program, other), (Lines{"output 'buffer_mutation 'total'' only in the first: ",
                                                "output 'buffer_mutation 'sum'' only in the second: "}));
}

TEST(Compare, InsideOfSubgraphs) {
  const ExportedProgram program = valid_program();
  ExportedProgram other = program.clone();
  for (Node& node : other.graph().nodes()) {
    if (node.target != "torch.ops.higher_order.cond") continue;
    node.mutable_input(1).get<ArgumentKind::kGraph>().graph->nodes().begin()->target =
        "torch.ops.aten.tan.default";
  }
  const Lines lines = differences(program, other);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].starts_with("node 'cond' only in the first: torch.ops.higher_order.cond("))
      << lines[0];
}

TEST(Compare, LongDescriptionsAreMadeOnce) {
  // One value of 20,000 dimensions, given 5,000 times.
  ExportedProgram program;
  std::vector<SymInt> sizes(20'000, SymInt(1));
  add_input(program, InputKind::kUserInput, "x", "", tensor_meta(sizes));
  Value& x = *program.graph().find("x");
  for (int i = 0; i < 5000; ++i) {
    program.graph().add_input(Argument::tensor(x));
    program.signature.inputs.emplace_back();
    program.graph().append("torch.ops.aten.sin.default").add_output(Argument::tensor(x));
  }
  ExportedProgram other = program.clone();
  other.graph().find("x")->tensor()->sizes.back() = int64_t{2};
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(differences(program, program), Lines());
  const Lines lines = differences(program, other);
  EXPECT_EQ(lines.size(), 10'001U);
  EXPECT_LT(lines[0].size(), 600U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10) * patience());
}

}  // namespace
}  // namespace flambeau::graph
