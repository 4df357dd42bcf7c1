#include "flambeau/runtime/functionalized.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/runtime/interpreter.h"

namespace flambeau::runtime {
namespace {

const ops::Operator& operator_at(Interpreter& interpreter, const HigherOrderCall& call, size_t index) {
  if (index >= call.arguments.size() || !call.arguments[index].is<std::string>()) {
    throw Error(ErrorCode::kCorrupt, fmt::format("{} has no operator as argument {}", call.target, index));
  }
  return interpreter.context().library().get(parse_python_operator(call.arguments[index].get<std::string>()));
}

const Value* find(const HigherOrderCall& call, std::string_view name) {
  for (size_t i = 0; i < call.names.size(); ++i) {
    if (call.names[i] == name) return &call.arguments[i];
  }
  return nullptr;
}

Tensor clone(Interpreter& interpreter, const Tensor& tensor) {
  return ops::call(interpreter.context(), "aten::clone", tensor);
}

bool is_written(const SchemaArgument& argument) { return argument.is_written(); }

// The operator's own results, or None where it gives none.
void add_results(std::vector<Value>& to, std::vector<Value> results) {
  if (results.empty()) to.emplace_back();
  for (Value& result : results) to.push_back(std::move(result));
}

// The part of a base that an argument was a view of.
Tensor view_of_base(Interpreter& interpreter, const HigherOrderCall& call, const std::string& name,
                    const Tensor& base) {
  const auto number = [&](std::string_view what) -> const Value* {
    return find(call, fmt::format("_{}_{}", name, what));
  };
  if (const Value* const dim = number("slice_dim")) {
    const Value* const start = number("slice_start");
    const Value* const end = number("slice_end");
    return ops::call(interpreter.context(), "aten::slice.Tensor", base, *dim, start ? *start : Value(),
                     end ? *end : Value());
  }
  const Value* const size = number("size");
  const Value* const stride = number("stride");
  if (size != nullptr && stride != nullptr) {
    const Value* const offset = number("storage_offset");
    return ops::call(interpreter.context(), "aten::as_strided", base, *size, *stride,
                     offset ? *offset : Value());
  }
  return base;
}

}  // namespace

std::vector<Value> run_auto_functionalized(Interpreter& interpreter, const HigherOrderCall& call) {
  const ops::Operator& op = operator_at(interpreter, call, 0);
  KeywordArguments keywords;
  std::vector<Value> mutated;
  for (const SchemaArgument& argument : op.schema.arguments) {
    const Value* const given = find(call, argument.name);
    if (given == nullptr) continue;
    Value value = *given;
    if (is_written(argument)) {
      if (value.is_tensor()) {
        value = clone(interpreter, value.tensor());
      } else if (auto* const list = value.get_if<TensorList>()) {
        for (Tensor& tensor : *list) tensor = clone(interpreter, tensor);
      }
      mutated.push_back(value);
    }
    keywords.emplace_back(argument.name, std::move(value));
  }
  std::vector<Value> results;
  add_results(results, ops::call(interpreter.context(), op, ops::bind_arguments(op.schema, {}, keywords)));
  results.insert(results.end(), mutated.begin(), mutated.end());
  return results;
}

std::vector<Value> run_auto_functionalized_v2(Interpreter& interpreter, const HigherOrderCall& call) {
  const ops::Operator& op = operator_at(interpreter, call, 0);
  TensorList bases;
  if (const Value* const given = find(call, "_all_bases")) {
    for (const Tensor& base : given->get<TensorList>()) bases.push_back(clone(interpreter, base));
  }
  const auto base_at = [&](const Value& index) -> const Tensor& {
    const auto at = static_cast<size_t>(index.get<int64_t>());
    if (at >= bases.size())
      throw Error(ErrorCode::kCorrupt, fmt::format("{} names base {} of {}", call.target, at, bases.size()));
    return bases[at];
  };
  KeywordArguments keywords;
  for (const SchemaArgument& argument : op.schema.arguments) {
    if (!is_written(argument)) {
      if (const Value* const given = find(call, argument.name)) keywords.emplace_back(argument.name, *given);
      continue;
    }
    if (const Value* const length = find(call, fmt::format("_{}_length", argument.name))) {
      TensorList list;
      for (int64_t i = 0; i < length->get<int64_t>(); ++i) {
        const std::string item = fmt::format("{}_{}", argument.name, i);
        const Value* const index = find(call, fmt::format("_{}_base_index", item));
        list.push_back(index == nullptr || index->is_none()
                           ? Tensor()
                           : view_of_base(interpreter, call, item, base_at(*index)));
      }
      keywords.emplace_back(argument.name, std::move(list));
      continue;
    }
    const Value* const index = find(call, fmt::format("_{}_base_index", argument.name));
    if (index == nullptr || index->is_none()) {
      keywords.emplace_back(argument.name, Value());
    } else {
      keywords.emplace_back(argument.name, view_of_base(interpreter, call, argument.name, base_at(*index)));
    }
  }
  std::vector<Value> results;
  add_results(results, ops::call(interpreter.context(), op, ops::bind_arguments(op.schema, {}, keywords)));
  for (Tensor& base : bases) results.emplace_back(std::move(base));
  return results;
}

std::vector<Value> run_with_effects(Interpreter& interpreter, const HigherOrderCall& call) {
  const ops::Operator& op = operator_at(interpreter, call, 1);
  std::vector<Value> positional;
  KeywordArguments keywords;
  for (size_t i = 2; i < call.arguments.size(); ++i) {
    if (call.names[i].empty()) {
      positional.push_back(call.arguments[i]);
    } else {
      keywords.emplace_back(call.names[i], call.arguments[i]);
    }
  }
  std::vector<Value> results = {call.arguments[0]};
  add_results(results,
              ops::call(interpreter.context(), op, ops::bind_arguments(op.schema, positional, keywords)));
  return results;
}

}  // namespace flambeau::runtime
