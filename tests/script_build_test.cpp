// Modules that are built in C++: slots, constants, copies, and what is refused.
#include "flambeau/script_build.h"

#include <gtest/gtest.h>

#include "flambeau/error.h"
#include "flambeau/tensor.h"
#include "support/temporary_folder.h"

namespace flambeau::script {
namespace {

using flambeau::testing::TemporaryFolder;

std::string said(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ScriptBuild, GivesModulesOfOneNameTwoClasses) {
  CompilationUnit unit;
  ScriptModule first = unit.make_module("M");
  ScriptModule second = unit.make_module("M");
  EXPECT_EQ(first.class_name(), "__torch__.M");
  EXPECT_EQ(second.class_name(), "__torch__.___torch_mangle_0.M");
  first.define("def forward(self):\n  return 1\n");
  second.define("def forward(self):\n  return 2\n");
  EXPECT_EQ(first.run_method("forward").as_int() + second.run_method("forward").as_int(), 3);
}

TEST(ScriptBuild, ClonesWithClassesOfTheirOwn) {
  CompilationUnit unit("def one():\n  return [1]\n");
  ScriptModule inner = unit.make_module("Inner");
  inner.add_attribute("items", "List[int]", unit.run("one"));
  inner.define("def add(self, x: int) -> int:\n  self.items.append(x)\n  return len(self.items)\n");
  ScriptModule module = unit.make_module("Outer");
  module.add_module("inner", inner);
  module.add_constant("step", "int", 10);
  module.define("def forward(self):\n  return self.inner.add(3) + self.step\n");
  ScriptModule clone = module.clone();
  EXPECT_NE(clone.class_name(), module.class_name());
  EXPECT_EQ(clone.run_method("forward").as_int(), 12);
  EXPECT_EQ(module.run_method("forward").as_int(), 12);
  EXPECT_EQ(to_text(module.submodule("inner").attribute("items")), "[1, 3]");
  clone.add_attribute("extra", "Optional[str]", IValue());
  EXPECT_EQ(module.attributes().size(), 2U);
  const TemporaryFolder folder;
  save_script(clone, folder / "clone.pt");
  EXPECT_EQ(load_script(folder / "clone.pt").run_method("forward").as_int(), 13);
}

TEST(ScriptBuild, RefusesWhatDoesNotFit) {
  CompilationUnit unit(
      "class A(Module):\n  w : nn.Parameter\n  n : int\n  def forward(self):\n    return self.n\n");
  ScriptModule module = unit.make_module("M");
  module.add_attribute("n", "int", 1);
  EXPECT_EQ(said([&] { module.add_attribute("n", "int", 1); }),
            "the module has something called 'n' already");
  EXPECT_EQ(said([&] { module.add_attribute("m", "int", "x"); }),
            "'m' is said to be of type int, and is given str");
  EXPECT_EQ(
      said([&] { unit.make_module_of("A", {{"v", Tensor::zeros(DType::kFloat32, Dims{1})}}); }),
      "these attributes have no value: 'w', 'n'; these weights have no attribute: 'v' (give weights by these "
      "names, or values in the text)");
  EXPECT_EQ(said([&] { unit.make_module_of("B"); }), "there is no class 'B'");
  EXPECT_EQ(said([&] { unit.run("f"); }), "there is no function 'f'");
}

TEST(ScriptBuild, CompilesTextsOfThreeKinds) {
  EXPECT_EQ(compile_module("def f(x: int, by: int = 3) -> int:\n  return x * by\n")
                .run_method("forward", {2})
                .as_int(),
            6);
  const ScriptModule methods = compile_module(
      "def forward(self, x: int) -> int:\n  return self.twice(x) + 1\n"
      "def twice(self, x: int) -> int:\n  return x * 2\n");
  EXPECT_EQ(methods.run_method("forward", {2}).as_int(), 5);
  const ScriptModule of_class = compile_module(
      "SCALE = 4\nclass M(Module):\n  n : int = 2\n  def forward(self, x: int) -> int:\n    self.n += 1\n"
      "    return x * SCALE + self.n\n");
  EXPECT_EQ(of_class.run_method("forward", {2}).as_int(), 11);
  EXPECT_EQ(of_class.run_method("forward", {2}).as_int(), 12);
}

}  // namespace
}  // namespace flambeau::script
