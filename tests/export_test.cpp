// Exporting modules written in C++: the whole program as text, what is refused and how it is said. Equality
// with PyTorch is for tests/interop/export.
#include "flambeau/export.h"

#include <gtest/gtest.h>

#include "flambeau/error.h"
#include "flambeau/nn.h"
#include "flambeau/program.h"
#include "flambeau/runtime.h"
#include "flambeau/tensor.h"
#include "support/exported.h"

namespace flambeau {
namespace {

class Small : public nn::Layer<Small> {
 public:
  Small() {
    add_module("fc", fc);
    add_module("norm", norm);
  }
  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) { return nn::relu(norm(fc(x))) + nn::size(x, 0); }
  nn::Linear fc{4, 3};
  nn::BatchNorm1d norm{3};
};

DynamicShapes first_dim(const Dim& dim) {
  return DynamicShapes::by_name({{"x", ShapeSpec(std::map<int64_t, Dim>{{0, dim}})}});
}

// What exporting the function says, without the lines of this file.
template <typename Forward>
std::string error_of(const Tensor& x, const DynamicShapes& shapes, Forward forward) {
  Function<Forward> module(forward);
  const nn::Tree inputs[] = {nn::to_tree(x)};
  ExportOptions options;
  options.dynamic = shapes;
  return error_text([&] { export_program(module, inputs, {}, options); });
}

TEST(Export, WritesDownWhatTheModelDoes) {
  nn::Session session({.seed = 0});
  Small module;
  const nn::Tree inputs[] = {nn::to_tree(nn::ones({5, 4}))};
  ExportOptions options;
  options.dynamic = first_dim(Dim("batch", {.min = 2, .max = 9}));
  const graph::ExportedProgram program = export_program(module, inputs, {}, options);
  EXPECT_TRUE(graph::verify(program).empty());
  std::vector<std::string> calls;
  for (const graph::Node& node : program.graph().nodes())
    calls.push_back(*node.name + " " + node.target.text());
  EXPECT_EQ(calls, (std::vector<std::string>{
                       "sym_size_int torch.ops.aten.sym_size.int", "linear torch.ops.aten.linear.default",
                       "add_ torch.ops.aten.add_.Tensor", "batch_norm torch.ops.aten.batch_norm.default",
                       "relu torch.ops.aten.relu.default", "add torch.ops.aten.add.Tensor"}));
  ASSERT_EQ(program.range_constraints.size(), 1U);
  EXPECT_EQ(program.range_constraints[0].first, "s77");
  EXPECT_EQ(program.range_constraints[0].second.min, 2);
  EXPECT_EQ(program.range_constraints[0].second.max, 9);
  ASSERT_EQ(program.signature.inputs.size(), 8U);
  EXPECT_EQ(program.signature.inputs[2].target, "norm.weight");
  EXPECT_EQ(program.graph().find("x")->tensor()->sizes[1].literal(), 4);
  // The module was not run: its statistics are as they were.
  EXPECT_EQ(module.norm.num_batches_tracked.data<int64_t>()[0], 0);
}

// Layers with constant weights, what follows them, and elementwise operators between them.
class Images : public nn::Layer<Images> {
 public:
  Images() {
    add_module("first", first);
    add_module("norm", norm);
    add_module("second", second);
    add_module("fc", fc);
  }
  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    const Tensor y = nn::relu(norm(first(x)));
    const Tensor z = nn::gelu(second(y) + y);
    const Tensor w =
        nn::masked_fill(nn::where(nn::gt(z, 0.1), nn::exp(z), nn::tril(z)), nn::gt(z, 0.5), 0.25);
    return nn::tanh(fc(nn::erf(w) * z + nn::flip(w, {3})));
  }
  nn::Conv2d first{3, 8, 3};
  nn::BatchNorm2d norm{8};
  nn::Conv2d second{8, 8, 1};
  nn::Linear fc{6, 5};
};

