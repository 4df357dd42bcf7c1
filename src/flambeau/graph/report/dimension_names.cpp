#include "flambeau/graph/report/dimension_names.h"

#include <algorithm>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/ascii.h"
#include "flambeau/base/error.h"

namespace flambeau::graph {
namespace {

constexpr std::string_view kCustom = "custom";
constexpr std::string_view kDimensions = "dimensions";

bool is_identifier(std::string_view text) {
  return !text.empty() && text.size() <= 100 && is_word_start(text[0]) && std::ranges::all_of(text, is_word);
}

// Anybody may have put anything there.
json::Value custom_metadata(const ExportedProgram& program) {
  for (const auto& [key, text] : program.metadata) {
    if (key != kCustom) continue;
    try {
      return json::parse(text);
    } catch (const Error&) {
      return {};
    }
  }
  return {};
}

}  // namespace

DimensionNames dimension_names(const ExportedProgram& program) {
  const json::Value custom = custom_metadata(program);
  const json::Value* const dimensions = custom.is_object() ? custom.find(kDimensions) : nullptr;
  DimensionNames names;
  if (dimensions == nullptr || !dimensions->is_object()) return names;
  for (const auto& [symbol, name] : dimensions->as_object()) {
    if (is_identifier(symbol) && name.is_string() && is_identifier(name.as_string()))
      names.emplace_back(symbol, name.as_string());
  }
  return names;
}

void set_dimension_names(ExportedProgram& program, const DimensionNames& names) {
  const json::Value before = custom_metadata(program);
  json::Object members;
  if (before.is_object()) {
    for (const auto& [key, value] : before.as_object()) {
      if (key != kDimensions) members.emplace_back(key, value);
    }
  }
  json::Object dimensions;
  for (const auto& [symbol, name] : names) {
    if (std::ranges::find(dimensions, symbol, &json::Member::first) == dimensions.end())
      dimensions.emplace_back(symbol, name);
  }
  if (!dimensions.empty()) members.emplace_back(kDimensions, std::move(dimensions));
  std::erase_if(program.metadata, [](const auto& entry) { return entry.first == kCustom; });
  if (!members.empty()) program.metadata.emplace_back(kCustom, json::dump(json::Value(std::move(members))));
}

}  // namespace flambeau::graph
