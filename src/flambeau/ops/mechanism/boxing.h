// The untyped form of a typed function, derived from its C++ signature. A parameter's type says which schema
// type it takes; in a shape rule Info<N> stands for a tensor and N for Size:
//   - Tensor: const Tensor&
//   - Tensor?: const Tensor*
//   - Tensor[] and Tensor?[]: std::span<const Tensor>, undefined for None
//   - int, SymInt: Size, for whatever is computed with what a program gives must not wrap
//   - int[], SymInt[]: std::span<const Size>
//   - float, bool, Scalar, str: double, bool, Scalar, std::string_view
//   - float[], bool[]: std::span<const double>, const std::vector<bool>&
//   - ScalarType, Device, Layout, MemoryFormat: DType, Device, Layout, MemoryFormat
//   - T?: std::optional<T>
//   - anything: const Value&
// A kernel's results come last: Tensor& for each, or one std::span<Tensor> for a list. Any function may start
// with Context&.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::ops::boxing {

template <typename N>
[[gnu::noinline]] Info<N> unbox_info(const Tensor& tensor) {
  if constexpr (std::is_same_v<N, Size>) {
    return info_of(tensor);
  } else {
    SymbolicGeometry shape = shape_of(tensor);
    return {.dtype = tensor.dtype(),
            .sizes = std::move(shape.sizes),
            .strides = std::move(shape.strides),
            .offset = std::move(shape.offset),
            .device = tensor.device(),
            .is_wrapped_number = tensor.is_wrapped_number()};
  }
}

// Holds what a parameter of type T refers to while the call lasts.
template <typename T>
struct Holder;

template <typename T, Parameter kKind, bool kOptional = false>
struct PlainHolder {
  static constexpr ParameterType kType = {kKind, kOptional};
  T value;
  T get() { return value; }
};

template <>
struct Holder<const Tensor&> {
  static constexpr ParameterType kType = {Parameter::kTensor};
  explicit Holder(const Value& from) : value(from.tensor()) {}
  const Tensor& value;
  const Tensor& get() { return value; }
};
template <>
struct Holder<const Tensor*> : PlainHolder<const Tensor*, Parameter::kOptionalTensor, true> {
  explicit Holder(const Value& from) {
    value = from.is_none() ? nullptr : &from.tensor();
    if (value != nullptr && !value->defined()) value = nullptr;
  }
};
template <>
struct Holder<std::span<const Tensor>> : PlainHolder<std::span<const Tensor>, Parameter::kTensors> {
  explicit Holder(const Value& from) { value = from.get<TensorList>(); }
};
template <typename N>
struct Holder<const Info<N>&> {
  static constexpr ParameterType kType = {Parameter::kTensor};
  explicit Holder(const Value& from) : value(unbox_info<N>(from.tensor())) {}
  Info<N> value;
  const Info<N>& get() { return value; }
};
template <typename N>
struct Holder<const Info<N>*> {
  static constexpr ParameterType kType = {Parameter::kOptionalTensor, true};
  explicit Holder(const Value& from) {
    if (!from.is_none() && from.tensor().defined()) value = unbox_info<N>(from.tensor());
  }
  std::optional<Info<N>> value;
  const Info<N>* get() { return value ? &*value : nullptr; }
};
template <typename N>
struct Holder<std::span<const Info<N>>> {
  static constexpr ParameterType kType = {Parameter::kTensors};
  explicit Holder(const Value& from) {
    for (const Tensor& tensor : from.get<TensorList>()) value.push_back(unbox_info<N>(tensor));
  }
  Infos<N> value;
  std::span<const Info<N>> get() { return value; }
};

