// The signature and call spec of PyTorch 2.1: names in tables, which became a list of specs, one for each
// input and output of the graph.
#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/upgrade/steps.h"
#include "flambeau/formats/pt2/upgrade/walk.h"

namespace flambeau::pt2 {
namespace {

// A table of the signature; which of its names the graph has used.
class Table {
 public:
  Table(json::Value& signature, std::string_view key) : what_(key) {
    const json::Value* table = find_member(signature, key);
    if (table == nullptr || table->is_null()) return;
    with_location("at", key, [&] {
      for (const auto& [name, target] : table->as_object()) entries_.emplace(name, target.as_string());
    });
  }

  size_t size() const { return entries_.size(); }
  // Null when there is none.
  const std::string* use(std::string_view name) {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return nullptr;
    used_.insert(found->first);
    return &found->second;
  }
  void expect_all_used() const {
    for (const auto& [name, target] : entries_) {
      if (used_.contains(name)) continue;
      corrupt(fmt::format("'{}' names '{}', which the graph does not have", what_, printable(name)));
    }
  }

 private:
  std::string_view what_;
  std::unordered_map<std::string_view, std::string> entries_;
  std::unordered_set<std::string_view> used_;
};

std::unordered_set<std::string_view> names_of(json::Value& signature, std::string_view key) {
  std::unordered_set<std::string_view> names;
  with_location("at", key, [&] {
    for (const json::Value& name : require_member(signature, key).as_array()) names.insert(name.as_string());
  });
  return names;
}

// The name an upgraded argument refers to; empty for a plain value.
std::string_view name_of(const json::Value& argument) {
  const auto& [kind, value] = argument.as_object().at(0);
  const json::Value* name = nullptr;
  if (kind == "as_tensor") name = value.find("name");
  if (kind == "as_sym_int" || kind == "as_sym_bool") name = value.find("as_name");
  return name == nullptr ? std::string_view() : std::string_view(name->as_string());
}

json::Value spec(std::string_view kind, json::Value arg, std::string_view key = {},
                 std::string_view target = {}) {
  json::Value inner;
  inner.set("arg", std::move(arg));
  if (!key.empty()) inner.set(std::string(key), target);
  if (kind == "buffer") inner.set("persistent", true);
  json::Value outer;
  outer.set(std::string(kind), std::move(inner));
  return outer;
}

// The tensor of an argument as the specs of parameters and buffers have it.
json::Value tensor_of(const json::Value& argument) {
  const auto& [kind, value] = argument.as_object().at(0);
  if (kind != "as_tensor") corrupt(fmt::format("expected a tensor in the signature, found {}", kind));
  return value;
}

json::Value input_specs(json::Value& graph, json::Value& signature) {
  Table parameters(signature, "inputs_to_parameters");
  Table buffers(signature, "inputs_to_buffers");
  const auto users = names_of(signature, "user_inputs");

  json::Array specs;
  for (const json::Value& input : require_member(graph, "inputs").as_array()) {
    const std::string_view name = name_of(input);
    if (const std::string* parameter = parameters.use(name)) {
      specs.push_back(spec("parameter", tensor_of(input), "parameter_name", *parameter));
    } else if (const std::string* buffer = buffers.use(name)) {
      specs.push_back(spec("buffer", tensor_of(input), "buffer_name", *buffer));
    } else if (name.empty() || users.contains(name)) {
      specs.push_back(spec("user_input", input));
    } else {
      corrupt(fmt::format("the signature does not say what the input '{}' is", printable(name)));
    }
  }
  parameters.expect_all_used();
  buffers.expect_all_used();
  return specs;
}

json::Value output_specs(json::Value& graph, json::Value& signature) {
  Table mutations(signature, "buffers_to_mutate");
  json::Value none;
  none.set("loss_output", nullptr);
  json::Value* stated = find_member(signature, "backward_signature");
  json::Value& backward = stated == nullptr || stated->is_null() ? none : *stated;
  Table parameters(backward, "gradients_to_parameters");
  Table inputs(backward, "gradients_to_user_inputs");
  const json::Value& loss = require_member(backward, "loss_output");
  const auto users = names_of(signature, "user_outputs");

  json::Array specs;
  for (const json::Value& output : require_member(graph, "outputs").as_array()) {
    const std::string_view name = name_of(output);
    // The new values of buffers come first; the same value may be a result as well.
    const std::string* buffer = specs.size() < mutations.size() ? mutations.use(name) : nullptr;
    if (buffer != nullptr) {
      specs.push_back(spec("buffer_mutation", tensor_of(output), "buffer_name", *buffer));
    } else if (!name.empty() && loss.is_string() && loss.as_string() == name) {
      specs.push_back(spec("loss_output", tensor_of(output)));
    } else if (name.empty() || users.contains(name)) {
      specs.push_back(spec("user_output", output));
    } else if (const std::string* parameter = parameters.use(name)) {
      specs.push_back(spec("gradient_to_parameter", tensor_of(output), "parameter_name", *parameter));
    } else if (const std::string* input = inputs.use(name)) {
      specs.push_back(spec("gradient_to_user_input", tensor_of(output), "user_input_name", *input));
    } else {
      corrupt(fmt::format("the signature does not say what the output '{}' is", printable(name)));
    }
  }
  mutations.expect_all_used();
  return specs;
}

bool is_kind(const json::Value& spec, std::string_view kind) {
  const json::Value* type = spec.find("type");
  return type != nullptr && type->is_string() && type->as_string() == kind;
}

json::Value tree_node(std::string_view type, std::string_view context, json::Array children) {
  json::Value node;
  node.set("type", type);
  node.set("context", context);
  node.set("children_spec", std::move(children));
  return node;
}

// PyTorch 2.1 left the keyword arguments out of the tree when there were none: (args), not (args, {}).
std::string with_keywords(const std::string& text) {
  json::Value tree = json::parse(text);
  json::Array& parts = edit_array(tree);
  if (parts.size() != 2) corrupt("expected a protocol and a tree");
  json::Value& top = parts[1];
  const json::Array& children = require_member(top, "children_spec").as_array();
  const bool has_keywords = is_kind(top, "builtins.tuple") && children.size() == 2 &&
                            is_kind(children[0], "builtins.tuple") && is_kind(children[1], "builtins.dict") &&
                            !children[1].find("children_spec")->as_array().empty();
  if (has_keywords) return text;
  json::Array both;
  both.push_back(std::move(top));
  both.push_back(tree_node("builtins.dict", "[]", {}));
  parts[1] = tree_node("builtins.tuple", "null", std::move(both));
  return json::dump(tree);
}

void move_call_spec(UpgradeContext& context, json::Value& graph_module) {
  json::Value call_spec = remove_member(graph_module, "call_spec");
  const std::string in_spec = with_location("at", "call_spec.in_spec", [&] {
    return with_keywords(require_member(call_spec, "in_spec").as_string());
  });
  json::Value signature;
  signature.set("inputs", json::Array());
  signature.set("outputs", json::Array());
  signature.set("in_spec", in_spec);
  signature.set("out_spec", require_member(call_spec, "out_spec").as_string());
  signature.set("forward_arg_names", nullptr);
  json::Value entry;
  entry.set("fqn", "");
  entry.set("signature", std::move(signature));
  json::Array& entries = edit_array(require_member(graph_module, "module_call_graph"));
  entries.insert(entries.begin(), std::move(entry));
  context.note(1, "call spec moved into the module call graph");
}

}  // namespace

void finish_major_1(UpgradeContext& context, json::Value& graph_module) {
  if (const json::Value* call_spec = find_member(graph_module, "call_spec");
      call_spec && !call_spec->is_null()) {
    move_call_spec(context, graph_module);
  }
  json::Value& graph = require_member(graph_module, "graph");
  json::Value& signature = require_member(graph_module, "signature");
  if (find_member(signature, "input_specs") == nullptr) {
    json::Value specs;
    with_location("at", "signature", [&] {
      specs.set("input_specs", input_specs(graph, signature));
      specs.set("output_specs", output_specs(graph, signature));
    });
    signature = std::move(specs);
    context.note(1, "graph signature rewritten from name tables to input and output specs");
  }
  lift_constants(context, graph, signature);
}

}  // namespace flambeau::pt2
