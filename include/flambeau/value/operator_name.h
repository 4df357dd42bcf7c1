// The name of an operator in its spellings: "aten::add.Tensor" and "torch.ops.aten.add.Tensor".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace flambeau {

struct OperatorName {
  std::string name;      // "aten::add"
  std::string overload;  // "Tensor"; empty for the one that Python calls "default"

  // "aten"; empty when the name has none.
  std::string_view name_space() const;
  // "add".
  std::string_view base_name() const;
  // "aten::add.Tensor", "aten::relu".
  std::string to_string() const;
  // "torch.ops.aten.add.Tensor", "torch.ops.aten.relu.default".
  std::string to_python() const;

  bool operator==(const OperatorName&) const = default;
};

// Reads "aten::add.Tensor", "aten::relu" or "aten::relu.default". Throws Error(kInvalidArgument).
OperatorName parse_operator_name(std::string_view text);

// Reads "torch.ops.aten.add.Tensor", with or without "torch.ops."; nothing for another text, such as
// "torch.ops.higher_order.cond", which has no overload, or "_operator.add".
std::optional<OperatorName> find_python_operator(std::string_view text);

// As find_python_operator; throws Error(kInvalidArgument) in place of nothing.
OperatorName parse_python_operator(std::string_view text);

}  // namespace flambeau
