// Values of the model as arguments of nodes.
#include "flambeau/trace/tracer.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/values.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/shapes/shape_env.h"

namespace flambeau::trace {
namespace {

using graph::Argument;

}  // namespace

graph::Value& Tracer::value_of(const Tensor& tensor) {
  if (graph::Value* const known = find(tensor)) return *known;
  if (!lift) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a tensor {} comes from outside the traced code", tensor.summary()),
                "give it as an input, or register it with the module");
  }
  graph::Value& value = lift(tensor);
  hold(tensor, value);
  return value;
}

// A number that stands for a tensor is written as the number.
Argument Tracer::tensor_argument(const Tensor& tensor) {
  if (!tensor.is_wrapped_number() || find(tensor) != nullptr) return Argument::tensor(value_of(tensor));
  if (const SymInt* const symbol = tensor.symbol()) return argument(Value(*symbol));
  return argument(Value(ops::item(tensor)));
}

Argument Tracer::argument(const Value& value) {
  return graph::from_value(
      value, {.tensor = [this](const Tensor& tensor) { return tensor_argument(tensor); },
              .tensor_in_list = [this](const Tensor& tensor) -> graph::Value& { return value_of(tensor); },
              .number = [this](const SymInt& number) { return number_reference(number); }});
}

}  // namespace flambeau::trace
