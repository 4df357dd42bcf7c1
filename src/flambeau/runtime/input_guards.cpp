#include "flambeau/runtime/input_guards.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "flambeau/base/error.h"

namespace flambeau::runtime {
namespace {

// "args[1]['k']" as guards name it: "L['y']['k']".
std::string local_name(const std::string& path, const std::vector<std::string>& argument_names) {
  if (path.starts_with("kwargs")) return "L" + path.substr(6);
  if (!path.starts_with("args[")) return path;
  const size_t end = path.find(']');
  const size_t index = std::stoul(path.substr(5, end - 5));
  if (index >= argument_names.size()) return fmt::format("L['flat_args'][{}]{}", index, path.substr(end + 1));
  return fmt::format("L['{}']{}", argument_names[index], path.substr(end + 1));
}

// The same for an argument of *inputs, which is called inputs_1 and which guards name "L['inputs'][1]";
// nothing for other names.
std::optional<std::string> variadic_name(const std::string& name) {
  const size_t end = name.find("']");
  if (!name.starts_with("L['") || end == std::string::npos) return {};
  const size_t underscore = name.rfind('_', end);
  const std::string digits =
      underscore == std::string::npos ? "" : name.substr(underscore + 1, end - underscore - 1);
  if (digits.empty() || underscore <= 3 || digits.find_first_not_of("0123456789") != std::string::npos)
    return {};
  return fmt::format("{}'][{}]{}", name.substr(0, underscore), digits, name.substr(end + 2));
}

// What a guard's term is in these inputs: "dimension 0 of input 'x' (args[0]) is 5".
std::string fact_text(const Guard::Term& term, const std::string& place, const Value& value) {
  using Kind = Guard::Term::Kind;
  switch (term.kind) {
    case Kind::kSize:
      return fmt::format("dimension {} of {} is {}", term.dim, place, value.tensor().sizes()[term.dim]);
    case Kind::kStride:
      return fmt::format("the stride of dimension {} of {} is {}", term.dim, place,
                         value.tensor().strides()[term.dim]);
    case Kind::kOffset:
      return fmt::format("the storage offset of {} is {}", place, value.tensor().offset());
    case Kind::kValue:
      break;
  }
  return fmt::format("{} is {}", place, value.summary());
}

}  // namespace

std::string input_text(const graph::Leaf& leaf) {
  return leaf.name.empty() ? fmt::format("input {}", leaf.path)
                           : fmt::format("input '{}' ({})", leaf.name, leaf.path);
}

InputGuards::InputGuards(const graph::Interface& interface, std::span<const std::string> texts)
    : interface_(interface) {
  std::vector<std::string> names;
  for (const graph::Leaf& leaf : interface.inputs)
    names.push_back(local_name(leaf.path, interface.argument_names));
  for (size_t i = 0; i < names.size(); ++i) by_local_name_.emplace(names[i], i);
  for (size_t i = 0; i < names.size(); ++i) {
    if (const std::optional<std::string> name = variadic_name(names[i])) by_local_name_.emplace(*name, i);
  }
  for (const std::string& text : texts) {
    std::optional<Guard> guard = Guard::parse(text);
    const bool is_known = guard && std::ranges::all_of(guard->terms(), [&](const Guard::Term& term) {
                            return by_local_name_.contains(term.input);
                          });
    if (is_known) {
      guards_.push_back(std::move(*guard));
    } else {
      unknown_.push_back(text);
    }
  }
}

void InputGuards::check(std::span<const Value> leaves) const {
  const auto input = [&](const std::string& name) { return &leaves[by_local_name_.at(name)]; };
  for (const Guard& guard : guards_) {
    if (guard.holds(input)) continue;
    std::vector<std::string> facts;
    for (const Guard::Term& term : guard.terms()) {
      const graph::Leaf& leaf = interface_.inputs[by_local_name_.at(term.input)];
      std::string fact = fact_text(term, input_text(leaf), *input(term.input));
      if (std::ranges::find(facts, fact) == facts.end()) facts.push_back(std::move(fact));
    }
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("the inputs break the program's guard {}: {}", guard.text(), fmt::join(facts, ", ")),
        "the program was exported under this condition");
  }
}

}  // namespace flambeau::runtime
