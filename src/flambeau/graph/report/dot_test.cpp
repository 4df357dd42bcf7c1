#include "flambeau/graph/report/dot.h"

#include <gtest/gtest.h>

#include "flambeau/graph/text/parse.h"

namespace flambeau::graph {
namespace {

constexpr std::string_view kProgram = R"(ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, p_w: "f32[4]", x: "f32[s0, 4]"):
            #| nn_module_stack = 'L__self__,,Model;L__self___layer,layer "1",Linear'
            mul: "f32[s0, 4]" = torch.ops.aten.mul.Tensor(x, p_w)
            #| nn_module_stack = 'L__self__,,Model'
            relu: "f32[s0, 4]" = torch.ops.aten.relu.default(mul)
            body = self.body
            wrap: "f32[s0, 4]" = torch.ops.higher_order.wrap(body, relu)  #| single
            return (wrap, ghost)

        class body(torch.nn.Module):
            def forward(self, y: "f32[s0, 4]"):
                return (y,)
Graph signature:
    # inputs
    p_w: PARAMETER target='layer.w'
    x: USER_INPUT
)";

TEST(Dot, DrawsNodesEdgesAndSubgraphs) {
  EXPECT_EQ(to_dot(parse_text(kProgram)), R"(digraph program {
  node [shape=box, style=rounded, fontname="sans-serif"];
  edge [fontname="sans-serif", fontsize=10];
  "g.input0" [label="layer.w", shape=cylinder, style=filled, fillcolor="#cfe8cf"];
  "g.input1" [label="x", shape=ellipse, style=filled, fillcolor="#cfe2f3"];
  "g.node0" [label="aten.mul.Tensor\nmul"];
  "g.node1" [label="aten.relu\nrelu"];
  "g.node2" [label="wrap\nwrap"];
  subgraph "cluster_s0" {
    label="body"; style=filled; color="#f5f5f5";
    "s0.input0" [label="y", shape=ellipse];
    "s0.output0" [label="y", shape=ellipse, style=filled, fillcolor="#f4cccc"];
  }
  "g.output0" [label="wrap", shape=ellipse, style=filled, fillcolor="#f4cccc"];
  "g.output1" [label="ghost", shape=ellipse, style=filled, fillcolor="#f4cccc"];
  "g.output1?ghost" [label="ghost?", style=dashed, color=red];
  "g.input1" -> "g.node0" [label="f32[s0, 4]"];
  "g.input0" -> "g.node0" [label="f32[4]"];
  "g.node0" -> "g.node1" [label="f32[s0, 4]"];
  "s0.input0" -> "s0.output0" [label="f32[s0, 4]"];
  "g.node2" -> "s0.input0" [style=dotted, label="body"];
  "g.node1" -> "g.node2" [label="f32[s0, 4]"];
  "g.node2" -> "g.output0" [label="f32[s0, 4]"];
  "g.output1?ghost" -> "g.output1";
}
)");
}

TEST(Dot, NestsModules) {
  const std::string text = to_dot(parse_text(kProgram), {.modules = true, .shapes = false});
  EXPECT_NE(text.find(R"(  subgraph "cluster_module_0" {
    label="layer \"1\""; style=dashed; color=gray;
    "g.node0" [label="aten.mul.Tensor\nmul"];
  }
  "g.node1" [label="aten.relu\nrelu"];)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\"g.node0\" -> \"g.node1\";"), std::string::npos);
}

TEST(Dot, EscapesWhatIsInNames) {
  ExportedProgram program;
  program.graph().append(
      "a\"b\\c\nd\x01"
      "e");
  EXPECT_NE(to_dot(program).find(R"([label="a\"b\\c\nd e\na\"b\\c\nd e"])"), std::string::npos)
      << to_dot(program);
}

}  // namespace
}  // namespace flambeau::graph
