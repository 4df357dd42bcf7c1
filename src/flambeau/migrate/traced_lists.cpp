#include "flambeau/migrate/traced_lists.h"

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::migration {
namespace {

using interpreter::Builtin;
using interpreter::Call;
using Tag = IValue::Tag;

bool is_symbolic(const IValue& value) { return value.is(Tag::kSymbolic); }

// Ints alone, at least one of them made of sizes.
bool has_sizes(const IValue& list) {
  return list.is(Tag::kList) && std::ranges::any_of(list.items(), is_size) &&
         std::ranges::all_of(list.items(),
                             [](const IValue& item) { return item.is(Tag::kInt) || is_size(item); });
}
bool has_data(const IValue& list) {
  return std::ranges::any_of(
      list.items(), [](const IValue& item) { return is_size(item) && is_from_data(number_of(item)); });
}

bool compare_lists(TracedCalls& calls, const Builtin& builtin, Call& call, bool wanted) {
  const bool is_ours = call.size() == 2 && call[0].is(Tag::kList) && call[1].is(Tag::kList) &&
                       (has_sizes(call[0]) || has_sizes(call[1]));
  if (!is_ours || has_data(call[0]) || has_data(call[1])) return false;
  (void)builtin;
  calls.tell_place();
  const std::vector<IValue>& a = call[0].items();
  const std::vector<IValue>& b = call[1].items();
  const bool are_same = std::ranges::equal(
      a, b, [](const IValue& one, const IValue& other) { return number_of(one) == number_of(other); });
  call.give(IValue(are_same == wanted));
  return true;
}

template <auto kCombine>
void fold(TracedCalls& calls, const Builtin& builtin, Call& call) {
  if (!has_sizes(call[0])) return call_specialized(calls, builtin, call);
  const std::vector<IValue>& items = call[0].items();
  SymInt result = number_of(items.front());
  for (size_t i = 1; i < items.size(); ++i) result = kCombine(result, number_of(items[i]));
  call.give(value_of(result));
}

bool has_symbol(const IValue& value) {
  if (value.is(Tag::kList)) return std::ranges::any_of(value.items(), has_symbol);
  return is_symbolic(value);
}

DType type_of_elements(const Type& given, Call& call) {
  Type element = given;
  while (element.is(TypeKind::kList)) element = Type(element.element());
  if (element.is(TypeKind::kFloat)) return call.machine().options().default_dtype;
  return element.is(TypeKind::kBool) ? DType::kBool : DType::kInt64;
}

Tensor stacked(const IValue& value, DType dtype) {
  ops::Context& context = nn::current();
  if (!value.is(Tag::kList)) {
    if (const Tensor* const tensor = is_symbolic(value) ? value.as_symbolic().get_if<Tensor>() : nullptr)
      return element_of(*tensor, dtype);
    return ops::call_with<Tensor>(context, "aten::scalar_tensor", {interpreter::to_value(value)},
                                  {{"dtype", dtype}});
  }
  TensorList parts;
  for (const IValue& item : value.items()) parts.push_back(stacked(item, dtype));
  return ops::call<Tensor>(context, "aten::stack", parts, int64_t{0});
}

// Elements that depend on the inputs, one by one: each is a number of the program.
IValue listed_numbers(TracedCalls& calls, const Tensor& tensor, const Type& type) {
  ops::Context& context = nn::current();
  if (tensor.dim() == 0) {
    if (tensor.dtype() != DType::kInt64)
      return IValue::symbolic(
          element_of(tensor, tensor.dtype() == DType::kBool ? DType::kBool : DType::kFloat64));
    const Value arguments[] = {tensor};
    return interpreter::to_ivalue(ops::call_named(context, "aten::item", arguments).at(0));
  }
  std::vector<IValue> items;
  const int64_t count = calls.specialize(ops::symbolic_info(tensor).sizes[0]);
  for (int64_t i = 0; i < count; ++i)
    items.push_back(
        listed_numbers(calls, ops::call<Tensor>(context, "aten::select.int", tensor, 0, i), type.element()));
  return IValue::list(type.element(), std::move(items));
}

}  // namespace

void same_lists(TracedCalls& calls, const Builtin& builtin, Call& call) {
  if (!compare_lists(calls, builtin, call, true)) call_specialized(calls, builtin, call);
}
void other_lists(TracedCalls& calls, const Builtin& builtin, Call& call) {
  if (!compare_lists(calls, builtin, call, false)) call_specialized(calls, builtin, call);
}

void is_in_list(TracedCalls& calls, const Builtin& builtin, Call& call) {
  const bool is_ours =
      (has_sizes(call[0]) || is_size(call[1])) && (is_size(call[1]) || call[1].is(Tag::kInt));
  if (!is_ours || has_data(call[0]) || is_from_data(number_of(call[1])))
    return call_specialized(calls, builtin, call);
  calls.tell_place();
  const SymInt wanted = number_of(call[1]);
  call.give(IValue(
      std::ranges::any_of(call[0].items(), [&](const IValue& item) { return number_of(item) == wanted; })));
}

void least_of_list(TracedCalls& calls, const Builtin& builtin, Call& call) {
  fold<[](const SymInt& a, const SymInt& b) { return min(a, b); }>(calls, builtin, call);
}
void most_of_list(TracedCalls& calls, const Builtin& builtin, Call& call) {
  fold<[](const SymInt& a, const SymInt& b) { return max(a, b); }>(calls, builtin, call);
}
void sum_of_list(TracedCalls& calls, const Builtin& builtin, Call& call) {
  fold<[](const SymInt& a, const SymInt& b) { return a + b; }>(calls, builtin, call);
}

void list_to_tensor(TracedCalls& calls, const Builtin& builtin, Call& call) {
  if (!call[0].is(Tag::kList) || !has_symbol(call[0])) return call_specialized(calls, builtin, call);
  calls.tell_place();
  const DType dtype = type_of_elements(call[0].as_list().element, call);
  Tensor tensor = stacked(call[0], dtype);
  if (call.size() > 1 && call[1].is(Tag::kInt)) {
    const std::optional<DType> wanted = dtype_from_number(call[1].as_int());
    if (wanted && *wanted != dtype)
      tensor = ops::call_with<Tensor>(nn::current(), "aten::to.dtype", {tensor, *wanted}, {});
  }
  call.give(IValue(std::move(tensor)));
}

void to_list(TracedCalls& calls, const Builtin& builtin, Call& call) {
  constexpr int64_t kMostNumbers = 256;
  // What the annotation says: 0 for int, 1 for float, 2 for bool.
  const auto is_of = [&](DType dtype) {
    const int64_t kind = call[2].is(Tag::kInt) ? call[2].as_int() : -1;
    return (kind == 0 && dtype == DType::kInt64) || (kind == 1 && dtype_info(dtype).is_floating) ||
           (kind == 2 && dtype == DType::kBool);
  };
  const Tensor tensor = interpreter::tensor_of(call[0]);
  const bool fits = tensor.symbol() == nullptr && is_of(tensor.dtype()) && call[1].is(Tag::kInt) &&
                    call[1].as_int() == static_cast<int64_t>(tensor.dim());
  if (!fits || calls.known(tensor)) return look(calls, builtin, call);
  SymInt count(1);
  for (const SymInt& size : ops::symbolic_info(tensor).sizes) count *= SymInt(calls.specialize(size));
  if (count.literal() > kMostNumbers) return look(calls, builtin, call);
  calls.tell_place();
  constexpr TypeKind kKinds[] = {TypeKind::kInt, TypeKind::kFloat, TypeKind::kBool};
  Type type = kKinds[call[2].as_int()];
  for (size_t d = 0; d < tensor.dim(); ++d) type = Type::list(std::move(type));
  call.give(listed_numbers(calls, tensor, type));
}

}  // namespace flambeau::migration
