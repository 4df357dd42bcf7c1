// Every rule of the verifier, each by a program that breaks it: one row, one defect.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "flambeau/graph/verify/test_defects.h"
#include "flambeau/graph/verify/verify.h"

namespace flambeau::graph {
namespace {

const Defect kProgramDefects[] = {
    // ---- the signature
    {"an input without entry", [](const Editor& e) { e.program.signature.inputs.pop_back(); },
     "signature-inputs", "signature", "it has 4 inputs, but the graph has 5"},
    {"an output without entry", [](const Editor& e) { e.program.signature.outputs.pop_back(); },
     "signature-outputs", "signature", "it has 2 outputs, but the graph has 3"},
    {"inputs in another order",
     [](const Editor& e) { std::swap(e.program.signature.inputs[0], e.program.signature.inputs[1]); },
     "signature-name", "signature: input 0 ('b_total')",
     "it names 'b_total', but input 0 of the graph is 'p_weight'"},
    {"outputs in another order", [](const Editor& e) { e.reorder_outputs({0, 2, 1}); }, "signature-name",
     "signature: output 1 ('getitem_3')", "it names 'getitem_3', but output 1 of the graph is 'add'"},
    {"a parameter that is a number",
     [](const Editor& e) { e.input(0).argument = Argument::sym_int(e.value("p_weight")); }, "signature-kind",
     "signature: input 0 ('p_weight')", "a parameter is as_sym_int; expected a tensor"},
    {"a mutation by a number",
     [](const Editor& e) { e.output(0).argument = Argument::sym_int(e.value("add_1")); }, "signature-kind",
     "signature: output 0 ('add_1')", "a buffer_mutation is as_sym_int; expected a tensor"},
    {"another constant", [](const Editor& e) { e.input(4).value = int64_t{4}; }, "constant-input",
     "signature: input 4", "it says that the input is the constant 4, but that of the graph is 3"},
    {"a constant that is none", [](const Editor& e) { e.input(4).value = ConstantValue(3.0); },
     "constant-input", "signature: input 4",
     "it says that the input is the constant 3 (float), but that of the graph is 3"},
    {"another constant output",
     [](const Editor& e) { add_output(e.program, OutputKind::kUserOutput, integer(1), integer(2)); },
     "constant-output", "signature: output 3",
     "it says that the output is the constant 2, but that of the graph is 1"},
    {"a parameter without a name", [](const Editor& e) { e.input(0).target = ""; }, "signature-target",
     "signature: input 0 ('p_weight')", "it does not say which parameter it is"},
    {"a constant without a name", [](const Editor& e) { e.input(2).target = ""; }, "signature-target",
     "signature: input 2 ('c_scale')", "it does not say which constant it is"},
    {"a buffer that is a parameter already", [](const Editor& e) { e.input(1).target = "linear.weight"; },
     "duplicate-target", "signature: input 1 ('b_total')",
     "'linear.weight' is an input already; a parameter or buffer comes in once"},
    {"an input of a newer schema",
     [](const Editor& e) {
       e.input(3).kind = InputKind::kUnknown;
       e.input(3).unknown = {"weather", 1};
     },
     "unknown-kind", "signature: input 3 ('x')",
     "'weather' is a kind of input of a newer schema, which cannot be checked"},
    {"a mutation of no buffer", [](const Editor& e) { e.output(0).target = "nope"; }, "mutation-target",
     "signature: output 0 ('add_1')", "it is for 'nope', but no input is a buffer of that name"},
    {"a mutation of a parameter that is a buffer",
     [](const Editor& e) { e.output(0).kind = OutputKind::kParameterMutation; }, "mutation-target",
     "signature: output 0 ('add_1')", "it is for 'total', but no input is a parameter of that name"},
    {"a mutation of an input that is none",
     [](const Editor& e) {
       e.output(0).kind = OutputKind::kUserInputMutation;
       e.output(0).input = ValueRef(e.value("b_total"));
     },
     "mutation-target", "signature: output 0 ('add_1')",
     "it is for 'b_total', which is no input of the caller"},
    {"a gradient of no parameter",
     [](const Editor& e) {
       e.output(2).kind = OutputKind::kGradientToParameter;
       e.output(2).target = "total";
     },
     "gradient-target", "signature: output 2 ('add')",
     "it is for 'total', but no input is a parameter of that name"},
    {"a gradient of nothing", [](const Editor& e) { e.output(2).kind = OutputKind::kGradientToUserInput; },
     "gradient-target", "signature: output 2 ('add')", "it does not say for which input of the caller it is"},
    {"a mutation behind an output",
     [](const Editor& e) {
       e.reorder_outputs({1, 0, 2});
       std::swap(e.program.signature.outputs[0], e.program.signature.outputs[1]);
     },
     "output-order", "signature: output 1 ('add_1')",
     "a buffer_mutation stands behind the outputs of the caller; expected tokens, mutations, outputs, "
     "gradients"},
    {"a token behind a mutation", [](const Editor& e) { e.output(1).kind = OutputKind::kToken; },
     "output-order", "signature: output 1 ('getitem_3')",
     "a token stands behind mutations; expected tokens, mutations, outputs, gradients"},
    // ---- weights
    {"a parameter that is not there",
     [](const Editor& e) { e.program.state_dict.erase(e.program.state_dict.begin()); }, "missing-weight",
     "signature: input 0 ('linear.weight')", "the parameter 'linear.weight' is not in the state dict"},
    {"a buffer that is not there", [](const Editor& e) { e.program.state_dict.pop_back(); }, "missing-weight",
     "signature: input 1 ('total')", "the buffer 'total' is not in the state dict"},
    {"a constant that is not there", [](const Editor& e) { e.program.constants.clear(); }, "missing-weight",
     "signature: input 2 ('scale')", "the constant 'scale' is not among the constants"},
    {"an object that is not there",
     [](const Editor& e) {
       Value& value = e.graph().add_value("obj", CustomObjMeta{"obj", "__torch__.A"});
       const auto object = [&] {
         CustomObjArgument argument;
         argument.ref = ValueRef(value);
         argument.class_fqn = "__torch__.A";
         return Argument::make<ArgumentKind::kCustomObj>(std::move(argument));
       };
       e.graph().add_input(object());
       InputSpec spec;
       spec.kind = InputKind::kCustomObj;
       spec.argument = object();
       spec.target = "packed";
       e.program.signature.inputs.push_back(std::move(spec));
     },
     "missing-weight", "signature: input 5 ('packed')", "the object 'packed' is not among the constants"},
    {"a parameter that is none", [](const Editor& e) { e.program.state_dict[0].is_parameter = false; },
     "not-a-parameter", "signature: input 0 ('linear.weight')",
     "'linear.weight' is in the state dict, but not as a parameter"},
    {"a buffer that is not persistent", [](const Editor& e) { e.input(1).persistent = false; },
     "buffer-persistence", "signature: input 1 ('total')",
     "the buffer 'total' is in the state dict, but is not persistent"},
    {"a weight twice",
     [](const Editor& e) {
       e.program.state_dict.push_back({"total", e.program.state_dict[1].tensor, false});
     },
     "duplicate-weight", "state dict", "it has 'total' twice"},
    {"a weight of another type",
     [](const Editor& e) { e.program.state_dict[1].tensor = Tensor::zeros(DType::kFloat16, dims({2})); },
     "weight-dtype", "signature: input 1 ('total')", "it is float16, but the graph says float32"},
    {"a weight of another shape",
     [](const Editor& e) { e.program.state_dict[0].tensor = Tensor::zeros(DType::kFloat32, dims({3, 4})); },
     "weight-shape", "signature: input 0 ('linear.weight')",
     "its sizes are [3, 4], but the graph says [4, 3]"},
    {"a weight of other strides",
     [](const Editor& e) { e.meta("p_weight", [](TensorMeta& m) { m.strides = {1, 4}; }); }, "weight-strides",
     "signature: input 0 ('linear.weight')", "its strides are [3, 1], but the graph says [1, 4]"},
    {"a weight of another layout",
     [](const Editor& e) { e.meta("p_weight", [](TensorMeta& m) { m.layout = Layout::kSparseCoo; }); },
     "weight-layout", "signature: input 0 ('linear.weight')", "it is strided, but the graph says sparse_coo"},
    // ---- the rest of the program
    {"no module calls", [](const Editor& e) { e.program.module_call_graph.clear(); }, "module-call-root",
     "module call graph", "it is empty; expected an entry '' for the program itself"},
    {"module calls without the program", [](const Editor& e) { e.program.module_call_graph[0].fqn = "a"; },
     "module-call-root", "module call graph",
     "its first entry is 'a'; expected '' with a signature, for the program itself"},
    {"a module's input that is nowhere",
     [](const Editor& e) { e.root().inputs.push_back(Argument::tensor(e.value("nope"))); },
     "module-call-name", "module call ''", "its input 0 is 'nope', which the graph does not have"},
    {"a tree that is none", [](const Editor& e) { e.root().in_spec = "[1]"; }, "module-call-tree",
     "module call ''",
     "its in_spec is no tree: the text of a tree is not a list of its protocol and its root"},
    {"a tree of too many leaves", [](const Editor& e) { e.root().out_spec = tree_of_leaves(3); },
     "module-call-tree", "module call ''", "its out_spec has 3 leaves, but there are 2 outputs"},
    {"a range that nothing is in", [](const Editor& e) { e.program.range_constraints[0].second.min = 65; },
     "range-constraint", "range constraint 's77'", "the least value, 65, is above the greatest, 64"},
    {"a range of no symbol", [](const Editor& e) { e.program.range_constraints[0].first = "s 77"; },
     "range-constraint", "range constraint 's 77'",
     "its name is no symbol or expression: expected an operator at byte 2, found '7'"},
    {"a guard that says nothing", [](const Editor& e) { e.program.guards_code.emplace_back(" "); }, "guard",
     "guard 1", "it is empty"},
    {"a guard that is code",
     [](const Editor& e) { e.program.guards_code.emplace_back("__import__('os').system('id') == 0"); },
     "unsafe-guard", "guard 1",
     "'__import__('os').system('id') == 0' is no condition on sizes, and PyTorch would run it as code: "
     "'__import__' is no function of sizes"},
    {"a value that is code", [](const Editor& e) { e.graph().rename(e.value("mul"), "x=print(1)"); },
     "unsafe-name", "node 'mul'", "'x=print(1)' is no name for a value: PyTorch would run it as code"},
    {"a parameter that ends its quotes", [](const Editor& e) { e.input(0).target = "a\") or print(\""; },
     "unsafe-name", "signature", ""},
    {"an argument that is code", [](const Editor& e) { e.root().forward_arg_names = {"x=print(1)"}; },
     "unsafe-name", "module call graph",
     "'x=print(1)' is no name for an argument: PyTorch would run it as code"},
    {"a size that is code", [](const Editor& e) { e.graph().set_meta(e.value("add"), symbol("exit()")); },
     "bad-expression", "value 'add'",
     "the expression 'exit()' cannot be read: 'exit' is no function of sizes"},
    {"a size that is no number", [](const Editor& e) { e.graph().set_meta(e.value("add"), symbol("zoo")); },
     "bad-expression", "value 'add'", "the expression 'zoo' cannot be read: 'zoo' is no symbol"},
    {"a size divided by zero",
     [](const Editor& e) { e.graph().set_meta(e.value("add"), symbol("Mod(s77, 0)")); }, "bad-expression",
     "value 'add'", ""},
    {"a size that takes for ever",
     [](const Editor& e) { e.graph().set_meta(e.value("add"), symbol("9**9**9")); }, "bad-expression",
     "value 'add'", ""},
    {"no operator set", [](const Editor& e) { e.program.opset_version.clear(); }, "opset-version", "program",
     "it does not say which version of the operator set 'aten' it uses"},
    {"a verifier PyTorch has not", [](const Editor& e) { e.program.verifiers = {"STRICT"}; },
     "unknown-verifier", "program", "'STRICT' is no verifier of PyTorch; it has ATEN and TRAINING"},
    {"a schema of the future", [](const Editor& e) { e.program.schema_version = {9, 0}; }, "schema-version",
     "program", "its schema is 9.0; expected 8.x"},
    {"metadata that is no JSON", [](const Editor& e) { e.program.metadata = {{"custom", "{"}}; },
     "program-metadata", "program", ""},
};

std::string all_of(const std::vector<Finding>& findings) {
  std::string words;
  for (const Finding& finding : findings) words += "\n  " + finding.to_string();
  return words.empty() ? " nothing" : words;
}

TEST(VerifyDefects, TheProgramTheyBreakIsValid) {
  const std::vector<Finding> findings = verify(valid_program());
  EXPECT_TRUE(findings.empty()) << all_of(findings);
}

TEST(VerifyDefects, EachIsFoundWithItsWords) {
  std::vector<Defect> defects(std::begin(kProgramDefects), std::end(kProgramDefects));
  defects.insert(defects.end(), graph_defects().begin(), graph_defects().end());
  EXPECT_GE(defects.size(), 60U);
  for (const Defect& defect : defects) {
    ExportedProgram program = valid_program();
    defect.edit(Editor{program});
    const std::vector<Finding> findings = verify(program);
    const auto found = std::ranges::find_if(findings, [&](const Finding& finding) {
      return finding.rule == defect.rule && finding.where == defect.where &&
             (*defect.message == 0 || finding.message == defect.message);
    });
    EXPECT_NE(found, findings.end()) << defect.name << " was not found; found" << all_of(findings);
    for (const Finding& finding : findings) EXPECT_FALSE(finding.remedy.empty()) << finding.to_string();
  }
}

TEST(VerifyDefects, AllOfThemAreFoundAtOnce) {
  ExportedProgram program = valid_program();
  const Editor edit{program};
  edit.meta("mul", [](TensorMeta& meta) { meta.sizes[1] = -4; });
  edit.node("linear").target = "torch.ops.aten.nope.default";
  program.guards_code = {""};
  std::vector<std::string> rules;
  for (const Finding& finding : verify(program)) rules.push_back(finding.rule);
  EXPECT_EQ(rules, (std::vector<std::string>{"guard", "unknown-operator", "negative-size"}));
}

}  // namespace
}  // namespace flambeau::graph
