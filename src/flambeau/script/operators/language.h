// Which operators the syntax of TorchScript stands for: infix signs, Python's builtins, attributes of
// tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "flambeau/script/syntax/tree.h"
#include "flambeau/value/type.h"

namespace flambeau::script {

// A builtin of Python that is an operator here, or a method of the object that is given.
struct Builtin {
  std::string_view name;           // "len"
  std::string_view method;         // "__len__"; empty when objects cannot have one
  std::string_view operator_name;  // "aten::len"
  // Of a cast: a value that is of the type already is left as it is.
  std::optional<TypeKind> cast = {};
};
// Null when there is none of that name.
const Builtin* find_builtin(std::string_view name);

// What an infix or unary sign means.
struct SignOperator {
  std::string_view operator_name;  // "aten::add"
  std::string_view method;         // "__add__"; empty when objects cannot have one
};
SignOperator sign_operator(syntax::Kind sign);
// What an augmented assignment means: for tensors and lists in place.
struct AugmentedOperator {
  std::string_view operator_name;
  std::string_view in_place_name;
  std::string_view method;  // "__add__"; empty when objects cannot have one
  std::string_view in_place_method;
};
AugmentedOperator augmented_operator(syntax::Kind sign);

// The data type that a method of tensors casts to, by PyTorch's number: "float" -> 6.
std::optional<int64_t> cast_method(std::string_view method);

// Operators that other syntax stands for.
struct LanguageOperators {
  static constexpr std::string_view kAppend = "aten::append";
  static constexpr std::string_view kAssert = "aten::_assert";
  static constexpr std::string_view kAwaitableWait = "prim::awaitable_wait";
  static constexpr std::string_view kBitwiseNot = "aten::bitwise_not";
  static constexpr std::string_view kCheck = "aten::_check";
  static constexpr std::string_view kCopyInto = "aten::copy_";
  static constexpr std::string_view kDelete = "aten::Delete";
  static constexpr std::string_view kDeriveIndex = "aten::__derive_index";
  static constexpr std::string_view kDevice = "prim::device";
  static constexpr std::string_view kDict = "aten::dict";
  static constexpr std::string_view kDtype = "prim::dtype";
  static constexpr std::string_view kEnumName = "prim::EnumName";
  static constexpr std::string_view kEnumValue = "prim::EnumValue";
  static constexpr std::string_view kFormat = "aten::format";
  static constexpr std::string_view kGetItem = "aten::__getitem__";
  static constexpr std::string_view kGreater = "aten::gt";
  static constexpr std::string_view kIndex = "aten::index";
  static constexpr std::string_view kIndexPut = "aten::index_put_";
  static constexpr std::string_view kJoin = "aten::add";
  static constexpr std::string_view kKeys = "aten::keys";
  static constexpr std::string_view kLength = "aten::len";
  static constexpr std::string_view kList = "aten::list";
  static constexpr std::string_view kModuleIndex = "prim::ModuleContainerIndex";
  static constexpr std::string_view kMinimum = "prim::min";
  static constexpr std::string_view kNegate = "aten::neg";
  static constexpr std::string_view kNot = "aten::__not__";
  static constexpr std::string_view kPercentFormat = "aten::percentFormat";
  static constexpr std::string_view kRaise = "prim::RaiseException";
  static constexpr std::string_view kRangeLength = "aten::__range_length";
  static constexpr std::string_view kSelect = "aten::select";
  static constexpr std::string_view kSetItem = "aten::_set_item";
  static constexpr std::string_view kSlice = "aten::slice";
  static constexpr std::string_view kString = "aten::str";
  static constexpr std::string_view kTensor = "aten::tensor";
  static constexpr std::string_view kTo = "aten::to";
  static constexpr std::string_view kUnsqueeze = "aten::unsqueeze";
};

// Whether a condition is settled while compiling, because this operator gave it: code of archives is never
// scripting, for instance.
std::optional<bool> known_condition(std::string_view operator_name);

}  // namespace flambeau::script
