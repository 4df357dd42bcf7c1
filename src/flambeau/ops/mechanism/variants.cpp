#include "flambeau/ops/mechanism/variants.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/engines/overlap.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/quantized.h"
#include "flambeau/ops/mechanism/sparse_calls.h"
#include "flambeau/tensor/dtype_words.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::ops {
namespace {

bool is_options_argument(std::string_view name) {
  return name == "dtype" || name == "layout" || name == "device" || name == "pin_memory";
}

size_t out_count(const Schema& schema) {
  size_t count = 0;
  for (const SchemaArgument& argument : schema.arguments) {
    if (argument.is_kwarg_only && argument.is_written()) ++count;
  }
  return count;
}

// The functional form's arguments are those of the out form, save that makers of tensors take their options
// from the given result.
bool is_functional_of(const Schema& functional, const Schema& out) {
  // A list of results that are given is not returned.
  if (functional.is_mutable() || (!out.returns.empty() && functional.returns.size() != out.returns.size()))
    return false;
  size_t at = 0;
  const size_t inputs = out.arguments.size() - out_count(out);
  for (const SchemaArgument& argument : functional.arguments) {
    if (at < inputs && argument.name == out.arguments[at].name && argument.type == out.arguments[at].type) {
      ++at;
    } else if (!is_options_argument(argument.name)) {
      return false;
    }
  }
  return at == inputs;
}

std::unique_ptr<Operator> make(Kind kind, const Schema& schema, const Operator& base) {
  auto op = std::make_unique<Operator>();
  op->kind = kind;
  op->schema = schema;
  op->base = &base;
  op->traits =
      base.traits & (static_cast<uint16_t>(Trait::kElementwise) | static_cast<uint16_t>(Trait::kRandom));
  return op;
}

const Operator* find_in_place_base(const Library& library, const Schema& schema) {
  const std::string& name = schema.name.name;
  std::string base;
  const size_t scope = name.find("::");
  const std::string_view plain = std::string_view(name).substr(scope + 2);
  if (plain.starts_with("__i") && plain.ends_with("__")) {
    base = name.substr(0, scope + 2) + "__" + std::string(plain.substr(3));
  } else if (plain.ends_with("_") && !plain.ends_with("__")) {
    base = name.substr(0, name.size() - 1);
  }
  if (base.empty() || schema.arguments.empty() || !schema.arguments[0].is_written()) return nullptr;
  const auto fits = [&](const std::string& overload) -> const Operator* {
    const Operator* const found = library.find(base, overload);
    if (found == nullptr || found->base != nullptr) return nullptr;
    const std::vector<SchemaArgument>& arguments = found->schema.arguments;
    if (arguments.size() != schema.arguments.size()) return nullptr;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!(arguments[i].type == schema.arguments[i].type)) return nullptr;
    }
    return found;
  };
  if (const Operator* const found = fits(schema.name.overload)) return found;
  // "pow_.Scalar" is the in-place form of "pow.Tensor_Scalar".
  for (const std::string& overload : library.schemas().overloads(base)) {
    if (const Operator* const found = fits(overload)) return found;
  }
  return nullptr;
}

// ---- running

void check_shape(const Tensor& to, const Tensor& result) {
  if (lacks_elements(to) || lacks_elements(result)) return;  // what they are copied by checks it
  if (to.sizes() == result.sizes()) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("output with shape {} doesn't match the broadcast shape {}",
                          Value(to.sizes()).summary(), Value(result.sizes()).summary()));
}

void check_cast(DType from, DType to) {
  if (can_cast(from, to)) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("result type {} can't be cast to the desired output type {}", dtype_word(from),
                          dtype_word(to)));
}

bool takes_result_in_place(const Operator& base, std::span<const Value> arguments, const Tensor& to) {
  if (!base.is(Trait::kElementwise) || has_internal_overlap(to)) return false;
  for (const Value& argument : arguments) {
    const Tensor* const tensor = argument.get_if<Tensor>();
    if (tensor != nullptr && tensor->defined() && overlaps_partly(*tensor, to)) return false;
  }
  return true;
}

