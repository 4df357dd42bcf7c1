// Packages with script modules, and modules that were lowered to a backend.
#include "flambeau/script_package.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "flambeau/error.h"
#include "flambeau/tensor.h"
#include "support/temporary_folder.h"

namespace flambeau::script {
namespace {

using flambeau::testing::TemporaryFolder;

std::string failure(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Tensor twos(int64_t count) {
  Tensor made = Tensor::zeros(DType::kFloat32, Dims{count});
  std::fill_n(made.mutable_data<float>(), count, 2.0F);
  return made;
}

ScriptModule scaled(const Tensor& weight, const std::string& code) {
  ScriptModule module = make_script("Scaled");
  module.add_parameter("weight", weight);
  module.define("def forward(self, x):\n  return " + code + "\n");
  return module;
}

float first_of(const IValue& value) { return value.as_tensor().data<float>()[0]; }

TEST(ScriptPackage, ModulesShareTensorsAndKeepTheirClasses) {
  const TemporaryFolder folder;
  const Tensor weight = twos(3);
  const ScriptModule sum = scaled(weight, "x + self.weight"), product = scaled(weight, "x * self.weight");
  save_script_package(folder / "p.pt", {{"one", "one.pkl", {{"", sum}}},
                                        {"models.all", "all.pkl", {{"sum", sum}, {"product", product}}}});
  const auto listed = list_script_package(folder / "p.pt");
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].names, (std::vector<std::string>{"one/one.pkl", "models/all/all.pkl:sum"}));
  EXPECT_EQ(listed[1].names, (std::vector<std::string>{"models/all/all.pkl:product"}));
  EXPECT_NE(listed[0].class_name, listed[1].class_name);
  const auto loaded = load_script_package(folder / "p.pt");
  EXPECT_EQ(first_of(loaded[0].second.run_method("forward", {twos(3)})), 4.0F);
  EXPECT_EQ(first_of(loaded[1].second.run_method("forward", {twos(3)})), 4.0F);
  loaded[0].second.attribute("weight").as_tensor().mutable_data<float>()[0] = 5;
  EXPECT_EQ(first_of(loaded[1].second.run_method("forward", {twos(3)})), 10.0F);
  const ScriptModule alone = load_script(folder / "p.pt", {.module = "models/all/all.pkl:product"});
  save_script(alone, folder / "alone.pt");
  EXPECT_EQ(first_of(load_script(folder / "alone.pt").run_method("forward", {twos(3)})), 4.0F);
}

TEST(ScriptPackage, SaysWhatThereIs) {
  const TemporaryFolder folder;
  const ScriptModule module = scaled(twos(1), "x + self.weight");
  const ScriptModule other = scaled(twos(1), "x - self.weight");
  save_script_package(folder / "p.pt", {{"a", "a.pkl", {{"", module}}}, {"b", "b.pkl", {{"", other}}}});
  EXPECT_NE(failure([&] { load_script(folder / "p.pt"); }).find("has 2 script modules"), std::string::npos);
  EXPECT_NE(
      failure([&] { load_script(folder / "p.pt", {.module = "c"}); }).find("name one of a/a.pkl, b/b.pkl"),
      std::string::npos);
  EXPECT_NE(failure([&] {
              save_script_package(folder / "q.pt", {{"a", "x", {{"", module}}}, {"a", "x", {{"", module}}}});
            }).find("two resources are called 'a/x'"),
            std::string::npos);
  for (const auto& [package, resource] :
       {std::pair{"../a", "x"}, {"", "x"}, {".data", "version"}, {"a", "/x"}}) {
    EXPECT_NE(failure([&] {
                save_script_package(folder / "q.pt", {{package, resource, {{"", module}}}});
              }).find("name no resource of a package"),
              std::string::npos);
  }
  EXPECT_NE(failure([&] {
              save_script_package(folder / "q.pt", {{"a", "x", {{"m", module}, {"m", module}}}});
            }).find("need names of their own"),
            std::string::npos);
  save_script(module, folder / "plain.pt");
  EXPECT_TRUE(list_script_package(folder / "plain.pt").empty());
  EXPECT_NE(failure([&] { load_script(folder / "plain.pt", {.module = "a"}); }).find("that is no package"),
            std::string::npos);
}

// What a backend of PyTorch's tests does: its processed module is a text of operators.
class Demo final : public Backend {
 public:
  IValue compile(const IValue& processed, const IValue& method_compile_spec) override {
    std::vector<std::pair<IValue, IValue>> handles;
    for (const auto& [method, text] : dict_items(processed)) handles.emplace_back(method, text);
    specs = dict_items(method_compile_spec).size();
    return make_dict(std::move(handles));
  }
  std::vector<IValue> execute(const IValue& handle, const std::vector<IValue>& inputs) override {
    seen = handle.as_string();
    Tensor sum = Tensor::zeros(DType::kFloat32, Dims{1});
    for (const IValue& input : inputs) sum.mutable_data<float>()[0] += first_of(input);
    return {IValue(sum)};
  }
  std::string seen;
  size_t specs = 0;
};

TEST(ScriptBackend, RunsWhatWasLoweredToIt) {
  const std::string path = FLAMBEAU_FIXTURE_DIR "/real/mobile/delegate_test.ptl";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const std::string name = "backend_with_compiler_demo";
  const ScriptModule stranger = load_script(path);
  ASSERT_EQ(stranger.lowered_modules().size(), 1U);
  EXPECT_EQ(stranger.lowered_modules()[0].backend, name);
  EXPECT_TRUE(stranger.problems().empty());
  const auto processed = dict_items(stranger.lowered_modules()[0].processed);
  ASSERT_EQ(processed.size(), 1U);
  EXPECT_EQ(processed[0].second.as_string(), "prim::Constant#1,aten::add");
  EXPECT_NE(failure([&] {
              stranger.run_method("forward", {twos(1), twos(1)});
            }).find("lowered to the backend 'backend_with_compiler_demo', which is not there"),
            std::string::npos);
  const TemporaryFolder folder;
  save_script(stranger, folder / "copy.pt");
  for (const bool from_bytecode : {false, true}) {
    const auto demo = std::make_shared<Demo>();
    ScriptLoadOptions options;
    options.backends[name] = demo;
    options.from_bytecode = from_bytecode;
    const ScriptModule module = load_script(from_bytecode ? path : folder / "copy.pt", options);
    EXPECT_EQ(first_of(module.run_method("forward", {twos(1), twos(1)})), 4.0F);
    EXPECT_EQ(demo->seen, "prim::Constant#1,aten::add");
    EXPECT_EQ(demo->specs, 1U);
  }
}

}  // namespace
}  // namespace flambeau::script
