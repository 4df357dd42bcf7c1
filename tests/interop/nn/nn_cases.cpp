// Builds and runs the cases, for test_nn.py:
//
//   nn_cases list [exportdb | flow]
//   nn_cases init NAME OUT.pt                  a module made with seed 0; its state dict
//   nn_cases run NAME STATE.pt INPUTS.json OUT.pt
//                                              runs it with seed 0; its outputs, and its state afterwards
//   nn_cases export NAME STATE.pt INPUTS.json OUT.pt2
//
// "dynamic" in INPUTS.json: {KEY: {DIMENSION: NAME or "AUTO" or "DYNAMIC"}} of tensors; "preserved":
// [MODULE...].
//
// INPUTS.json: {"tensors": "inputs.pt", "training": false, "args": [VALUE...], "kwargs": {NAME: VALUE}},
// where a VALUE is {"tensor": KEY}, {"int": 1}, {"float": 0.5}, {"bool": true}, {"str": "x"}, {"none": true},
// {"tuple": [VALUE...]}, {"list": [VALUE...]}, {"dict": {NAME: VALUE}} or {"int_dict": [[1, VALUE]...]}.
// OUT.pt has "out.0", "out.1", ... (the leaves that are tensors, by number) and "state.NAME".
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cases.h"
#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/export.h"
#include "flambeau/json.h"

namespace flambeau::nn_cases {
namespace {

// The lists of cases by their names; those that have none are compared with PyTorch in every way.
std::vector<std::pair<std::string, std::span<const Case>>> groups() {
  return {{"", layer_cases()}, {"", model_cases()}, {"exportdb", exportdb_cases()}, {"flow", flow_cases()}};
}

struct Inputs {
  bool training = false;
  ExportOptions options = {.is_like_pytorch = true};
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
  if (kind == "int_dict") {  // [[KEY, VALUE]...]
    json::Array keys;
    std::vector<TreeSpec> specs;
    nn::Tree tree;
    tree.leaves.clear();
    for (const json::Value& member : content.as_array()) {
      nn::Tree child = tree_of(member.as_array().at(1), tensors);
      keys.push_back(member.as_array().at(0));
      specs.push_back(child.spec);
      tree.leaves.insert(tree.leaves.end(), child.leaves.begin(), child.leaves.end());
    }
    tree.spec = TreeSpec::dict(keys, std::move(specs));
    return tree;
  }
  std::vector<nn::Tree> children;
  for (const json::Value& child : content.as_array()) children.push_back(tree_of(child, tensors));
  if (kind == "tuple") return nn::Tree::tuple(children);
  if (kind == "list") return nn::Tree::list(children);
  throw Error(ErrorCode::kInvalidArgument, "unknown kind of input '" + kind + "'");
}

ExportOptions options_of(const json::Value& dynamic, const Checkpoint& tensors) {
  trace::ShapesCollection shapes;
  for (const auto& [key, dims] : dynamic.as_object()) {
    std::map<int64_t, trace::Dim> spec;
    for (const auto& [dim, name] : dims.as_object()) {
      const std::string& text = name.as_string();
      spec.emplace(std::stol(dim), text == "AUTO"      ? trace::Dim(trace::Dim::AUTO)
                                   : text == "DYNAMIC" ? trace::Dim(trace::Dim::DYNAMIC)
                                                       : trace::Dim(text));
    }
    shapes.set(tensors.find(key)->storage().get(), spec);
  }
  return {.dynamic = trace::DynamicShapes::of(std::move(shapes)), .is_like_pytorch = true};
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
  if (const json::Value* const dynamic = root.find("dynamic")) inputs.options = options_of(*dynamic, tensors);
  if (const json::Value* const preserved = root.find("preserved")) {
    for (const json::Value& name : preserved->as_array())
      inputs.options.preserved.push_back(name.as_string());
  }
  return inputs;
}

void save(NamedTensors tensors, const std::string& path) {
  save_checkpoint(Checkpoint::from_tensors(std::move(tensors)), path, FileKind::kTorchSave);
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

int export_case(const std::string& name, const std::string& state, const std::string& inputs_path,
                const std::string& out) {
  nn::Session session;
  const auto module = make_case(name);
  module->load_state_dict(load_checkpoint(state).named());
  const Inputs inputs = read_inputs(inputs_path);
  module->train(inputs.training);
  save_program(export_program(*module, inputs.positional, inputs.keywords, inputs.options), out);
  return 0;
}

int main_of(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command == "list") {
    for (const auto& [group, cases] : groups()) {
      if (group != (arguments.size() == 2 ? arguments[1] : "")) continue;
      for (const Case& one : cases) fmt::print("{}\n", one.name);
    }
    return 0;
  }
  if (command == "init" && arguments.size() == 3) return init(arguments[1], arguments[2]);
  if (command == "run" && arguments.size() == 5)
    return run(arguments[1], arguments[2], arguments[3], arguments[4]);
  if (command == "export" && arguments.size() == 5)
    return export_case(arguments[1], arguments[2], arguments[3], arguments[4]);
  fmt::print(
      stderr,
      "nn_cases list [exportdb | flow] | init NAME OUT.pt | run NAME STATE.pt INPUTS.json OUT.pt | export "
      "NAME STATE.pt "
      "INPUTS.json OUT.pt2\n");
  return 2;
}

}  // namespace

std::shared_ptr<nn::Module> make_case(std::string_view name) {
  for (const auto& [group, cases] : groups()) {
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
