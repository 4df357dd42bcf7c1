// The one entry to every operator.
#pragma once

#include <new>
#include <span>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/value/results.h"

namespace flambeau {
struct Schema;
}

namespace flambeau::ops {

// Arguments in the schema's order, with defaults filled in and values fitted to their types as PyTorch does
// it: a number where a tensor is expected becomes a tensor that promotes as a number, an int becomes a float
// or a list. Throws Error(kInvalidArgument) that names the operator and the argument.
std::vector<Value> bind_arguments(const Schema& schema, std::span<const Value> positional,
                                  const KeywordArguments& keywords = {});

// One value fitted to the argument at that place; what it is when left out. Throw as bind_arguments does.
Value fit_argument(const Schema& schema, size_t index, const Value& value);
Value default_argument(const Schema& schema, size_t index);

// Throws Error(kLimit).
[[noreturn]] void fail_memory();

// Calls an operator with arguments that bind_arguments gave: through the interceptor where there is one.
// Results are as many as the schema's returns. Throws what the operator throws, located at it.
std::vector<Value> call(Context& context, const Operator& op, std::span<const Value> arguments);
// The same past the interceptor.
std::vector<Value> execute(Context& context, const Operator& op, std::span<const Value> arguments);

// What the operator is made of, called. No results where this call is not taken apart.
std::vector<Value> take_apart(Context& context, const Operator& op, std::span<const Value> arguments);

// Runs `body`, the work of an operator: an Error that leaves it is located at it, and the lack of memory is
// one.
template <typename Name, typename Body>
decltype(auto) at_operator(Name&& name, Body&& body) {
  try {
    try {
      return std::forward<Body>(body)();
    } catch (const std::bad_alloc&) {
      fail_memory();
    } catch (const std::length_error&) {  // of a list that no memory could hold
      fail_memory();
    }
  } catch (Error& error) {
    // The innermost operator is the one to name: those around it are its decomposition's business.
    if (error.locations().empty()) error.add_location("operator", std::forward<Name>(name)());
    throw;
  }
}

// An operator by its name, with arguments that are bound here.
std::vector<Value> call_named(Context& context, std::string_view name, std::span<const Value> positional,
                              const KeywordArguments& keywords = {});
// For decompositions: call<Tensor>(context, "aten::sum.dim_IntList", x, Dims{0}, true). Arguments are
// positional; those left out have their defaults.
template <typename Result = Tensor, typename... Arguments>
Result call(Context& context, std::string_view name, const Arguments&... arguments) {
  const Value values[] = {Value(arguments)...};
  return take_result<Result>(call_named(context, name, values));
}
// The same with arguments given by name: call_with(context, "aten::zeros", {Dims{2}}, {{"dtype",
// DType::kInt64}}).
template <typename Result = Tensor>
Result call_with(Context& context, std::string_view name, const std::vector<Value>& positional,
                 const KeywordArguments& keywords) {
  return take_result<Result>(call_named(context, name, positional, keywords));
}

}  // namespace flambeau::ops
