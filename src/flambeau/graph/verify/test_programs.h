// A small valid program that has a bit of everything, for the tests of the verifier to break.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/graph/program.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau::graph {

inline SymInt symbol(const std::string& text, std::optional<int64_t> hint = 2) {
  SymExpr expr{text, {}};
  if (hint) expr.hint = *hint;
  return SymInt(std::make_shared<const SymExpr>(std::move(expr)));
}
inline SymInt batch() { return symbol("Symbol('s77', positive=True, integer=True)"); }

// Contiguous, the first size may be a symbol.
inline TensorMeta tensor_meta(std::vector<SymInt> sizes, DType dtype = DType::kFloat32) {
  TensorMeta meta;
  meta.dtype = dtype;
  meta.strides.resize(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    meta.strides[i] = stride;
    if (sizes[i].is_literal()) stride *= sizes[i].literal();
  }
  meta.sizes = std::move(sizes);
  return meta;
}

inline Argument tensors(std::vector<Value*> values) {
  std::vector<ValueRef> refs;
  for (Value* value : values) refs.emplace_back(*value);
  return Argument::make<ArgumentKind::kTensors>(std::move(refs));
}
inline Argument integer(int64_t number) { return Argument::make<ArgumentKind::kInt>(number); }
inline Argument text(std::string words) { return Argument::make<ArgumentKind::kString>(std::move(words)); }
inline Argument sym_bool(Value& value) {
  return Argument::make<ArgumentKind::kSymBool>(SymArgument<bool>(value));
}

struct Input {
  std::string name;
  Argument argument;
  PassedBy passed_by = PassedBy::kPositional;
};

// Appends a node of the name of its first output.
inline Node& call(Graph& graph, std::string name, std::string target, std::vector<Input> inputs,
                  std::vector<Argument> outputs) {
  Node& node = graph.append(std::move(target));
  node.name = std::move(name);
  node.metadata = {{"stack_trace", "model.py"}, {"nn_module_stack", "L__self__,,torch.nn.Linear[a,b]"}};
  for (Input& input : inputs) node.add_input(input.name, std::move(input.argument), input.passed_by);
  for (Argument& output : outputs) node.add_output(std::move(output));
  return node;
}
inline Value& call_tensor(Graph& graph, const std::string& name, const std::string& target,
                          std::vector<Input> inputs, TensorMeta meta) {
  Value& value = graph.add_value(name, std::move(meta));
  std::vector<Argument> outputs;
  outputs.push_back(Argument::tensor(value));
  call(graph, name, "torch.ops." + target, std::move(inputs), std::move(outputs));
  return value;
}
template <typename... Inputs>
std::vector<Input> given(Inputs... inputs) {
  std::vector<Input> list;
  (list.push_back(std::move(inputs)), ...);
  return list;
}
template <typename... Arguments>
std::vector<Argument> arguments(Arguments... all) {
  std::vector<Argument> list;
  (list.push_back(std::move(all)), ...);
  return list;
}

// A graph of one input that calls one operator of one argument.
inline Argument unary_graph(const std::string& name, const std::string& target, const TensorMeta& meta,
                            const TensorMeta& result) {
  GraphArgument argument;
  argument.name = name;
  argument.graph = std::make_unique<Graph>();
  Graph& graph = *argument.graph;
  Value& in = graph.add_value("arg0_1", meta);
  graph.add_input(Argument::tensor(in));
  Value& out =
      call_tensor(graph, "inner", "aten." + target, given(Input{"self", Argument::tensor(in)}), result);
  graph.add_output(Argument::tensor(out));
  return Argument::make<ArgumentKind::kGraph>(std::move(argument));
}