std::vector<Value> execute_in_place(Context& context, const Operator& op, std::span<const Value> arguments) {
  const Operator& base = *op.base;
  const Tensor& self = arguments[0].tensor();
  if (base.kind == Kind::kView) return execute(context, base, arguments);  // only the handle changes
  if (base.kind == Kind::kKernel && !has_sparse(arguments) && !takes_quantized(arguments)) {
    const Infos<Size> infos = base.shape(arguments);
    if (infos.size() == 1 && infos[0].dtype == self.dtype() && infos[0].sizes == self.sizes() &&
        takes_result_in_place(base, arguments, self)) {
      Tensor result = self;
      if (self.element_count() > 0) base.kernel(context, arguments, std::span(&result, 1));
      return {arguments[0]};
    }
  }
  const std::vector<Value> results = execute(context, base, arguments);
  const Tensor& result = results.at(0).tensor();
  check_shape(self, result);
  check_cast(result.dtype(), self.dtype());
  if (is_sparse(self) || is_sparse(result)) return {sparse_written(context, result, self)};
  copy_quantized_or_plain(context, result, self);
  return {arguments[0]};
}

bool repeats_elements(const Tensor& tensor) {
  bool repeats = false;
  for (size_t d = 0; d < tensor.dim(); ++d) repeats |= tensor.sizes()[d] > 1 && tensor.strides()[d] == 0;
  return repeats && tensor.element_count() > 0;
}
// Whether results may be written there at all.
void check_given(const Value& given) {
  const Tensor* const out = given.get_if<Tensor>();
  if (out == nullptr || !out->defined() || out->is_meta() || is_sparse(*out)) return;
  if (repeats_elements(*out)) {
    throw Error(ErrorCode::kInvalidArgument,
                "unsupported operation: more than one element of the written-to tensor refers to a single "
                "memory location",
                "clone() the tensor before the operation");
  }
}

void check_apart(const Tensor& read, const Tensor& out) {
  if (!read.defined() || is_sparse(read) || !overlaps(read, out)) return;
  throw Error(ErrorCode::kInvalidArgument,
              "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
              "single memory location",
              "clone() the tensor before the operation");
}
void check_apart(std::span<const Value> inputs, const Value& given) {
  const Tensor* const out = given.get_if<Tensor>();
  if (out == nullptr || !out->defined() || is_sparse(*out)) return;
  for (const Value& input : inputs) {
    if (const Tensor* const tensor = input.get_if<Tensor>()) check_apart(*tensor, *out);
    if (const auto* const list = input.get_if<TensorList>()) {
      for (const Tensor& tensor : *list) check_apart(tensor, *out);
    }
  }
}
void check_exact(const Value& result, const Value& given) {
  const Tensor* const made = result.get_if<Tensor>();
  const Tensor* const out = given.get_if<Tensor>();
  if (made == nullptr || out == nullptr || made->dtype() == out->dtype()) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("Expected out tensor to have dtype {}, but got {} instead",
                          dtype_name(made->dtype()), dtype_name(out->dtype())));
}

