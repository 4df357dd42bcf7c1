#include "flambeau/migrate/data_numbers.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/migrate/joint.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/ops/mechanism/parts.h"
#include "flambeau/script/operators/programs/number_functions.h"
#include "flambeau/symbolic/build.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::migration {
namespace {

using interpreter::Call;
using script::Asks;
using script::NumberKind;
using Tag = IValue::Tag;

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
std::optional<symbolic::Expr> asked(Asks asks, const Call& call) {
  if (asks == Asks::kNothing || call.size() != 2) return {};
  const std::optional<SymInt> a = int_of(call[0]);
  const std::optional<SymInt> b = int_of(call[1]);
  if (!a || !b) return {};
  switch (asks) {
    case Asks::kNothing:
      return {};
    case Asks::kEqual:
      return symbolic::eq(a->expr(), b->expr());
    case Asks::kNotEqual:
      return symbolic::ne(a->expr(), b->expr());
    case Asks::kLess:
      return symbolic::lt(a->expr(), b->expr());
    case Asks::kLessOrEqual:
      return symbolic::le(a->expr(), b->expr());
    case Asks::kGreater:
      return symbolic::gt(a->expr(), b->expr());
    case Asks::kGreaterOrEqual:
      return symbolic::ge(a->expr(), b->expr());
  }
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
  const script::NumberFunction* const found = script::find_number_function(builtin);
  if (found == nullptr || call.size() < found->count) return false;
  const script::NumberFunction& how = *found;
  const size_t count = how.count;
  bool has_float = how.gives == NumberKind::kFloat;
  bool are_bools = true;
  for (size_t i = 0; i < count; ++i) {
    if (!is_number(call[i])) return false;
    has_float = has_float || is_float(call[i]);
    are_bools = are_bools && is_bool(call[i]);
  }
  if (how.gives == NumberKind::kTruth && !are_bools) return false;
  if (how.gives == NumberKind::kBits && has_float) return false;
  calls.tell_place();
  DType dtype = DType::kInt64;
  if (has_float) {
    dtype = DType::kFloat64;
  } else if (are_bools && (how.gives == NumberKind::kBool || how.gives == NumberKind::kTruth ||
                           how.gives == NumberKind::kBits)) {
    dtype = DType::kBool;
  }
  std::vector<Value> arguments;
  for (size_t i = 0; i < count; ++i) arguments.emplace_back(as_tensor(call[i], dtype));
  Tensor result = arguments[0].tensor();
  // What is whole already is not rounded.
  const bool is_whole = how.gives == NumberKind::kInt && !has_float;
  if (!how.op.empty() && !is_whole) result = ops::call_named(nn::current(), how.op, arguments).at(0).tensor();
  switch (how.gives) {
    case NumberKind::kBool:
    case NumberKind::kTruth:
      if (result.dtype() != DType::kBool)
        result = ops::call<Tensor>(nn::current(), "aten::ne.Scalar", result, int64_t{0});
      if (const std::optional<symbolic::Expr> condition = asked(how.asks, call))
        calls.note_condition(result, *condition);
      call.give(IValue::symbolic(result));
      return true;
    case NumberKind::kBits:
      call.give(are_bools ? IValue::symbolic(result) : item_of(result));
      return true;
    case NumberKind::kInt:
      call.give(item_of(converted(result, DType::kInt64)));
      return true;
    case NumberKind::kSame:
      if (!has_float) {
        call.give(item_of(result));
        return true;
      }
      [[fallthrough]];
    case NumberKind::kFloat:
      call.give(IValue::symbolic(result));
      return true;
  }
  return false;
}

namespace {

// Whether nobody can tell the value from a copy of it.
bool is_only_read(const script::ir::Value& value) {
  return std::ranges::all_of(value.uses(), [](const script::ir::Use& use) {
    return use.user->is(script::ir::NodeKind::kOperator) && !use.user->op->schema.is_mutable() &&
           !use.user->op->schema.is_view();
  });
}

}  // namespace

bool select_with_data(TracedCalls& calls, Call& call) {
  if (!call[2].is(Tag::kSymbolic) || !call[1].is(Tag::kInt) || !call[0].is(Tag::kTensor)) return false;
  const SymInt* const index = call[2].as_symbolic().get_if<SymInt>();
  if (index == nullptr || !is_from_data(*index) || !is_only_read(*call.node()->output())) return false;
  calls.tell_place();
  const Tensor& tensor = call[0].as_tensor();
  const ops::Info<SymInt> info = ops::symbolic_info(tensor);
  const size_t dim = ops::wrap_dim(call[1].as_int(), info.dim());
  Tensor place = as_tensor(call[2], DType::kInt64);
  bool may_be_negative = true;
  try {
    may_be_negative = *index < SymInt(0);
  } catch (const Error&) {
    // Data decides that, too.
  }
  ops::Context& context = nn::current();
  if (may_be_negative) {
    const Tensor is_negative = ops::call<Tensor>(context, "aten::lt.Scalar", place, int64_t{0});
    const Tensor from_end = ops::call<Tensor>(context, "aten::add.Scalar", place, info.sizes[dim]);
    place = ops::call<Tensor>(context, "aten::where.self", is_negative, from_end, place);
  }
  const auto at = static_cast<int64_t>(dim);
  const Tensor part = ops::call<Tensor>(context, "aten::index_select", tensor, at, place);
  call.give(IValue(ops::call<Tensor>(context, "aten::squeeze.dim", part, at)));
  return true;
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
