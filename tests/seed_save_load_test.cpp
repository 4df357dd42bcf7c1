// What PyTorch's tests of saving and loading scripted modules ask, each under its own name, with modules that
// are built here from text. Where FLAMBEAU_SEED_FOLDER names a folder, the files stay there, with what their
// calls gave, so that PyTorch can be asked for the same.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/json.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/script_build.h"
#include "flambeau/tensor.h"
#include "flambeau/tensor/storage.h"
#include "support/temporary_folder.h"

namespace flambeau::script {
namespace {

using flambeau::testing::TemporaryFolder;

Tensor floats(const std::vector<float>& values, const Dims& sizes) {
  Tensor made = Tensor::zeros(DType::kFloat32, sizes);
  std::memcpy(made.mutable_data<float>(), values.data(), values.size() * sizeof(float));
  return made;
}

std::vector<float> values_of(const IValue& value) {
  const Tensor& tensor = value.as_tensor();
  const float* first = tensor.data<float>();
  return {first, first + tensor.element_count()};
}

// For people and for Python: tensors as {"sizes", "values"}, tuples as {"tuple"}.
json::Value to_json(const IValue& value) {
  json::Value made;
  switch (value.tag()) {
    case IValue::Tag::kNone:
      return made;
    case IValue::Tag::kInt:
      return value.as_int();
    case IValue::Tag::kString:
      return value.as_string();
    case IValue::Tag::kTuple: {
      json::Array items;
      for (const IValue& item : value.items()) items.push_back(to_json(item));
      made.set("tuple", std::move(items));
      return made;
    }
    default: {
      json::Array sizes;
      json::Array values;
      for (const int64_t size : value.as_tensor().sizes()) sizes.emplace_back(size);
      if (value.as_tensor().dtype() == DType::kInt64) {
        values.emplace_back(*value.as_tensor().data<int64_t>());
      } else {
        for (const float number : values_of(value)) values.emplace_back(double{number});
      }
      made.set("sizes", std::move(sizes));
      made.set("values", std::move(values));
      return made;
    }
  }
}

using ExtraFiles = std::vector<std::pair<std::string, std::string>>;

// How files keep a module.
struct Form {
  const char* name;
  const char* ending;
  void (*save)(const ScriptModule& module, const std::string& path, const ExtraFiles& extra_files);
};
const Form kZip = {"zip", ".pt",
                   [](const ScriptModule& module, const std::string& path, const ExtraFiles& extra) {
                     save_script(module, path, extra);
                   }};
const Form kFlatbuffer = {"flatbuffer", ".ff",
                          [](const ScriptModule& module, const std::string& path, const ExtraFiles& extra) {
                            save_mobile(module, path, {.version = 9, .extra_files = extra});
                          }};
void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

class SaveLoad : public ::testing::Test {
 protected:
  virtual const Form& form() const { return kZip; }
  std::string path_of(const std::string& name) const {
    const char* const folder = std::getenv("FLAMBEAU_SEED_FOLDER");
    const std::string file = name + form().ending;
    return folder != nullptr ? std::string(folder) + "/" + file : temporary_ / file;
  }
  ScriptModule copy_of(const ScriptModule& module, const std::string& name) const {
    form().save(module, path_of(name), {});
    return load_script(path_of(name));
  }
  // Calls both, which give the same; notes the call beside the file.
  IValue call_both(const ScriptModule& made, const ScriptModule& loaded, const std::string& name,
                   const std::vector<IValue>& arguments) const {
    const IValue result = loaded.run_method("forward", arguments);
    EXPECT_EQ(json::dump(to_json(made.run_method("forward", arguments))), json::dump(to_json(result)));
    json::Array given;
    for (const IValue& argument : arguments) given.push_back(to_json(argument));
    json::Value call;
    call.set("arguments", std::move(given));
    call.set("result", to_json(result));
    std::ofstream(path_of(name) + ".json") << json::dump(call);
    return result;
  }
  TemporaryFolder temporary_;
};

// Those that ask the same of every form.
class SaveLoadForms : public SaveLoad, public ::testing::WithParamInterface<Form> {
 protected:
  const Form& form() const override { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Forms, SaveLoadForms, ::testing::Values(kZip, kFlatbuffer),
                         [](const auto& given) { return std::string(given.param.name); });

constexpr const char* kLinear = R"(
class Linear(Module):
    weight : nn.Parameter
    bias : nn.Parameter
    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)
)";

NamedTensors linear_weights(const std::vector<std::string>& layers, float first) {
  NamedTensors made;
  for (const std::string& layer : layers) {
    made.push_back({layer + ".weight", floats({first, 1, -1, 2}, Dims{2, 2})});
    made.push_back({layer + ".bias", floats({0.5F, first}, Dims{2})});
    first += 1;
  }
  return made;
}

// A module that calls two others, which come from files.
ScriptModule contains_both(const ScriptModule& first, const ScriptModule& second, const std::string& body) {
  CompilationUnit unit;
  ScriptModule made = unit.make_module("ContainsBoth");
  made.add_module("second", second);
  made.add_module("first", first);
  made.define(body);
  return made;
}

const IValue kInput = floats({1, 2}, Dims{1, 2});

TEST_P(SaveLoadForms, test_different_modules) {
  CompilationUnit first_unit(std::string(kLinear) + R"(
class Foo(Module):
    foo : Linear
    bar : Linear
    def forward(self, x):
        x = self.foo(x)
        x = self.bar(x)
        return x
)");
  const ScriptModule first =
      copy_of(first_unit.make_module_of("Foo", linear_weights({"foo", "bar"}, 1)), "different_modules_1");
  CompilationUnit second_unit(std::string(kLinear) + R"(
class Foo(Module):
    foo : Linear
    def forward(self, x):
        x = self.foo(x)
        return x
)");
  const ScriptModule second =
      copy_of(second_unit.make_module_of("Foo", linear_weights({"foo"}, 3)), "different_modules_2");
  EXPECT_EQ(first.class_name(), second.class_name());
  const ScriptModule both = contains_both(
      first, second, "def forward(self, x):\n  x = self.first(x)\n  x = self.second(x)\n  return x\n");
  const ScriptModule loaded = copy_of(both, "different_modules");
  EXPECT_NE(loaded.submodule("first").class_name(), loaded.submodule("second").class_name());
  const IValue result = call_both(both, loaded, "different_modules", {kInput});
  const IValue expected = second.run_method("forward", {first.run_method("forward", {kInput})});
  EXPECT_EQ(values_of(result), values_of(expected));
}

TEST_P(SaveLoadForms, test_different_functions) {
  constexpr const char* kFoo =
      "class Foo(Module):\n    def forward(self, x: Tensor):\n        return lol(x)\n";
  CompilationUnit first_unit(std::string("def lol(x):\n    return x\n") + kFoo);
  const ScriptModule first = copy_of(first_unit.make_module_of("Foo"), "different_functions_1");
  CompilationUnit second_unit(std::string("def lol(x):\n    return \"hello\"\n") + kFoo);
  const ScriptModule second = copy_of(second_unit.make_module_of("Foo"), "different_functions_2");
  EXPECT_EQ(first.class_name(), second.class_name());
  const ScriptModule both =
      contains_both(first, second, "def forward(self, x):\n  y = self.first(x)\n  return self.second(y)\n");
  const ScriptModule loaded = copy_of(both, "different_functions");
  EXPECT_EQ(call_both(both, loaded, "different_functions", {kInput}).as_string(), "hello");
}

// An interface, a class that has its method, a module with an object of it.
ScriptModule module_with_interface(CompilationUnit& unit, const std::string& method) {
  unit.define(
      "@torch.jit.interface\nclass MyInterface:\n    def " + method +
      "(self, x: Tensor) -> Tensor:\n        pass\n"
      "@torch.jit.script\nclass ImplementInterface:\n    def __init__(self):\n        pass\n    def " +
      method + "(self, x):\n        return x\n");
  ScriptModule made = unit.make_module("Foo");
  made.add_attribute("interface", "MyInterface", unit.make_object("ImplementInterface"));
  return made;
}

TEST_P(SaveLoadForms, test_different_interfaces) {
  CompilationUnit first_unit;
  ScriptModule first_made = module_with_interface(first_unit, "bar");
  first_made.define("def forward(self, x):\n  return self.interface.bar(x)\n");
  CompilationUnit second_unit;
  ScriptModule second_made = module_with_interface(second_unit, "not_bar");
  second_made.define("def forward(self, x):\n  return self.interface.not_bar(x)\n");
  const ScriptModule first = copy_of(first_made, "different_interfaces_1");
  const ScriptModule second = copy_of(second_made, "different_interfaces_2");
  EXPECT_EQ(first.class_name(), second.class_name());
  const ScriptModule both = contains_both(
      first, second, "def forward(self, x):\n  x = self.first(x)\n  x = self.second(x)\n  return x\n");
  const ScriptModule loaded = copy_of(both, "different_interfaces");
  EXPECT_EQ(values_of(call_both(both, loaded, "different_interfaces", {kInput})), values_of(kInput));
}

TEST_P(SaveLoadForms, test_many_collisions) {
  CompilationUnit first_unit(std::string(kLinear) +
                             "def lol(x):\n    return x\n"
                             "class MyCoolNamedTuple(NamedTuple):\n    a: int\n");
  ScriptModule first_made = module_with_interface(first_unit, "bar");
  for (const char* name : {"foo", "bar"}) {
    NamedTensors weights = linear_weights({"x"}, 2);
    for (NamedTensor& weight : weights) weight.name = weight.name.substr(2);
    first_made.add_module(name, first_unit.make_module_of("Linear", weights));
  }
  first_made.define(
      "def forward(self, x):\n  x = self.foo(x)\n  x = self.bar(x)\n  x = lol(x)\n"
      "  x = self.interface.bar(x)\n  return x, MyCoolNamedTuple(a=5)\n");
  CompilationUnit second_unit(std::string(kLinear) +
                              "def lol(x):\n    return \"asdofij\"\n"
                              "class MyCoolNamedTuple(NamedTuple):\n    a: str\n");
  ScriptModule second_made = module_with_interface(second_unit, "not_bar");
  NamedTensors weights = linear_weights({"x"}, 2);
  for (NamedTensor& weight : weights) weight.name = weight.name.substr(2);
  second_made.add_module("foo", second_unit.make_module_of("Linear", weights));
  second_made.define(
      "def forward(self, x):\n  x = self.foo(x)\n  self.interface.not_bar(x)\n  y = lol(x)\n"
      "  return y, MyCoolNamedTuple(a=\"hello\")\n");
  const ScriptModule first = copy_of(first_made, "many_collisions_1");
  const ScriptModule second = copy_of(second_made, "many_collisions_2");
  EXPECT_EQ(first.class_name(), second.class_name());
  const ScriptModule both = contains_both(
      first, second,
      "def forward(self, x):\n  x, named_tuple_1 = self.first(x)\n  y, named_tuple_2 = self.second(x)\n"
      "  return len(y + named_tuple_2.a) + named_tuple_1.a\n");
  const ScriptModule loaded = copy_of(both, "many_collisions");
  EXPECT_EQ(call_both(both, loaded, "many_collisions", {kInput}).as_int(), 17);
}

TEST_P(SaveLoadForms, test_save_load_with_extra_files) {
  CompilationUnit unit;
  ScriptModule module = unit.make_module("MyMod");
  module.define("def forward(self, a):\n  return a\n");
  const std::string value(
      "bar\x00\xff"
      "baz",
      8);
  form().save(module, path_of("extra_files"), {{"foo", value}, {"foo2", "bar"}});
  const ScriptModule loaded = load_script(path_of("extra_files"));
  EXPECT_EQ(loaded.extra_file("foo"), value);
  EXPECT_EQ(loaded.extra_file("foo2"), "bar");
  EXPECT_THROW(loaded.extra_file("bar"), Error);
  call_both(module, loaded, "extra_files", {kInput});
}

TEST_P(SaveLoadForms, test_save_load_using_pathlib) {
  CompilationUnit unit;
  ScriptModule module = unit.make_module("MyMod");
  module.define("def forward(self, a):\n  return 2 * a\n");
  const ScriptModule loaded = copy_of(module, "pathlib");
  const IValue x = floats({1, 2, 3, 4}, Dims{4});
  EXPECT_EQ(values_of(call_both(module, loaded, "pathlib", {x})), (std::vector<float>{2, 4, 6, 8}));
}

TEST_F(SaveLoad, test_save_nonexit_file) {
  try {
    load_script(temporary_ / "nothing_is_here");
    FAIL() << "it loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  }
}

TEST_P(SaveLoadForms, test_save_namedtuple_input_only) {
  CompilationUnit unit(
      "class FooTuple(NamedTuple):\n    a: int\n"
      "class MyModule(Module):\n    def forward(self, x: FooTuple) -> torch.Tensor:\n"
      "        return torch.tensor(3)\n");
  const ScriptModule module = unit.make_module_of("MyModule");
  const ScriptModule loaded = copy_of(module, "namedtuple_input");
  const IValue result = call_both(module, loaded, "namedtuple_input", {IValue::tuple({IValue(5)})});
  EXPECT_EQ(*result.as_tensor().data<int64_t>(), 3);
}

TEST_F(SaveLoad, test_save_namedtuple_input_only_forwardref) {
  CompilationUnit unit(
      "class FooTuple(NamedTuple):\n    a: \"int\"\n"
      "class MyModule(Module):\n    def forward(self, x: FooTuple) -> torch.Tensor:\n"
      "        return torch.tensor(3)\n");
  const ScriptModule module = unit.make_module_of("MyModule");
  const ScriptModule loaded = copy_of(module, "namedtuple_forwardref");
  const IValue result = call_both(module, loaded, "namedtuple_forwardref", {IValue::tuple({IValue(5)})});
  EXPECT_EQ(*result.as_tensor().data<int64_t>(), 3);
}

TEST_P(SaveLoadForms, test_save_namedtuple_output_only) {
  CompilationUnit unit(
      "class FooTuple(NamedTuple):\n    a: int\n"
      "class MyModule(Module):\n    def forward(self) -> Optional[FooTuple]:\n        return None\n");
  const ScriptModule module = unit.make_module_of("MyModule");
  const ScriptModule loaded = copy_of(module, "namedtuple_output");
  EXPECT_TRUE(call_both(module, loaded, "namedtuple_output", {}).is_none());
}

TEST_P(SaveLoadForms, test_save_load_params_buffers_submodules) {
  CompilationUnit unit("class Submodule(Module):\n    pass\n");
  ScriptModule module = unit.make_module("TestModule");
  module.add_module("submodule_a", unit.make_module_of("Submodule"));
  module.add_parameter("parameter_a", floats({1, 2, 3, 4}, Dims{4}));
  module.add_buffer("buffer", floats({5, 6, 7, 8}, Dims{4}));
  module.add_attribute("t", "Tensor", floats({9, 10, 11, 12}, Dims{4}));
  module.add_parameter("parameter_b", floats({-1, -2, -3, -4}, Dims{4}));
  module.add_module("submodule_b", unit.make_module_of("Submodule"));
  module.define("def forward(self):\n  return self.parameter_a + self.buffer * self.t\n");
  const ScriptModule loaded = copy_of(module, "params_buffers");
  std::vector<std::string> paths;
  for (const ScriptModule& part : loaded.modules()) paths.push_back(part.path());
  EXPECT_EQ(paths, (std::vector<std::string>{"", "submodule_a", "submodule_b"}));
  const auto compare = [](const NamedTensors& made, const NamedTensors& read, size_t count) {
    ASSERT_EQ(made.size(), count);
    ASSERT_EQ(read.size(), count);
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(made[i].name, read[i].name);
      EXPECT_EQ(values_of(made[i].tensor), values_of(read[i].tensor));
    }
  };
  compare(module.parameters(), loaded.parameters(), 2);
  compare(module.buffers(), loaded.buffers(), 1);
  call_both(module, loaded, "params_buffers", {});
}

Tensor without_data(const Dims& sizes) {
  const Tensor shape = Tensor::zeros(DType::kFloat32, sizes);
  return Tensor::strided(DType::kFloat32, shape.geometry(), Storage::meta(shape.byte_count()),
                         Device{DeviceType::kMeta});
}

ScriptModule module_with_meta(CompilationUnit& unit) {
  unit.define(std::string(kLinear) + R"(
class Foo(Module):
    foo : Linear
    bar : Linear
    __buffers__ = ["buffer"]
    buffer : Tensor
    def forward(self, x):
        x = self.foo(x)
        x = self.bar(x)
        return x
    @torch.jit.export
    def second(self, x):
        return self.bar(x)
)");
  return unit.make_module_of("Foo", {{"foo.weight", without_data(Dims{3, 2})},
                                     {"foo.bias", without_data(Dims{3})},
                                     {"bar.weight", floats({1, 2, 3, 4, 5, 6}, Dims{2, 3})},
                                     {"bar.bias", floats({1, 2}, Dims{2})},
                                     {"buffer", without_data(Dims{4})}});
}

void expect_meta(const ScriptModule& module) {
  for (const NamedTensor& parameter : module.parameters())
    EXPECT_EQ(parameter.tensor.is_meta(), parameter.name.starts_with("foo.")) << parameter.name;
  ASSERT_EQ(module.buffers().size(), 1U);
  EXPECT_TRUE(module.buffers()[0].tensor.is_meta());
}

TEST_F(SaveLoad, test_module_info_flatbuffer) {
  CompilationUnit unit(std::string(kLinear) + R"(
class Foo(Module):
    foo : Linear
    bar : Linear
    def forward(self, x):
        x = self.foo(x)
        x = self.bar(x)
        return x
)");
  // PyTorch is asked for the rest.
  kFlatbuffer.save(unit.make_module_of("Foo", linear_weights({"foo", "bar"}, 1)),
                   path_of("module_info") + ".ff", {});
  const ScriptModule loaded = load_script(path_of("module_info") + ".ff");
  EXPECT_EQ(loaded.operators(), (std::vector<std::string>{"aten::linear"}));
  ASSERT_EQ(loaded.methods().size(), 1U);
  EXPECT_EQ(loaded.methods()[0].name, "forward");
}

TEST_F(SaveLoad, test_save_load_meta_tensors) {
  CompilationUnit unit;
  const ScriptModule module = module_with_meta(unit);
  const ScriptModule loaded = copy_of(module, "meta");
  ASSERT_EQ(loaded.parameters().size(), 4U);
  expect_meta(module);
  expect_meta(loaded);
}

// Tensors without data stay so; the others are on the processor, which is where files are loaded to.
TEST_F(SaveLoad, test_save_load_meta_tensors_to_device) {
  CompilationUnit unit;
  const ScriptModule loaded = copy_of(module_with_meta(unit), "meta_to_device");
  expect_meta(loaded);
  EXPECT_EQ(loaded.submodule("bar").attribute("weight").as_tensor().device().type, DeviceType::kCpu);
  const IValue x = floats({1, 1, 1}, Dims{1, 3});
  EXPECT_EQ(values_of(loaded.run_method("second", {x})), (std::vector<float>{7, 17}));
}

// A file that holds the inputs it was traced with loads, and its code is the same when it is saved again.
TEST_F(SaveLoad, test_save_load_with_saved_traced_inputs) {
  const ScriptModule traced = load_script(FLAMBEAU_GOLDEN_DIR "/torchscript/traced.pt");
  const ScriptModule loaded = copy_of(traced, "traced");
  EXPECT_EQ(loaded.code("forward"), traced.code("forward"));
  EXPECT_FALSE(loaded.operators().empty());
}

TEST_F(SaveLoad, test_save_load_large_string_attribute) {
  std::ifstream memory("/proc/meminfo");
  std::string word;
  uint64_t available = 0;
  while (memory >> word) {
    if (word == "MemAvailable:") memory >> available;
  }
  if (available < uint64_t{60} << 20) GTEST_SKIP() << "less than 60 GiB of memory are free";
  CompilationUnit unit;
  ScriptModule module = unit.make_module("Model");
  module.add_attribute("x", "str", std::string((size_t{1} << 32) + 1, 'x'));
  module.define("def forward(self, i) -> int:\n  return len(self.x) + i.numel()\n");
  const ScriptModule loaded = copy_of(module, "large_string");
  EXPECT_EQ(loaded.run_method("forward", {kInput}).as_int(), (int64_t{1} << 32) + 3);
}

}  // namespace
}  // namespace flambeau::script
