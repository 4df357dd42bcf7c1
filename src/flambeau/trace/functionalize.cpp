#include "flambeau/trace/functionalize.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/ops/library.h"
#include "flambeau/ops/parts.h"
#include "flambeau/trace/fake.h"
#include "flambeau/trace/symbol_arithmetic.h"

namespace flambeau::trace {
namespace {

using ops::rank_of;
using ops::size_of;
using ops::sizes_of;
using ops::wrapped_dim;

// The views that PyTorch knows as such; all others are made of these.
constexpr std::string_view kViews[] = {
    "aten::_conj",
    "aten::_neg_view",
    "aten::_reshape_alias",
    "aten::alias",
    "aten::as_strided",
    "aten::detach",
    "aten::diagonal",
    "aten::expand",
    "aten::permute",
    "aten::select.int",
    "aten::slice.Tensor",
    "aten::split.Tensor",
    "aten::split_with_sizes",
    "aten::squeeze",
    "aten::squeeze.dim",
    "aten::squeeze.dims",
    "aten::t",
    "aten::transpose.int",
    "aten::unbind.int",
    "aten::unfold",
    "aten::unsqueeze",
    "aten::view",
    "aten::view.dtype",
    "aten::view_as_complex",
    "aten::view_as_real",
};

bool is_view(const std::string& name) { return std::ranges::find(kViews, name) != std::end(kViews); }

// The operator that does the same without writing; null when there is none.
const ops::Operator* without_write(const ops::Library& library, const ops::Operator& op) {
  if (op.base != nullptr) return op.base;
  OperatorName name = op.schema.name;
  if (!name.name.ends_with('_')) return nullptr;
  name.name.pop_back();
  return library.find(name);
}

Tensor nth_tensor(const std::vector<Value>& results, size_t index) {
  if (const TensorList* const list = results.at(0).get_if<TensorList>()) return list->at(index);
  return results.at(index).tensor();
}

SymIntList to_syms(const Value& list) {
  if (const SymIntList* const symbols = list.get_if<SymIntList>()) return *symbols;
  SymIntList numbers;
  for (const int64_t number : list.get<Dims>()) numbers.push_back(number);
  return numbers;
}

}  // namespace

// ---- inside and outside

Functionalizer::Entry Functionalizer::find(const Tensor& outside) const {
  if (!outside.defined()) return nullptr;
  const auto found = slots_.find(outside.storage().get());
  return found == slots_.end() ? nullptr : found->second.entry;
}

Tensor Functionalizer::expose(Entry entry) {
  Tensor outside = make_fake(symbolic_info(entry->value));
  slots_[outside.storage().get()] = {std::move(entry), outside.storage()};
  return outside;
}

Tensor Functionalizer::wrap(const Tensor& value) {
  auto entry = std::make_shared<Outside>();
  entry->value = value;
  entry->memory = std::make_shared<Memory>();
  entry->memory->base = value;
  return expose(std::move(entry));
}

Tensor Functionalizer::value(const Tensor& outside) {
  const Entry entry = find(outside);
  if (entry == nullptr) return outside;
  bring_up_to_date(*entry);
  return entry->value;
}

bool Functionalizer::is_written(const Tensor& outside) const {
  const Entry entry = find(outside);
  return entry != nullptr && entry->memory->generation > 0;
}

Value Functionalizer::unwrap(const Value& given) {
  if (const Tensor* const tensor = given.get_if<Tensor>()) return value(*tensor);
  if (const TensorList* const tensors = given.get_if<TensorList>()) {
    TensorList list;
    for (const Tensor& tensor : *tensors) list.push_back(value(tensor));
    return list;
  }
  return given;
}

std::vector<Value> Functionalizer::wrap_all(std::vector<Value> results) {
  for (Value& result : results) {
    if (Tensor* const tensor = result.get_if<Tensor>()) {
      if (tensor->defined()) *tensor = wrap(*tensor);
    } else if (TensorList* const tensors = result.get_if<TensorList>()) {
      for (Tensor& item : *tensors) item = wrap(item);
    }
  }
  return results;
}

// ---- bases and views

Tensor Functionalizer::forward(const Step& step, const Tensor& base) {
  std::vector<Value> arguments = {base};
  arguments.insert(arguments.end(), step.arguments.begin(), step.arguments.end());
  return nth_tensor(ops::call(inner_, *step.op, arguments), step.result);
}

Tensor Functionalizer::backward(const Step& step, const Tensor& base, const Tensor& view) {
  const std::string name = step.op->name();
  const auto& given = step.arguments;
  const auto part = [&](int64_t dim, const SymInt& start, const SymInt& end) {
    return ops::call(inner_, "aten::slice_scatter", base, view, dim, Value(start), Value(end));
  };
  if (name == "aten::view" || name == "aten::_reshape_alias")
    return ops::call(inner_, "aten::view", view, Value(sizes_of(base)));
  if (name == "aten::alias") return ops::call(inner_, name, view);
  if (name == "aten::detach") return view;
  if (name == "aten::view.dtype") return ops::call(inner_, "aten::view.dtype", view, base.dtype());
  if (name == "aten::view_as_real") return ops::call(inner_, "aten::view_as_complex", view);
  if (name == "aten::view_as_complex") return ops::call(inner_, "aten::view_as_real", view);
  if (name == "aten::t") return ops::call(inner_, "aten::t", view);
  if (name == "aten::transpose.int") return ops::call(inner_, name, view, given[0], given[1]);
  if (name == "aten::permute") {
    const Dims& order = given[0].get<Dims>();
    Dims back(order.size(), 0);
    const auto rank = static_cast<int64_t>(order.size());
    for (int64_t d = 0; d < rank; ++d) back[wrapped_dim(order[d], rank)] = d;
    return ops::call(inner_, name, view, back);
  }
  if (name == "aten::unsqueeze") return ops::call(inner_, "aten::squeeze.dim", view, given[0]);
  if (name == "aten::squeeze.dim") {
    const SymInt size = rank_of(base) == 0 ? SymInt(1) : size_of(base, given[0].get<int64_t>());
    return rank_of(base) > 0 && size == SymInt(1) ? ops::call(inner_, "aten::unsqueeze", view, given[0])
                                                  : view;
  }
  if (name == "aten::squeeze" || name == "aten::squeeze.dims") {
    Tensor result = view;
    const Dims dims = given.empty() ? Dims() : given[0].get<Dims>();
    for (const int64_t dim : ops::wrapped_dims(dims, rank_of(base))) {
      if (size_of(base, dim) == SymInt(1)) result = ops::call(inner_, "aten::unsqueeze", result, dim);
    }
    return result;
  }
  if (name == "aten::select.int")
    return ops::call(inner_, "aten::select_scatter", base, view, given[0], given[1]);
  if (name == "aten::unbind.int") {
    return ops::call(inner_, "aten::select_scatter", base, view, given[0], static_cast<int64_t>(step.result));
  }
  if (name == "aten::slice.Tensor")
    return ops::call(inner_, "aten::slice_scatter", base, view, given[0], given[1], given[2], given[3]);
  if (name == "aten::diagonal")
    return ops::call(inner_, "aten::diagonal_scatter", base, view, given[0], given[1], given[2]);
  if (name == "aten::split.Tensor") {
    const int64_t dim = wrapped_dim(given[1].get<int64_t>(), rank_of(base));
    const SymInt each = to_sym(given[0]);
    const SymInt start = each * SymInt(static_cast<int64_t>(step.result));
    const SymInt size = size_of(base, dim);
    return part(dim, start, start + each > size ? size : start + each);
  }
  if (name == "aten::split_with_sizes") {
    const SymIntList sizes = to_syms(given[0]);
    SymInt start = 0;
    for (size_t i = 0; i < step.result; ++i) start += sizes[i];
    return part(wrapped_dim(given[1].get<int64_t>(), rank_of(base)), start, start + sizes[step.result]);
  }
  if (name == "aten::as_strided") {
    return ops::call(inner_, "aten::as_strided_scatter", base, view, given[0], given[1], given[2]);
  }
  throw Error(ErrorCode::kUnsupported, fmt::format("a write through {} cannot be resolved", name),
              "write to the tensor itself, or make a copy first");
}

void Functionalizer::put_writes(Memory& memory) {
  for (const Write& write : memory.writes) {
    std::vector<Tensor> bases = {memory.base};
    for (size_t i = 0; i + 1 < write.steps.size(); ++i) bases.push_back(forward(*write.steps[i], bases[i]));
    Tensor value = write.value;
    for (size_t i = write.steps.size(); i-- > 0;) value = backward(*write.steps[i], bases[i], value);
    memory.base = std::move(value);
  }
  memory.writes.clear();
}

// A view made after a write is behind, too, and made again: so does PyTorch.
void Functionalizer::bring_up_to_date(Outside& entry) {
  Memory& memory = *entry.memory;
  if (entry.generation == memory.generation) return;
  put_writes(memory);
  Tensor value = memory.base;
  for (const auto& step : entry.steps) value = forward(*step, value);
  entry.value = std::move(value);
  entry.generation = memory.generation;
}

void Functionalizer::write(Outside& entry, Tensor value) {
  const DType dtype = entry.value.dtype();
  if (value.dtype() != dtype)
    value =
        ops::call_with(inner_, "aten::_to_copy", {value}, {{"dtype", dtype}, {"layout", Layout::kStrided}});
  entry.value = value;
  entry.memory->writes.push_back({std::move(value), entry.steps});
  ++entry.memory->generation;
  bring_up_to_date(entry);
}

// ---- calls

std::vector<Value> Functionalizer::call_view(const ops::Operator& op, std::span<const Value> arguments) {
  const Entry base = find(arguments[0].tensor());
  std::vector<Value> inside;
  for (const Value& argument : arguments) inside.push_back(unwrap(argument));
  std::vector<Value> results = ops::call(inner_, op, inside);
  if (base == nullptr) return wrap_all(std::move(results));
  size_t index = 0;
  const auto make = [&](Tensor& tensor) {
    auto entry = std::make_shared<Outside>();
    entry->value = tensor;
    entry->memory = base->memory;
    entry->steps = base->steps;
    entry->steps.push_back(
        std::make_shared<Step>(Step{&op, std::vector<Value>(inside.begin() + 1, inside.end()), index++}));
    tensor = expose(std::move(entry));
  };
  for (Value& result : results) {
    if (TensorList* const tensors = result.get_if<TensorList>()) {
      for (Tensor& tensor : *tensors) make(tensor);
    } else {
      make(*result.get_if<Tensor>());
    }
  }
  return results;
}

std::vector<Value> Functionalizer::call_view_in_place(const ops::Operator& op,
                                                      std::span<const Value> arguments) {
  std::vector<Value> results = call_view(op, arguments);
  const Entry entry = find(arguments[0].tensor());
  const Tensor& result = results.at(0).tensor();
  if (entry != nullptr) {
    *entry = *find(result);
    slots_[result.storage().get()].entry = entry;
  }
  return results;
}

// The one operator that writes and has a twin of another shape: what it writes are more results.
std::vector<Value> Functionalizer::call_batch_norm(std::span<const Value> arguments) {
  const ops::Operator& op = inner_.library().get("aten::_native_batch_norm_legit_functional");
  std::vector<Value> inside;
  for (const Value& argument : arguments) inside.push_back(unwrap(argument));
  std::vector<Value> results = ops::call(inner_, op, inside);
  for (const size_t i : {0, 1}) {
    if (const Entry entry = find(arguments[3 + i].tensor())) write(*entry, results.at(3 + i).tensor());
  }
  results.resize(3);
  return wrap_all(std::move(results));
}

std::vector<Value> Functionalizer::call_write(const ops::Operator& op, std::span<const Value> arguments) {
  if (op.name() == "aten::_native_batch_norm_legit") return call_batch_norm(arguments);
  const ops::Operator* const base = without_write(inner_.library(), op);
  if (base == nullptr) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} writes to its arguments, and there is no operator that does the same without",
                            op.name()));
  }
  if (is_view(base->name())) return call_view_in_place(*base, arguments);
  std::vector<Value> inside;
  for (size_t i = 0; i < base->schema.arguments.size(); ++i) inside.push_back(unwrap(arguments[i]));
  const std::vector<Value> results = ops::call(inner_, *base, inside);
  std::vector<Value> written;
  size_t index = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!op.schema.arguments[i].is_written()) continue;
    const Tensor& outside = arguments[i].tensor();
    const Entry entry = find(outside);
    if (entry == nullptr) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("{} writes to a tensor that is no part of the program", op.name()));
    }
    write(*entry, results.at(index++).tensor());
    written.push_back(arguments[i]);
  }
  return written;
}

std::vector<Value> Functionalizer::call(ops::Context& context, const ops::Operator& op,
                                        std::span<const Value> arguments) {
  std::vector<Value> results = table_.take_apart(context, op, arguments, ops::Level::kComposite);
  if (!results.empty()) return results;
  if (is_view(op.name())) return call_view(op, arguments);
  if (op.schema.is_mutable()) return call_write(op, arguments);
  std::vector<Value> inside;
  for (const Value& argument : arguments) inside.push_back(unwrap(argument));
  return wrap_all(ops::call(inner_, op, inside));
}

}  // namespace flambeau::trace
