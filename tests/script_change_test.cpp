// TorchScript modules that are changed and made: new slots and methods, element types, copies, objects of
// users' classes; and what of it comes back from a file.
#include <gtest/gtest.h>

#include "flambeau/error.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/script.h"
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

Tensor numbers(const std::vector<float>& values) {
  Tensor made = Tensor::zeros(DType::kFloat32, Dims{static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), made.mutable_data<float>());
  return made;
}

std::vector<float> floats_of(const IValue& value) {
  const Tensor& tensor = value.as_tensor();
  return {tensor.data<float>(), tensor.data<float>() + tensor.element_count()};
}

// y = x * scale + bias * times
ScriptModule affine() {
  ScriptModule module = make_script("Affine");
  module.add_parameter("scale", numbers({2, 3}));
  module.add_buffer("bias", numbers({1, 1}));
  module.add_attribute("times", "int", 10);
  module.define(
      "def forward(self, x: Tensor) -> Tensor:\n  return x * self.scale + self.bias * self.times\n");
  return module;
}

TEST(ScriptChange, ModulesAreMadeSavedAndLoaded) {
  const TemporaryFolder folder;
  ScriptModule module = affine();
  EXPECT_EQ(floats_of(module.run_method("forward", {numbers({1, 1})})), (std::vector<float>{12, 13}));
  save_script(module, folder / "affine.pt");
  const ScriptModule again = load_script(folder / "affine.pt");
  EXPECT_EQ(again.class_name(), "__torch__.Affine");
  EXPECT_EQ(again.parameters().at(0).name, "scale");
  EXPECT_EQ(again.buffers().at(0).name, "bias");
  EXPECT_EQ(again.methods().at(0).signature, "forward(Tensor x) -> Tensor");
  EXPECT_EQ(floats_of(again.run_method("forward", {numbers({1, 1})})), (std::vector<float>{12, 13}));
}

TEST(ScriptChange, ModulesInModules) {
  const TemporaryFolder folder;
  ScriptModule module = make_script("Outer");
  ScriptModule inner = module.new_module("Inner");
  inner.add_parameter("weight", numbers({5}));
  inner.define("def forward(self, x: Tensor) -> Tensor:\n  return x + self.weight\n");
  module.add_module("inner", inner);
  module.add_module("twin", inner);
  module.define(
      "def forward(self, x: Tensor) -> Tensor:\n  return self.twin.forward(self.inner.forward(x))\n");
  EXPECT_EQ(floats_of(module.run_method("forward", {numbers({1})})), (std::vector<float>{11}));
  save_script(module, folder / "outer.pt");
  const ScriptModule again = load_script(folder / "outer.pt");
  EXPECT_EQ(floats_of(again.run_method("forward", {numbers({1})})), (std::vector<float>{11}));
  EXPECT_EQ(again.parameters().size(), 1U);
  std::vector<std::string> names;
  for (const NamedTensor& each : again.state_dict()) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"inner.weight", "twin.weight"}));
}

TEST(ScriptChange, LoadedModulesGrow) {
  const TemporaryFolder folder;
  ScriptModule module = load_script(golden("counter.pt"));
  module.add_attribute("labels", "Dict[str, int]", make_dict({{"cat", 1}, {"dog", 2}}));
  module.define("def label(self, name: str) -> int:\n  return self.labels[name]\n");
  EXPECT_EQ(module.run_method("label", {"dog"}).as_int(), 2);
  save_script(module, folder / "labelled.pt");
  const ScriptModule again = load_script(folder / "labelled.pt");
  EXPECT_EQ(again.run_method("label", {"cat"}).as_int(), 1);
  EXPECT_EQ(to_text(again.attribute("labels")), "{\"cat\": 1, \"dog\": 2}");
  EXPECT_EQ(dict_items(again.attribute("labels")).at(1).first.as_string(), "dog");
  EXPECT_EQ(type_text(again.attribute("labels")), "Dict[str, int]");
}

