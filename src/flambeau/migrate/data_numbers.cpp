#include "flambeau/migrate/data_numbers.h"

#include <fmt/format.h>

#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/migrate/joint.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/symbolic/build.h"

namespace flambeau::migration {
namespace {

using interpreter::Call;
using Tag = IValue::Tag;

// What a computation gives.
enum class Gives { kFloat, kSame, kBool, kInt, kTruth };

struct Computation {
  const char* op;
  Gives gives;
  int count;  // of numbers that it takes
};

// By the builtin's name without its overload.
const std::unordered_map<std::string_view, Computation>& computations() {
  static const std::unordered_map<std::string_view, Computation> table = {
      {"aten::add", {"aten::add.Tensor", Gives::kSame, 2}},
      {"aten::sub", {"aten::sub.Tensor", Gives::kSame, 2}},
      {"aten::mul", {"aten::mul.Tensor", Gives::kSame, 2}},
      {"aten::div", {"aten::div.Tensor", Gives::kFloat, 2}},
      {"aten::floordiv", {"aten::floor_divide", Gives::kSame, 2}},
      {"aten::remainder", {"aten::remainder.Tensor", Gives::kSame, 2}},
      {"aten::fmod", {"aten::fmod.Tensor", Gives::kFloat, 2}},
      {"aten::pow", {"aten::pow.Tensor_Tensor", Gives::kSame, 2}},
      {"aten::atan2", {"aten::atan2", Gives::kFloat, 2}},
      {"prim::max", {"aten::maximum", Gives::kSame, 2}},
      {"prim::min", {"aten::minimum", Gives::kSame, 2}},
      {"aten::neg", {"aten::neg", Gives::kSame, 1}},
      {"prim::abs", {"aten::abs", Gives::kSame, 1}},
      {"aten::fabs", {"aten::abs", Gives::kFloat, 1}},
      {"aten::sqrt", {"aten::sqrt", Gives::kFloat, 1}},
      {"aten::exp", {"aten::exp", Gives::kFloat, 1}},
      {"aten::expm1", {"aten::expm1", Gives::kFloat, 1}},
      {"aten::log", {"aten::log", Gives::kFloat, 1}},
      {"aten::log2", {"aten::log2", Gives::kFloat, 1}},
      {"aten::log10", {"aten::log10", Gives::kFloat, 1}},
      {"aten::log1p", {"aten::log1p", Gives::kFloat, 1}},
      {"aten::sin", {"aten::sin", Gives::kFloat, 1}},
      {"aten::cos", {"aten::cos", Gives::kFloat, 1}},
      {"aten::tan", {"aten::tan", Gives::kFloat, 1}},
      {"aten::asin", {"aten::asin", Gives::kFloat, 1}},
      {"aten::acos", {"aten::acos", Gives::kFloat, 1}},
      {"aten::atan", {"aten::atan", Gives::kFloat, 1}},
      {"aten::sinh", {"aten::sinh", Gives::kFloat, 1}},
      {"aten::cosh", {"aten::cosh", Gives::kFloat, 1}},
      {"aten::tanh", {"aten::tanh", Gives::kFloat, 1}},
      {"aten::floor", {"aten::floor", Gives::kInt, 1}},
      {"aten::ceil", {"aten::ceil", Gives::kInt, 1}},
      {"aten::round", {"aten::round", Gives::kFloat, 1}},
      {"aten::eq", {"aten::eq.Tensor", Gives::kBool, 2}},
      {"aten::ne", {"aten::ne.Tensor", Gives::kBool, 2}},
      {"aten::lt", {"aten::lt.Tensor", Gives::kBool, 2}},
      {"aten::le", {"aten::le.Tensor", Gives::kBool, 2}},
      {"aten::gt", {"aten::gt.Tensor", Gives::kBool, 2}},
      {"aten::ge", {"aten::ge.Tensor", Gives::kBool, 2}},
      {"aten::isnan", {"aten::isnan", Gives::kBool, 1}},
      {"aten::isinf", {"aten::isinf", Gives::kBool, 1}},
      {"aten::isfinite", {"aten::isfinite", Gives::kBool, 1}},
      {"aten::__not__", {"aten::logical_not", Gives::kBool, 1}},
      {"aten::__and__", {"aten::logical_and", Gives::kTruth, 2}},
      {"aten::__or__", {"aten::logical_or", Gives::kTruth, 2}},
      {"aten::__xor__", {"aten::logical_xor", Gives::kTruth, 2}},
      {"aten::Bool", {"", Gives::kBool, 1}},
      {"aten::Float", {"", Gives::kFloat, 1}},
      {"aten::Int", {"aten::trunc", Gives::kInt, 1}},
  };
  return table;
}

bool is_number(const IValue& value) {
  return value.is(Tag::kBool) || value.is(Tag::kInt) || value.is(Tag::kFloat) || value.is(Tag::kSymbolic);
}
bool is_float(const IValue& value) { return value.is(Tag::kFloat) || is_data_float(value); }
bool is_bool(const IValue& value) { return value.is(Tag::kBool) || is_data_bool(value); }

Tensor converted(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  return ops::call_with<Tensor>(nn::current(), "aten::to.dtype", {tensor, dtype}, {});
}

Tensor as_tensor(const IValue& value, DType dtype) {
  if (const Tensor* const tensor = value.is(Tag::kSymbolic) ? value.as_symbolic().get_if<Tensor>() : nullptr)
    return converted(*tensor, dtype);
  return ops::call_with<Tensor>(nn::current(), "aten::scalar_tensor", {interpreter::to_value(value)},
                                {{"dtype", dtype}});
}

std::optional<SymInt> int_of(const IValue& value) {
  if (value.is(Tag::kInt)) return SymInt(value.as_int());
  if (is_data_int(value)) return value.as_symbolic().get<SymInt>();
  return {};
}

// What a comparison of ints asks, so that an assertion of it teaches the trace something.
std::optional<symbolic::Expr> asked(std::string_view base, const Call& call) {
  if (call.size() != 2) return {};
  const std::optional<SymInt> a = int_of(call[0]);
  const std::optional<SymInt> b = int_of(call[1]);
  if (!a || !b) return {};
  if (base == "aten::eq") return symbolic::eq(a->expr(), b->expr());
  if (base == "aten::ne") return symbolic::ne(a->expr(), b->expr());
  if (base == "aten::lt") return symbolic::lt(a->expr(), b->expr());
  if (base == "aten::le") return symbolic::le(a->expr(), b->expr());
  if (base == "aten::gt") return symbolic::gt(a->expr(), b->expr());
  if (base == "aten::ge") return symbolic::ge(a->expr(), b->expr());
  return {};
}

IValue item_of(const Tensor& tensor) {
  const Value arguments[] = {tensor};
  return interpreter::to_ivalue(ops::call_named(nn::current(), "aten::item", arguments).at(0));
}

}  // namespace

bool has_data_number(const Call& call) {
  for (size_t i = 0; i < call.size(); ++i) {
    if (!call[i].is(Tag::kSymbolic)) continue;
    const SymInt* const number = call[i].as_symbolic().get_if<SymInt>();
    if (number == nullptr || is_from_data(*number)) return true;
  }
  return false;
}

bool compute_with_data(TracedCalls& calls, std::string_view builtin, Call& call) {
  const std::string_view base = builtin.substr(0, builtin.find('.'));
  const auto found = computations().find(base);
  if (found == computations().end() || call.size() < static_cast<size_t>(found->second.count)) return false;
  const Computation& how = found->second;
  const auto count = static_cast<size_t>(how.count);
  bool has_float = how.gives == Gives::kFloat;
  bool are_bools = true;
  for (size_t i = 0; i < count; ++i) {
    if (!is_number(call[i])) return false;
    has_float = has_float || is_float(call[i]);
    are_bools = are_bools && is_bool(call[i]);
  }
  if (how.gives == Gives::kTruth && !are_bools) return false;
  calls.tell_place();
  DType dtype = DType::kInt64;
  if (has_float) {
    dtype = DType::kFloat64;
  } else if (are_bools && (how.gives == Gives::kBool || how.gives == Gives::kTruth)) {
    dtype = DType::kBool;
  }
  std::vector<Value> arguments;
  for (size_t i = 0; i < count; ++i) arguments.emplace_back(as_tensor(call[i], dtype));
  Tensor result = arguments[0].tensor();
  // What is whole already is not rounded.
  const bool is_whole = how.gives == Gives::kInt && !has_float;
  if (*how.op != '\0' && !is_whole) result = ops::call_named(nn::current(), how.op, arguments).at(0).tensor();
  switch (how.gives) {
    case Gives::kBool:
    case Gives::kTruth:
      if (result.dtype() != DType::kBool)
        result = ops::call<Tensor>(nn::current(), "aten::ne.Scalar", result, int64_t{0});
      if (const std::optional<symbolic::Expr> condition = asked(base, call))
        calls.note_condition(result, *condition);
      call.give(IValue::symbolic(result));
      return true;
    case Gives::kInt:
      call.give(item_of(converted(result, DType::kInt64)));
      return true;
    case Gives::kSame:
      if (!has_float) {
        call.give(item_of(result));
        return true;
      }
      [[fallthrough]];
    case Gives::kFloat:
      call.give(IValue::symbolic(result));
      return true;
  }
  return false;
}

const ops::Operator* with_tensor_number(const ops::Library& library, const ops::Operator& op,
                                        std::vector<Value>& arguments) {
  OperatorName name = op.schema.name;
  std::string overload = name.overload;
  const size_t at = overload.rfind("Scalar");
  if (at == std::string::npos) return nullptr;
  overload.replace(at, 6, "Tensor");
  name.overload = overload;
  const ops::Operator* found = library.find(name);
  if (found == nullptr || found->schema.arguments.size() > arguments.size()) return nullptr;
  // As a number of Python's: a float makes whole numbers the default type, and no other kind of tensor wider.
  std::optional<DType> wanted;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (op.schema.arguments[i].type.without_optional().is(TypeKind::kTensor) && arguments[i].is_tensor() &&
        !wanted)
      wanted = arguments[i].tensor().dtype();
  }
  for (size_t i = 0; i < arguments.size() && i < found->schema.arguments.size(); ++i) {
    if (!op.schema.arguments[i].type.without_optional().is(TypeKind::kNumber)) continue;
    if (!found->schema.arguments[i].type.without_optional().is(TypeKind::kTensor)) {
      if (arguments[i].is_tensor()) return nullptr;
      continue;
    }
    Tensor number;
    if (arguments[i].is_tensor()) {
      number = arguments[i].tensor();
    } else if (arguments[i].is_none()) {
      continue;
    } else {
      const bool is_float = arguments[i].is<double>();
      number = ops::call_with<Tensor>(nn::current(), "aten::scalar_tensor", {arguments[i]},
                                      {{"dtype", is_float ? DType::kFloat64 : DType::kInt64}});
    }
    if (dtype_info(number.dtype()).is_floating)
      number = converted(number, wanted && dtype_info(*wanted).is_floating ? *wanted : DType::kFloat32);
    arguments[i] = number;
  }
  arguments.resize(found->schema.arguments.size());
  return found;
}

}  // namespace flambeau::migration
