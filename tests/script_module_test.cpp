// TorchScript modules through the public API: what they hold, what they do, and that saving gives the bytes
// that PyTorch gives.
#include "flambeau/script.h"

#include <gtest/gtest.h>

#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/tensor.h"
#include "support/temporary_folder.h"

namespace flambeau::script {
namespace {

using flambeau::testing::TemporaryFolder;

std::string golden(const std::string& name) { return FLAMBEAU_GOLDEN_DIR "/torchscript/" + name; }

std::string failure(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class SavedAgain : public ::testing::TestWithParam<const char*> {};

TEST_P(SavedAgain, GivesTheSameBytes) {
  const TemporaryFolder folder;
  const std::string path = folder / GetParam();
  save_script(load_script(golden(GetParam())), path);
  EXPECT_TRUE(as_text(Mapping::open(path)->bytes()) == as_text(Mapping::open(golden(GetParam()))->bytes()));
}

TEST_P(SavedAgain, GivesTheSameBytesWhenNothingRan) {
  const TemporaryFolder folder;
  const std::string path = folder / GetParam();
  ScriptLoadOptions inert;
  inert.run_set_state = false;
  save_script(load_script(golden(GetParam()), inert), path);
  EXPECT_TRUE(as_text(Mapping::open(path)->bytes()) == as_text(Mapping::open(golden(GetParam()))->bytes()));
}

INSTANTIATE_TEST_SUITE_P(Golden, SavedAgain,
                         ::testing::Values("counter.pt", "state.pt", "constants.pt", "traced.pt"));

TEST(ScriptModuleTest, ShowsWhatItHolds) {
  const ScriptModule module = load_script(golden("counter.pt"));
  EXPECT_EQ(module.class_name(), "__torch__.Counter");
  EXPECT_EQ(module.archive_version(), 3);
  std::vector<std::string> paths;
  for (const ScriptModule& part : module.modules()) paths.push_back(part.path());
  EXPECT_EQ(paths, (std::vector<std::string>{"", "linear", "twin", "norm"}));
  EXPECT_EQ(module.submodule("twin").class_name(), "__torch__.torch.nn.modules.linear.Linear");
  const NamedTensors parameters = module.parameters();
  ASSERT_EQ(parameters.size(), 4U);  // twin is linear once more
  EXPECT_EQ(parameters[0].name, "linear.weight");
  EXPECT_EQ(parameters[0].tensor.sizes(), (Dims{3, 2}));
  EXPECT_EQ(module.buffers().front().name, "calls");
  EXPECT_EQ(to_text(module.attribute("names")), "[\"a\", \"b\"]");
  EXPECT_EQ(module.methods().at(0).signature, "forward(Tensor x, float? scale=None) -> (Tensor, int)");
  EXPECT_NE(module.code("forward").find("def forward(self,"), std::string::npos);
  EXPECT_NE(module.code().find("class Counter(Module):"), std::string::npos);
  EXPECT_NE(module.graph("fails").find("prim::RaiseException"), std::string::npos);
  EXPECT_TRUE(module.problems().empty());
  EXPECT_TRUE(module.outside_calls().empty());
  EXPECT_TRUE(module.run_at_load().empty());
  EXPECT_NE(failure([&] { module.attribute("name"); }).find("has no attribute 'name' (did you mean 'names'"),
            std::string::npos);
  EXPECT_NE(failure([&] { module.submodule("norm.x"); }).find("has no attribute 'x'"), std::string::npos);
}

TEST(ScriptModuleTest, RunsMethods) {
  ScriptModule module = load_script(golden("counter.pt"));
  EXPECT_TRUE(module.is_training());
  module.eval();
  EXPECT_FALSE(module.submodule("norm").is_training());
  const IValue result =
      module.run_method("forward", {Tensor::zeros(DType::kFloat32, Dims{1, 2})}, {{"scale", 2.0}});
  EXPECT_EQ(result.items().at(0).as_tensor().sizes(), (Dims{1, 3}));
  EXPECT_EQ(result.items().at(1).as_int(), 10);
  EXPECT_EQ(*module.attribute("calls").as_tensor().data<int64_t>(), 1);
  EXPECT_NE(failure([&] { module.run_method("nothing"); }).find("nothing"), std::string::npos);
  EXPECT_NE(failure([&] { module.run_method("forward"); }).find("x"), std::string::npos);
}

TEST(ScriptModuleTest, ChangesAttributes) {
  const TemporaryFolder folder;
  ScriptModule module = load_script(golden("state.pt"));
  module.set_attribute("value", 40);
  EXPECT_TRUE(module.has_attribute("value"));
  EXPECT_NE(failure([&] { module.set_attribute("value", "x"); }).find("is of type int, not"),
            std::string::npos);
  save_script(module, folder / "changed.pt", {{"notes.txt", "hello"}});
  const ScriptModule again = load_script(folder / "changed.pt");
  EXPECT_EQ(again.attribute("value").as_int(), 40);
  EXPECT_EQ(again.extra_files(), std::vector<std::string>{"notes.txt"});
  EXPECT_EQ(again.extra_file("notes.txt"), "hello");
  EXPECT_EQ(again.run_at_load(), std::vector<std::string>{"__torch__.State.__setstate__"});
}

TEST(ScriptModuleTest, RefusesOtherFiles) {
  EXPECT_NE(failure([] { load_script(FLAMBEAU_GOLDEN_DIR "/zip/buffer.pt"); }).find("buffer.pt"),
            std::string::npos);
  EXPECT_NE(failure([] { load_script(FLAMBEAU_GOLDEN_DIR "/none.pt"); }).find("none.pt"), std::string::npos);
}

}  // namespace
}  // namespace flambeau::script
