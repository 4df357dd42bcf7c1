#include "flambeau/trace/decompose.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/context.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/text/print.h"

namespace flambeau::trace {
namespace {

using graph::Argument;
using graph::ArgumentKind;

graph::TensorMeta sizes(std::initializer_list<int64_t> list) {
  graph::TensorMeta meta;
  int64_t stride = 1;
  for (const int64_t size : list) meta.sizes.emplace_back(size);
  meta.strides.resize(meta.sizes.size());
  for (size_t d = meta.sizes.size(); d-- > 0;) {
    meta.strides[d] = stride;
    stride *= meta.sizes[d].literal();
  }
  return meta;
}

// A program of one input "x", which is a buffer or the user's, written down node by node.
class Written {
 public:
  explicit Written(graph::InputKind kind, graph::TensorMeta meta = sizes({3, 4})) {
    graph::Value& x = program.graph().add_value("x", std::move(meta));
    program.graph().add_input(Argument::tensor(x));
    graph::InputSpec& spec = program.signature.inputs.emplace_back();
    spec.kind = kind;
    spec.argument = Argument::tensor(x);
    if (kind == graph::InputKind::kBuffer) spec.target = "state";
  }

  using Inputs = std::vector<std::pair<std::string, Argument>>;
  Written& node(const std::string& name, const std::string& target, graph::TensorMeta meta, Inputs inputs) {
    graph::Node& node = program.graph().append("torch.ops.aten." + target);
    for (auto& [key, argument] : inputs) node.add_input(key, std::move(argument));
    node.add_output(Argument::tensor(program.graph().add_value(name, std::move(meta))));
    return *this;
  }
  Argument ref(const std::string& name) { return Argument::tensor(*program.graph().find(name)); }
  static Argument number(int64_t value) { return Argument::make<ArgumentKind::kInt>(value); }

  Written& gives(const std::string& name) {
    program.graph().add_output(ref(name));
    program.signature.outputs.emplace_back().argument = ref(name);
    return *this;
  }

  graph::ExportedProgram program;
};

std::vector<std::string> targets(const graph::ExportedProgram& program) {
  std::vector<std::string> list;
  for (const graph::Node& node : program.graph().nodes())
    list.push_back(node.target.text().substr(std::string_view("torch.ops.aten.").size()));
  return list;
}

Written::Inputs inputs(auto&&... pairs) {
  Written::Inputs list;
  (list.push_back(std::move(pairs)), ...);
  return list;
}
std::pair<std::string, Argument> in(std::string name, Argument argument) {
  return {std::move(name), std::move(argument)};
}

TEST(Decompose, KeepsAWriteToABufferAsAnOutput) {
  Written written(graph::InputKind::kBuffer);
  written.node("add_", "add_.Tensor", sizes({3, 4}),
               inputs(in("self", written.ref("x")), in("other", Written::number(1))));
  written.gives("add_");
  const graph::ExportedProgram program = run_decompositions(written.program);
  EXPECT_EQ(targets(program), std::vector<std::string>{"add.Tensor"});
  ASSERT_EQ(program.signature.outputs.size(), 2U);
  EXPECT_EQ(program.signature.outputs[0].kind, graph::OutputKind::kBufferMutation);
  EXPECT_EQ(program.signature.outputs[0].target, "state");
  EXPECT_EQ(program.signature.outputs[1].argument.value(), program.signature.outputs[0].argument.value());
  EXPECT_EQ(program.graph().lint(), std::vector<std::string>());
  EXPECT_EQ(program.verifiers, std::vector<std::string>{"ATEN"});
}

TEST(Decompose, PutsAWriteThroughAViewIntoTheInput) {
  Written written(graph::InputKind::kUserInput);
  written.node("part", "slice.Tensor", sizes({3, 2}),
               inputs(in("self", written.ref("x")), in("dim", Written::number(1)),
                      in("start", Written::number(1)), in("end", Written::number(3))));
  written.node("relu_", "relu_.default", sizes({3, 2}), inputs(in("self", written.ref("part"))));
  written.node("neg", "neg.default", sizes({3, 4}), inputs(in("self", written.ref("x"))));
  written.gives("neg");
  const graph::ExportedProgram program = run_decompositions(written.program);
  const std::vector<std::string> expected = {"slice.Tensor", "relu.default", "slice_scatter.default",
                                             "neg.default"};
  EXPECT_EQ(targets(program), expected);
  EXPECT_EQ(program.signature.outputs[0].kind, graph::OutputKind::kUserInputMutation);
  EXPECT_EQ(program.signature.outputs[0].input->name(), "x");
  // What comes after reads the new value.
  EXPECT_EQ(program.graph().last_node()->inputs()[0].argument.value(),
            program.signature.outputs[0].argument.value());
}

TEST(Decompose, MakesAnotherViewAgainAfterAWrite) {
  Written written(graph::InputKind::kUserInput);
  written.node("copy", "clone.default", sizes({3, 4}), inputs(in("self", written.ref("x"))));
  written.node("turned", "t.default", sizes({4, 3}), inputs(in("self", written.ref("copy"))));
  written.node("relu_", "relu_.default", sizes({3, 4}), inputs(in("self", written.ref("copy"))));
  written.gives("turned");
  const graph::ExportedProgram program = run_decompositions(written.program);
  const std::vector<std::string> expected = {"clone.default", "relu.default", "permute.default"};
  EXPECT_EQ(targets(program), expected);
  EXPECT_EQ(program.signature.outputs.size(), 1U);
}

TEST(Decompose, LeavesWhatIsKeptAndTakesWhatTheUserGives) {
  const auto silu = [] {
    Written written(graph::InputKind::kUserInput);
    written.node("silu", "silu.default", sizes({3, 4}), inputs(in("self", written.ref("x"))));
    written.gives("silu");
    return std::move(written.program);
  };
  EXPECT_EQ(targets(run_decompositions(silu())), (std::vector<std::string>{"sigmoid.default", "mul.Tensor"}));
  EXPECT_EQ(targets(run_decompositions(silu(), {.keep = {"aten::silu"}})),
            std::vector<std::string>{"silu.default"});
  DecompositionOptions options;
  options.table.emplace_back("aten::silu", [](ops::Context& context, std::span<const Value> given) {
    return std::vector<Value>{ops::call(context, "aten::relu", given[0])};
  });
  EXPECT_EQ(targets(run_decompositions(silu(), options)), std::vector<std::string>{"relu.default"});
}

TEST(Decompose, RefusesToKeepAView) {
  Written written(graph::InputKind::kUserInput);
  written.gives("x");
  try {
    run_decompositions(written.program, {.keep = {"aten::transpose.int"}});
    FAIL() << "a view was kept";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "aten::transpose.int cannot be kept: it writes or gives a view");
  }
}

TEST(Decompose, SaysWhichNodeCannotBeTraced) {
  Written written(graph::InputKind::kUserInput);
  written.node("places", "repeat_interleave.Tensor", sizes({3}), inputs(in("repeats", written.ref("x"))));
  written.gives("places");
  try {
    run_decompositions(written.program);
    FAIL() << "repeat_interleave was traced";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("node 'places'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace flambeau::trace
