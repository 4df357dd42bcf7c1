// Values of the model as arguments of nodes.
#include "flambeau/trace/tracer.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/shapes/shape_env.h"

namespace flambeau::trace {
namespace {

using graph::Argument;
using graph::ArgumentKind;

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
  if (const SymInt* const symbol = tensor.symbol()) return number_argument(symbol->expr());
  return argument(Value(ops::item(tensor)));
}

Argument Tracer::argument(const Value& value) {
  return std::visit(
      [&]<typename T>(const T& data) -> Argument {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return {};
        } else if constexpr (std::is_same_v<T, Tensor>) {
          return data.defined() ? tensor_argument(data) : Argument();
        } else if constexpr (std::is_same_v<T, TensorList>) {
          std::vector<graph::ValueRef> refs;
          bool has_none = false;
          for (const Tensor& tensor : data) {
            has_none = has_none || !tensor.defined();
            if (tensor.defined()) {
              refs.emplace_back(value_of(tensor));
            } else {
              refs.emplace_back();
            }
          }
          if (has_none) return Argument::make<ArgumentKind::kOptionalTensors>(std::move(refs));
          return Argument::make<ArgumentKind::kTensors>(std::move(refs));
        } else if constexpr (std::is_same_v<T, int64_t>) {
          return Argument::make<ArgumentKind::kInt>(data);
        } else if constexpr (std::is_same_v<T, Dims>) {
          return Argument::make<ArgumentKind::kInts>(std::vector<int64_t>(data.begin(), data.end()));
        } else if constexpr (std::is_same_v<T, double>) {
          return Argument::make<ArgumentKind::kFloat>(data);
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          return Argument::make<ArgumentKind::kFloats>(data);
        } else if constexpr (std::is_same_v<T, bool>) {
          return Argument::make<ArgumentKind::kBool>(data);
        } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
          return Argument::make<ArgumentKind::kBools>(std::vector<uint8_t>(data.begin(), data.end()));
        } else if constexpr (std::is_same_v<T, std::complex<double>>) {
          return Argument::make<ArgumentKind::kComplex>(data);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return Argument::make<ArgumentKind::kString>(data);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          return Argument::make<ArgumentKind::kStrings>(data);
        } else if constexpr (std::is_same_v<T, DType>) {
          return Argument::make<ArgumentKind::kScalarType>(data);
        } else if constexpr (std::is_same_v<T, Device>) {
          return Argument::make<ArgumentKind::kDevice>(describe(data));
        } else if constexpr (std::is_same_v<T, Layout>) {
          return Argument::make<ArgumentKind::kLayout>(data);
        } else if constexpr (std::is_same_v<T, MemoryFormat>) {
          return Argument::make<ArgumentKind::kMemoryFormat>(data);
        } else if constexpr (std::is_same_v<T, SymInt>) {
          return number_argument(data.expr());
        } else if constexpr (std::is_same_v<T, SymIntList>) {
          std::vector<graph::SymArgument<int64_t>> numbers;
          for (const SymInt& number : data) numbers.push_back(number_reference(number));
          if (std::ranges::any_of(numbers, [](const auto& number) { return bool{number.ref}; }))
            return Argument::make<ArgumentKind::kSymInts>(std::move(numbers));
          std::vector<int64_t> plain;
          for (const auto& number : numbers) plain.push_back(number.literal);
          return Argument::make<ArgumentKind::kInts>(std::move(plain));
        } else {
          throw Error(ErrorCode::kUnsupported,
                      fmt::format("a program cannot hold an argument of kind {}", value.kind_name()));
        }
      },
      value.data());
}

}  // namespace flambeau::trace
