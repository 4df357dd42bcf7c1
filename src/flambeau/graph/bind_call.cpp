#include "flambeau/graph/bind_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "flambeau/base/error.h"

namespace flambeau::graph {
namespace {

[[noreturn]] void fail(std::string message) { throw Error(ErrorCode::kInvalidArgument, std::move(message)); }

class Binding {
 public:
  Binding(const Interface& interface, size_t positional, std::span<const std::string_view> keywords)
      : interface_(interface), positional_(positional), keywords_(keywords), is_used_(keywords.size()) {}

  std::vector<BoundArgument> run() {
    const TreeSpec& spec = interface_.in_spec;
    if (spec.is_leaf() || spec.children().size() != 2) {
      add_leaves();
    } else {
      add_positional(spec.child(0));
      add_named(spec.child(1));
    }
    for (size_t i = 0; i < keywords_.size(); ++i) {
      if (!is_used_[i]) fail_unused(keywords_[i]);
    }
    return std::move(bound_);
  }

 private:
  void add_leaves() {
    static const TreeSpec kLeaf;
    for (size_t i = 0; i < positional_; ++i)
      bound_.push_back({&kLeaf, fmt::format("inputs[{}]", i), false, i});
  }

  void add_positional(const TreeSpec& spec) {
    const size_t count = spec.children().size();
    if (positional_ > count)
      fail(fmt::format("the program takes {} positional arguments, {} are given", count, positional_));
    const std::vector<std::string>& names = interface_.argument_names;
    for (size_t i = 0; i < count; ++i) {
      std::string path = fmt::format("args[{}]", i);
      if (i < positional_) {
        bound_.push_back({&spec.child(i), std::move(path), false, i});
      } else if (i >= names.size() || !add_keyword(names[i], spec.child(i), path)) {
        fail(fmt::format("the argument{} ({}) is missing",
                         i < names.size() ? fmt::format(" '{}'", printable(names[i])) : "", path));
      }
    }
  }

  void add_named(const TreeSpec& spec) {
    for (size_t i = 0; i < spec.keys().size(); ++i) {
      const std::string key = spec.keys()[i].is_string() ? std::string(spec.keys()[i].as_string()) : "";
      if (!add_keyword(key, spec.child(i), fmt::format("kwargs['{}']", key)))
        fail(fmt::format("the keyword argument '{}' is missing", printable(key)));
    }
  }

  bool add_keyword(std::string_view name, const TreeSpec& spec, const std::string& path) {
    const auto found = std::ranges::find(keywords_, name);
    if (found == keywords_.end()) return false;
    const auto index = static_cast<size_t>(found - keywords_.begin());
    is_used_[index] = true;
    bound_.push_back({&spec, path, true, index});
    return true;
  }

  [[noreturn]] void fail_unused(std::string_view name) const {
    const std::vector<std::string>& names = interface_.argument_names;
    const bool is_known =
        std::ranges::find(names, name) != names.end() || std::ranges::count(keywords_, name) > 1;
    fail(is_known ? fmt::format("the argument '{}' is given twice", printable(name))
                  : fmt::format("the program has no argument '{}'", printable(name)));
  }

  const Interface& interface_;
  size_t positional_;
  std::span<const std::string_view> keywords_;
  std::vector<bool> is_used_;
  std::vector<BoundArgument> bound_;
};

}  // namespace

std::vector<BoundArgument> bind_call(const Interface& interface, size_t positional,
                                     std::span<const std::string_view> keywords) {
  return Binding(interface, positional, keywords).run();
}

}  // namespace flambeau::graph