TEST(ScriptChange, RefusesWhatCannotBe) {
  ScriptModule module = load_script(golden("counter.pt"));
  EXPECT_EQ(failure([&] { module.add_attribute("calls", "int", 1); }),
            "the module has something called 'calls' already");
  EXPECT_EQ(failure([&] { module.add_attribute("a.b", "int", 1); }), "'a.b' is no name of an attribute");
  EXPECT_EQ(failure([&] { module.add_attribute("size", "List[int]", "x"); }),
            "'size' is said to be of type List[int], and is given str");
  EXPECT_EQ(failure([&] { module.submodule("linear").add_attribute("size", "int", 1); }),
            "other modules may be of the class __torch__.torch.nn.modules.linear.Linear, so that nothing can "
            "be added to "
            "it (clone the module first)");
  EXPECT_NE(failure([&] { module.define("def forward(self): return 1\n"); }), "no error");
  EXPECT_NE(failure([&] { module.define("def other(self): return self.nothing\n"); }).find("nothing"),
            std::string::npos);
  EXPECT_FALSE(module.has_method("other"));
  EXPECT_EQ(failure([&] { module.to(DType::kInt8); }),
            "a module goes to floating-point and complex types, not to int8");
  EXPECT_NE(failure([&] { module.run_method("forwrd"); }).find("did you mean 'forward'"), std::string::npos);
  const ScriptModule copy = module.copy();
  EXPECT_EQ(
      failure([&] { module.add_attribute("more", "int", 1); }),
      "the module has its code in common with a copy of it (change it before it is copied, or load the file "
      "anew)");
}

TEST(ScriptChange, ElementTypes) {
  ScriptModule module = load_script(golden("counter.pt"));
  module.to(DType::kFloat64);
  EXPECT_EQ(module.parameters().at(0).tensor.dtype(), DType::kFloat64);
  EXPECT_EQ(module.attribute("calls").as_tensor().dtype(), DType::kInt64);
  module.eval();
  const IValue result = module.run_method("forward", {Tensor::zeros(DType::kFloat64, Dims{1, 2})});
  EXPECT_EQ(result.items().at(0).as_tensor().dtype(), DType::kFloat64);
}

TEST(ScriptChange, CopiesShareTensorsDeepCopiesDoNot) {
  ScriptModule module = affine();
  ScriptModule copy = module.copy();
  ScriptModule deep = module.deepcopy();
  module.set_attribute("times", 0);
  *module.attribute("scale").as_tensor().mutable_data<float>() = 7;
  EXPECT_EQ(floats_of(module.run_method("forward", {numbers({1, 1})})), (std::vector<float>{7, 3}));
  EXPECT_EQ(floats_of(copy.run_method("forward", {numbers({1, 1})})), (std::vector<float>{17, 13}));
  EXPECT_EQ(floats_of(deep.run_method("forward", {numbers({1, 1})})), (std::vector<float>{12, 13}));
  copy.train();
  module.eval();
  EXPECT_TRUE(copy.is_training());
  EXPECT_FALSE(module.is_training());
}

// A class of the user's, "my.Total": its objects add numbers up, and files keep them.
std::shared_ptr<const ops::Library> library_with_totals() {
  const std::string name = "__torch__.torch.classes.my.Total";
  const auto total = [](const Object& object) -> int64_t& {
    return *static_cast<int64_t*>(object.pointer.get());
  };
  ops::ObjectClass made;
  made.name = name;
  made.state_type = "int";
  made.state = [=](const Object& object) { return Value(total(object)); };
  made.from_state = [=](const Value& state) {
    return Object{name, std::make_shared<int64_t>(state.get<int64_t>())};
  };
  made.methods.push_back({.name = "add",
                          .result = "int",
                          .arguments = {{"number", "int"}},
                          .function = [=](const Object& object, std::span<const Value> given) {
                            return Value(total(object) += given[0].get<int64_t>());
                          }});
  auto library = std::make_shared<ops::Library>();
  library->add_class(std::move(made));
  return library;
}

TEST(ScriptChange, ObjectsOfUsersClasses) {
  const TemporaryFolder folder;
  ScriptLoadOptions options;
  options.library = library_with_totals();
  ScriptModule module = make_script("Totals", options);
  const std::string name = "__torch__.torch.classes.my.Total";
  module.add_attribute("total", name, IValue::native(Object{name, std::make_shared<int64_t>(40)}));
  module.define("def forward(self, x: int) -> int:\n  return self.total.add(x)\n");
  EXPECT_EQ(module.run_method("forward", {2}).as_int(), 42);
  save_script(module, folder / "totals.pt");
  const ScriptModule again = load_script(folder / "totals.pt", options);
  EXPECT_EQ(again.run_method("forward", {1}).as_int(), 43);
  EXPECT_EQ(module.run_method("forward", {1}).as_int(), 43);
  // Without the class the file can be looked at.
  const ScriptModule stranger = load_script(folder / "totals.pt");
  EXPECT_EQ(stranger.attributes().size(), 2U);
  EXPECT_NE(failure([&] { stranger.run_method("forward", {1}); }).find("add"), std::string::npos);
}

}  // namespace
}  // namespace flambeau::script