TEST(Export, PlannedImagesAreThoseOfTheModel) {
  nn::Session session({.seed = 3});
  Images module;
  module.eval();
  const Tensor x = nn::randn({2, 3, 8, 8});
  const Tensor expected = module(x);
  const nn::Tree inputs[] = {nn::to_tree(x)};
  for (const bool plan : {false, true}) {
    ProgramOptions how;
    how.threads = 2;
    how.plan = plan;
    Program program(export_program(module, inputs), how);
    const std::vector<Value> leaves = {x};
    for (int run = 0; run < 3; ++run) {
      const std::vector<Value> results = program.run(leaves);
      EXPECT_EQ(results.at(0).tensor().strides(), expected.strides()) << plan;
      EXPECT_LT(compare(results.at(0).tensor(), expected).max_abs, 1e-5) << plan;
    }
  }
}

TEST(Export, SaysWhatTheTraceNeeds) {
  nn::Session session;
  const Tensor x = nn::ones({5, 4});
  const std::string fixed =
      error_of(x, first_dim(Dim("batch")), [](const Tensor& y) { return nn::reshape(y, {5, 4}); });
  EXPECT_NE(fixed.find("batch = L['x'].size()[0]"), std::string::npos) << fixed;
  EXPECT_NE(fixed.find("Suggested fixes:\n  batch = 5"), std::string::npos) << fixed;
  EXPECT_NE(fixed.find("export_test.cpp"), std::string::npos) << fixed;
  const std::string data = error_of(x, {}, [](const Tensor& y) {
    return nn::item(nn::to(nn::sum(y), DType::kInt64)) > 3 ? y : nn::relu(y);
  });
  EXPECT_NE(data.find("u0 > 3"), std::string::npos) << data;
  const std::string number = error_of(x, {}, [](const Tensor& y) {
    nn::item(nn::sum(y));
    return y;
  });
  EXPECT_NE(number.find("operator 'aten::item': a number of a float32 tensor is asked for while tracing"),
            std::string::npos)
      << number;
  EXPECT_EQ(number.find("traced 'File \""), 0U) << number;
  EXPECT_NE(number.find("tests/export_test.cpp\", line"), std::string::npos) << number;
}

// A size that may be a symbol is no plain number, and the rank of a traced tensor is known.
TEST(Export, RefusesPlainSizesAndChecksRanksWhileTracing) {
  nn::Session session;
  const DynamicShapes shapes = first_dim(Dim("batch"));
  expect_in("the tensor float32[s77, 4] is traced: it has no data, and its sizes may be symbols",
            error_of(nn::ones({5, 4}), shapes,
                     [](const Tensor& y) { return nn::reshape(y, {SymInt(y.sizes()[0] * 4)}); }));
  const auto called = [](const char* name) {
    return [name](const Tensor& y) { return nn::call(nn::Input(y), name, {y}); };
  };
  expect_in("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.",
            error_of(nn::ones({5}), shapes, called("aten::adjoint")));
  expect_in("tensor.H is only supported on matrices (2-D tensors). Got 3-D tensor.",
            error_of(nn::ones({5, 4, 3}), shapes, called("aten::matrix_H")));
}

