// One TorchScript module that many threads run at once: those that change it take turns, the others do not
// wait.
#include <gtest/gtest.h>

#include <thread>

#include "flambeau/error.h"
#include "flambeau/script.h"
#include "flambeau/tensor.h"
#include "support/temporary_folder.h"

namespace flambeau::script {
namespace {

constexpr int kThreads = 8;
constexpr int kRuns = 20;

std::string golden(const std::string& name) { return FLAMBEAU_GOLDEN_DIR "/torchscript/" + name; }

// What one throws fails the test.
void in_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  std::vector<std::string> errors(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      try {
        work(i);
      } catch (const std::exception& error) {
        errors[static_cast<size_t>(i)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(errors, std::vector<std::string>(kThreads));
}

std::vector<float> floats_of(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.element_count()};
}

Tensor filled(float value) {
  Tensor made = Tensor::zeros(DType::kFloat32, Dims{64, 64});
  std::fill_n(made.mutable_data<float>(), made.element_count(), value);
  return made;
}

ScriptModule mixed() {
  ScriptModule module = make_script("Mixed");
  module.add_parameter("weight", filled(0.5F));
  module.add_attribute("calls", "int", 0);
  module.add_attribute("seen", "List[int]", make_list({}));
  module.define(R"(
def pure(self, x: Tensor, turns: int) -> Tensor:
  names: List[str] = []
  for i in range(turns):
    names.append(str(i))
    x = torch.relu(x + self.weight)
    if i % 3 == 0:
      x = x.clone().mul_(2.)
  if len(names) != turns:
    raise ValueError("wrong")
  return x
def count(self, x: int) -> int:
  self.calls = self.calls + 1
  self.seen.append(x)
  return len(self.seen)
def draw(self) -> Tensor:
  return torch.rand([16])
def fails(self, x: int) -> int:
  assert x < 0, "always"
  return x
)");
  return module;
}

TEST(ScriptThreads, RunOneModuleTogether) {
  const ScriptModule module = mixed();
  std::vector<std::vector<float>> expected;
  for (int i = 0; i < kThreads; ++i)
    expected.push_back(floats_of(mixed().run_method("pure", {filled(static_cast<float>(i)), 7}).as_tensor()));
  in_threads([&](int thread) {
    for (int i = 0; i < kRuns; ++i) {
      const IValue result = module.run_method("pure", {filled(static_cast<float>(thread)), 7});
      EXPECT_EQ(floats_of(result.as_tensor()), expected[static_cast<size_t>(thread)]);
    }
  });
}

TEST(ScriptThreads, CompileAndRunALoadedModuleTogether) {
  for (const bool is_training : {false, true}) {
    ScriptModule module = load_script(golden("counter.pt"));
    module.train(is_training);
    in_threads([&](int) {
      for (int i = 0; i < kRuns; ++i) {
        const IValue result = module.run_method("forward", {Tensor::zeros(DType::kFloat32, Dims{4, 2})});
        EXPECT_EQ(result.items().at(0).as_tensor().sizes(), (Dims{4, 3}));
        EXPECT_EQ(module.modules().size(), 4U);
        EXPECT_FALSE(module.code("forward").empty());
      }
    });
    // It counts its calls: those took turns.
    EXPECT_EQ(*module.attribute("calls").as_tensor().data<int64_t>(), kThreads * kRuns);
  }
}

TEST(ScriptThreads, ChangesTakeTurns) {
  ScriptModule module = mixed();
  in_threads([&](int thread) {
    for (int i = 0; i < kRuns; ++i) {
      module.run_method("count", {thread});
      module.run_method("pure", {filled(1), 3});
      if (thread == 0) module.train(i % 2 == 0);
      if (thread == 1) module.set_attribute("weight", filled(static_cast<float>(i)));
      EXPECT_GE(module.attribute("calls").as_int(), 1);
    }
  });
  EXPECT_EQ(module.attribute("calls").as_int(), kThreads * kRuns);
  EXPECT_EQ(module.attribute("seen").items().size(), static_cast<size_t>(kThreads * kRuns));
}

TEST(ScriptThreads, DrawErrorsCopiesAndFiles) {
  const flambeau::testing::TemporaryFolder folder;
  const ScriptModule module = mixed();
  module.manual_seed(5);
  in_threads([&](int thread) {
    const std::string path = folder / ("copy" + std::to_string(thread) + ".pt");
    for (int i = 0; i < kRuns; ++i) {
      EXPECT_EQ(module.run_method("draw").as_tensor().sizes(), (Dims{16}));
      EXPECT_THROW(module.run_method("fails", {1}), Error);
      if (i % 10 != 0) continue;
      save_script(module.deepcopy(), path);
      EXPECT_EQ(load_script(path).run_method("count", {1}).as_int(), 1);
    }
  });
}

}  // namespace
}  // namespace flambeau::script