inline std::string tree_of_leaves(size_t count, const char* type = "builtins.tuple") {
  std::string text = std::string(R"([1, {"type": ")") + type + R"(", "context": "null", "children_spec": [)";
  for (size_t i = 0; i < count; ++i)
    text += std::string(i == 0 ? "" : ", ") + R"({"type": null, "context": null, "children_spec": []})";
  return text + "]}]";
}

inline void add_input(ExportedProgram& program, InputKind kind, const std::string& name,
                      const std::string& target, TensorMeta meta) {
  Value& value = program.graph().add_value(name, std::move(meta));
  program.graph().add_input(Argument::tensor(value));
  InputSpec spec;
  spec.kind = kind;
  spec.argument = Argument::tensor(value);
  spec.target = target;
  program.signature.inputs.push_back(std::move(spec));
}

inline void add_output(ExportedProgram& program, OutputKind kind, Argument output, Argument named,
                       const std::string& target = "") {
  program.graph().add_output(std::move(output));
  OutputSpec spec;
  spec.kind = kind;
  spec.argument = std::move(named);
  spec.target = target;
  program.signature.outputs.push_back(std::move(spec));
}

// def forward(x, three): a parameter, a buffer that is added to, a constant, a symbolic size, a branch, a
// loop.
inline ExportedProgram valid_program() {
  ExportedProgram program;
  Graph& graph = program.graph();
  TensorMeta weight_meta = tensor_meta({4, 3});
  weight_meta.requires_grad = true;
  add_input(program, InputKind::kParameter, "p_weight", "linear.weight", weight_meta);
  add_input(program, InputKind::kBuffer, "b_total", "total", tensor_meta({2}));
  add_input(program, InputKind::kTensorConstant, "c_scale", "scale", tensor_meta({4}));
  add_input(program, InputKind::kUserInput, "x", "", tensor_meta({batch(), 3}));
  graph.add_input(integer(3));
  InputSpec three;
  three.kind = InputKind::kConstantInput;
  three.target = "three";
  three.value = int64_t{3};
  program.signature.inputs.push_back(std::move(three));
  Value& x = *graph.find("x");
  Value& total = *graph.find("b_total");

  Value& size = graph.add_value("sym_size_int_1", batch());
  call(graph, "sym_size_int_1", "torch.ops.aten.sym_size.int",
       given(Input{"self", Argument::tensor(x)}, Input{"dim", integer(0)}),
       arguments(Argument::sym_int(size)));
  Value& next =
      graph.add_value("add", symbol("Add(Symbol('s77', positive=True, integer=True), Integer(1))", 3));
  call(graph, "add", "_operator.add", given(Input{"a", Argument::sym_int(size)}, Input{"b", integer(1)}),
       arguments(Argument::sym_int(next)));
  Value& positive = graph.add_value("ge", SymBool(true));
  call(graph, "ge", "_operator.ge", given(Input{"a", Argument::sym_int(size)}, Input{"b", integer(0)}),
       arguments(sym_bool(positive)));
  call(graph, "_assert_scalar_default", "torch.ops.aten._assert_scalar.default",
       given(Input{"self", sym_bool(positive)}, Input{"assert_msg", text("x is empty")}), {});

  const TensorMeta rows = tensor_meta({batch(), 4});
  const TensorMeta half = tensor_meta({batch(), 2});
  const TensorMeta truth = tensor_meta({}, DType::kBool);
  Value& linear = call_tensor(
      graph, "linear", "aten.linear.default",
      given(Input{"input", Argument::tensor(x)}, Input{"weight", Argument::tensor(*graph.find("p_weight"))}),
      rows);
  Value& mul = call_tensor(graph, "mul", "aten.mul.Tensor",
                           given(Input{"self", Argument::tensor(linear)},
                                 Input{"other", Argument::tensor(*graph.find("c_scale"))}),
                           rows);
  Value& left = graph.add_value("getitem", half);
  Value& right = graph.add_value("getitem_1", half);
  call(graph, "split", "torch.ops.aten.split.Tensor",
       given(Input{"self", Argument::tensor(mul)}, Input{"split_size", integer(2)}, Input{"dim", integer(1)}),
       arguments(tensors({&left, &right})));
  Value& any =
      call_tensor(graph, "any_1", "aten.any.default", given(Input{"self", Argument::tensor(mul)}), truth);

  Value& branched = graph.add_value("getitem_2", half);
  call(graph, "cond", "torch.ops.higher_order.cond",
       given(Input{"", Argument::tensor(any)},
             Input{"", unary_graph("true_graph_0", "sin.default", half, half)},
             Input{"", unary_graph("false_graph_0", "cos.default", half, half)}, Input{"", tensors({&left})}),
       arguments(Argument::tensor(branched)));
  Value& looped = graph.add_value("getitem_3", half);
  call(graph, "while_loop", "torch.ops.higher_order.while_loop",
       given(Input{"", unary_graph("cond_graph_0", "any.default", half, truth)},
             Input{"", unary_graph("body_graph_0", "exp.default", half, half)}, Input{"", tensors({&right})},
             Input{"", tensors({})}),
       arguments(Argument::tensor(looped)));

  Value& mean = call_tensor(graph, "mean", "aten.mean.dim",
                            given(Input{"self", Argument::tensor(branched)},
                                  Input{"dim", Argument::make<ArgumentKind::kInts>(std::vector<int64_t>{0})}),
                            tensor_meta({2}));
  Value& sum =
      call_tensor(graph, "add_1", "aten.add.Tensor",
                  given(Input{"self", Argument::tensor(total)}, Input{"other", Argument::tensor(mean)},
                        Input{"alpha", integer(2), PassedBy::kKeyword}),
                  tensor_meta({2}));
  add_output(program, OutputKind::kBufferMutation, Argument::tensor(sum), Argument::tensor(sum), "total");
  add_output(program, OutputKind::kUserOutput, Argument::tensor(looped), Argument::tensor(looped));
  add_output(program, OutputKind::kUserOutput, Argument::sym_int(next), Argument::sym_int(next));

  ModuleCallSignature root;
  root.in_spec = tree_of_leaves(2);
  root.out_spec = tree_of_leaves(2);
  ModuleCallEntry entry;
  entry.signature = std::move(root);
  program.module_call_graph.push_back(std::move(entry));
  program.opset_version = {{"aten", 10}};
  RangeConstraint range;
  range.min = 0;
  range.max = 64;
  program.range_constraints.emplace_back("s77", range);
  program.verifiers = {"ATEN"};
  program.guards_code = {"L['x'].size()[1] == 3"};
  const std::vector<int64_t> matrix = {4, 3};
  const std::vector<int64_t> two = {2};
  const std::vector<int64_t> four = {4};
  program.state_dict.push_back({"linear.weight", Tensor::zeros(DType::kFloat32, matrix), true});
  program.state_dict.push_back({"total", Tensor::zeros(DType::kFloat32, two), false});
  program.constants.push_back({"scale", Tensor::zeros(DType::kFloat32, four), false});
  return program;
}

}  // namespace flambeau::graph