TEST(Export, AssertsNumbersFromData) {
  nn::Session session;
  Function module([](const Tensor& x) {
    const SymInt first = nn::item(nn::select(x, 0, 0));
    nn::check(nn::eq(first, nn::size(x, 0)));
    nn::check(nn::ne(nn::item(nn::select(x, 0, 1)), 7));
    return x + 1;
  });
  const nn::Tree inputs[] = {nn::to_tree(nn::full({3}, 3))};
  const graph::ExportedProgram program =
      export_program(module, inputs, {}, {.dynamic = first_dim(Dim::AUTO)});
  EXPECT_TRUE(graph::verify(program).empty());
  std::vector<std::string> calls;
  for (const graph::Node& node : program.graph().nodes()) {
    std::string call = node.target.text() + ":";
    for (const graph::NamedArgument& input : node.inputs())
      if (const graph::Value* const value = input.argument.value()) call += " " + value->name();
    calls.push_back(call);
  }
  // The number itself is compared with the size that it was found to be.
  EXPECT_EQ(calls, (std::vector<std::string>{
                       "torch.ops.aten.sym_size.int: x", "torch.ops.aten.select.int: x",
                       "torch.ops.aten.item.default: select", "_operator.ge: item",
                       "torch.ops.aten._assert_scalar.default: ge", "_operator.eq: item sym_size_int",
                       "torch.ops.aten._assert_scalar.default: eq_1", "torch.ops.aten.select.int: x",
                       "torch.ops.aten.item.default: select_1", "_operator.eq: item_1", "torch.sym_not: eq_2",
                       "torch.ops.aten._assert_scalar.default: sym_not", "torch.ops.aten.add.Tensor: x"}));
}

// The operators of a function's program, whose first dimension varies.
template <typename Forward>
std::vector<std::string> operators_of(const Tensor& x, Forward forward) {
  Function<Forward> module(forward);
  const nn::Tree inputs[] = {nn::to_tree(x)};
  ExportOptions options;
  options.dynamic = first_dim(Dim("batch"));
  const graph::ExportedProgram program = export_program(module, inputs, {}, options);
  EXPECT_TRUE(graph::verify(program).empty());
  std::vector<std::string> operators;
  for (const graph::Node& node : program.graph().nodes()) operators.push_back(node.target.text());
  return operators;
}
using Operators = std::vector<std::string>;

TEST(Export, NamesNodesAsPythonDoes) {
  nn::Session session;
  const auto forward = [](const Tensor& x) {
    const Tensor most = nn::max(x, 1).first;
    return nn::max(x) + most;
  };
  Function<decltype(forward)> module(forward);
  const nn::Tree inputs[] = {nn::to_tree(nn::ones({5, 4}))};
  const graph::ExportedProgram program = export_program(module, inputs);
  std::vector<std::string> names;
  for (const graph::Node& node : program.graph().nodes()) names.push_back(*node.name);
  EXPECT_EQ(names, (std::vector<std::string>{"max_1", "max_2", "add"}));
}

TEST(Export, ComputesSizesThatWereComputedFromThemselves) {
  nn::Session session;
  const Tensor x = nn::ones({5, 4});
  // Nobody asked for the size of y by itself: that it is 1 * size, or (size + 1) - 1, says nothing.
  EXPECT_EQ(operators_of(x,
                         [](const Tensor& given) {
                           const Tensor y = nn::cat({given, nn::ones({3, 4})});
                           return nn::zeros({nn::numel(nn::select(y, 1, 0)), 2});
                         })
                .back(),
            "torch.ops.aten.zeros.default");
  EXPECT_EQ(operators_of(x,
                         [](const Tensor& given) {
                           const Tensor y = nn::cat({given, nn::ones({3, 4})});
                           const SymInt more = nn::sizes(y)[0] + 1;
                           return nn::zeros({more - 1, 2});
                         })
                .back(),
            "torch.ops.aten.zeros.default");
}

TEST(Export, TakesSizesAsNumbersOfOperators) {
  nn::Session session;
  const Tensor x = nn::ones({5, 4}, DType::kInt64);
  EXPECT_EQ(operators_of(x, [](const Tensor& y) { return nn::remainder(y, nn::size(y, 0)); }),
            (Operators{"torch.ops.aten.sym_size.int", "torch.ops.aten.remainder.Scalar"}));
  EXPECT_EQ(operators_of(x, [](const Tensor& y) { return nn::clamp(y, 0, nn::size(y, 0)); }),
            (Operators{"torch.ops.aten.sym_size.int", "torch.ops.aten.clamp.default"}));
  EXPECT_EQ(operators_of(x, [](const Tensor& y) { return nn::arange(nn::size(y, 0)); }),
            (Operators{"torch.ops.aten.sym_size.int", "torch.ops.aten.arange.default"}));
}

