#include "flambeau/migrate/traced_builtins.h"

#include <algorithm>
#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/boxing.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/migrate/data_numbers.h"
#include "flambeau/migrate/traced_elements.h"
#include "flambeau/migrate/traced_lists.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/parts.h"

namespace flambeau::migration {
namespace {

using interpreter::Builtin;
using interpreter::Call;
using interpreter::Kind;
using Tag = IValue::Tag;

TracedCalls& calls_of(const Builtin& builtin) { return *static_cast<TracedCalls*>(builtin.data); }

bool has_size(const Call& call) {
  for (size_t i = 0; i < call.size(); ++i) {
    if (is_size(call[i])) return true;
  }
  return false;
}

// ---- what takes no symbols gets the example's numbers

void specialize_value(TracedCalls& calls, IValue& value, int depth) {
  constexpr int kMostDepth = 8;
  if (is_size(value)) {
    value = IValue(calls.specialize(value.as_symbolic().get<SymInt>()));
  } else if ((value.is(Tag::kList) || value.is(Tag::kTuple)) && depth < kMostDepth) {
    for (IValue& item : value.items()) {
      if (item.is(Tag::kSymbolic) || item.is(Tag::kList) || item.is(Tag::kTuple))
        specialize_value(calls, item, depth + 1);
    }
  }
}

void specialized_call(const Builtin& builtin, Call& call) {
  call_specialized(calls_of(builtin), builtin, call);
}

// Of containers: what they hold stays as it is, places in them are numbers.
void call_container(const Builtin& builtin, Call& call) {
  for (size_t i = 0; i < call.size(); ++i) {
    const bool is_place =
        i < builtin.inner->parameters.size() && builtin.inner->parameters[i].kind == Kind::kInt;
    if (is_place) specialize_value(calls_of(builtin), argument(call, i), 0);
  }
  (*builtin.inner)(call);
}

// ---- computing with sizes

// Without sizes: bools that data decides are told by their tensors.
void call_plain(TracedCalls& calls, const Builtin& builtin, Call& call) {
  if (has_data_number(call) && compute_with_data(calls, builtin.name, call)) return;
  (*builtin.inner)(call);
}

// What is known of all values that data may have is no question.
template <typename Compare>
void compare_data(TracedCalls& calls, const Builtin& builtin, Call& call, Compare&& compare) {
  std::optional<bool> answer;
  try {
    answer = static_cast<bool>(compare(number_of(call[0]), number_of(call[1])));
  } catch (const Error&) {
    // Then data decides.
  }
  if (answer) return call.give(IValue(*answer));
  if (!compute_with_data(calls, builtin.name, call)) (*builtin.inner)(call);
}

template <auto kCompute>
void compute(TracedCalls& calls, const Builtin& builtin, Call& call) {
  if (!has_size(call)) return call_plain(calls, builtin, call);
  call.give(value_of(kCompute(number_of(call[0]), number_of(call[1]))));
}
template <auto kCompare>
void compare(TracedCalls& calls, const Builtin& builtin, Call& call) {
  if (!has_size(call)) return call_plain(calls, builtin, call);
  calls.tell_place();
  if (has_data_number(call)) return compare_data(calls, builtin, call, kCompare);
  call.give(IValue(static_cast<bool>(kCompare(number_of(call[0]), number_of(call[1])))));
}

void negate(TracedCalls& calls, const Builtin& builtin, Call& call) {
  if (!has_size(call)) return call_plain(calls, builtin, call);
  call.give(value_of(-number_of(call[0])));
}

void keep(TracedCalls& calls, const Builtin& builtin, Call& call) {
  if (!has_size(call)) return call_plain(calls, builtin, call);
  call.give(call[0]);
}

// range(low, high, step): how many numbers it has, and which one comes.
void range_length(TracedCalls& calls, const Builtin& builtin, Call& call) {
  if (!has_size(call) || !call[2].is(Tag::kInt) || call[2].as_int() == 0)
    return call_specialized(calls, builtin, call);
  const int64_t step = call[2].as_int();
  const SymInt distance =
      step > 0 ? number_of(call[1]) - number_of(call[0]) : number_of(call[0]) - number_of(call[1]);
  const int64_t stride = step > 0 ? step : -step;
  calls.tell_place();
  call.give(value_of(max(floor_div(distance + SymInt(stride - 1), SymInt(stride)), SymInt(0))));
}
void range_index(TracedCalls&, const Builtin& builtin, Call& call) {
  if (!has_size(call)) return (*builtin.inner)(call);
  call.give(value_of(number_of(call[1]) + number_of(call[0]) * number_of(call[2])));
}

void is_not_zero(TracedCalls& calls, const Builtin& builtin, Call& call) {
  if (has_data_number(call) && compute_with_data(calls, builtin.name, call)) return;
  if (!has_size(call)) return (*builtin.inner)(call);
  calls.tell_place();
  call.give(IValue(!(number_of(call[0]) == SymInt(0))));
}

// ---- what tensors are

IValue sizes_of(const Tensor& tensor, bool strides) {
  std::vector<IValue> items;
  const ops::Info<SymInt> info = ops::symbolic_info(tensor);
  const ShortList<SymInt>& numbers = strides ? info.strides : info.sizes;
  for (size_t d = 0; d < numbers.size(); ++d) {
    if (nn::Observer* const observer = nn::observer(); observer != nullptr && !strides)
      observer->read_size(tensor, d);
    items.push_back(value_of(numbers[d]));
  }
  return IValue::list(TypeKind::kInt, std::move(items));
}

template <bool kStrides>
void sizes(TracedCalls&, const Builtin& builtin, Call& call) {
  if (!call[0].is(Tag::kTensor) || !call[0].as_tensor().is_traced()) return (*builtin.inner)(call);
  call.give(sizes_of(call[0].as_tensor(), kStrides));
}

void length(TracedCalls&, const Builtin& builtin, Call& call) {
  if (!call[0].as_tensor().is_traced() || call[0].as_tensor().dim() == 0) return (*builtin.inner)(call);
  call.give(IValue(sizes_of(call[0].as_tensor(), false).items().at(0)));
}

void size_at(TracedCalls& calls, const Builtin&, Call& call) {
  const Tensor& tensor = interpreter::tensor_of(call[0]);
  const SymInt dim = number_of(call[1]);
  const size_t place = ops::wrap_dim(calls.specialize(dim), tensor.dim());
  call.give(IValue(sizes_of(tensor, false).items().at(place)));
}

void element_count(TracedCalls&, const Builtin&, Call& call) {
  const Tensor& tensor = interpreter::tensor_of(call[0]);
  if (nn::Observer* const observer = nn::observer(); observer != nullptr && tensor.is_traced())
    observer->read_size(tensor, std::nullopt);
  call.give(value_of(ops::symbolic_info(tensor).element_count()));
}

void rank(TracedCalls&, const Builtin&, Call& call) {
  call.give(IValue(static_cast<int64_t>(interpreter::tensor_of(call[0]).dim())));
}

void call_rule(const Builtin& self, Call& call) {
  reinterpret_cast<BuiltinRule>(self.function)(calls_of(self), self, call);
}

struct Table {
  Table();
  void set(const char* name, BuiltinRule rule) { rules.emplace(name, rule); }
  void keep_items(const char* name) { containers.emplace(name, true); }
  std::unordered_map<std::string_view, BuiltinRule> rules;
  std::unordered_map<std::string_view, bool> containers;
};

Table::Table() {
  set("aten::add.int", compute<[](const SymInt& a, const SymInt& b) { return a + b; }>);
  set("aten::sub.int", compute<[](const SymInt& a, const SymInt& b) { return a - b; }>);
  set("aten::mul.int", compute<[](const SymInt& a, const SymInt& b) { return a * b; }>);
  set("aten::floordiv.int", compute<[](const SymInt& a, const SymInt& b) { return floor_div(a, b); }>);
  set("aten::remainder.int", compute<[](const SymInt& a, const SymInt& b) { return modulo(a, b); }>);
  set("prim::min.int", compute<[](const SymInt& a, const SymInt& b) { return min(a, b); }>);
  set("prim::max.int", compute<[](const SymInt& a, const SymInt& b) { return max(a, b); }>);
  set("aten::eq.int", compare<[](const SymInt& a, const SymInt& b) { return a == b; }>);
  set("aten::ne.int", compare<[](const SymInt& a, const SymInt& b) { return !(a == b); }>);
  set("aten::lt.int", compare<[](const SymInt& a, const SymInt& b) { return a < b; }>);
  set("aten::le.int", compare<[](const SymInt& a, const SymInt& b) { return a <= b; }>);
  set("aten::gt.int", compare<([](const SymInt& a, const SymInt& b) { return a > b; })>);
  set("aten::ge.int", compare<([](const SymInt& a, const SymInt& b) { return a >= b; })>);
  set("aten::neg.int", negate);
  set("aten::__range_length", range_length);
  set("aten::__derive_index", range_index);
  set("aten::Int.Scalar", keep);
  set("aten::Bool.int", is_not_zero);
  set("aten::size", sizes<false>);
  set("aten::sym_size", sizes<false>);
  set("aten::stride", sizes<true>);
  set("aten::sym_stride", sizes<true>);
  set("aten::len.Tensor", length);
  set("prim::NumToTensor.Scalar", number_to_tensor);
  set("aten::tensor.int", number_to_tensor);
  set("aten::tensor.float", number_to_tensor);
  set("aten::tensor.bool", number_to_tensor);
  set("aten::as_tensor.float", number_to_tensor);
  set("aten::as_tensor.bool", number_to_tensor);
  set("aten::as_tensor.int", number_to_tensor);
  set("aten::Int.Tensor", tensor_to_int);
  set("aten::IntImplicit", tensor_to_int);
  set("aten::Bool.Tensor", tensor_to_bool);
  set("aten::Float.Tensor", tensor_to_float);
  set("aten::FloatImplicit", tensor_to_float);
  set("aten::ScalarImplicit", [](TracedCalls& calls, const Builtin& builtin, Call& call) {
    const DTypeInfo& type = dtype_info(interpreter::tensor_of(call[0]).dtype());
    if (type.is_floating) return tensor_to_float(calls, builtin, call);
    tensor_to_int(calls, builtin, call);
  });
  set("aten::Complex.Scalar", look);
  set("aten::ComplexImplicit", look);
  set("aten::Complex.Tensor_Tensor", look);
  set("aten::str", [](TracedCalls& calls, const Builtin& builtin, Call& call) {
    for (size_t i = 0; i < call.size(); ++i) specialize_value(calls, argument(call, i), 0);
    look(calls, builtin, call);
  });
  set("prim::Print", [](TracedCalls&, const Builtin&, Call&) {});  // programs say nothing
  set("prim::tolist", to_list);
  set("aten::tensor", list_to_tensor);
  set("aten::as_tensor.list", list_to_tensor);
  set("aten::eq.int_list", same_lists);
  set("aten::ne.int_list", other_lists);
  set("aten::__contains__.int_list", is_in_list);
  set("prim::min.self_int", least_of_list);
  set("prim::max.self_int", most_of_list);
  set("aten::sum.int", sum_of_list);
  set("aten::_tensor_to_list", look);
  set("aten::_list_to_tensor", look);
  keep_items("aten::len.any");
  keep_items("aten::__is__");
  keep_items("aten::__isnot__");
  keep_items("prim::TupleIndex");
  keep_items("prim::TupleUnpack");
  keep_items("prim::unchecked_cast");
  keep_items("prim::unchecked_unwrap_optional");
  keep_items("aten::_unwrap_optional");
  keep_items("prim::IfThenElse");
  keep_items("prim::Uninitialized");
  keep_items("aten::wait");
  keep_items("prim::awaitable_wait");
  keep_items("prim::awaitable_nowait");
  keep_items("aten::split");
}

// "t" of "aten::append.t": any list; a dict where the overload names its keys.
bool is_container(const Builtin& builtin) {
  const std::string_view name = builtin.name;
  const size_t dot = name.rfind('.');
  if (dot != std::string_view::npos) {
    const std::string_view overload = name.substr(dot + 1);
    if (overload == "t" || overload.ends_with("_t") || overload.starts_with("Dict_")) return true;
  }
  return !builtin.parameters.empty() && builtin.parameters[0].kind == Kind::kDict;
}

}  // namespace

void call_specialized(TracedCalls& calls, const Builtin& builtin, Call& call) {
  if (has_data_number(call) && compute_with_data(calls, builtin.name, call)) return;
  for (size_t i = 0; i < call.size(); ++i) specialize_value(calls, argument(call, i), 0);
  (*builtin.inner)(call);
}

interpreter::Builtins traced_builtins(TracedCalls& calls) {
  static const Table table;
  interpreter::Builtins builtins;
  builtins.replace([&](const Builtin& builtin) {
    Builtin made;
    made.data = &calls;
    made.parameters = builtin.parameters;
    if (const auto rule = table.rules.find(builtin.name); rule != table.rules.end()) {
      made.function = reinterpret_cast<interpreter::AnyFunction>(rule->second);
      made.caller = call_rule;
    } else if (table.containers.contains(builtin.name) || is_container(builtin)) {
      made.caller = call_container;
    } else {
      made.caller = specialized_call;
    }
    return made;
  });
  // Operators that ask for sizes, which scripts call as such.
  const auto add = [&](const char* name, BuiltinRule rule) {
    if (builtins.find(name) != nullptr) return;
    Builtin made;
    made.name = name;
    made.data = &calls;
    made.function = reinterpret_cast<interpreter::AnyFunction>(rule);
    made.caller = call_rule;
    builtins.add(std::move(made));
  };
  add("aten::size.int", size_at);
  add("aten::numel", element_count);
  add("aten::dim", rank);
  add("aten::item", element);
  add("aten::select.int", select_part);
  add("aten::equal", are_equal);
  add("aten::allclose", are_close);
  add("aten::is_nonzero", is_nonzero);
  return builtins;
}

}  // namespace flambeau::migration