std::vector<Value> execute_out(Context& context, const Operator& op, std::span<const Value> arguments) {
  const Operator& base = *op.base;
  const size_t outs = out_count(op.schema);
  const size_t inputs = arguments.size() - outs;
  std::vector<Value> base_arguments;
  base_arguments.reserve(base.schema.arguments.size());
  size_t at = 0;
  for (const SchemaArgument& argument : base.schema.arguments) {
    if (at < inputs && argument.name == op.schema.arguments[at].name) {
      base_arguments.push_back(arguments[at++]);
    } else {
      const Tensor* const out = arguments[inputs].get_if<Tensor>();
      base_arguments.push_back(argument.name == "dtype" && out != nullptr ? Value(out->dtype()) : Value());
    }
  }
  for (const Value& given : arguments.subspan(inputs)) {
    check_given(given);
    if (base.is(Trait::kApartOut)) check_apart(arguments.first(inputs), given);
  }
  std::vector<Value> results = execute(context, base, base_arguments);
  if (base.is(Trait::kExactOut)) {
    for (size_t i = 0; i < results.size() && i < outs; ++i) check_exact(results[i], arguments[inputs + i]);
  }
  for (size_t i = 0; i < results.size() && i < outs; ++i) {
    if (const Tensor* const out = arguments[inputs + i].get_if<Tensor>()) {
      results[i] = written_to(context, results[i].tensor(), *out);
    } else {
      const auto& list = arguments[inputs + i].get<TensorList>();
      const auto& made = results[i].get<TensorList>();
      if (list.size() != made.size()) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("{} tensors are given for {} results", list.size(), made.size()));
      }
      TensorList delivered;
      for (size_t j = 0; j < list.size(); ++j) delivered.push_back(written_to(context, made[j], list[j]));
      results[i] = std::move(delivered);
    }
  }
  if (op.schema.returns.empty()) results.clear();
  return results;
}

std::vector<Value> execute_view_copy(Context& context, const Operator& op, std::span<const Value> arguments) {
  std::vector<Value> results = execute(context, *op.base, arguments);
  const auto copy = [&](const Tensor& view) {
    if (is_sparse(view)) return call(context, "aten::clone", view);
    if (view.quantizer() != nullptr) return call(context, "aten::clone", view, MemoryFormat::kContiguous);
    Tensor made = context.allocate(contiguous(view.dtype(), view.sizes(), view.device()));
    copy_into(context, view, made);
    return made;
  };
  for (Value& result : results) {
    if (auto* const list = result.get_if<TensorList>()) {
      for (Tensor& tensor : *list) tensor = copy(tensor);
    } else {
      result = copy(result.tensor());
    }
  }
  return results;
}

}  // namespace

Tensor written_to(Context& context, const Tensor& result, const Tensor& out) {
  if (result.quantizer() != nullptr) return result;
  check_cast(result.dtype(), out.dtype());
  if (is_sparse(out) || is_sparse(result)) return sparse_written(context, result, out);
  if (out.sizes() == result.sizes()) {
    copy_into(context, result, out);
    return out;
  }
  Tensor resized = context.allocate(out.dtype(), result.sizes());
  copy_into(context, result, resized);
  return resized;
}

std::unique_ptr<Operator> derive(const Library& library, const Schema& schema) {
  const std::string& name = schema.name.name;
  if (out_count(schema) > 0) {
    for (const std::string& overload : library.schemas().overloads(name)) {
      if (overload == schema.name.overload) continue;
      const OperatorEntry* const entry = library.schemas().find(name, overload);
      if (entry == nullptr || !is_functional_of(entry->schema, schema)) continue;
      const Operator* const base = library.find(name, overload);
      if (base != nullptr) return make(Kind::kOut, schema, *base);
    }
    return nullptr;
  }
  if (const Operator* const base = find_in_place_base(library, schema))
    return make(Kind::kInPlace, schema, *base);
  if (name.ends_with("_copy")) {
    const Operator* const base = library.find(name.substr(0, name.size() - 5), schema.name.overload);
    if (base != nullptr && base->schema.arguments.size() == schema.arguments.size()) {
      return make(Kind::kViewCopy, schema, *base);
    }
  }
  return nullptr;
}

std::vector<Value> execute_variant(Context& context, const Operator& op, std::span<const Value> arguments) {
  switch (op.kind) {
    case Kind::kInPlace:
      return execute_in_place(context, op, arguments);
    case Kind::kOut:
      return execute_out(context, op, arguments);
    default:
      return execute_view_copy(context, op, arguments);
  }
}

}  // namespace flambeau::ops
