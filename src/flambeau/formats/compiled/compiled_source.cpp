#include "flambeau/formats/compiled/compiled_source.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

constexpr size_t kMostItems = 1'000'000;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<uint64_t> number_of(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// "a.weight" of "\"a.weight\"", with its escapes as they are in the model's own names: there are none.
std::string quoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

// What stands behind the last of these marks: "float32" of "cached_torch_dtype_float32".
std::string behind(std::string_view text, std::string_view mark) {
  const size_t at = text.rfind(mark);
  if (at != std::string_view::npos) text.remove_prefix(at + mark.size());
  return std::string(text.substr(0, text.find_first_of(");")));
}

std::string kind_text(std::string_view text) {
  const std::string kind = behind(text, "ConstantType::");
  if (kind == "Parameter") return "parameter";
  if (kind == "Buffer") return "buffer";
  if (kind == "TensorConstant") return "tensor constant";
  if (kind == "FoldedConstant") return "folded";
  return kind;
}

std::vector<int64_t> sizes_of(std::string_view text) {
  std::vector<int64_t> sizes;
  while (!text.empty()) {
    const size_t digit = text.find_first_of("0123456789");
    if (digit == std::string_view::npos || sizes.size() >= 64) break;
    text.remove_prefix(digit);
    sizes.push_back(static_cast<int64_t>(number_of(text).value_or(0)));
    text.remove_prefix(std::min(text.find_first_not_of("0123456789L"), text.size()));
  }
  return sizes;
}

// "inputs_info_[3].name = "x";" in parts.
struct Assignment {
  std::string_view table;
  size_t index = 0;
  std::string_view field;
  std::string_view value;
};

std::optional<Assignment> assignment_of(std::string_view line) {
  const size_t open = line.find("_info_[");
  if (open == std::string_view::npos) return std::nullopt;
  Assignment found;
  found.table = line.substr(0, open);
  line.remove_prefix(open + 7);
  const std::optional<uint64_t> index = number_of(line);
  const size_t close = line.find("].");
  const size_t equals = line.find(" = ");
  if (!index || close == std::string_view::npos || equals == std::string_view::npos || equals < close)
    return std::nullopt;
  if (*index >= kMostItems)
    throw Error(ErrorCode::kLimit, "the source has more inputs or weights than a model");
  found.index = *index;
  found.field = line.substr(close + 2, equals - close - 2);
  found.value = line.substr(equals + 3);
  if (found.value.ends_with(';')) found.value.remove_suffix(1);
  return found;
}

// They come one after the other; null for one that does not.
template <typename T>
T* item_at(std::vector<T>& list, size_t index, DescriptionBudget& budget) {
  if (index == list.size()) {
    budget.charge(4 * sizeof(T));
    list.emplace_back();
  }
  return index < list.size() ? &list[index] : nullptr;
}

void take_name(std::vector<std::string>& list, const Assignment& given, DescriptionBudget& budget) {
  if (std::string* const name = item_at(list, given.index, budget)) *name = quoted(given.value);
}

void take(const Assignment& given, CompiledModel& model, DescriptionBudget& budget) {
  budget.charge(2 * given.value.size());
  if (given.table == "inputs" && given.field == "name") {
    take_name(model.inputs, given, budget);
  } else if (given.table == "outputs" && given.field == "name") {
    take_name(model.outputs, given, budget);
  } else if (given.table == "constants") {
    CompiledConstant* const found = item_at(model.constants, given.index, budget);
    if (found == nullptr) return;
    CompiledConstant& constant = *found;
    if (given.field == "name") constant.name = quoted(given.value);
    if (given.field == "original_fqn") constant.original = quoted(given.value);
    if (given.field == "dtype") constant.dtype = behind(given.value, "dtype_");
    if (given.field == "type") constant.kind = kind_text(given.value);
    if (given.field == "shape") constant.sizes = sizes_of(given.value);
    if (given.field == "data_size") constant.bytes = number_of(given.value).value_or(0);
  }
}

// Of  in_spec_ = R"([1, ...])";  what stands in the raw text.
std::string raw_text(std::string_view value) {
  const size_t begin = value.find("R\"(");
  const size_t end = value.rfind(")\"");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin + 3) return {};
  return std::string(value.substr(begin + 3, end - begin - 3));
}

}  // namespace

void read_compiled_source(std::string_view text, CompiledModel& model, DescriptionBudget& budget) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("in_spec_ = ")) {
      budget.charge(2 * line.size());
      model.in_spec = raw_text(line);
    } else if (line.starts_with("out_spec_ = ")) {
      budget.charge(2 * line.size());
      model.out_spec = raw_text(line);
    } else if (const std::optional<Assignment> found = assignment_of(line)) {
      take(*found, model, budget);
    }
  }
}

}  // namespace flambeau
