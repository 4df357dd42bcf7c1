// Running whole programs: values, state, wrong inputs with their messages, budgets, several threads.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <thread>

#include "flambeau/error.h"
#include "flambeau/export.h"
#include "flambeau/nn.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/runtime.h"
#include "flambeau/tensor.h"
#include "support/temporary_folder.h"

namespace flambeau {
namespace {

std::string golden(const std::string& name) {
  return std::string(FLAMBEAU_GOLDEN_DIR) + "/pt2/" + name + ".pt2";
}

ProgramOptions options(bool plan) {
  ProgramOptions made;
  made.threads = 2;
  made.plan = plan;
  return made;
}
Program open(const std::string& name, bool plan = true) {
  return load_program(golden(name), {{}, options(plan)});
}

Tensor floats(std::initializer_list<int64_t> sizes, float first = 0.25F) {
  Tensor tensor = Tensor::zeros(DType::kFloat32, Dims(sizes));
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    tensor.mutable_data<float>()[i] = first + 0.5F * static_cast<float>(i % 7);
  }
  return tensor;
}

std::string error_of(Program& program, const std::vector<Value>& leaves, const RunOptions& run = {}) {
  try {
    program.run(leaves, run);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Program, InterpreterAndPlanAgree) {
  for (const char* const name :
       {"shapes.static.decomposed", "control.cond", "values.annotated", "weights.tied"}) {
    Program plain = open(name, false);
    Program planned = open(name, true);
    std::vector<Value> leaves;
    for (const Leaf& leaf : plain.inputs()) {
      Dims sizes;
      for (const graph::LeafSize& size : leaf.sizes()) sizes.push_back(size.literal.value());
      Tensor tensor = Tensor::zeros(leaf.dtype, sizes);
      if (leaf.dtype == DType::kFloat32) {
        for (int64_t i = 0; i < tensor.element_count(); ++i)
          tensor.mutable_data<float>()[i] = 0.1F * static_cast<float>(i);
      }
      leaves.emplace_back(tensor);
    }
    const std::span<const Value> given(leaves);
    const std::vector<Value> expected = plain.run(given);
    for (int run = 0; run < 3; ++run) {
      const std::vector<Value> results = planned.run(given);
      ASSERT_EQ(results.size(), expected.size()) << name;
      for (size_t i = 0; i < results.size(); ++i) {
        if (!expected[i].is_tensor()) continue;
        EXPECT_LT(compare(results[i].tensor(), expected[i].tensor()).max_abs, 1e-5) << name;
      }
    }
  }
}

TEST(Program, BuffersChangeFromRunToRun) {
  for (const bool plan : {false, true}) {
    Program program = open("control.buffer_mutation", plan);
    const std::vector<Value> leaves = {floats({4, 3})};
    for (int run = 1; run <= 3; ++run) {
      program.run(leaves);
      EXPECT_EQ(program.state("steps").data<int64_t>()[0], run);
    }
    EXPECT_NE(program.state("mean").data<float>()[0], 0);
  }
}

TEST(Program, AFailedRunChangesNothing) {
  for (const bool plan : {false, true}) {
    Program program = open("control.buffer_mutation", plan);
    RunOptions run;
    run.budget.steps = 3;
    EXPECT_NE(error_of(program, {floats({4, 3})}, run).find("more than the 3 steps"), std::string::npos);
    EXPECT_EQ(program.state("steps").data<int64_t>()[0], 0);
  }
}

TEST(Program, UserInputsChange) {
  for (const bool plan : {false, true}) {
    Program program = open("examples.user_input_mutation", plan);
    const Tensor x = floats({3, 2}, 0.5F);
    const float before = x.data<float>()[0];
    const std::vector<Value> leaves = {x};
    program.run(leaves);
    EXPECT_EQ(x.data<float>()[0], before * 2);
  }
}

TEST(Program, SizesThatVary) {
  Program program = open("shapes.derived");
  for (const int64_t n : {2, 5, 9, 5, 5}) {
    const std::vector<Value> leaves = {floats({n}), floats({2 * n + 1})};
    const std::vector<Value> results = program.run(leaves);
    EXPECT_EQ(results[0].tensor().sizes(), (Dims{n}));
    EXPECT_FLOAT_EQ(results[0].tensor().data<float>()[1],
                    leaves[0].tensor().data<float>()[1] + leaves[1].tensor().data<float>()[3]);
  }
}

TEST(Program, WrongInputsAreNamed) {
  Program derived = open("shapes.derived");
  const Tensor x = floats({4});
  EXPECT_EQ(
      error_of(derived, {x}),
      "1 of 2 inputs are given, input 'y' (args[1]) is missing (it takes x: float32[s77], 2 <= s77 <= 9; y: "
      "float32[2*s77 + 1], 5 <= 2*s77 + 1 <= 19)");
  EXPECT_EQ(error_of(derived, {x, floats({9}), x}),
            "3 inputs are given, the program takes 2 (it takes x: float32[s77], 2 <= s77 <= 9; y: "
            "float32[2*s77 + 1], 5 "
            "<= 2*s77 + 1 <= 19)");
  EXPECT_EQ(error_of(derived, {x, floats({8})}),
            "input 'y' (args[1]): dimension 0 is 8, and must be 2*s77 + 1 = 9 (s77 is 4 by dimension 0 of "
            "input 'x' "
            "(args[0]))");
  EXPECT_EQ(error_of(derived, {floats({1}), floats({3})}),
            "input 'y' (args[1]): dimension 0 is 3, and must fulfil 5 <= 2*s77 + 1 <= 19 (the program was "
            "exported for sizes in this range)");
  EXPECT_EQ(error_of(derived, {floats({20}), floats({41})}),
            "input 'x' (args[0]): dimension 0 is 20, and must fulfil 2 <= s77 <= 9 (the program was exported "
            "for sizes in "
            "this range)");
  Program fixed = open("shapes.static.decomposed");
  EXPECT_EQ(error_of(fixed, {Tensor::zeros(DType::kFloat64, Dims{2, 4})}),
            "input 'x' (args[0]) has elements of type float64, float32 is expected (convert it to float32)");
  EXPECT_EQ(error_of(fixed, {floats({8})}),
            "input 'x' (args[0]) has 1 dimensions [8], 2 are expected: [2, 4]");
  EXPECT_EQ(error_of(fixed, {floats({2, 5})}),
            "input 'x' (args[0]): dimension 1 is 5, and must be 4 (the program was exported with this size "
            "fixed; export "
            "it with a dynamic dimension to vary it)");
  EXPECT_EQ(error_of(fixed, {Value(3)}), "input 'x' (args[0]) is int 3, a tensor is expected");
  Tensor elsewhere = floats({2, 4});
  elsewhere.set_device({DeviceType::kCuda, 0});
  EXPECT_EQ(error_of(fixed, {elsewhere}),
            "input 'x' (args[0]) is on the device cuda:0, and the program runs on the CPU (copy it to the "
            "CPU first)");
}

// Conditions that nobody here can read are not passed over in silence.
TEST(Program, UnreadableConditionsAreRefused) {
  const Program plain = open("shapes.derived");
  const auto load_with = [&](const auto& change, bool ignore) {
    graph::ExportedProgram exported = plain.exported().clone();
    change(exported);
    ProgramOptions made = options(true);
    made.ignore_guards = ignore;
    return Program(std::move(exported), made);
  };
  const auto error_with = [&](const auto& change) -> std::string {
    try {
      load_with(change, false);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
      return error.what();
    }
    return "no error";
  };
  const std::string start = "conditions on the program's inputs cannot be read, and so not be checked: ";
  const std::string end =
      " (run it without checking them: --ignore-guards, or ignore_guards in the options of load)";
  const auto guards = [](graph::ExportedProgram& exported) {
    exported.guards_code = {"L['x'].is_cuda()", "L['x'].size()[0] > 3", "L['z'].size()[0] > 3"};
  };
  EXPECT_EQ(error_with(guards), start + "L['x'].is_cuda(); L['z'].size()[0] > 3" + end);
  EXPECT_EQ(error_with([](graph::ExportedProgram& exported) {
              exported.range_constraints.emplace_back("s77 +", graph::RangeConstraint{.min = 3, .max = 9});
            }),
            start + "3 <= s77 + <= 9" + end);
  EXPECT_TRUE(error_with([](graph::ExportedProgram& exported) {
                exported.guards_code.assign(12, "nonsense(");
              }).ends_with("nonsense(; and 2 more" + end));
  Program ignoring = load_with(guards, true);
  EXPECT_EQ(ignoring.unknown_guards(),
            (std::vector<std::string>{"L['x'].is_cuda()", "L['z'].size()[0] > 3"}));
  EXPECT_EQ(error_of(ignoring, {floats({4}), floats({9})}), "no error");
  // What can be read is checked all the same.
  EXPECT_TRUE(
      error_of(ignoring, {floats({3}), floats({7})}).starts_with("the inputs break the program's guard"));
}

std::vector<Value> zeros_for(const Program& program) {
  std::vector<Value> leaves;
  for (const Leaf& leaf : program.inputs()) {
    Dims sizes;
    for (const graph::LeafSize& size : leaf.sizes()) sizes.push_back(size.literal.value());
    leaves.emplace_back(Tensor::zeros(leaf.dtype, sizes));
  }
  return leaves;
}

TEST(Program, AChangedFileGivesAnErrorInsteadOfResults) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "model.pt2";
  const nn::Session session({.seed = 0});
  nn::Linear model(1024, 512);  // 2 MiB
  const nn::Tree inputs[] = {nn::to_tree(nn::ones({1, 1024}))};
  save_program(export_program(model, inputs), path);
  Program program = load_program(path, {{}, options(true)});
  const std::vector<Value> leaves = zeros_for(program);
  EXPECT_EQ(error_of(program, leaves), "no error");
  std::filesystem::resize_file(path, 100);
  EXPECT_TRUE(error_of(program, leaves).starts_with(path + ": was changed while it was in use: it had "));
  EXPECT_TRUE(error_of(program, leaves).starts_with(path + ": was changed while it was in use: it had "));
}

TEST(Program, ASmallModelNeedsItsFileNoMore) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "model.pt2";
  std::filesystem::copy_file(golden("weights.tied"), path);
  Program program = load_program(path, {{}, options(true)});
  const std::vector<Value> leaves = zeros_for(program);
  const std::vector<Value> before = program.run(leaves);
  std::filesystem::resize_file(path, 100);
  const std::vector<Value> after = program.run(leaves);
  EXPECT_EQ(compare(after.at(0).tensor(), before.at(0).tensor()).max_abs, 0);
}

