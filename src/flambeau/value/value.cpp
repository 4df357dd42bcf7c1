#include "flambeau/value/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/text/print.h"

namespace flambeau {
namespace {

template <typename... T>
struct Overloaded : T... {
  using T::operator()...;
};
template <typename... T>
Overloaded(T...) -> Overloaded<T...>;  // clang 16 does not deduce it

std::string join(const auto& items, auto&& text) {
  std::string result = "[";
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) result += ", ";
    if (i == 8 && items.size() > 10) {
      result += fmt::format("... {} in all", items.size());
      break;
    }
    result += text(items[i]);
  }
  return result + "]";
}

std::string complex_text(std::complex<double> number) {
  return fmt::format("{}{:+}j", number.real(), number.imag());
}

}  // namespace

Value::Value(const Scalar& scalar) {
  if (scalar.is_symbol()) {
    data_ = scalar.symbol();
  } else if (scalar.is_int()) {
    data_ = scalar.to_int();
  } else if (scalar.is_float()) {
    data_ = scalar.to_double();
  } else if (scalar.is_bool()) {
    data_ = scalar.to_bool();
  } else {
    data_ = scalar.to_complex();
  }
}

bool Value::is_number() const {
  return is<int64_t>() || is<double>() || is<bool>() || is<std::complex<double>>();
}

Scalar Value::scalar() const {
  if (const auto* number = get_if<int64_t>()) return *number;
  if (const auto* number = get_if<double>()) return *number;
  if (const auto* number = get_if<bool>()) return *number;
  if (const auto* number = get_if<std::complex<double>>()) return *number;
  if (const auto* number = get_if<SymInt>()) return *number;
  fail("number");
}

std::string_view Value::kind_name() const {
  static constexpr std::array<std::string_view, 20> kNames = {
      "None",   "Tensor",       "Tensor[]", "int",      "int[]",  "float",      "float[]",
      "bool",   "bool[]",       "complex",  "str",      "str[]",  "ScalarType", "Device",
      "Layout", "MemoryFormat", "SymInt",   "SymInt[]", "object", "list"};
  static_assert(kNames.size() == std::variant_size_v<Data>);
  return kNames[data_.index()];
}

std::string Value::summary() const {
  return std::visit(
      Overloaded{
          [](std::monostate) { return std::string("None"); },
          [](const Tensor& tensor) { return tensor.defined() ? tensor.summary() : std::string("None"); },
          [](const TensorList& list) {
            return join(list,
                        [](const Tensor& t) { return t.defined() ? t.summary() : std::string("None"); });
          },
          [](bool flag) { return std::string(flag ? "True" : "False"); },
          [](int64_t number) { return fmt::format("{}", number); },
          [](double number) { return fmt::format("{}", number); },
          [](std::complex<double> number) { return complex_text(number); },
          [](const std::string& text) { return fmt::format("'{}'", printable(text)); },
          [](const Dims& list) { return join(list, [](int64_t n) { return fmt::format("{}", n); }); },
          [](const std::vector<double>& list) {
            return join(list, [](double n) { return fmt::format("{}", n); });
          },
          [](const std::vector<bool>& list) {
            return join(list, [](bool flag) { return std::string(flag ? "True" : "False"); });
          },
          [](const std::vector<std::string>& list) {
            return join(list, [](const std::string& text) { return fmt::format("'{}'", printable(text)); });
          },
          [](DType dtype) { return std::string(dtype_name(dtype)); },
          [](const Device& device) { return device.to_string(); },
          [](Layout layout) { return std::string(layout_name(layout)); },
          [](MemoryFormat format) { return std::string(memory_format_name(format)); },
          [](const SymInt& number) { return symbolic::to_string(number.expr()); },
          [](const SymIntList& list) {
            return join(list, [](const SymInt& number) { return symbolic::to_string(number.expr()); });
          },
          [](const Object& object) { return fmt::format("<{}>", object.class_name); },
          [](const ValueList& list) {
            return join(list, [](const Value& value) { return value.summary(); });
          },
      },
      data_);
}

void Value::fail(std::string_view wanted) const {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} is given where {} is expected",
                          is_none() ? "None" : fmt::format("{} {}", kind_name(), summary()), wanted));
}

}  // namespace flambeau
