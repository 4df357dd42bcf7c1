#include "flambeau/nn/layer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "flambeau/base/error.h"

namespace flambeau::nn::layer {

std::vector<const Tree*> match_arguments(const Module& module, const std::vector<std::string>& names,
                                         std::span<const Tree> positional, Keywords keywords) {
  if (positional.size() > names.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} takes at most {} arguments ({}), {} are given", short_class_name(module),
                            names.size(), fmt::join(names, ", "), positional.size()));
  }
  std::vector<const Tree*> trees(names.size(), nullptr);
  for (size_t i = 0; i < positional.size(); ++i) trees[i] = &positional[i];
  for (const auto& [name, tree] : keywords) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} has no argument '{}'", short_class_name(module), printable(name)),
                  fmt::format("it takes {}", fmt::join(names, ", ")));
    }
    const Tree*& place = trees[static_cast<size_t>(found - names.begin())];
    if (place != nullptr) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("argument '{}' of {} is given twice", name, short_class_name(module)));
    }
    place = &tree;
  }
  return trees;
}

Tree arguments_tree(std::span<const Tree> positional, Keywords keywords) {
  return Tree::tuple(std::array{Tree::tuple(positional), Tree::dict(keywords)});
}

void fail_missing(const Module& module, const std::string& name) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("argument '{}' of {} is missing", name, short_class_name(module)));
}

}  // namespace flambeau::nn::layer