template <>
struct Holder<Size> : PlainHolder<Size, Parameter::kInt> {
  explicit Holder(const Value& from) { value = from.get<int64_t>(); }
};
template <>
struct Holder<SymInt> : PlainHolder<SymInt, Parameter::kInt> {
  explicit Holder(const Value& from) {
    value = from.is<int64_t>() ? SymInt(from.get<int64_t>()) : from.get<SymInt>();
  }
};
template <>
struct Holder<double> : PlainHolder<double, Parameter::kFloat> {
  explicit Holder(const Value& from) { value = from.get<double>(); }
};
template <>
struct Holder<bool> : PlainHolder<bool, Parameter::kBool> {
  explicit Holder(const Value& from) { value = from.get<bool>(); }
};
template <>
struct Holder<Scalar> : PlainHolder<Scalar, Parameter::kNumber> {
  explicit Holder(const Value& from) { value = from.scalar(); }
};
template <>
struct Holder<std::string_view> : PlainHolder<std::string_view, Parameter::kString> {
  explicit Holder(const Value& from) { value = from.get<std::string>(); }
};
template <>
struct Holder<DType> : PlainHolder<DType, Parameter::kDType> {
  explicit Holder(const Value& from) { value = from.get<DType>(); }
};
template <>
struct Holder<Device> : PlainHolder<Device, Parameter::kDevice> {
  explicit Holder(const Value& from) { value = from.get<Device>(); }
};
template <>
struct Holder<Layout> : PlainHolder<Layout, Parameter::kLayout> {
  explicit Holder(const Value& from) { value = from.get<Layout>(); }
};
template <>
struct Holder<MemoryFormat> : PlainHolder<MemoryFormat, Parameter::kMemoryFormat> {
  explicit Holder(const Value& from) { value = from.get<MemoryFormat>(); }
};
template <>
struct Holder<std::span<const Size>> : PlainHolder<std::span<const Size>, Parameter::kInts> {
  explicit Holder(const Value& from) { value = checked(from.get<Dims>()); }
};
template <>
struct Holder<std::span<const SymInt>> {
  static constexpr ParameterType kType = {Parameter::kInts};
  explicit Holder(const Value& from) {
    if (const Dims* const numbers = from.get_if<Dims>()) {
      for (const int64_t number : *numbers) value.push_back(number);
    } else {
      value = from.get<SymIntList>();
    }
  }
  SymIntList value;
  std::span<const SymInt> get() { return value; }
};
template <>
struct Holder<std::span<const double>> : PlainHolder<std::span<const double>, Parameter::kFloats> {
  explicit Holder(const Value& from) { value = from.get<std::vector<double>>(); }
};
template <>
struct Holder<const std::vector<bool>&> {
  static constexpr ParameterType kType = {Parameter::kBools};
  explicit Holder(const Value& from) : value(from.get<std::vector<bool>>()) {}
  const std::vector<bool>& value;
  const std::vector<bool>& get() { return value; }
};
template <>
struct Holder<const Value&> {
  static constexpr ParameterType kType = {Parameter::kValue, true};
  explicit Holder(const Value& from) : value(from) {}
  const Value& value;
  const Value& get() { return value; }
};
template <typename T>
struct Holder<std::optional<T>> {
  static constexpr ParameterType kType = {Holder<T>::kType.kind, true};
  explicit Holder(const Value& from) {
    if (!from.is_none()) value.emplace(from);
  }
  std::optional<Holder<T>> value;
  std::optional<T> get() { return value ? std::optional<T>(value->get()) : std::nullopt; }
};

// ---- results
template <typename N>
Infos<N> box_infos(Info<N> info) {
  Infos<N> infos;
  infos.push_back(std::move(info));
  return infos;
}
template <typename N>
Infos<N> box_infos(Infos<N> infos) {
  return infos;
}
template <typename... I>
auto box_infos(std::tuple<I...> infos) {
  return std::apply(
      [](auto&&... info) {
        std::tuple_element_t<0, std::tuple<Infos<std::decay_t<decltype(info.offset)>>...>> list;
        (list.push_back(std::move(info)), ...);
        return list;
      },
      std::move(infos));
}

inline std::vector<Value> box_result(std::vector<Value> results) { return results; }
template <typename... T>
std::vector<Value> box_result(std::tuple<T...> results) {
  std::vector<Value> list;
  std::apply([&](auto&&... result) { (list.emplace_back(std::move(result)), ...); }, std::move(results));
  return list;
}
template <typename T>
std::vector<Value> box_result(T result);
template <typename T>
std::vector<Value> box_result(std::optional<T> result) {
  return result ? box_result(std::move(*result)) : std::vector<Value>();
}
template <typename T>
std::vector<Value> box_result(T result) {
  std::vector<Value> list;
  list.emplace_back(std::move(result));
  return list;
}

// ---- functions
// What stands in the place of a parameter: an argument, or a result that the kernel fills.
template <typename T>
struct Slot : Holder<T> {
  static constexpr size_t kInputs = 1;
  Slot(std::span<const Value> arguments, std::span<Tensor>, size_t index, size_t)
      : Holder<T>(arguments[index]) {}
};
template <>
struct Slot<Tensor&> {
  static constexpr size_t kInputs = 0;
  Slot(std::span<const Value>, std::span<Tensor> outputs, size_t index, size_t inputs)
      : value(outputs[index - inputs]) {}
  Tensor& value;
  Tensor& get() { return value; }
};
template <>
struct Slot<std::span<Tensor>> {
  static constexpr size_t kInputs = 0;
  Slot(std::span<const Value>, std::span<Tensor> outputs, size_t, size_t) : value(outputs) {}
  std::span<Tensor> value;
  std::span<Tensor> get() { return value; }
};

