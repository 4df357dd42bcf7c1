#include "flambeau/trace/functionalize.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/facts.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/trace/fake.h"

namespace flambeau::trace {
namespace {

// The operator that does the same without writing; null when there is none.
const ops::Operator* without_write(const ops::Library& library, const ops::Operator& op) {
  if (op.base != nullptr) return op.base;
  if (!op.facts().functional.empty()) return &library.get(op.facts().functional);
  OperatorName name = op.schema.name;
  if (!name.name.ends_with('_')) return nullptr;
  name.name.pop_back();
  return library.find(name);
}

Tensor nth_tensor(const std::vector<Value>& results, size_t index) {
  if (const TensorList* const list = results.at(0).get_if<TensorList>()) return list->at(index);
  return results.at(index).tensor();
}

std::vector<Value> with_base(std::span<const Value> others, const Tensor& base) {
  std::vector<Value> arguments = {base};
  arguments.insert(arguments.end(), others.begin(), others.end());
  return arguments;
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
  return nth_tensor(ops::call(inner_, *step.op, with_base(step.arguments, base)), step.result);
}

Tensor Functionalizer::backward(const Step& step, const Tensor& base, const Tensor& view) {
  const ops::Facts& facts = step.op->facts();
  if (facts.inverse == nullptr) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("a write through {} cannot be resolved", step.op->name()),
                "write to the tensor itself, or make a copy first");
  }
  return facts.inverse(with_base(step.arguments, base), inner_, view, step.result);
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

std::vector<Value> Functionalizer::call_write(const ops::Operator& op, std::span<const Value> arguments) {
  const ops::Operator* const base = without_write(inner_.library(), op);
  if (base == nullptr) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} writes to its arguments, and there is no operator that does the same without",
                            op.name()));
  }
  if (base->is(ops::Trait::kPrimitiveView)) return call_view_in_place(*base, arguments);
  std::vector<Value> inside;
  for (size_t i = 0; i < base->schema.arguments.size(); ++i) inside.push_back(unwrap(arguments[i]));
  std::vector<Value> results = ops::call(inner_, *base, inside);
  // What an operator with a functional form writes stands behind what it gives.
  const size_t own = op.facts().functional.empty() ? 0 : op.schema.returns.size();
  std::vector<Value> written;
  size_t index = own;
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
  if (own == 0) return written;
  results.resize(own);
  return wrap_all(std::move(results));
}

std::vector<Value> Functionalizer::call(ops::Context& context, const ops::Operator& op,
                                        std::span<const Value> arguments) {
  std::vector<Value> results = table_.take_apart(context, op, arguments, ops::Level::kComposite);
  if (!results.empty()) return results;
  if (op.is(ops::Trait::kPrimitiveView)) return call_view(op, arguments);
  if (op.schema.is_mutable()) return call_write(op, arguments);
  std::vector<Value> inside;
  for (const Value& argument : arguments) inside.push_back(unwrap(argument));
  return wrap_all(ops::call(inner_, op, inside));
}

}  // namespace flambeau::trace
