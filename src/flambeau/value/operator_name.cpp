#include "flambeau/value/operator_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

constexpr std::string_view kPythonPrefix = "torch.ops.";
constexpr std::string_view kPythonDefault = "default";

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::string overload_from_python(std::string_view overload) {
  return overload == kPythonDefault ? std::string() : std::string(overload);
}

}  // namespace

std::string_view OperatorName::name_space() const {
  const size_t colons = name.find("::");
  return colons == std::string::npos ? std::string_view() : std::string_view(name).substr(0, colons);
}

std::string_view OperatorName::base_name() const {
  const size_t colons = name.find("::");
  return std::string_view(name).substr(colons == std::string::npos ? 0 : colons + 2);
}

std::string OperatorName::to_string() const { return overload.empty() ? name : name + '.' + overload; }

std::string OperatorName::to_python() const {
  const std::string_view last = overload.empty() ? kPythonDefault : std::string_view(overload);
  return fmt::format("{}{}.{}.{}", kPythonPrefix, name_space(), base_name(), last);
}

OperatorName parse_operator_name(std::string_view text) {
  const size_t colons = text.find("::");
  const size_t dot = text.find('.');
  const std::string_view name = text.substr(0, dot);
  OperatorName result{std::string(name), {}};
  if (dot != std::string_view::npos) result.overload = overload_from_python(text.substr(dot + 1));
  const bool has_good_overload = dot == std::string_view::npos || is_identifier(text.substr(dot + 1));
  if (colons == std::string_view::npos || !is_identifier(result.name_space()) ||
      !is_identifier(result.base_name()) || !has_good_overload) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not the name of an operator", printable(text)),
                "write it as aten::add.Tensor, or aten::relu without an overload");
  }
  return result;
}

std::optional<OperatorName> find_python_operator(std::string_view text) {
  if (text.starts_with(kPythonPrefix)) text.remove_prefix(kPythonPrefix.size());
  const size_t first = text.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  const size_t second = text.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view name_space = text.substr(0, first);
  const std::string_view base_name = text.substr(first + 1, second - first - 1);
  const std::string_view overload = text.substr(second + 1);
  if (!is_identifier(name_space) || !is_identifier(base_name) || !is_identifier(overload))
    return std::nullopt;
  OperatorName result;
  result.name.reserve(name_space.size() + 2 + base_name.size());
  result.name.append(name_space).append("::").append(base_name);
  result.overload = overload_from_python(overload);
  return result;
}

OperatorName parse_python_operator(std::string_view text) {
  std::optional<OperatorName> name = find_python_operator(text);
  if (!name) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not an operator of torch.ops", printable(text)),
                "write it as torch.ops.aten.add.Tensor, or torch.ops.aten.relu.default");
  }
  return *std::move(name);
}

}  // namespace flambeau
