#include "flambeau/graph/text/print.h"

#include <gtest/gtest.h>

#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/graph/text/names.h"
#include "flambeau/graph/text/python.h"

namespace flambeau::graph {
namespace {

using K = ArgumentKind;

TensorMeta tensor(std::vector<SymInt> sizes, std::vector<SymInt> strides, DType dtype = DType::kFloat32) {
  TensorMeta meta;
  meta.dtype = dtype;
  meta.sizes = std::move(sizes);
  meta.strides = std::move(strides);
  return meta;
}

SymInt plain_symbol(std::string name) {
  SymExpr expr;
  expr.text = "Symbol('" + name + "', positive=True, integer=True)";
  expr.hint = int64_t{5};
  return SymInt(std::make_shared<const SymExpr>(std::move(expr)));
}

void add_input(ExportedProgram& program, InputKind kind, Argument argument, std::string target) {
  InputSpec& spec = program.signature.inputs.emplace_back();
  spec.kind = kind;
  spec.argument = std::move(argument);
  spec.target = std::move(target);
}

void add_output(ExportedProgram& program, Argument argument) {
  program.signature.outputs.emplace_back().argument = std::move(argument);
}

// x, a weight w; split into two, the halves added; w and a constant among the outputs.
ExportedProgram small_program() {
  ExportedProgram program;
  Graph& graph = program.graph();
  Value& w = graph.add_value("p_w", tensor({4}, {1}));
  Value& x = graph.add_value("x", tensor({plain_symbol("s77"), 4}, {4, 1}));
  graph.add_input(Argument::tensor(w));
  graph.add_input(Argument::tensor(x));
  Node& split = graph.append("torch.ops.aten.split.Tensor");
  split.name = "split";
  split.metadata = {
      {"stack_trace",
       "  File \"a.py\", line 3, in outer\n    f(x)\n  File \"b \\\"c.py\", line 12, in forward\n"
       "    a, b = x.split(2, 1)\n"}};
  split.add_input("self", Argument::tensor(x));
  split.add_input("split_size", Argument::make<K::kInt>(2));
  split.add_input("dim", Argument::make<K::kInt>(1));
  Value& a = graph.add_value("getitem", tensor({plain_symbol("s77"), 2}, {4, 1}));
  Value& b = graph.add_value("getitem_1", tensor({plain_symbol("s77"), 2}, {4, 1}));
  std::vector<ValueRef> halves;
  halves.emplace_back(a);
  halves.emplace_back(b);
  split.add_output(Argument::make<K::kTensors>(std::move(halves)));
  Node& add = graph.append("torch.ops.aten.add.Tensor");
  add.name = "add";
  add.add_input("self", Argument::tensor(a));
  add.add_input("other", Argument::tensor(b));
  add.add_input("alpha", Argument::make<K::kFloat>(0.5), PassedBy::kKeyword);
  Value& sum = graph.add_value("add", tensor({plain_symbol("s77"), 2}, {2, 1}));
  add.add_output(Argument::tensor(sum));
  graph.add_output(Argument::tensor(sum));
  graph.add_output(Argument::tensor(w));
  graph.add_output(Argument::make<K::kInt>(3));
  add_input(program, InputKind::kParameter, Argument::tensor(w), "w");
  add_input(program, InputKind::kUserInput, Argument::tensor(x), "");
  add_output(program, Argument::tensor(sum));
  add_output(program, Argument::tensor(w));
  add_output(program, Argument::make<K::kInt>(3));
  program.range_constraints.push_back({"s77", {2, 100}});
  program.range_constraints.push_back({"s99", {2, std::nullopt}});
  return program;
}

TEST(TextPrint, IsWhatPyTorchPrints) {
  EXPECT_EQ(to_text(small_program()),
            R"(ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, p_w: "f32[4]", x: "f32[s77, 4]"):
            # File: b \"c.py:12 in forward, code: a, b = x.split(2, 1)
            split = torch.ops.aten.split.Tensor(x, 2, 1);  x = None
            getitem: "f32[s77, 2]" = split[0]
            getitem_1: "f32[s77, 2]" = split[1];  split = None
    
            # No stacktrace found for following nodes
            add: "f32[s77, 2]" = torch.ops.aten.add.Tensor(getitem, getitem_1, alpha = 0.5);  getitem = getitem_1 = None
            return (add, p_w, 3)
    
Graph signature: 
    # inputs
    p_w: PARAMETER target='w'
    x: USER_INPUT
    
    # outputs
    add: USER_OUTPUT
    p_w: USER_OUTPUT
    : USER_OUTPUT
    
Range constraints: {s77: VR[2, 100]}
)");
}

TEST(TextPrint, ShowsStridesAndDevicesWhenAsked) {
  const std::string text = to_text(small_program(), {.strides = true, .devices = true});
  EXPECT_NE(text.find(R"(getitem: "f32[s77, 2][4, 1]cpu" = split[0])"), std::string::npos) << text;
}

TEST(TextPrint, TheLosslessFormHasTheRest) {
  EXPECT_EQ(to_text(small_program(), {.lossless = true}),
            R"text(#| flambeau text 1
ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, p_w: "f32[4]", x: "f32[s77, 4]"):
            # File: b \"c.py:12 in forward, code: a, b = x.split(2, 1)
            #| stack_trace = @1
            split = torch.ops.aten.split.Tensor(x, 2, 1)  #| (self, split_size, dim); -> list
            getitem: "f32[s77, 2]" = split[0]  #| item; strides '[4, 1]'
            getitem_1: "f32[s77, 2]" = split[1]  #| item; strides '[4, 1]'
    
            # No stacktrace found for following nodes
            add: "f32[s77, 2]" = torch.ops.aten.add.Tensor(getitem, getitem_1, alpha = 0.5)  #| (self, other, alpha=)
            return (add, p_w, 3)
    
Graph signature: 
    # inputs
    p_w: PARAMETER target='w'
    x: USER_INPUT
    
    # outputs
    add: USER_OUTPUT
    p_w: USER_OUTPUT
    : USER_OUTPUT  #| = 3
    
Range constraints: {s77: VR[2, 100], s99: VR[2, int_oo]}
Expressions:
    's77' = "Symbol('s77', positive=True, integer=True)" hint 5
Schema version: 8.20
Texts:
    @1 = '  File "a.py", line 3, in outer\n    f(x)\n  File "b \\"c.py", line 12, in forward\n    a, b = x.split(2, 1)\n'
)text");
}

TEST(TextPrint, AGraphOutsideANodeHasNoPlaceInTheLosslessForm) {
  ExportedProgram program;
  GraphArgument inner;
  inner.name = "inner";
  inner.graph = std::make_unique<Graph>();
  program.graph().add_output(Argument::make<K::kGraph>(std::move(inner)));
  to_text(program);
  try {
    to_text(program, {.lossless = true});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the graph 'inner' is no argument of a node: the text form has no place for it");
  }
}

TEST(TextNames, AreTheOnesOfPyTorch) {
  TextNamespace names;
  EXPECT_EQ(names.create("add"), "add");
  EXPECT_EQ(names.create("add"), "add_1");
  EXPECT_EQ(names.create("add_1"), "add_2");
  EXPECT_EQ(names.create("add_7"), "add_7");
  EXPECT_EQ(names.create("add"), "add_8");
  EXPECT_EQ(names.create("input"), "input_1");
  EXPECT_EQ(names.create("nan"), "nan_1");
  EXPECT_EQ(names.create("a..b-c"), "a_b_c");
  EXPECT_EQ(names.create("3d"), "_3d");
  EXPECT_EQ(names.create(""), "_unnamed");
  EXPECT_EQ(names.create("_1"), "_1");
  EXPECT_EQ(names.create("_1"), "_1_1");
  EXPECT_EQ(name_for_target(Target("torch.ops.aten.split.Tensor")), "split.tensor");
  EXPECT_EQ(name_for_target(Target("torch.ops.higher_order.cond")), "cond");
  EXPECT_EQ(name_for_target(Target("torch.ops.aten.newView.default")), "new_view.default");
  EXPECT_EQ(name_for_target(Target("_operator.mul")), "mul");
}

TEST(TextPython, SpellsConstantsAsPythonDoes) {
  EXPECT_EQ(python_repr(std::string_view("it's")), R"("it's")");
  EXPECT_EQ(python_repr(std::string_view("'\"")), R"('\'"')");
  EXPECT_EQ(python_repr(std::string_view("a\n\t\r\\\x01\x7f")), R"('a\n\t\r\\\x01\x7f')");
  EXPECT_EQ(python_repr(std::string_view("h\xc3\xa9 \xf0\x9f\x94\xa5")), "'h\xc3\xa9 \xf0\x9f\x94\xa5'");
  EXPECT_EQ(python_repr(std::string_view("\xc2\xad\xe2\x80\xa8\xed\xa0\x80\xf3\xa0\x80\x81")),
            R"('\xad\u2028\ud800\U000e0001')");
  EXPECT_EQ(python_repr(1e16), "1e+16");
  EXPECT_EQ(python_repr(-0.0), "-0.0");
  EXPECT_EQ(python_repr(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(python_repr(std::complex<double>(0, 2)), "2j");
  EXPECT_EQ(python_repr(std::complex<double>(-0.0, -2.5)), "(-0-2.5j)");
  EXPECT_EQ(python_repr(std::complex<double>(1, std::numeric_limits<double>::quiet_NaN())), "(1+nanj)");
  EXPECT_EQ(python_repr(json::parse(R"({"a": [1, 2.5, null, true], "b": "it's"})")),
            R"({'a': [1, 2.5, None, True], 'b': "it's"})");
  EXPECT_EQ(short_dtype_name(DType::kBFloat16), "bf16");
  EXPECT_EQ(dtype_from_short_name("b8"), DType::kBool);
  EXPECT_FALSE(dtype_from_short_name("f7"));
}

}  // namespace
}  // namespace flambeau::graph
