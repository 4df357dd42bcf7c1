// The untyped form of a builtin's function, derived from its C++ signature:
//   int, float, bool, complex, Device: by value
//   str: const std::string&; Tensor: const Tensor&; lists, dicts and tuples: their boxes, by reference
//   Scalar and anything: const IValue&
//   T?: std::optional<T> of the plain ones, const Tensor* for a tensor, const IValue& for the others
//   ScalarType?: std::optional<DType>
// A function may start with Call&, from which it gets all the rest. A call is as many instructions as the
// signature has parameters, and shared by all functions of that signature.
#pragma once

#include <complex>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "flambeau/interpreter/builtins/builtin.h"
#include "flambeau/tensor/dtype.h"

namespace flambeau::interpreter {

// Throws Error(kInvalidArgument) for what is no number.
double float_of(const IValue& value);
std::complex<double> complex_of(const IValue& value);
DType dtype_of(const IValue& value);
const Tensor& tensor_of(const IValue& value);

namespace boxing {

template <typename T>
struct Unboxed;
template <>
struct Unboxed<int64_t> {
  static constexpr ParameterKind kKind = {Kind::kInt};
  static int64_t of(const IValue& value) { return value.as_int(); }
};
template <>
struct Unboxed<double> {
  static constexpr ParameterKind kKind = {Kind::kFloat};
  static double of(const IValue& value) {
    return value.is(IValue::Tag::kFloat) ? value.as_float() : float_of(value);
  }
};
template <>
struct Unboxed<bool> {
  static constexpr ParameterKind kKind = {Kind::kBool};
  static bool of(const IValue& value) { return value.as_bool(); }
};
template <>
struct Unboxed<std::complex<double>> {
  static constexpr ParameterKind kKind = {Kind::kComplex};
  static std::complex<double> of(const IValue& value) { return complex_of(value); }
};
template <>
struct Unboxed<Device> {
  static constexpr ParameterKind kKind = {Kind::kDevice};
  static Device of(const IValue& value) { return value.as_device(); }
};
template <>
struct Unboxed<DType> {
  static constexpr ParameterKind kKind = {Kind::kInt};
  static DType of(const IValue& value) { return dtype_of(value); }
};
template <>
struct Unboxed<const std::string&> {
  static constexpr ParameterKind kKind = {Kind::kString};
  static const std::string& of(const IValue& value) { return value.as_string(); }
};
template <>
struct Unboxed<const Tensor&> {
  static constexpr ParameterKind kKind = {Kind::kTensor};
  static const Tensor& of(const IValue& value) { return tensor_of(value); }
};
template <>
struct Unboxed<const Tensor*> {
  static constexpr ParameterKind kKind = {Kind::kTensor, true};
  static const Tensor* of(const IValue& value) { return value.is_none() ? nullptr : &value.as_tensor(); }
};
template <>
struct Unboxed<script::ListBox&> {
  static constexpr ParameterKind kKind = {Kind::kList};
  static script::ListBox& of(const IValue& value) { return value.as_list(); }
};
template <>
struct Unboxed<script::DictBox&> {
  static constexpr ParameterKind kKind = {Kind::kDict};
  static script::DictBox& of(const IValue& value) { return value.as_dict(); }
};
template <>
struct Unboxed<script::EnumBox&> {
  static constexpr ParameterKind kKind = {Kind::kEnum};
  static script::EnumBox& of(const IValue& value) { return value.as_enum(); }
};
template <>
struct Unboxed<script::FutureBox&> {
  static constexpr ParameterKind kKind = {Kind::kFuture};
  static script::FutureBox& of(const IValue& value) { return value.as_future(); }
};
template <>
struct Unboxed<script::NativeBox&> {
  static constexpr ParameterKind kKind = {Kind::kNative};
  static script::NativeBox& of(const IValue& value) { return value.as_native(); }
};
template <>
struct Unboxed<const IValue&> {
  static constexpr ParameterKind kKind = {Kind::kAny, true};
  static const IValue& of(const IValue& value) { return value; }
};
template <typename T>
struct Unboxed<std::optional<T>> {
  static constexpr ParameterKind kKind = {Unboxed<T>::kKind.kind, true};
  static std::optional<T> of(const IValue& value) {
    if (value.is_none()) return std::nullopt;
    return Unboxed<T>::of(value);
  }
};

template <typename R>
void give(Call& call, R&& result) {
  call.give(IValue(std::forward<R>(result)));
}
template <typename... R>
void give(Call& call, std::tuple<R...>&& results) {
  std::apply([&](auto&&... result) { (call.give(IValue(std::move(result))), ...); }, std::move(results));
}

// Throws Error(kInvalidArgument) for a call with other arguments than the function has.
[[noreturn, gnu::cold]] void fail_count(const Call& call, size_t expected);

template <typename R, typename... A>
void call_function(const Builtin& builtin, Call& call) {
  if (call.size() != sizeof...(A)) [[unlikely]]
    fail_count(call, sizeof...(A));
  [&]<size_t... I>(std::index_sequence<I...>) {
    auto* const function = reinterpret_cast<R (*)(A...)>(builtin.function);
    if constexpr (std::is_void_v<R>) {
      function(Unboxed<A>::of(call[I])...);
    } else {
      give(call, function(Unboxed<A>::of(call[I])...));
    }
  }(std::index_sequence_for<A...>());
}
template <typename R, typename... A>
void call_with(const Builtin& builtin, Call& call) {
  if constexpr (sizeof...(A) > 0) {
    if (call.size() != sizeof...(A)) [[unlikely]]
      fail_count(call, sizeof...(A));
  }
  [&]<size_t... I>(std::index_sequence<I...>) {
    auto* const function = reinterpret_cast<R (*)(Call&, A...)>(builtin.function);
    if constexpr (std::is_void_v<R>) {
      function(call, Unboxed<A>::of(call[I])...);
    } else {
      give(call, function(call, Unboxed<A>::of(call[I])...));
    }
  }(std::index_sequence_for<A...>());
}

template <typename R, typename... A>
Builtin boxed(R (*function)(A...)) {
  return {.caller = &call_function<R, A...>,
          .function = reinterpret_cast<AnyFunction>(function),
          .parameters = {Unboxed<A>::kKind...}};
}
template <typename R, typename... A>
Builtin boxed(R (*function)(Call&, A...)) {
  Builtin made = {.caller = &call_with<R, A...>,
                  .function = reinterpret_cast<AnyFunction>(function),
                  .parameters = {Unboxed<A>::kKind...}};
  if constexpr (sizeof...(A) == 0) made.parameters = {ParameterKind{Kind::kCall}};
  return made;
}

}  // namespace boxing

// How the files here say what they define:
//   Definer define(builtins);
//   define("aten::len.str", [](const std::string& s) { return static_cast<int64_t>(s.size()); });
class Definer {
 public:
  explicit Definer(Builtins& to) : to_(to) {}
  template <typename Function>
  void operator()(std::string name, Function function, uint32_t needs = 0) const {
    Builtin made = boxing::boxed(+function);
    made.name = std::move(name);
    made.needs = needs;
    to_.add(std::move(made));
  }
  // The same function for several overloads: define({"aten::keys.int", "aten::keys.str"}, keys).
  template <typename Function>
  void operator()(std::initializer_list<std::string_view> names, Function function) const {
    for (const std::string_view name : names) (*this)(std::string(name), function);
  }

 private:
  Builtins& to_;
};

}  // namespace flambeau::interpreter
