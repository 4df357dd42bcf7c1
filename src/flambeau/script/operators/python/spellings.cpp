#include "flambeau/script/operators/python/spellings.h"

#include <unordered_map>

namespace flambeau::script {

namespace {

struct Table {
  struct Known {
    std::string_view word;
    std::string_view arguments;
  };
  std::unordered_map<std::string_view, std::string_view> places;  // "torch" by "add"
  std::unordered_map<std::string_view, Known> functions;
};

std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
}

Table read_table() {
  Table table;
  std::string_view text = python_spellings_text();
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view place = take_word(line);
    if (place == "#") continue;
    if (place == "function") {
      const std::string_view name = take_word(line);
      const std::string_view word = take_word(line);
      table.functions[name] = {word, line};
      continue;
    }
    while (!line.empty()) table.places[take_word(line)] = place;
  }
  return table;
}

const Table& table() {
  static const Table kTable = read_table();
  return kTable;
}

}  // namespace

PythonSpelling python_spelling(std::string_view operator_name) {
  constexpr std::string_view kSpace = "aten::";
  if (!operator_name.starts_with(kSpace)) return {};
  const std::string_view name = operator_name.substr(kSpace.size());
  const auto found = table().places.find(name);
  if (found == table().places.end()) return {};
  const std::string_view place = found->second;
  if (place == "method") return {PythonPlace::kMethod, std::string(name)};
  if (place == "torch" || place == "F") {
    return {PythonPlace::kFunction, std::string(place) + "." + std::string(name)};
  }
  // "linalg_inv" is torch.linalg.inv, "fft_fft" torch.fft.fft.
  const std::string_view bare = name.starts_with(place) ? name.substr(place.size() + 1) : name;
  return {PythonPlace::kFunction, "torch." + std::string(place) + "." + std::string(bare)};
}

std::string python_function(std::string_view name, std::string_view arguments) {
  const auto found = table().functions.find(name);
  if (found == table().functions.end() || found->second.arguments != arguments) return {};
  return std::string(found->second.word);
}

}  // namespace flambeau::script
