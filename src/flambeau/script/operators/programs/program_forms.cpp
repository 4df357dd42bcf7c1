#include "flambeau/script/operators/programs/program_forms.h"

#include <array>
#include <utility>

namespace flambeau::script {
namespace {

using Kind = ProgramForm::Kind;

constexpr auto kForms = std::to_array<ProgramForm>({
    {"aten::sym_size.int", Kind::kMethodOfDim, "size"},
    {"aten::sym_stride.int", Kind::kMethodOfDim, "stride"},
    {"aten::sym_numel", Kind::kMethod, "numel"},
    {"aten::sym_storage_offset", Kind::kMethod, "storage_offset"},
    {"aten::sym_is_contiguous", Kind::kMethod, "is_contiguous"},
    {"aten::sym_constrain_range", Kind::kNothing},
    {"aten::sym_constrain_range_for_size", Kind::kNothing},
    {"aten::_functional_sym_constrain_range", Kind::kNothing},
    {"aten::_functional_sym_constrain_range_for_size", Kind::kNothing},
    {"aten::_assert_tensor_metadata", Kind::kNothing},
    {"aten::_assert_scalar", Kind::kAssertion},
    {"aten::_assert_async", Kind::kAssertion},
    {"aten::_assert_async.msg", Kind::kAssertion},
    {"prims::convert_element_type", Kind::kConversion},
    {"prims::device_put", Kind::kConversion},
    {"prims::view_of", Kind::kAlias},
    {"aten::item", Kind::kElement},
    {"aten::_local_scalar_dense", Kind::kElement},
});

constexpr auto kFunctionForms = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"_operator.add", "{0} + {1}"},
    {"_operator.sub", "{0} - {1}"},
    {"_operator.mul", "{0} * {1}"},
    {"_operator.floordiv", "{0} // {1}"},
    {"_operator.mod", "{0} % {1}"},
    {"_operator.truediv", "{0} / {1}"},
    {"_operator.pow", "pow({0}, {1})"},
    {"_operator.neg", "-{0}"},
    {"_operator.pos", "{0}"},
    {"_operator.abs", "abs({0})"},
    {"_operator.eq", "{0} == {1}"},
    {"_operator.ne", "{0} != {1}"},
    {"_operator.lt", "{0} < {1}"},
    {"_operator.le", "{0} <= {1}"},
    {"_operator.gt", "{0} > {1}"},
    {"_operator.ge", "{0} >= {1}"},
    {"_operator.and_", "({0} and {1})"},
    {"_operator.or_", "({0} or {1})"},
    {"_operator.lshift", "{0} << {1}"},
    {"_operator.rshift", "{0} >> {1}"},
    {"_operator.not_", "not {0}"},
    {"torch.sym_max", "max({0}, {1})"},
    {"torch.sym_min", "min({0}, {1})"},
    {"torch.sym_not", "not {0}"},
    {"torch.sym_float", "float({0})"},
    {"torch.sym_int", "int({0})"},
    {"torch.sym_ite", "({1} if {0} else {2})"},
    {"torch._sym_sqrt", "math.sqrt({0})"},
    {"math.trunc", "int({0})"},
    {"math.floor", "math.floor({0})"},
    {"math.ceil", "math.ceil({0})"},
    {"builtins.round", "round({0})"},
    {"round", "round({0})"},
    {"torch.sym_sum", "sum({0})"},
});

}  // namespace

const ProgramForm* find_program_form(std::string_view op) {
  for (const ProgramForm& form : kForms) {
    if (form.op == op) return &form;
  }
  return nullptr;
}

std::string_view function_form(std::string_view function) {
  for (const auto& [name, form] : kFunctionForms) {
    if (name == function) return form;
  }
  return {};
}

bool is_power(std::string_view function) { return function == "_operator.pow"; }

}  // namespace flambeau::script