// What a guard says, and the sizes that break it.
TEST(Program, BrokenGuardsAreNamed) {
  const Program plain = open("shapes.derived");
  const auto error_with = [&](const char* guard, int64_t n) {
    graph::ExportedProgram exported = plain.exported().clone();
    exported.guards_code = {guard};
    Program program(std::move(exported), options(true));
    EXPECT_TRUE(program.unknown_guards().empty()) << guard;
    return error_of(program, {floats({n}), floats({2 * n + 1})});
  };
  EXPECT_EQ(error_with("(L['x'].size()[0] % 2) == 0", 4), "no error");
  EXPECT_EQ(error_with("(L['x'].size()[0] % 2) == 0", 5),
            "the inputs break the program's guard (L['x'].size()[0] % 2) == 0: dimension 0 of input 'x' "
            "(args[0]) is 5 (the program was exported under this condition)");
  EXPECT_EQ(error_with("L['x'].size()[0] > 3", 3),
            "the inputs break the program's guard L['x'].size()[0] > 3: dimension 0 of input 'x' (args[0]) "
            "is 3 (the program was exported under this condition)");
  EXPECT_EQ(error_with("L['y'].size()[0] <= 3*L['x'].size()[0] - 2", 2),
            "the inputs break the program's guard L['y'].size()[0] <= 3*L['x'].size()[0] - 2: dimension 0 of "
            "input 'y' (args[1]) is 5, dimension 0 of input 'x' (args[0]) is 2 (the program was exported "
            "under this condition)");
  EXPECT_EQ(error_with("L['x'].size()[0] == 6 or L['x'].size()[0] == 7", 5),
            "the inputs break the program's guard L['x'].size()[0] == 6 or L['x'].size()[0] == 7: dimension "
            "0 of input 'x' (args[0]) is 5 (the program was exported under this condition)");
  EXPECT_EQ(error_with("L['x'].size()[0] != 5", 5),
            "the inputs break the program's guard L['x'].size()[0] != 5: dimension 0 of input 'x' (args[0]) "
            "is 5 (the program was exported under this condition)");
  EXPECT_EQ(error_with("L['x'].stride()[0] == 2", 5),
            "the inputs break the program's guard L['x'].stride()[0] == 2: the stride of dimension 0 of "
            "input 'x' (args[0]) is 1 (the program was exported under this condition)");
}

