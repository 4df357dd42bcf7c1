// Runs of finished plans: whose memory they use, and what they leave behind.
#include "flambeau/runtime/plan/workspace.h"

#include <thread>

#include "flambeau/base/error.h"
#include "flambeau/runtime/plan/plan_test_programs.h"

namespace flambeau::runtime {
namespace {

class Workspaces : public Plans {
 protected:
  std::vector<const Tensor*> inputs() const {
    std::vector<const Tensor*> all;
    for (const Tensor& tensor : given) all.push_back(&tensor);
    return all;
  }
};

const std::string kChain = R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                              b: "f32[4]" = torch.ops.aten.cos.default(a)
                              c: "f32[4]" = torch.ops.aten.exp.default(b)
                              return (c,))";

TEST_F(Workspaces, ResultsAreTheCallers) {
  plan_of("x: \"f32[4]\"", kChain, "place buffers");
  Workspace workspace(*plan);
  const Tensor first = workspace.run(context, inputs()).at(0).tensor();
  const Tensor kept = ops::call(context, "aten::clone", first);
  given[0].mutable_data<float>()[0] = 3;
  const Tensor second = workspace.run(context, inputs()).at(0).tensor();
  EXPECT_NE(first.storage(), second.storage());
  EXPECT_EQ(compare(first, kept).max_abs, 0);
  EXPECT_NE(compare(first, second).max_abs, 0);
}

TEST_F(Workspaces, ConstantsThatAreGivenAreCopies) {
  plan_of("c_w: \"f32[4]\", x: \"f32[4]\"", R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                                               return (a, c_w))",
          "place buffers");
  Workspace workspace(*plan);
  Tensor weight = workspace.run(context, inputs()).at(1).tensor();
  weight.mutable_data<float>()[0] = 100;
  EXPECT_NE(given[0].data<float>()[0], 100);
  EXPECT_NE(workspace.run(context, inputs()).at(1).tensor().data<float>()[0], 100);
}

TEST_F(Workspaces, InputsThatAreWrittenStayAsTheyWere) {
  plan_of("x: \"f32[4]\"", R"(a: "f32[4]" = torch.ops.aten.mul_.Tensor(x, 2)
                              b: "f32[4]" = torch.ops.aten.sin.default(x)
                              return (b,))",
          "place buffers");
  const Tensor before = ops::call(context, "aten::clone", given[0]);
  const std::vector<Value> results = Workspace(*plan).run(context, inputs());
  EXPECT_EQ(compare(given[0], before).max_abs, 0);
  ASSERT_EQ(results.size(), 2U) << "and what was written";
  EXPECT_EQ(compare(results[1].tensor(), ops::call(context, "aten::mul.Tensor", before, 2)).max_abs, 0);
}

TEST_F(Workspaces, ViewsOfTheCallersTensors) {
  plan_of("x: \"f32[4]\"", kChain, "place buffers");
  const Tensor wide = Tensor::zeros(DType::kFloat32, Dims{10});
  for (int64_t i = 0; i < 10; ++i) wide.mutable_data<float>()[i] = static_cast<float>(i) / 4;
  given[0] = wide.with_geometry({Dims{4}, Dims{1}, 5});
  const Tensor found = run();
  EXPECT_LT(compare(found, interpreted()).max_abs, 1e-6);
}

TEST_F(Workspaces, SeveralAtOnce) {
  plan_of("x: \"f32[4]\"", kChain, "place buffers");
  const Tensor wanted = run();
  std::vector<std::thread> runners;
  for (int i = 0; i < 3; ++i) {
    runners.emplace_back([&] {
      ops::Context own(library, pool);
      Workspace workspace(*plan);
      for (int turn = 0; turn < 50; ++turn)
        EXPECT_EQ(compare(workspace.run(own, inputs()).at(0).tensor(), wanted).max_abs, 0);
    });
  }
  for (std::thread& runner : runners) runner.join();
}

TEST_F(Workspaces, ErrorsTellTheirNode) {
  plan_of("x: \"f32[4]\", i: \"i64[2]\"", R"(a: "f32[4]" = torch.ops.aten.sin.default(x)
                                             b: "f32[2]" = torch.ops.aten.index_select.default(a, 0, i)
                                             return (b,))",
          "place buffers");
  given[1].mutable_data<int64_t>()[0] = 9;
  try {
    run();
    FAIL() << "no error";
  } catch (const Error& error) {
    ASSERT_FALSE(error.locations().empty());
    EXPECT_EQ(error.locations()[0].kind, "node");
    EXPECT_EQ(error.locations()[0].value, "b");
  }
}

TEST_F(Workspaces, AProfileHasEachStep) {
  plan_of("x: \"f32[4]\"", kChain, "place buffers");
  Profile profile;
  profile.entries.resize(plan->steps.size());
  Workspace(*plan).run(context, inputs(), &profile);
  EXPECT_EQ(profile.entries.size(), 1U);
  EXPECT_EQ(profile.entries[0].calls, 1U);
  EXPECT_EQ(plan->steps[0].name(), "sin + cos + exp");
}

TEST_F(Workspaces, BudgetsCountOperatorsOfAStepThatIsSeveral) {
  plan_of("x: \"f32[4]\"", kChain, "place buffers");
  context.most_steps = 2;
  EXPECT_THROW(run(), Error);
}

TEST_F(Workspaces, MemoryIsUsedAgain) {
  std::string body;
  for (int i = 0; i < 20; ++i)
    body += "a" + std::to_string(i) + ": \"f32[1000]\" = torch.ops.aten.cumsum.default(" +
            (i == 0 ? "x" : "a" + std::to_string(i - 1)) + ", 0)\n";
  plan_of("x: \"f32[1000]\"", body + "return (a19,)", "place buffers");
  EXPECT_EQ(plan->arena_bytes, 2 * 4032U);
  expect_right();
}

}  // namespace
}  // namespace flambeau::runtime
