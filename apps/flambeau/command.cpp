#include "command.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

namespace flambeau::cli {
namespace {

// The name among "-s,--stats" that has `dashes` dashes.
std::string_view name_with(std::string_view names, size_t dashes) {
  while (!names.empty()) {
    const size_t comma = std::min(names.find(','), names.size());
    const std::string_view name = names.substr(0, comma);
    if (std::min(name.find_first_not_of('-'), name.size()) == dashes) return name;
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return {};
}

// What the value of an option is called.
std::string_view value_name(const Option& option) {
  if (option.is_flag() || option.is_positional()) return "";
  if (option.is_bytes) return "SIZE";
  if (option.value != Takes::kText) return "FILE";
  const bool is_text = std::holds_alternative<std::string*>(option.target) || option.is_list();
  return is_text ? "TEXT" : "NUMBER";
}

json::Value default_of(const Option& option) {
  if (!option.has_shown_default) return {};
  return std::visit(
      [](const auto* target) -> json::Value {
        using Type = std::remove_cv_t<std::remove_pointer_t<decltype(target)>>;
        if constexpr (std::is_same_v<Type, std::vector<std::string>>) {
          return {};
        } else {
          return json::Value(fmt::format("{}", *target));
        }
      },
      option.target);
}

json::Array texts(const std::vector<std::string_view>& words) {
  json::Array array;
  for (const std::string_view word : words) array.emplace_back(word);
  return array;
}

json::Array options_json(const std::vector<Option>& options) {
  json::Array array;
  for (const Option& option : options) {
    json::Array names;
    for (const std::string_view name : {option.short_name(), option.long_name()}) {
      if (!name.empty()) names.emplace_back(name);
    }
    if (option.is_positional()) names.emplace_back(option.names);
    json::Value value;
    value.set("names", std::move(names));
    value.set("help", option.help);
    value.set("takes", value_name(option));
    value.set("positional", option.is_positional());
    value.set("required", option.is_required);
    value.set("repeats", option.is_list());
    value.set("choices", texts(option.choices));
    value.set("default", default_of(option));
    array.push_back(std::move(value));
  }
  return array;
}

}  // namespace

std::string_view Option::long_name() const { return name_with(names, 2); }
std::string_view Option::short_name() const { return name_with(names, 1); }

std::string examples_text(const std::vector<Example>& examples) {
  constexpr size_t kWidest = 56;
  size_t width = 0;
  for (const Example& example : examples) {
    if (!example.what.empty() && example.line.size() <= kWidest) width = std::max(width, example.line.size());
  }
  std::string text = "Examples:\n";
  for (const Example& example : examples) {
    text += fmt::format("  flambeau {:<{}}", example.line, example.what.empty() ? 0 : width);
    if (!example.what.empty()) text += fmt::format("  {}", example.what);
    text += '\n';
  }
  return text;
}

json::Value table_of(const std::vector<Command>& commands, const std::vector<Option>& common) {
  json::Array list;
  for (const Command& command : commands) {
    json::Array examples;
    for (const Example& example : command.examples)
      examples.emplace_back(fmt::format("flambeau {}", example.line));
    json::Value value;
    value.set("name", command.name);
    value.set("summary", command.summary);
    value.set("options", options_json(command.options));
    value.set("examples", std::move(examples));
    list.push_back(std::move(value));
  }
  json::Value table;
  table.set("options", options_json(common));
  table.set("commands", std::move(list));
  return table;
}

}  // namespace flambeau::cli
