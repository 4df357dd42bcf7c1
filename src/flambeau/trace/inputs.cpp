#include "flambeau/trace/inputs.h"

#include <fmt/format.h>

#include <cctype>

#include "flambeau/base/error.h"
#include "flambeau/trace/fake.h"

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

Inputs flatten_inputs(const nn::Module& module, std::span<const nn::Tree> arguments, nn::Keywords keywords) {
  Inputs inputs;
  const std::vector<std::string> names = module.argument_names();
  if (arguments.size() > names.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} positional arguments are given, {} takes {}", arguments.size(),
                            module.class_name(), names.size()));
  }
  const auto add = [&](const std::string& name, const nn::Tree& tree) {
    inputs.argument_names.push_back(name);
    size_t index = 0;
    visit_leaf_paths(tree.spec, "", [&](std::string_view path) {
      InputLeaf& leaf = inputs.leaves.emplace_back();
      leaf.name = name_of(name, std::string(path));
      leaf.source = fmt::format("L['{}']{}", name, path);
      leaf.value = tree.leaves[index++];
      if (leaf.value.is_tensor()) leaf.info = symbolic_info(leaf.value.tensor());
    });
  };
  std::vector<TreeSpec> positional;
  for (size_t i = 0; i < arguments.size(); ++i) {
    add(names[i], arguments[i]);
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

Inputs::Trees Inputs::trees() const {
  Trees trees;
  size_t next = 0;
  const auto take = [&](const TreeSpec& tree) {
    nn::Tree made{.spec = tree, .leaves = {}};
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
