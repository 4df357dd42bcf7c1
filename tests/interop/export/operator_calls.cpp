// Calls of single operators, exported with a first dimension that may vary, for ../opinfo/run_export.py:
//
//   operator_calls CALLS.json TENSORS.pt FOLDER
//
// CALLS.json is a list of {"name": N, "op": "aten::add.Tensor", "args": [...], "kwargs": {...}}; {"tensor":
// KEY} is a tensor of the file, {"complex": [a, b]} a number. The tensors of a call are the inputs of its
// program, in the order in which the call names them, the rest are constants. What fails is said in N.error.
#include <fmt/format.h>

#include <complex>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/export.h"
#include "flambeau/json.h"
#include "flambeau/nn.h"

namespace flambeau {
namespace {

// The tensors of a call one after the other: those of the file, or what a trace has in their place.
using TakeTensor = std::function<Tensor(const std::string& key)>;

Value to_value(const json::Value& said, const TakeTensor& take);

Value to_list(const json::Array& said, const TakeTensor& take) {
  ValueList items;
  bool has_tensor = false;
  bool has_others = false;
  for (const json::Value& item : said) {
    const Value& value = items.emplace_back(to_value(item, take));
    has_tensor = has_tensor || value.is_tensor();
    has_others = has_others || !(value.is_tensor() || value.is_none());
  }
  if (items.empty()) return Dims();
  if (has_tensor && !has_others) {
    TensorList tensors;
    for (const Value& item : items) tensors.push_back(item.is_none() ? Tensor() : item.tensor());
    return tensors;
  }
  Dims integers;
  for (const Value& item : items) {
    if (!item.is<int64_t>()) return items;
    integers.push_back(item.get<int64_t>());
  }
  return integers;
}

Value to_value(const json::Value& said, const TakeTensor& take) {
  if (said.is_null()) return {};
  if (said.is_bool()) return said.as_bool();
  if (said.is_integer()) return said.as_int();
  if (said.is_double()) return said.as_double();
  if (said.is_string()) return said.as_string();
  if (said.is_array()) return to_list(said.as_array(), take);
  if (const json::Value* const key = said.find("tensor")) return take(key->as_string());
  const json::Array& parts = said.find("complex")->as_array();
  return std::complex<double>(parts.at(0).as_double(), parts.at(1).as_double());
}

class CallModule : public nn::Module {
 public:
  CallModule(const json::Value& call, size_t inputs) : call_(call), inputs_(inputs) {}

  std::string class_name() const override { return "operator_calls.CallModule"; }
  std::vector<std::string> argument_names() const override {
    std::vector<std::string> names;
    for (size_t i = 0; i < inputs_; ++i) names.push_back(fmt::format("x{}", i));
    return names;
  }

  nn::Tree call(std::span<const nn::Tree> positional, const nn::Keywords& /*keywords*/) override {
    nn::Observer* const observer = nn::observer();
    if (observer != nullptr)
      observer->enter(*this, [&] { return nn::layer::arguments_tree(positional, {}); });
    nn::Tree result = forward(positional);
    if (observer != nullptr) observer->leave(*this, [&] { return result; });
    return result;
  }

 private:
  nn::Tree forward(std::span<const nn::Tree> inputs) const {
    size_t next = 0;
    const TakeTensor take = [&](const std::string&) { return inputs[next++].leaves.at(0).tensor(); };
    std::vector<Value> positional;
    for (const json::Value& argument : call_.find("args")->as_array())
      positional.push_back(to_value(argument, take));
    KeywordArguments keywords;
    for (const auto& [name, argument] : call_.find("kwargs")->as_object())
      keywords.emplace_back(name, to_value(argument, take));
    std::vector<nn::Tree> leaves;
    const std::string name = call_.find("op")->as_string();
    for (const Value& result : nn::call_values(std::source_location::current(), name, positional, keywords)) {
      if (const TensorList* const tensors = result.get_if<TensorList>()) {
        for (const Tensor& tensor : *tensors) leaves.emplace_back(tensor);
      } else {
        leaves.push_back(nn::Tree::leaf(result));
      }
    }
    return nn::Tree::tuple(leaves);
  }

  const json::Value& call_;
  size_t inputs_;
};

void export_call(const json::Value& call, const Checkpoint& tensors, const std::string& file) {
  std::vector<nn::Tree> inputs;
  std::vector<ShapeSpec> shapes;
  const TakeTensor take = [&](const std::string& key) {
    const Tensor& tensor = *tensors.find(key);
    inputs.emplace_back(tensor);
    shapes.push_back(tensor.dim() == 0 ? ShapeSpec() : ShapeSpec({{0, Dim::AUTO}}));
    return tensor;
  };
  for (const json::Value& argument : call.find("args")->as_array()) to_value(argument, take);
  for (const auto& [name, argument] : call.find("kwargs")->as_object()) to_value(argument, take);
  CallModule module(call, inputs.size());
  const ExportOptions options = {.dynamic = DynamicShapes::by_position(shapes)};
  save_program(export_program(module, inputs, options), file);
}

void export_calls(const char* calls_file, const char* tensors_file, const std::filesystem::path& folder) {
  std::stringstream text;
  text << std::ifstream(calls_file).rdbuf();
  const json::Value calls = json::parse(text.str());
  const Checkpoint tensors = load_checkpoint(tensors_file);
  nn::Session session;
  for (const json::Value& call : calls.as_array()) {
    const std::string name = call.find("name")->as_string();
    try {
      export_call(call, tensors, (folder / (name + ".pt2")).string());
    } catch (const std::exception& error) {
      std::ofstream(folder / (name + ".error")) << error.what();
    }
  }
}

}  // namespace
}  // namespace flambeau

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: operator_calls CALLS.json TENSORS.pt FOLDER\n");
    return 2;
  }
  try {
    flambeau::export_calls(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "operator_calls: {}\n", error.what());
    return 2;
  }
  return 0;
}
