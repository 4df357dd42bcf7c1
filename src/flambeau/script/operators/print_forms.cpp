#include "flambeau/script/operators/print_forms.h"

#include <algorithm>
#include <array>

namespace flambeau::script {

namespace {

struct NamedRule {
  std::string_view name;
  PrintRule rule;
};

// Sorted by name.
constexpr std::array<NamedRule, 18> kPrintRules = {{
    {"aten::Bool", {PrintForm::kWord, "bool"}},
    {"aten::Float", {PrintForm::kWord, "float"}},
    {"aten::FloatImplicit", {PrintForm::kAnnotate, {}}},
    {"aten::Generator", {PrintForm::kCall, {}, true}},
    {"aten::Int", {PrintForm::kWord, "int"}},
    {"aten::IntImplicit", {PrintForm::kAnnotate, {}}},
    {"aten::ScalarImplicit", {PrintForm::kAnnotate, {}}},
    {"aten::__getitem__", {PrintForm::kIndex, {}}},
    {"aten::_unwrap_optional", {PrintForm::kUnwrapOptional, {}}},
    {"aten::backward", {PrintForm::kCall, "torch.autograd.backward"}},
    {"aten::grad", {PrintForm::kCall, "torch.autograd.grad"}},
    {"aten::sorted", {PrintForm::kWord, "sorted"}},
    {"aten::str", {PrintForm::kWord, "str"}},
    {"prim::EnumName", {PrintForm::kEnumName, {}}},
    {"prim::EnumValue", {PrintForm::kEnumValue, {}}},
    {"prim::ModuleContainerIndex", {PrintForm::kContainerIndex, {}}},
    {"prim::unchecked_cast", {PrintForm::kCast, {}}},
    {"prim::unchecked_unwrap_optional", {PrintForm::kCast, {}}},
}};

}  // namespace

PrintRule print_rule(const OperatorName& name) {
  const auto* found =
      std::ranges::lower_bound(kPrintRules, std::string_view(name.name), {}, &NamedRule::name);
  return found != kPrintRules.end() && found->name == name.name ? found->rule : PrintRule{};
}

std::string printed_operator(const OperatorName& name) {
  const PrintRule rule = print_rule(name);
  if (!rule.word.empty()) return std::string(rule.word);
  const std::string_view space = name.name_space();
  const std::string base(name.base_name());
  if (space == "aten") return "torch." + base;
  return "ops." + std::string(space) + "." + base;
}

}  // namespace flambeau::script
