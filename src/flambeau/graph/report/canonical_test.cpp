// The canonical form of small programs; that of PyTorch's own is compared in formats/pt2.
#include "flambeau/graph/report/canonical.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/text/print.h"
#include "flambeau/graph/verify/test_programs.h"

namespace flambeau::graph {
namespace {

using Names = std::vector<std::string>;

std::string text_of(const ExportedProgram& program) { return to_text(program, {.lossless = true}); }

std::string error_of(const ExportedProgram& program) {
  try {
    canonicalize(program);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    EXPECT_EQ(error.remedy(), "see what flambeau verify says of it");
    return error.message();
  }
  return "no error";
}

Names targets_of(const Graph& graph) {
  Names names;
  for (const Node& node : graph.nodes()) names.push_back(node.target.text());
  return names;
}

// x -> three calls that do not need each other -> their sum.
ExportedProgram fan(const std::vector<std::string>& order) {
  ExportedProgram program;
  Graph& graph = program.graph();
  const TensorMeta meta = tensor_meta({2});
  add_input(program, InputKind::kUserInput, "x", "", meta);
  for (const std::string& name : order) {
    call_tensor(graph, name, "aten." + name + ".default",
                given(Input{"self", Argument::tensor(*graph.find("x"))}), meta);
  }
  Value& sum = call_tensor(
      graph, "sum", "aten.cat.default",
      given(Input{"tensors", tensors({graph.find("cos"), graph.find("sin"), graph.find("tan")})}), meta);
  add_output(program, OutputKind::kUserOutput, Argument::tensor(sum), Argument::tensor(sum));
  return program;
}

TEST(Canonical, IsTheSameForEveryOrder) {
  const std::string expected = text_of(canonicalize(fan({"cos", "sin", "tan"})));
  for (const Names& order :
       {Names{"tan", "sin", "cos"}, Names{"sin", "tan", "cos"}, Names{"cos", "tan", "sin"}}) {
    const ExportedProgram made = canonicalize(fan(order));
    // The names of the nodes stay; everything else does not depend on the order.
    EXPECT_EQ(targets_of(made.graph()), (Names{"torch.ops.aten.cos.default", "torch.ops.aten.sin.default",
                                               "torch.ops.aten.tan.default", "torch.ops.aten.cat.default"}));
    EXPECT_EQ(text_of(made), expected);
  }
}

TEST(Canonical, NamesValuesInOrder) {
  const ExportedProgram made = canonicalize(fan({"tan", "sin", "cos"}));
  Names names;
  for (const Value* value : made.graph().values_of(ValueKind::kTensor)) names.push_back(value->name());
  EXPECT_EQ(names, (Names{"_0", "_1", "_2", "_3", "_4"}));
  EXPECT_EQ(made.graph().outputs()[0].value()->name(), "_4");
  EXPECT_EQ(made.signature.inputs[0].argument.value()->name(), "_0");
  EXPECT_TRUE(made.graph().nodes().begin()->metadata.empty());
  EXPECT_EQ(made.graph().lint(), Names());
}

TEST(Canonical, OnceMoreChangesNothing) {
  const ExportedProgram program = valid_program();
  const std::string before = text_of(program);
  const ExportedProgram once = canonicalize(program);
  EXPECT_EQ(text_of(canonicalize(once)), text_of(once));
  EXPECT_EQ(text_of(program), before) << "the program itself";
  EXPECT_EQ(once.graph().lint(), Names());
}

TEST(Canonical, SortsSpecificationsByKindAndTarget) {
  ExportedProgram program;
  const TensorMeta meta = tensor_meta({2});
  add_input(program, InputKind::kUserInput, "x", "", meta);
  add_input(program, InputKind::kBuffer, "b", "b", meta);
  add_input(program, InputKind::kParameter, "p_z", "z", meta);
  add_input(program, InputKind::kParameter, "p_a", "a", meta);
  add_input(program, InputKind::kToken, "token", "", meta);
  for (const char* name : {"x", "b"}) {
    Value& value = *program.graph().find(name);
    add_output(program, name[0] == 'x' ? OutputKind::kUserOutput : OutputKind::kBufferMutation,
               Argument::tensor(value), Argument::tensor(value), "b");
  }
  const ExportedProgram made = canonicalize(program);
  Names targets;
  for (const InputSpec& spec : made.signature.inputs) {
    targets.push_back(std::string(input_kind_key(spec.kind)) + ":" + spec.target + ":" +
                      spec.argument.value()->name());
  }
  EXPECT_EQ(targets,
            (Names{"token::_0", "parameter:a:_1", "parameter:z:_2", "buffer:b:_3", "user_input::_4"}));
  EXPECT_EQ(made.signature.outputs[0].kind, OutputKind::kBufferMutation);
  EXPECT_EQ(made.graph().outputs()[0].value()->name(), "_3");
}

TEST(Canonical, KeepsNamesOfModuleCalls) {
  ExportedProgram program = fan({"cos", "sin", "tan"});
  ModuleCallEntry& entry = program.module_call_graph.emplace_back();
  entry.signature.emplace();
  entry.signature->inputs.push_back(Argument::tensor(*program.graph().find("x")));
  // One that the graph does not have, of a name that the canonical form gives to another.
  entry.signature->inputs.push_back(Argument::tensor(program.graph().value("_0")));
  const ExportedProgram made = canonicalize(program);
  EXPECT_EQ(made.module_call_graph[0].signature->inputs[0].value()->name(), "x");
  EXPECT_EQ(made.module_call_graph[0].signature->inputs[1].value()->name(), "_0");
  EXPECT_EQ(made.graph().inputs()[0].value()->name(), "_0");
}

TEST(Canonical, ConstantsCountAsGiven) {
  ExportedProgram program = fan({"cos", "sin", "tan"});
  Graph& graph = program.graph();
  Node& first = *graph.nodes().begin();
  first.set_input(0, Argument::tensor(graph.add_value("lifted", tensor_meta({2}))));
  EXPECT_EQ(error_of(program), "node 'cos' uses 'lifted', which nothing gives");
  EXPECT_EQ(canonicalize(program, {"lifted"}).graph().node_count(), 4U);
  program.constants.push_back({"lifted", Tensor(), false});
  EXPECT_EQ(error_of(program), "no error");
}

TEST(Canonical, SaysWhyThereIsNone) {
  ExportedProgram program = fan({"cos", "sin", "tan"});
  Graph& graph = program.graph();
  graph.nodes().begin()->set_input(0, Argument::tensor(*graph.find("sum")));
  EXPECT_EQ(error_of(program), "2 of 4 nodes cannot be ordered: they wait for each other's values");

  program = fan({"cos", "sin", "tan"});
  program.graph().nodes().begin()->add_output(Argument::tensor(*program.graph().find("sin")));
  EXPECT_EQ(error_of(program), "the value 'sin' is given twice");

  program = fan({"cos", "sin", "tan"});
  program.graph().set_meta(*program.graph().find("cos"), std::monostate());
  EXPECT_EQ(error_of(program), "the value 'cos' is not described");

  program = fan({"cos", "sin", "tan"});
  program.graph().add_value("_1", tensor_meta({2}));
  EXPECT_EQ(error_of(program), "nothing gives the value '_1', and the canonical form needs its name");

  program = fan({"cos", "sin", "tan"});
  program.signature.inputs.clear();
  EXPECT_EQ(error_of(program), "the graph has 1 inputs, and the signature 0");

  program = fan({"cos", "sin", "tan"});
  auto dict = std::make_unique<ArgumentDict>();
  dict->emplace_back("a", Argument::tensor(program.graph().add_value("inside", tensor_meta({2}))));
  program.graph().add_input(Argument::make<ArgumentKind::kStringToArgument>(std::move(dict)));
  program.signature.inputs.emplace_back();
  program.graph().nodes().begin()->set_input(0, Argument::tensor(*program.graph().find("inside")));
  EXPECT_EQ(error_of(program), "the value 'inside' is given in a dictionary, which has no order");
}

TEST(Canonical, DictionariesKeepTheirNames) {
  ExportedProgram program = fan({"cos", "sin", "tan"});
  auto dict = std::make_unique<ArgumentDict>();
  dict->emplace_back("a", Argument::tensor(*program.graph().find("x")));
  program.graph().nodes().begin()->add_input(
      "d", Argument::make<ArgumentKind::kStringToArgument>(std::move(dict)));
  const ExportedProgram made = canonicalize(program);
  const Argument& argument = made.graph().nodes().begin()->inputs()[1].argument;
  EXPECT_EQ((*argument.get<ArgumentKind::kStringToArgument>())[0].second.value()->name(), "x");
}

}  // namespace
}  // namespace flambeau::graph
