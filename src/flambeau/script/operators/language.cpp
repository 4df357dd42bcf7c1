#include "flambeau/script/operators/language.h"

#include <algorithm>
#include <array>

namespace flambeau::script {
namespace {

using syntax::Kind;

constexpr auto kBuiltins = std::to_array<Builtin>({
    {"float", "__float__", "aten::Float", TypeKind::kFloat},
    {"complex", "__complex__", "aten::Complex", TypeKind::kComplex},
    {"int", "__int__", "aten::Int", TypeKind::kInt},
    {"bool", "__bool__", "aten::Bool", TypeKind::kBool},
    {"str", "__str__", "aten::str", TypeKind::kString},
    {"_to_tensor", "", "prim::NumToTensor", TypeKind::kTensor},
    {"len", "__len__", "aten::len"},
    {"hex", "__hex__", "aten::hex"},
    {"oct", "__oct__", "aten::oct"},
    {"round", "__round__", "aten::round"},
    {"hash", "", "aten::hash"},
    {"id", "", "prim::id"},
    {"min", "", "prim::min"},
    {"max", "", "prim::max"},
    {"abs", "", "prim::abs"},
    {"all", "", "aten::all"},
    {"any", "", "aten::any"},
    {"divmod", "", "aten::divmod"},
    {"sum", "", "aten::sum"},
    {"ord", "", "aten::ord"},
    {"chr", "", "aten::chr"},
    {"bin", "", "aten::bin"},
    {"pow", "", "aten::pow"},
    {"rangelist", "", "prim::rangelist"},
    {"sorted", "", "aten::sorted"},
});

struct CastMethod {
  std::string_view method;
  int64_t type;
};
constexpr auto kCastMethods = std::to_array<CastMethod>({
    {"byte", 0},
    {"char", 1},
    {"short", 2},
    {"int", 3},
    {"long", 4},
    {"half", 5},
    {"float", 6},
    {"double", 7},
    {"cfloat", 9},
    {"cdouble", 10},
});

}  // namespace

const Builtin* find_builtin(std::string_view name) {
  const auto* found = std::ranges::find(kBuiltins, name, &Builtin::name);
  return found == kBuiltins.end() ? nullptr : found;
}

SignOperator sign_operator(Kind sign) {
  switch (sign) {
    case Kind::kAdd:
      return {"aten::add", "__add__"};
    case Kind::kSubtract:
      return {"aten::sub", "__sub__"};
    case Kind::kMultiply:
      return {"aten::mul", "__mul__"};
    case Kind::kDivide:
      return {"aten::div", "__truediv__"};
    case Kind::kFloorDivide:
      return {"aten::floordiv", ""};
    case Kind::kModulo:
      return {"aten::remainder", "__mod__"};
    case Kind::kMatrixMultiply:
      return {"aten::matmul", ""};
    case Kind::kPower:
      return {"aten::pow", "__pow__"};
    case Kind::kBitOr:
      return {"aten::__or__", "__or__"};
    case Kind::kBitXor:
      return {"aten::__xor__", "__xor__"};
    case Kind::kBitAnd:
      return {"aten::__and__", "__and__"};
    case Kind::kShiftLeft:
      return {"aten::__lshift__", "__lshift__"};
    case Kind::kShiftRight:
      return {"aten::__rshift__", "__rshift__"};
    case Kind::kLess:
      return {"aten::lt", "__lt__"};
    case Kind::kGreater:
      return {"aten::gt", "__gt__"};
    case Kind::kLessEqual:
      return {"aten::le", "__le__"};
    case Kind::kGreaterEqual:
      return {"aten::ge", "__ge__"};
    case Kind::kEqual:
      return {"aten::eq", "__eq__"};
    case Kind::kNotEqual:
      return {"aten::ne", "__ne__"};
    case Kind::kIs:
      return {"aten::__is__", ""};
    case Kind::kIsNot:
      return {"aten::__isnot__", ""};
    case Kind::kIn:
      return {"aten::__contains__", "__contains__"};
    case Kind::kNegate:
      return {"aten::neg", "__neg__"};
    case Kind::kInvert:
      return {"aten::bitwise_not", "__invert__"};
    default:
      return {};
  }
}

AugmentedOperator augmented_operator(Kind sign) {
  switch (sign) {
    case Kind::kAdd:
      return {"aten::add", "aten::add_", "__add__", "__iadd__"};
    case Kind::kSubtract:
      return {"aten::sub", "aten::sub_", "__sub__", "__isub__"};
    case Kind::kMultiply:
      return {"aten::mul", "aten::mul_", "__mul__", "__imul__"};
    case Kind::kDivide:
      return {"aten::div", "aten::div_", "__truediv__", "__itruediv__"};
    case Kind::kModulo:
      return {"aten::fmod", "aten::fmod_", "__mod__", "__imod__"};
    case Kind::kBitOr:
      return {"aten::__or__", "aten::bitwise_or", "", ""};
    case Kind::kBitAnd:
      return {"aten::__and__", "aten::bitwise_and", "", ""};
    case Kind::kBitXor:
      return {"aten::__xor__", "aten::bitwise_xor", "", ""};
    case Kind::kShiftLeft:
      return {"aten::__lshift__", "aten::__ilshift__", "", ""};
    case Kind::kShiftRight:
      return {"aten::__rshift__", "aten::__irshift__", "", ""};
    default:
      return {"aten::pow", "aten::pow", "", ""};
  }
}

std::optional<int64_t> cast_method(std::string_view method) {
  const auto* found = std::ranges::find(kCastMethods, method, &CastMethod::method);
  if (found == kCastMethods.end()) return std::nullopt;
  return found->type;
}

std::optional<bool> known_condition(std::string_view operator_name) {
  if (operator_name == "aten::is_scripting") return true;
  if (operator_name == "aten::has_torch_function") return false;
  return std::nullopt;
}

}  // namespace flambeau::script
