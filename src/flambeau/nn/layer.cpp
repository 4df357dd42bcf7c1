#include "flambeau/nn/layer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "flambeau/base/error.h"

namespace flambeau::nn::layer {

Matched match_arguments(const Module& module, const std::vector<std::string>& names,
                        std::span<const Tree> positional, const Keywords& keywords) {
  const auto place_of = [&](std::string_view mark) {
    const auto found = std::ranges::find_if(names, [&](const std::string& name) {
      return name.starts_with(mark) && name.find_first_not_of('*') == mark.size();
    });
    return static_cast<size_t>(found - names.begin());
  };
  const size_t rest = place_of("*");
  const size_t named = place_of("**");
  const size_t most = std::min(rest, named);
  Matched matched;
  matched.trees.resize(names.size(), nullptr);
  if (rest < names.size()) {
    matched.trees[rest] = &matched.made.emplace_back(
        Tree::list(positional.size() > rest ? positional.subspan(rest) : std::span<const Tree>()));
  } else if (positional.size() > most) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} takes at most {} arguments ({}), {} are given", short_class_name(module),
                            most, fmt::join(names, ", "), positional.size()));
  }
  for (size_t i = 0; i < std::min(positional.size(), most); ++i) matched.trees[i] = &positional[i];
  std::vector<std::pair<std::string, Tree>> others;
  for (const auto& [name, tree] : keywords) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end() && named < names.size()) {
      others.emplace_back(name, tree);
      continue;
    }
    if (found == names.end()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} has no argument '{}'", short_class_name(module), printable(name)),
                  fmt::format("it takes {}", fmt::join(names, ", ")));
    }
    const Tree*& place = matched.trees[static_cast<size_t>(found - names.begin())];
    if (place != nullptr) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("argument '{}' of {} is given twice", name, short_class_name(module)));
    }
    place = &tree;
  }
  if (named < names.size()) matched.trees[named] = &matched.made.emplace_back(Tree::dict(others));
  return matched;
}

Tree arguments_tree(std::span<const Tree> positional, const Keywords& keywords) {
  return Tree::tuple(std::array{Tree::tuple(positional), Tree::dict(keywords)});
}

void fail_missing(const Module& module, const std::string& name) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("argument '{}' of {} is missing", name, short_class_name(module)));
}

}  // namespace flambeau::nn::layer
