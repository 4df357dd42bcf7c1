#include "flambeau/migrate/traced_elements.h"

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/boxing.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/migrate/data_numbers.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"

namespace flambeau::migration {
namespace {

using interpreter::Builtin;
using interpreter::Call;
using Tag = IValue::Tag;

// Calls it with tensors that have their elements; false where they are not known.
bool call_known(TracedCalls& calls, const Builtin& builtin, Call& call) {
  std::vector<std::pair<size_t, IValue>> replaced;
  bool is_known = true;
  for (size_t i = 0; i < call.size() && is_known; ++i) {
    if (!call[i].is(Tag::kTensor)) continue;
    const Tensor& tensor = call[i].as_tensor();
    const std::optional<Tensor> real = calls.known(tensor);
    is_known = real.has_value();
    if (!is_known) break;
    calls.note_look(tensor);
    if (!is_fake(tensor)) continue;
    replaced.emplace_back(i, call[i]);
    argument(call, i) = IValue(*real);
  }
  std::vector<const void*> given;
  for (const auto& [i, before] : replaced) given.push_back(call[i].identity());
  const auto restore = [&] {
    for (size_t k = 0; k < replaced.size(); ++k) {
      // The result may stand in the argument's place by now.
      if (call[replaced[k].first].identity() == given[k])
        argument(call, replaced[k].first) = replaced[k].second;
    }
  };
  if (is_known) (*builtin.inner)(call);
  restore();
  return is_known;
}

[[noreturn]] void fail_data(const TracedCalls& calls, std::string_view what) {
  throw calls.located(
      Error(ErrorCode::kUnsupported,
            std::string("the script needs ") + std::string(what) + " of a tensor that depends on the inputs",
            "compute with tensors instead"));
}

}  // namespace

Tensor element_of(const Tensor& tensor, DType dtype) {
  Tensor element = tensor;
  if (element.dim() != 0) element = ops::call<Tensor>(nn::current(), "aten::reshape", tensor, SymIntList{});
  if (element.dtype() == dtype) return ops::call<Tensor>(nn::current(), "aten::clone", element);
  return ops::call_with<Tensor>(nn::current(), "aten::to.dtype", {element, dtype}, {});
}

bool is_size(const IValue& value) { return value.is(Tag::kSymbolic) && value.as_symbolic().is<SymInt>(); }

SymInt number_of(const IValue& value) {
  if (is_size(value)) return value.as_symbolic().get<SymInt>();
  return value.is(Tag::kBool) ? SymInt(int64_t{value.as_bool()}) : SymInt(value.as_int());
}

IValue value_of(const SymInt& number) {
  return number.is_literal() ? IValue(number.literal()) : IValue::symbolic(number);
}

IValue& argument(Call& call, size_t i) { return const_cast<IValue&>(call[i]); }

void number_to_tensor(TracedCalls& calls, const Builtin& builtin, Call& call) {
  if (const Tensor* const data =
          call[0].is(Tag::kSymbolic) ? call[0].as_symbolic().get_if<Tensor>() : nullptr) {
    std::optional<DType> dtype;
    if (call.size() > 1 && call[1].is(Tag::kInt)) dtype = dtype_from_number(call[1].as_int());
    const DType usual = data->dtype() == DType::kBool ? DType::kBool : DType::kFloat32;
    return call.give(IValue(element_of(*data, dtype.value_or(usual))));
  }
  if (!is_size(call[0])) return (*builtin.inner)(call);
  const bool is_plain =
      call.size() < 2 || call[1].is_none() || (call[1].is(Tag::kInt) && call[1].as_int() == 4);
  Tensor tensor = calls.tensor_of(call[0].as_symbolic().get<SymInt>());
  if (!is_plain) {
    const std::optional<DType> dtype = dtype_from_number(call[1].as_int());
    tensor = ops::call_with<Tensor>(nn::current(), "aten::scalar_tensor", {number_of(call[0])},
                                    {{"dtype", dtype.value_or(DType::kInt64)}});
  }
  call.give(IValue(std::move(tensor)));
}

void tensor_to_int(TracedCalls& calls, const Builtin& builtin, Call& call) {
  const Tensor& tensor = interpreter::tensor_of(call[0]);
  if (const SymInt* const symbol = tensor.symbol()) return call.give(value_of(*symbol));
  if (call_known(calls, builtin, call)) return;
  const Value arguments[] = {tensor};
  call.give(interpreter::to_ivalue(ops::call_named(call.machine().context(), "aten::item", arguments).at(0)));
}

void tensor_to_bool(TracedCalls& calls, const Builtin& builtin, Call& call) {
  const Tensor& tensor = interpreter::tensor_of(call[0]);
  if (const SymInt* const symbol = tensor.symbol()) {
    calls.tell_place();
    return call.give(IValue(!(*symbol == SymInt(0))));
  }
  if (call_known(calls, builtin, call)) return;
  Tensor flag = tensor;
  if (flag.dim() != 0) flag = ops::call<Tensor>(nn::current(), "aten::reshape", flag, SymIntList{});
  if (flag.dtype() != DType::kBool)
    flag = ops::call<Tensor>(call.machine().context(), "aten::ne.Scalar", flag, 0);
  call.give(IValue::symbolic(flag));
}

void tensor_to_float(TracedCalls& calls, const Builtin& builtin, Call& call) {
  const Tensor& tensor = interpreter::tensor_of(call[0]);
  if (const SymInt* const symbol = tensor.symbol())
    return call.give(IValue(static_cast<double>(calls.specialize(*symbol))));
  if (call_known(calls, builtin, call)) return;
  call.give(IValue::symbolic(element_of(tensor, DType::kFloat64)));
}

// x.item()
void element(TracedCalls& calls, const Builtin&, Call& call) {
  const Tensor& tensor = interpreter::tensor_of(call[0]);
  if (const SymInt* const symbol = tensor.symbol()) return call.give(value_of(*symbol));
  if (const std::optional<Tensor> real = calls.known(tensor)) {
    calls.note_look(tensor);
    const Value arguments[] = {*real};
    ops::Context context = nn::current().without_interceptor();
    return call.give(interpreter::to_ivalue(ops::call_named(context, "aten::item", arguments).at(0)));
  }
  calls.tell_place();
  const DTypeInfo& type = dtype_info(tensor.dtype());
  if (type.is_complex) fail_data(calls, "elements");
  if (type.is_floating) return call.give(IValue::symbolic(element_of(tensor, DType::kFloat64)));
  if (tensor.dtype() == DType::kBool) return call.give(IValue::symbolic(element_of(tensor, DType::kBool)));
  const Value arguments[] = {tensor};
  call.give(interpreter::to_ivalue(ops::call_named(call.machine().context(), "aten::item", arguments).at(0)));
}

namespace {

void call_operator(const char* name, Call& call, const std::vector<Value>& arguments) {
  call.give(interpreter::to_ivalue(ops::call_named(call.machine().context(), name, arguments).at(0)));
}

std::vector<Value> values_of(const Call& call) {
  std::vector<Value> arguments;
  for (size_t i = 0; i < call.size(); ++i) arguments.push_back(interpreter::to_value(call[i]));
  return arguments;
}

// torch.equal, torch.allclose: a bool that data decides, made of the one of each element.
bool give_all_same(TracedCalls& calls, Call& call, const char* each, std::vector<Value> arguments) {
  const Tensor& a = interpreter::tensor_of(call[0]);
  const Tensor& b = interpreter::tensor_of(call[1]);
  if (calls.known(a) && calls.known(b)) return false;
  calls.tell_place();
  const ops::Info<SymInt> left = ops::symbolic_info(a);
  const ops::Info<SymInt> right = ops::symbolic_info(b);
  if (!std::ranges::equal(left.sizes, right.sizes)) {
    call.give(IValue(false));
    return true;
  }
  const Tensor same = ops::call_named(nn::current(), each, arguments).at(0).tensor();
  call.give(IValue::symbolic(ops::call<Tensor>(nn::current(), "aten::all", same)));
  return true;
}

}  // namespace

void select_part(TracedCalls& calls, const Builtin&, Call& call) {
  if (select_with_data(calls, call)) return;
  call_operator("aten::select.int", call, values_of(call));
}

void is_nonzero(TracedCalls& calls, const Builtin& builtin, Call& call) {
  if (calls.known(interpreter::tensor_of(call[0])))
    return call_operator("aten::is_nonzero", call, values_of(call));
  tensor_to_bool(calls, builtin, call);
}

void are_equal(TracedCalls& calls, const Builtin&, Call& call) {
  const std::vector<Value> arguments = values_of(call);
  if (!give_all_same(calls, call, "aten::eq.Tensor", arguments))
    call_operator("aten::equal", call, arguments);
}

void are_close(TracedCalls& calls, const Builtin&, Call& call) {
  const std::vector<Value> arguments = values_of(call);
  if (!give_all_same(calls, call, "aten::isclose", arguments))
    call_operator("aten::allclose", call, arguments);
}

void look(TracedCalls& calls, const Builtin& builtin, Call& call) {
  for (size_t i = 0; i < call.size(); ++i) {
    if (!call[i].is(Tag::kTensor)) continue;
    if (const SymInt* const symbol = call[i].as_tensor().symbol())
      argument(call, i) = IValue(ops::scalar_tensor(calls.specialize(*symbol), DType::kInt64));
  }
  if (!call_known(calls, builtin, call)) fail_data(calls, "elements");
}

}  // namespace flambeau::migration
