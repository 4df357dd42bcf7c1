#include "flambeau/trace/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"

namespace flambeau::trace {
namespace {

// "d_a_0" of d['a'][0].
std::string name_of(const std::string& argument, const std::string& path) {
  std::string name = argument;
  bool is_open = false;
  for (const char c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      if (!is_open) name += '_';
      is_open = true;
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      is_open = c != '[' && c != ']' && c != '\'' && c != '.' && is_open;
      if (is_open) name += '_';
    }
  }
  return name;
}

}  // namespace

Inputs flatten_inputs(const nn::Module& module, std::span<const nn::Tree> arguments,
                      const nn::Keywords& keywords) {
  Inputs inputs;
  const std::vector<std::string> names = module.argument_names();
  const auto rest =
      std::ranges::find_if(names, [](const std::string& name) { return name.starts_with('*'); });
  const auto most = static_cast<size_t>(rest - names.begin());
  const bool takes_more = rest != names.end() && !rest->starts_with("**");
  if (arguments.size() > most && !takes_more) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} positional arguments are given, {} takes {}",
                                                         arguments.size(), module.class_name(), most));
  }
  const auto add = [&](const std::string& name, const nn::Tree& tree) {
    inputs.argument_names.push_back(name);
    size_t index = 0;
    visit_leaf_paths(tree.spec, "", [&](std::string_view path) {
      inputs.leaves.push_back({name_of(name, std::string(path)), tree.leaves[index++]});
    });
  };
  std::vector<TreeSpec> positional;
  for (size_t i = 0; i < arguments.size(); ++i) {
    add(i < most ? names[i] : fmt::format("{}_{}", rest->substr(1), i - most), arguments[i]);
    positional.push_back(arguments[i].spec);
  }
  json::Array keys;
  std::vector<TreeSpec> named;
  for (const auto& [name, tree] : keywords) {
    add(name, tree);
    keys.emplace_back(name);
    named.push_back(tree.spec);
  }
  inputs.spec =
      TreeSpec::tuple({TreeSpec::tuple(std::move(positional)), TreeSpec::dict(keys, std::move(named))});
  return inputs;
}

std::vector<InputArgument> Inputs::arguments() const {
  std::vector<InputArgument> arguments;
  size_t next = 0;
  const auto add = [&](const TreeSpec& tree) {
    InputArgument& argument = arguments.emplace_back();
    argument.name = argument_names[arguments.size() - 1];
    argument.spec = tree;
    for (size_t i = 0; i < tree.num_leaves(); ++i) {
      const Value& value = leaves[next++].value;
      InputLeaf& leaf = argument.leaves.emplace_back();
      leaf.type = value.kind_name();
      if (const auto* const number = value.get_if<int64_t>()) {
        leaf.kind = InputLeaf::Kind::kInteger;
        leaf.value = *number;
      }
      const Tensor* const tensor = value.get_if<Tensor>();
      if (tensor == nullptr || !tensor->defined()) continue;
      leaf.kind = InputLeaf::Kind::kTensor;
      leaf.sizes.assign(tensor->sizes().begin(), tensor->sizes().end());
      leaf.strides.assign(tensor->strides().begin(), tensor->strides().end());
      leaf.offset = tensor->offset();
      leaf.identity = tensor->storage().get();
    }
  };
  for (const TreeSpec& child : spec.child(0).children()) add(child);
  for (const TreeSpec& child : spec.child(1).children()) add(child);
  name_leaves(arguments);
  return arguments;
}

Inputs::Trees Inputs::trees() const {
  Trees trees;
  size_t next = 0;
  const auto take = [&](const TreeSpec& tree) {
    nn::Tree made(tree, {});
    for (size_t i = 0; i < tree.num_leaves(); ++i) made.leaves.push_back(leaves[next++].value);
    return made;
  };
  for (const TreeSpec& child : spec.child(0).children()) trees.positional.push_back(take(child));
  const TreeSpec& named = spec.child(1);
  for (size_t i = 0; i < named.children().size(); ++i)
    trees.keywords.emplace_back(std::string(named.keys()[i].as_string()), take(named.child(i)));
  return trees;
}

}  // namespace flambeau::trace