TEST(Program, OperatorsThatAreNotThereAreListed) {
  try {
    open("control.custom_arguments");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_EQ(std::string(error.what()),
              "the program uses operators that are not there: torch.ops.flambeau_tests.many.default (2 "
              "times, first at "
              "node 'many') (supply them: Library::add in C++, or a library of operators with --operators "
              "FILE.so)");
  }
}

TEST(Program, BudgetsAndCancelling) {
  for (const bool plan : {false, true}) {
    Program program = open("shapes.static.decomposed", plan);
    const std::vector<Value> leaves = {floats({2, 4})};
    RunOptions run;
    run.budget.bytes = 8;
    EXPECT_NE(error_of(program, leaves, run).find("more than the 8 bytes"), std::string::npos);
    const std::atomic<bool> cancel = true;
    run = {};
    run.budget.cancel = &cancel;
    EXPECT_NE(error_of(program, leaves, run).find("the run was cancelled"), std::string::npos);
    EXPECT_EQ(error_of(program, leaves), "no error");
  }
}

TEST(Program, ManyThreadsRunOneProgram) {
  Program program = open("shapes.derived");
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 50; ++i) {
        const int64_t n = 2 + (i + t) % 4;
        const std::vector<Value> leaves = {floats({n}, static_cast<float>(t)), floats({2 * n + 1})};
        const std::vector<Value> results = program.run(leaves);
        const float expected = leaves[0].tensor().data<float>()[0] + leaves[1].tensor().data<float>()[1];
        if (std::abs(results[0].tensor().data<float>()[0] - expected) > 1e-6F) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Program, AProfileHasEveryStep) {
  Program program = open("shapes.static.decomposed");
  const std::vector<Value> leaves = {floats({2, 4})};
  Profile profile;
  RunOptions run;
  run.profile = &profile;
  program.run(leaves, run);
  program.run(leaves, run);
  ASSERT_FALSE(profile.entries.empty());
  for (const Profile::Entry& entry : profile.entries) {
    EXPECT_EQ(entry.calls, 2U);
    EXPECT_FALSE(entry.op.empty());
  }
}