template <typename... A>
constexpr size_t kInputCount = (size_t{0} + ... + Slot<A>::kInputs);

template <typename T>
constexpr ParameterType parameter_type() {
  if constexpr (Slot<T>::kInputs == 1) {
    return Slot<T>::kType;
  } else {
    return {Parameter::kTensor};
  }
}
template <typename... A>
constexpr ParameterType kParameterTypes[sizeof...(A) + 1] = {parameter_type<A>()..., {Parameter::kValue}};

// What calls a typed function depends on its signature alone, so that the functions of a signature share it.
// What a holder holds lives until the call is over.
template <typename N, typename R, typename... A, size_t... I>
Infos<N> call_shape(R (*function)(A...), [[maybe_unused]] std::span<const Value> arguments,
                    std::index_sequence<I...>) {
  return box_infos(function(Holder<A>(arguments[I]).get()...));
}
template <typename R, typename... A, size_t... I>
std::vector<Value> call_function(R (*function)(A...), [[maybe_unused]] std::span<const Value> arguments,
                                 std::index_sequence<I...>) {
  if constexpr (std::is_void_v<R>) {
    function(Holder<A>(arguments[I]).get()...);
    return {};
  } else {
    return box_result(function(Holder<A>(arguments[I]).get()...));
  }
}
template <typename R, typename... A, size_t... I>
std::vector<Value> call_function(R (*function)(Context&, A...), Context& context,
                                 [[maybe_unused]] std::span<const Value> arguments,
                                 std::index_sequence<I...>) {
  if constexpr (std::is_void_v<R>) {
    function(context, Holder<A>(arguments[I]).get()...);
    return {};
  } else {
    return box_result(function(context, Holder<A>(arguments[I]).get()...));
  }
}
template <typename... A, size_t... I>
void call_kernel(void (*function)(A...), std::span<const Value> arguments, std::span<Tensor> outputs,
                 std::index_sequence<I...>) {
  function(Slot<A>(arguments, outputs, I, kInputCount<A...>).get()...);
}
template <typename... A, size_t... I>
void call_kernel(void (*function)(Context&, A...), Context& context, std::span<const Value> arguments,
                 std::span<Tensor> outputs, std::index_sequence<I...>) {
  function(context, Slot<A>(arguments, outputs, I, kInputCount<A...>).get()...);
}

// The function in its untyped form.
template <typename R, typename... A>
BoxedShape<Size> boxed_shape(R (*function)(A...)) {
  return {[](AnyFunction any, std::span<const Value> arguments) {
            return call_shape<Size>(reinterpret_cast<R (*)(A...)>(any), arguments,
                                    std::index_sequence_for<A...>());
          },
          reinterpret_cast<AnyFunction>(function)};
}

// A rule over symbols is used while tracing alone, so it had better be small.
template <auto kFunction>
struct Cold;
template <typename R, typename... A, R (*kFunction)(A...)>
struct Cold<kFunction> {
  [[gnu::cold]] static R call(A... arguments) { return kFunction(std::forward<A>(arguments)...); }
};
template <typename R, typename... A>
[[gnu::cold]] Infos<SymInt> call_symbolic_shape(AnyFunction any, std::span<const Value> arguments) {
  return call_shape<SymInt>(reinterpret_cast<R (*)(A...)>(any), arguments, std::index_sequence_for<A...>());
}
template <typename R, typename... A>
BoxedShape<SymInt> boxed_symbolic_shape(R (*function)(A...)) {
  return {&call_symbolic_shape<R, A...>, reinterpret_cast<AnyFunction>(function)};
}

template <typename R, typename... A>
BoxedFunction boxed_function(R (*function)(A...)) {
  return {[](AnyFunction any, Context&, std::span<const Value> arguments) {
            return call_function(reinterpret_cast<R (*)(A...)>(any), arguments,
                                 std::index_sequence_for<A...>());
          },
          reinterpret_cast<AnyFunction>(function)};
}
template <typename R, typename... A>
BoxedFunction boxed_function(R (*function)(Context&, A...)) {
  return {[](AnyFunction any, Context& context, std::span<const Value> arguments) {
            return call_function(reinterpret_cast<R (*)(Context&, A...)>(any), context, arguments,
                                 std::index_sequence_for<A...>());
          },
          reinterpret_cast<AnyFunction>(function)};
}

