// The untyped form of a typed function, derived from its C++ signature. A parameter's type says which schema
// type it takes:
//   const Tensor&                      Tensor          const Info<N>&                  (in a shape rule)
//   const Tensor*                      Tensor?         const Info<N>*
//   std::span<const Tensor>            Tensor[]        std::span<const Info<N>>        undefined: None of
//   Tensor?[] int64_t, N                         int, SymInt     std::span<const int64_t>, std::span<const N>
//   int[], SymInt[] double, bool, Scalar, std::string_view, DType, Device, Layout, MemoryFormat,
//   std::span<const double>, const std::vector<bool>&           float, bool, Scalar, str, ...
//   std::optional<T>                   T?
//   const Value&                       anything
// A kernel's results come last: Tensor& for each, or one std::span<Tensor> for a list. Any function may start
// with Context&.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "flambeau/ops/operator.h"

namespace flambeau::ops::boxing {

template <typename N>
[[gnu::noinline]] Info<N> unbox_info(const Tensor& tensor) {
  if constexpr (std::is_same_v<N, int64_t>) {
    return info_of(tensor);
  } else {
    Info<N> info{
        .dtype = tensor.dtype(), .device = tensor.device(), .is_wrapped_number = tensor.is_wrapped_number()};
    if (const SymbolicGeometry* const geometry = tensor.symbolic_geometry()) {
      info.sizes = geometry->sizes;
      info.strides = geometry->strides;
      info.offset = geometry->offset;
    } else {
      for (const int64_t size : tensor.sizes()) info.sizes.push_back(size);
      for (const int64_t stride : tensor.strides()) info.strides.push_back(stride);
      info.offset = tensor.offset();
    }
    return info;
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
struct Holder<int64_t> : PlainHolder<int64_t, Parameter::kInt> {
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
struct Holder<std::span<const int64_t>> : PlainHolder<std::span<const int64_t>, Parameter::kInts> {
  explicit Holder(const Value& from) { value = from.get<Dims>(); }
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
std::vector<Value> box_result(T result) {
  std::vector<Value> list;
  list.emplace_back(std::move(result));
  return list;
}

// ---- functions
template <typename Function>
struct Signature;
template <typename R, typename... A>
struct Signature<R (*)(A...)> {
  using Result = R;
  static constexpr bool kTakesContext = false;
  using Parameters = std::tuple<A...>;
};
template <typename R, typename... A>
struct Signature<R (*)(Context&, A...)> {
  using Result = R;
  static constexpr bool kTakesContext = true;
  using Parameters = std::tuple<A...>;
};

template <typename T>
constexpr bool kIsOutput = std::is_same_v<T, Tensor&> || std::is_same_v<T, std::span<Tensor>>;

template <typename Parameters>
struct CountInputs;
template <typename... A>
struct CountInputs<std::tuple<A...>> {
  static constexpr size_t kCount = (size_t{0} + ... + (kIsOutput<A> ? 0 : 1));
};

template <auto kFunction>
std::vector<ParameterType> parameter_types() {
  using S = Signature<decltype(kFunction)>;
  constexpr size_t kInputs = CountInputs<typename S::Parameters>::kCount;
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return std::vector<ParameterType>{Holder<std::tuple_element_t<I, typename S::Parameters>>::kType...};
  }(std::make_index_sequence<kInputs>());
}

template <auto kFunction, size_t... I>
auto call_unboxed(Context* context, std::span<const Value> arguments, std::index_sequence<I...>) {
  using S = Signature<decltype(kFunction)>;
  std::tuple<Holder<std::tuple_element_t<I, typename S::Parameters>>...> holders{
      Holder<std::tuple_element_t<I, typename S::Parameters>>(arguments[I])...};
  (void)arguments;
  if constexpr (S::kTakesContext) {
    return kFunction(*context, std::get<I>(holders).get()...);
  } else {
    return kFunction(std::get<I>(holders).get()...);
  }
}

template <auto kFunction>
constexpr auto kParameterSequence =
    std::make_index_sequence<CountInputs<typename Signature<decltype(kFunction)>::Parameters>::kCount>();

template <typename N, auto kFunction>
Infos<N> boxed_shape(std::span<const Value> arguments) {
  return box_infos(call_unboxed<kFunction>(nullptr, arguments, kParameterSequence<kFunction>));
}

// Used while tracing alone, so it had better be small.
template <auto kFunction>
[[gnu::cold]] Infos<SymInt> boxed_symbolic_shape(std::span<const Value> arguments) {
  return boxed_shape<SymInt, kFunction>(arguments);
}

template <auto kFunction>
std::vector<Value> boxed_function(Context& context, std::span<const Value> arguments) {
  if constexpr (std::is_void_v<typename Signature<decltype(kFunction)>::Result>) {
    using S = Signature<decltype(kFunction)>;
    [&]<size_t... I>(std::index_sequence<I...>) {
      std::tuple<Holder<std::tuple_element_t<I, typename S::Parameters>>...> holders{
          Holder<std::tuple_element_t<I, typename S::Parameters>>(arguments[I])...};
      (void)holders;
      if constexpr (S::kTakesContext) {
        kFunction(context, std::get<I>(holders).get()...);
      } else {
        kFunction(std::get<I>(holders).get()...);
      }
    }(kParameterSequence<kFunction>);
    return {};
  } else {
    return box_result(call_unboxed<kFunction>(&context, arguments, kParameterSequence<kFunction>));
  }
}

template <typename T>
decltype(auto) output(std::span<Tensor> outputs, [[maybe_unused]] size_t index) {
  if constexpr (std::is_same_v<T, std::span<Tensor>>) {
    return outputs;
  } else {
    return (outputs[index]);
  }
}

template <auto kFunction>
void boxed_kernel(Context& context, std::span<const Value> arguments, std::span<Tensor> outputs) {
  using S = Signature<decltype(kFunction)>;
  using P = typename S::Parameters;
  constexpr size_t kInputs = CountInputs<P>::kCount;
  [&]<size_t... I, size_t... O>(std::index_sequence<I...>, std::index_sequence<O...>) {
    std::tuple<Holder<std::tuple_element_t<I, P>>...> holders{
        Holder<std::tuple_element_t<I, P>>(arguments[I])...};
    if constexpr (S::kTakesContext) {
      kFunction(context, std::get<I>(holders).get()...,
                output<std::tuple_element_t<kInputs + O, P>>(outputs, O)...);
    } else {
      kFunction(std::get<I>(holders).get()..., output<std::tuple_element_t<kInputs + O, P>>(outputs, O)...);
    }
  }(std::make_index_sequence<kInputs>(), std::make_index_sequence<std::tuple_size_v<P> - kInputs>());
}

}  // namespace flambeau::ops::boxing
