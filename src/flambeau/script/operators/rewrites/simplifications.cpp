#include "flambeau/script/operators/rewrites/simplifications.h"

#include <array>
#include <utility>

namespace flambeau::script {

Simplification simplification_of(const OperatorName& name) {
  constexpr std::array<std::pair<std::string_view, Simplification>, 10> kByName = {{
      {"aten::dropout", Simplification::kDropout},
      {"aten::dropout_", Simplification::kDropout},
      {"aten::feature_dropout", Simplification::kDropout},
      {"aten::feature_dropout_", Simplification::kDropout},
      {"aten::alpha_dropout", Simplification::kDropout},
      {"aten::alpha_dropout_", Simplification::kDropout},
      {"aten::feature_alpha_dropout", Simplification::kDropout},
      {"aten::feature_alpha_dropout_", Simplification::kDropout},
      {"aten::__is__", Simplification::kIs},
      {"aten::__isnot__", Simplification::kIsNot},
  }};
  for (const auto& [known, simplification] : kByName) {
    if (name.name == known) return simplification;
  }
  if (name.overload.starts_with("Dict_")) {
    if (name.name == "aten::__getitem__") return Simplification::kDictItem;
    if (name.name == "aten::len") return Simplification::kDictLength;
  }
  if (name.overload != "t") return Simplification::kNone;
  if (name.name == "aten::__getitem__") return Simplification::kListItem;
  if (name.name == "aten::len") return Simplification::kLength;
  if (name.name == "aten::add") return Simplification::kListSum;
  if (name.name == "aten::slice") return Simplification::kListPart;
  return Simplification::kNone;
}

}  // namespace flambeau::script