// Called while tracing, or once to make a plan: it had better be small, too.
template <typename R, typename... A>
[[gnu::cold]] std::vector<Value> call_decomposition(AnyFunction any, Context& context,
                                                    std::span<const Value> arguments) {
  return call_function(reinterpret_cast<R (*)(Context&, A...)>(any), context, arguments,
                       std::index_sequence_for<A...>());
}
template <typename R, typename... A>
BoxedFunction boxed_decomposition(R (*function)(Context&, A...)) {
  return {&call_decomposition<R, A...>, reinterpret_cast<AnyFunction>(function)};
}

template <typename... A>
BoxedKernel boxed_kernel(void (*function)(A...)) {
  return {[](AnyFunction any, Context&, std::span<const Value> arguments, std::span<Tensor> outputs) {
            call_kernel(reinterpret_cast<void (*)(A...)>(any), arguments, outputs,
                        std::index_sequence_for<A...>());
          },
          reinterpret_cast<AnyFunction>(function)};
}
template <typename... A>
BoxedKernel boxed_kernel(void (*function)(Context&, A...)) {
  return {[](AnyFunction any, Context& context, std::span<const Value> arguments, std::span<Tensor> outputs) {
            call_kernel(reinterpret_cast<void (*)(Context&, A...)>(any), context, arguments, outputs,
                        std::index_sequence_for<A...>());
          },
          reinterpret_cast<AnyFunction>(function)};
}

// A function that gives a body takes the arguments, and the result as the last.
template <typename... A>
Body call_body(AnyFunction any, std::span<const Value> arguments, const Tensor& out) {
  using All = std::tuple<A...>;
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return reinterpret_cast<Body (*)(A...)>(any)(Holder<std::tuple_element_t<I, All>>(arguments[I]).get()...,
                                                 out);
  }(std::make_index_sequence<sizeof...(A) - 1>());
}
template <typename... A>
BoxedBody boxed_body(Body (*function)(A...)) {
  return {&call_body<A...>, reinterpret_cast<AnyFunction>(function)};
}
template <typename... A>
BoxedKernel boxed_body_kernel(Body (*function)(A...)) {
  return {[](AnyFunction any, Context& context, std::span<const Value> arguments, std::span<Tensor> outputs) {
            run_body(context, call_body<A...>(any, arguments, outputs[0]), outputs[0]);
          },
          reinterpret_cast<AnyFunction>(function)};
}
template <typename... A>
std::span<const ParameterType> body_parameter_types(Body (*)(A...)) {
  return {kParameterTypes<A...>, sizeof...(A) - 1};
}

// What the parameters take, results left out.
template <typename R, typename... A>
std::span<const ParameterType> parameter_types(R (*)(A...)) {
  return {kParameterTypes<A...>, kInputCount<A...>};
}
template <typename R, typename... A>
std::span<const ParameterType> parameter_types(R (*)(Context&, A...)) {
  return {kParameterTypes<A...>, kInputCount<A...>};
}

// What a function describes a call as.
template <typename Function>
struct DescribedBy;
template <typename Call, typename... A>
struct DescribedBy<Call (*)(A...)> {
  using Type = Call;
};
template <typename Call, typename... A>
struct DescribedBy<std::optional<Call> (*)(A...)> {
  using Type = Call;
};
template <typename Function>
using Described = typename DescribedBy<Function>::Type;

// A function that takes what is beside a call, and the first arguments of it.
template <typename Result, typename... Beside>
struct FactBoxing {
  template <typename R, typename... A>
  static Boxed<Result, std::span<const Value>, Beside...> boxed(R (*function)(Beside..., A...)) {
    return {&call<R, A...>, reinterpret_cast<AnyFunction>(function)};
  }
  template <typename R, typename... A>
  static std::span<const ParameterType> parameters(R (*)(Beside..., A...)) {
    return {kParameterTypes<A...>, sizeof...(A)};
  }

 private:
  template <typename R, typename... A>
  static Result call(AnyFunction any, std::span<const Value> arguments, Beside... beside) {
    return [&]<size_t... I>(std::index_sequence<I...>) -> Result {
      return reinterpret_cast<R (*)(Beside..., A...)>(any)(beside..., Holder<A>(arguments[I]).get()...);
    }(std::index_sequence_for<A...>());
  }
};

}  // namespace flambeau::ops::boxing