// An image classifier: what its layers take is known from their sizes, planned or not.
TEST(Program, AProfileCountsWork) {
  for (const bool plan : {false, true}) {
    Program program =
        load_program(std::string(FLAMBEAU_GOLDEN_DIR) + "/run/classifier.pt2", {{}, options(plan)});
    const std::vector<Value> leaves = example_inputs(program);
    Profile profile;
    RunOptions run;
    run.profile = &profile;
    for (int i = 0; i < 3; ++i) {
      profile.entries.clear();
      program.run(leaves, run);
    }
    uint64_t convolutions = 0;
    uint64_t first = 0;
    for (const Profile::Entry& entry : profile.entries) {
      if (!entry.node.starts_with("conv2d")) continue;
      convolutions += entry.flops;
      if (entry.node == "conv2d") first = entry.bytes;
    }
    // 5x5 of 3 channels once, 3x3 of 16 channels twice: 2 pictures of 16x16 with 16 channels.
    EXPECT_EQ(convolutions, 2U * 2 * 16 * 16 * 16 * (75 + 2 * 144)) << plan;
    EXPECT_EQ(first, 4U * (2 * 3 * 32 * 32 + 16 * 75 + 16 + 2 * 16 * 16 * 16)) << plan;
  }
}

}  // namespace
}  // namespace flambeau