TEST(Export, TracesOneHotOfKnownClasses) {
  nn::Session session;
  const Tensor x = nn::ones({5}, DType::kInt64);
  EXPECT_EQ(operators_of(x, [](const Tensor& y) { return nn::one_hot(y, 3); }),
            (Operators{"torch.ops.aten.one_hot.default"}));
  EXPECT_NE(error_of(x, {}, [](const Tensor& y) { return nn::one_hot(y); }).find("depends on data"),
            std::string::npos);
}

TEST(Export, TracesEinsum) {
  nn::Session session;
  const Tensor x = nn::ones({5, 4});
  EXPECT_EQ(operators_of(x, [](const Tensor& y) { return nn::einsum("ij,ik->jk", {y, y}); }),
            (Operators{"torch.ops.aten.einsum.default"}));
  EXPECT_EQ(operators_of(x, [](const Tensor& y) { return nn::einsum("ij->", {y}); }),
            (Operators{"torch.ops.aten.einsum.default"}));
}

TEST(Export, LeavesOutResultsThatNobodyAskedFor) {
  nn::Session session;
  Function module([](const Tensor& x) {
    const auto here = std::source_location::current();
    const Tensor mean = nn::call(here, "aten::mean.dim", {x, Dims{1}, true});
    const std::vector<Value> gradients =
        nn::call_values(here, "aten::native_layer_norm_backward",
                        {x, x, Dims{4}, mean, mean, Value(), Value(), std::vector<bool>{true, false, false}});
    return gradients.at(0).tensor();
  });
  const nn::Tree inputs[] = {nn::to_tree(nn::ones({5, 4}))};
  const graph::ExportedProgram program = export_program(module, inputs);
  std::vector<graph::ArgumentKind> kinds;
  for (const graph::Node& node : program.graph().nodes()) {
    if (node.outputs().size() != 3) continue;
    for (const graph::Argument& output : node.outputs()) kinds.push_back(output.kind());
  }
  using Kind = graph::ArgumentKind;
  EXPECT_EQ(kinds, (std::vector<Kind>{Kind::kTensor, Kind::kNone, Kind::kNone}));
}

TEST(Export, ReadsSizesThroughOperators) {
  nn::Session session;
  Function module([](const Tensor& x) {
    const auto here = std::source_location::current();
    const Value rows = nn::call_values(here, "aten::sym_size.int", {x, 0}).at(0);
    return nn::call(here, "aten::add.Scalar", {x, rows});
  });
  const nn::Tree inputs[] = {nn::to_tree(nn::ones({5, 4}))};
  ExportOptions options;
  options.dynamic = first_dim(Dim("batch"));
  Program program(export_program(module, inputs, {}, options));
  EXPECT_EQ(program.run({nn::ones({3, 4})}).at(0).tensor().data<float>()[0], 4.0F);
}

TEST(Export, LeavesTheModuleAloneWhenTheProgramTrains) {
  nn::Session session;
  Small module;
  const Tensor x = nn::randn({5, 4});
  const nn::Tree inputs[] = {nn::to_tree(x)};
  Program program(export_program(module, inputs));
  const std::vector<Value> given = {x};
  program.run(given);
  EXPECT_NE(program.state("norm.running_mean").data<float>()[0], 0);
  EXPECT_EQ(module.norm.running_mean.data<float>()[0], 0);
  EXPECT_EQ(module.norm.num_batches_tracked.data<int64_t>()[0], 0);
}

TEST(Export, NeedsASession) {
  std::optional<nn::Session> session(std::in_place);
  auto module = std::make_unique<Small>();
  const nn::Tree inputs[] = {nn::to_tree(nn::ones({2, 4}))};
  session.reset();
  try {
    export_program(*module, inputs);
    FAIL() << "it was exported without a session";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("Session"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace flambeau
