// Builds and runs the cases, for test_nn.py:
//
//   nn_cases list
//   nn_cases init NAME OUT.pt                  a module made with seed 0; its state dict
//   nn_cases run NAME STATE.pt INPUTS.json OUT.pt
//                                              runs it with seed 0; its outputs, and its state afterwards
//   nn_cases calls NAME INPUTS.json            runs it; a line of JSON for each operator that it calls
//
// INPUTS.json: {"tensors": "inputs.pt", "training": false, "args": [VALUE...], "kwargs": {NAME: VALUE}},
// where a VALUE is {"tensor": KEY}, {"int": 1}, {"float": 0.5}, {"bool": true}, {"str": "x"}, {"none": true},
// {"tuple": [VALUE...]}, {"list": [VALUE...]} or {"dict": {NAME: VALUE}}. OUT.pt has "out.0", "out.1", ...
// (the leaves that are tensors, by number) and "state.NAME".
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cases.h"
#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/json.h"
#include "flambeau/ops/elementwise.h"

namespace flambeau::nn_cases {
namespace {

struct Inputs {
  bool training = false;
  std::vector<nn::Tree> positional;
  std::vector<std::pair<std::string, nn::Tree>> keywords;
};

nn::Tree tree_of(const json::Value& value, const Checkpoint& tensors) {
  const auto& [kind, content] = value.as_object().at(0);
  if (kind == "tensor") {
    const Tensor* const tensor = tensors.find(content.as_string());
    if (tensor == nullptr) throw Error(ErrorCode::kNotFound, "no input '" + content.as_string() + "'");
    return nn::to_tree(*tensor);
  }
  if (kind == "int") return nn::to_tree(content.as_int());
  if (kind == "float") return nn::to_tree(content.as_double());
  if (kind == "bool") return nn::to_tree(content.as_bool());
  if (kind == "str") return nn::to_tree(content.as_string());
  if (kind == "none") return {};
  if (kind == "dict") {
    std::vector<std::pair<std::string, nn::Tree>> members;
    for (const auto& [name, member] : content.as_object())
      members.emplace_back(name, tree_of(member, tensors));
    return nn::Tree::dict(members);
  }
  std::vector<nn::Tree> children;
  for (const json::Value& child : content.as_array()) children.push_back(tree_of(child, tensors));
  if (kind == "tuple") return nn::Tree::tuple(children);
  if (kind == "list") return nn::Tree::list(children);
  throw Error(ErrorCode::kInvalidArgument, "unknown kind of input '" + kind + "'");
}

Inputs read_inputs(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const json::Value root = json::parse(text.str());
  const auto folder = std::filesystem::path(path).parent_path();
  const Checkpoint tensors = load_checkpoint((folder / root.find("tensors")->as_string()).string());
  Inputs inputs;
  inputs.training = root.find("training")->as_bool();
  for (const json::Value& value : root.find("args")->as_array())
    inputs.positional.push_back(tree_of(value, tensors));
  for (const auto& [name, value] : root.find("kwargs")->as_object())
    inputs.keywords.emplace_back(name, tree_of(value, tensors));
  return inputs;
}

void save(NamedTensors tensors, const std::string& path) {
  save_checkpoint(Checkpoint::from_tensors(std::move(tensors)), path, WeightFormat::kTorchSave);
}

int init(const std::string& name, const std::string& out) {
  nn::Session session({.seed = 0});
  NamedTensors tensors;
  for (auto& [key, tensor] : make_case(name)->state_dict()) tensors.push_back({key, tensor});
  save(std::move(tensors), out);
  return 0;
}

int run(const std::string& name, const std::string& state, const std::string& inputs_path,
        const std::string& out) {
  nn::Session session;
  const auto module = make_case(name);
  module->load_state_dict(load_checkpoint(state).named());
  const Inputs inputs = read_inputs(inputs_path);
  module->train(inputs.training);
  session.manual_seed(0);
  const nn::Tree result = module->call(inputs.positional, inputs.keywords);
  NamedTensors tensors;
  for (size_t i = 0; i < result.leaves.size(); ++i) {
    if (result.leaves[i].is_tensor())
      tensors.push_back({fmt::format("out.{}", i), result.leaves[i].tensor().to_contiguous()});
  }
  for (auto& [key, tensor] : module->state_dict()) tensors.push_back({"state." + key, tensor});
  save(std::move(tensors), out);
  return 0;
}

// A value of a call: a tensor as its type and sizes, what is no number, text or list of them as a word.
json::Value described(const Value& value) {
  if (const auto* const tensor = value.get_if<Tensor>()) {
    if (tensor->is_wrapped_number()) return described(Value(ops::item(*tensor)));
    return tensor->defined() ? json::Value(tensor->summary()) : json::Value();
  }
  const auto list = [](const auto& items) {
    json::Value array{json::Array()};
    for (const auto& one : items) array.push(described(Value(one)));
    return array;
  };
  if (const auto* const tensors = value.get_if<TensorList>()) return list(*tensors);
  if (const auto* const numbers = value.get_if<Dims>()) return list(*numbers);
  if (const auto* const numbers = value.get_if<std::vector<double>>()) return list(*numbers);
  if (const auto* const number = value.get_if<int64_t>()) return *number;
  if (const auto* const number = value.get_if<double>()) return *number;
  if (const auto* const flag = value.get_if<bool>()) return *flag;
  if (const auto* const text = value.get_if<std::string>()) return *text;
  if (const auto* const dtype = value.get_if<DType>()) return dtype_name(*dtype);
  if (const auto* const format = value.get_if<MemoryFormat>()) return static_cast<int64_t>(*format);
  return value.is_none() ? json::Value() : json::Value(value.kind_name());
}

// Sees the calls of the module, not those that operators make of others.
class CallPrinter : public ops::Interceptor {
 public:
  std::vector<Value> call(ops::Context& context, const ops::Operator& op,
                          std::span<const Value> arguments) override {
    json::Value array{json::Array()};
    for (const Value& argument : arguments) array.push(described(argument));
    json::Value line;
    line.set("op", op.name());
    line.set("args", std::move(array));
    fmt::print("{}\n", json::dump(line));
    ops::Context inner = context.without_interceptor();
    return ops::execute(inner, op, arguments);
  }
};

int print_calls(const std::string& name, const std::string& inputs_path) {
  nn::Session session;
  const auto module = make_case(name);
  const Inputs inputs = read_inputs(inputs_path);
  module->train(inputs.training);
  CallPrinter printer;
  session.context().interceptor = &printer;
  module->call(inputs.positional, inputs.keywords);
  return 0;
}

int main_of(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command == "list") {
    for (const auto cases : {layer_cases(), model_cases()}) {
      for (const Case& one : cases) fmt::print("{}\n", one.name);
    }
    return 0;
  }
  if (command == "init" && arguments.size() == 3) return init(arguments[1], arguments[2]);
  if (command == "run" && arguments.size() == 5)
    return run(arguments[1], arguments[2], arguments[3], arguments[4]);
  if (command == "calls" && arguments.size() == 3) return print_calls(arguments[1], arguments[2]);
  fmt::print(
      stderr,
      "nn_cases list | init NAME OUT.pt | run NAME STATE.pt INPUTS.json OUT.pt | calls NAME INPUTS.json\n");
  return 2;
}

}  // namespace

std::shared_ptr<nn::Module> make_case(std::string_view name) {
  for (const auto cases : {layer_cases(), model_cases()}) {
    for (const Case& one : cases) {
      if (one.name == name) return one.make();
    }
  }
  throw Error(ErrorCode::kNotFound, "there is no case '" + std::string(name) + "'");
}

}  // namespace flambeau::nn_cases

int main(int argc, char** argv) {
  try {
    return flambeau::nn_cases::main_of({argv + 1, argv + argc});
  } catch (const flambeau::Error& error) {
    fmt::print(stderr, "nn_cases: {}\n", error.what());
    return 1;
  }
}
