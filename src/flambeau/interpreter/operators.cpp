#include "flambeau/interpreter/operators.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::interpreter {
namespace {

using Tag = IValue::Tag;

std::optional<size_t> written_argument(const Schema& schema, const SchemaArgument& result) {
  if (!result.alias || !result.alias->is_write || !result.type.is(TypeKind::kTensor)) return {};
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const SchemaArgument& argument = schema.arguments[i];
    if (argument.is_written() && argument.alias->before == result.alias->before &&
        argument.type.is(TypeKind::kTensor))
      return i;
  }
  return {};
}

// What needs no fitting, and is most of all arguments.
bool fits_as_it_is(const Value& value, const Type& type) {
  switch (type.kind()) {
    case TypeKind::kTensor:
      return value.is_tensor() && value.tensor().defined();
    case TypeKind::kInt:
    case TypeKind::kSymInt:
      return value.is<int64_t>();
    case TypeKind::kFloat:
      return value.is<double>();
    case TypeKind::kBool:
      return value.is<bool>();
    case TypeKind::kNumber:
      return value.is_number();
    case TypeKind::kList:
      return value.is<Dims>() || value.is<TensorList>();
    default:
      return false;
  }
}

// Numbers that are not known are sizes and scalars alone: others become the example's.
[[gnu::cold]] Value specialized(Value value, const Type& type, const Machine& machine) {
  const auto& specialize = machine.options().specialize;
  if (const SymInt* const number = value.get_if<SymInt>()) {
    if (type.is(TypeKind::kSymInt) || type.is(TypeKind::kNumber)) return value;
    const int64_t known = specialize(*number);
    return type.is(TypeKind::kFloat) ? Value(static_cast<double>(known)) : Value(known);
  }
  const SymIntList* const numbers = value.get_if<SymIntList>();
  if (numbers == nullptr || (type.is(TypeKind::kList) && type.element().is(TypeKind::kSymInt))) return value;
  Dims known;
  for (const SymInt& number : *numbers) known.push_back(specialize(number));
  return known;
}

}  // namespace

std::unique_ptr<OperatorSite> make_site(const ops::Library& library, const OperatorEntry& entry,
                                        std::span<const IValue* const> constants) {
  auto site = std::make_unique<OperatorSite>();
  site->entry = &entry;
  site->op = library.find(entry.schema.name);
  if (entry.has(OperatorFlag::kFiles)) site->needs |= static_cast<uint32_t>(Capability::kFiles);
  const Schema& schema = entry.schema;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const SchemaArgument& argument = schema.arguments[i];
    OperatorSite::Argument made = {.type = &argument.type.without_optional()};
    if (site->op != nullptr && (i >= constants.size() || constants[i] != nullptr)) {
      try {
        made.constant = i >= constants.size()
                            ? ops::default_argument(site->op->schema, i)
                            : ops::fit_argument(site->op->schema, i, to_value(*constants[i], argument.type));
      } catch (const Error&) {
        // It is refused when it is called, if ever.
      }
    }
    site->arguments.push_back(std::move(made));
  }
  for (const SchemaArgument& result : schema.returns)
    site->results.push_back({.type = &result.type, .same_as = written_argument(schema, result)});
  return site;
}

void call_operator(const OperatorSite& site, Call& call) {
  Machine& machine = call.machine();
  // What may not be done is no matter of whether it could be.
  if (!machine.is_granted(site.needs)) [[unlikely]]
    machine.refuse(site.needs, site.entry->schema.name.to_string());
  if (site.op == nullptr) {
    machine.program().library().get(site.entry->schema.name);
    throw Error(ErrorCode::kUnsupported, site.entry->schema.name.to_string() + " cannot be run");
  }
  Machine::Scratch arguments(machine);
  for (size_t i = 0; i < site.arguments.size(); ++i) {
    const OperatorSite::Argument& argument = site.arguments[i];
    if (argument.constant) {
      arguments->push_back(*argument.constant);
      continue;
    }
    const IValue& given = call[i];
    if (given.is(Tag::kTensor) && argument.type->is(TypeKind::kTensor)) {
      arguments->emplace_back(given.as_tensor());
      continue;
    }
    Value value = to_value(given, *argument.type);
    // None is refused where it must be, and other kinds become what they can.
    if (!fits_as_it_is(value, *argument.type)) {
      if (machine.options().specialize) value = specialized(std::move(value), *argument.type, machine);
      value = ops::fit_argument(site.op->schema, i, value);
    }
    arguments->push_back(std::move(value));
  }
  std::vector<Value> results = ops::call(machine.context(), *site.op, *arguments);
  for (size_t i = 0; i < site.results.size() && i < results.size(); ++i) {
    const OperatorSite::Result& result = site.results[i];
    if (!result.same_as || !call[*result.same_as].is(Tag::kTensor)) {
      call.give(to_ivalue(std::move(results[i]), *result.type));
      continue;
    }
    // Operators that change a description, such as squeeze_, give another one of the same memory.
    IValue same = call[*result.same_as];
    if (results[i].is_tensor() && results[i].tensor().defined()) {
      Tensor& tensor = same.tensor_box().tensor;
      const bool requires_grad = tensor.requires_grad();
      tensor = std::move(std::get<Tensor>(results[i].data()));
      tensor.set_requires_grad(requires_grad);
    }
    call.give(std::move(same));
  }
}

}  // namespace flambeau::interpreter
