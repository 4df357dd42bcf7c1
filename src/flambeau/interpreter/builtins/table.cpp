#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"

namespace flambeau::interpreter {

Builtins::Builtins() {
  define_arithmetic(*this);
  define_comparisons(*this);
  define_mathematics(*this);
  define_casts(*this);
  define_strings(*this);
  define_string_searches(*this);
  define_formats(*this);
  define_lists(*this);
  define_list_orders(*this);
  define_dicts(*this);
  define_tensor_facts(*this);
  define_tensor_states(*this);
  define_tensor_makers(*this);
  define_tensor_calls(*this);
  define_resizing(*this);
  define_values(*this);
  define_surroundings(*this);
}

const Builtin* Builtins::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second.get();
}

std::vector<std::string> Builtins::names() const {
  std::vector<std::string> names;
  for (const auto& [name, builtin] : by_name_) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

void Builtins::add(Builtin builtin) {
  auto made = std::make_unique<Builtin>(std::move(builtin));
  const std::string_view name = made->name;
  if (!by_name_.emplace(name, std::move(made)).second) {
    throw Error(ErrorCode::kInternal, fmt::format("the builtin {} is defined twice", name));
  }
}

double float_of(const IValue& value) {
  if (value.is(IValue::Tag::kInt)) return static_cast<double>(value.as_int());
  return value.as_float();
}

std::complex<double> complex_of(const IValue& value) {
  if (value.is(IValue::Tag::kComplex)) return value.as_complex();
  return float_of(value);
}

DType dtype_of(const IValue& value) {
  const std::optional<DType> dtype = dtype_from_number(value.as_int());
  if (!dtype) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is no data type's number", value.as_int()));
  }
  return *dtype;
}

const Tensor& tensor_of(const IValue& value) {
  const Tensor& tensor = value.as_tensor();
  if (!tensor.defined()) {
    throw Error(ErrorCode::kInvalidArgument, "a tensor is expected, this one is undefined");
  }
  return tensor;
}

void boxing::fail_count(const Call& call, size_t expected) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("a builtin takes {} arguments, the code gives {}", expected, call.size()));
}

}  // namespace flambeau::interpreter
