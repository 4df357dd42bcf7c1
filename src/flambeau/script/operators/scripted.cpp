#include "flambeau/script/operators/scripted.h"

#include <fmt/format.h>

#include "flambeau/script/types/text.h"

namespace flambeau::script {
namespace {

constexpr ScriptedText kScripted[] = {
    {"aten::mul", "(float a, Tensor b) -> Tensor", "return b * a"},
    {"aten::mul", "(int a, Tensor b) -> Tensor", "return b * a"},
    {"aten::mul", "(complex a, Tensor b) -> Tensor", "return b * a"},
    {"aten::add", "(float a, Tensor b) -> Tensor", "return b + a"},
    {"aten::add", "(int a, Tensor b) -> Tensor", "return b + a"},
    {"aten::add", "(complex a, Tensor b) -> Tensor", "return b + a"},
    {"aten::ne", "(float a, Tensor b) -> Tensor", "return b != a"},
    {"aten::ne", "(int a, Tensor b) -> Tensor", "return b != a"},
    {"aten::ne", "(complex a, Tensor b) -> Tensor", "return b != a"},
    {"aten::eq", "(float a, Tensor b) -> Tensor", "return b == a"},
    {"aten::eq", "(int a, Tensor b) -> Tensor", "return b == a"},
    {"aten::eq", "(complex a, Tensor b) -> Tensor", "return b == a"},
    {"aten::sub", "(float a, Tensor b) -> Tensor", "return torch.neg(b) + a"},
    {"aten::sub", "(int a, Tensor b) -> Tensor", "return torch.neg(b) + a"},
    {"aten::sub", "(complex a, Tensor b) -> Tensor", "return torch.neg(b) + a"},
    {"aten::div", "(float a, Tensor b) -> Tensor", "return torch.reciprocal(b) * a"},
    {"aten::div", "(int a, Tensor b) -> Tensor", "return torch.reciprocal(b) * a"},
    {"aten::div", "(complex a, Tensor b) -> Tensor", "return torch.reciprocal(b) * a"},
    {"aten::lt", "(float a, Tensor b) -> Tensor", "return b > a"},
    {"aten::lt", "(int a, Tensor b) -> Tensor", "return b > a"},
    {"aten::le", "(float a, Tensor b) -> Tensor", "return b >= a"},
    {"aten::le", "(int a, Tensor b) -> Tensor", "return b >= a"},
    {"aten::gt", "(float a, Tensor b) -> Tensor", "return b < a"},
    {"aten::gt", "(int a, Tensor b) -> Tensor", "return b < a"},
    {"aten::ge", "(float a, Tensor b) -> Tensor", "return b <= a"},
    {"aten::ge", "(int a, Tensor b) -> Tensor", "return b <= a"},
    {"aten::_single", "(float[1] x) -> float[]", "return x"},
    {"aten::_single", "(int[1] x) -> int[]", "return x"},
    {"aten::_pair", "(float[2] x) -> float[]", "return x"},
    {"aten::_pair", "(int[2] x) -> int[]", "return x"},
    {"aten::_triple", "(float[3] x) -> float[]", "return x"},
    {"aten::_triple", "(int[3] x) -> int[]", "return x"},
    {"aten::_quadruple", "(float[4] x) -> float[]", "return x"},
    {"aten::_quadruple", "(int[4] x) -> int[]", "return x"},
    {"aten::floordiv", "(Tensor self, Scalar other) -> Tensor", "return torch.floor_divide(self, other)"},
    {"aten::floordiv", "(Tensor self, Tensor other) -> Tensor", "return torch.floor_divide(self, other)"},
    // Operators of old archives that checked arguments.
    {"aten::_assert_int_or_pair", "(int[] vals, str name, str message) -> NoneType", "pass"},
    {"aten::list_with_default", "(int[] out_size, int[] defaults) -> int[]",
     "assert len(defaults) > len(out_size)\n  return out_size"},
    {"aten::_assert", "(bool condition, str message) -> NoneType", "assert condition, message"},
    {"aten::_assert", "(Tensor condition, str message) -> NoneType", "assert bool(condition), message"},
    // The operator calls its argument "a".
    {"aten::device", "(str type) -> Device", "return torch.device(type)"},
    {"aten::type", "(Tensor self, int dtype, bool non_blocking=False, bool copy=False) -> Tensor",
     "return self.to(dtype, non_blocking, copy)"},
    {"aten::__contains__", "(str self, str key) -> bool", "return self.find(key, 0, len(self)) != -1"},
    {"prim::ndim", "(Tensor a) -> int", "return a.dim()"},
    {"prim::T", "(Tensor a) -> Tensor", "return a.numpy_T()"},
    {"prim::H", "(Tensor a) -> Tensor", "return a.matrix_H()"},
    {"prim::mT", "(Tensor a) -> Tensor", "return a.mT"},
    {"prim::mH", "(Tensor a) -> Tensor", "return a.mH"},
    {"prim::shape", "(Tensor a) -> int[]", "return a.size()"},
};

}  // namespace

std::span<const ScriptedText> scripted_texts() { return kScripted; }

ScriptedOperator read_scripted(const ScriptedText& text) {
  const Schema schema = parse_schema(fmt::format("{}{}", text.name, text.arguments));
  ScriptedOperator read{signature_of(schema), {}};
  read.text = fmt::format("def {}(", schema.name.base_name());
  for (const Argument& argument : read.signature.arguments) {
    if (&argument != read.signature.arguments.data()) read.text += ", ";
    read.text += fmt::format("{}: {}", argument.name, annotation_text(argument.type));
  }
  read.text += fmt::format(") -> {}:\n  {}\n", annotation_text(read.signature.returns.at(0)), text.body);
  return read;
}

}  // namespace flambeau::script
