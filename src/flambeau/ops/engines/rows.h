// Bodies made from a function of single numbers. F is a small struct with a name for messages (and kBody, the
// body's where that is another) and one of
//
//   template <typename T> T operator()(T x) const                    a function of numbers
//   template <typename T> auto prepare() const                       gives one, e.g. with numbers cast to T
//   static void rows(const float* x, float* y, size_t n)             a function of arrays, as in vector_math
//   static constexpr Hot kHot [and HotNumbers numbers() const]       a loop of hot_rows.h; the other forms
//                                                                    then serve the types that it lacks
//
// and where it has one that is not hot, of float and double (or of float alone) the BodyCode
//
//   static constexpr std::string_view kCode (or kFloatCode)
//
// The types that F takes are those for which it can be called. Its members are the row's parameters.
//
// In an x_isa.cpp F must be in an anonymous namespace: the same template is then a different function at each
// level.
#pragma once

#include <complex>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "flambeau/ops/elementwise/hot_rows.h"
#include "flambeau/ops/engines/elementwise.h"

namespace flambeau::ops {

template <typename T>
concept RealNumber = std::is_floating_point_v<T>;
template <typename T>
concept IntegerNumber = std::is_integral_v<T>;
template <typename T>
concept ComplexNumber = kIsComplex<T>;
template <typename T>
concept OrderedNumber = RealNumber<T> || IntegerNumber<T>;
template <typename T>
concept FloatingNumber = RealNumber<T> || ComplexNumber<T>;

// The part's type of a complex number.
template <typename T>
struct RealPart {
  using Type = T;
};
template <typename T>
struct RealPart<std::complex<T>> {
  using Type = T;
};

// The number as type T, as PyTorch converts an operator's Scalar.
template <typename T>
T number(const Scalar& scalar) {
  if constexpr (kIsComplex<T>) {
    return T(scalar.to_complex());
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(scalar.to_int());
  } else {
    return static_cast<T>(scalar.to_double());
  }
}
// A Scalar as a member of F: its value is known.
struct KnownNumber {
  KnownNumber(const Scalar& scalar)  // NOLINT(google-explicit-constructor): it is one
      : value(scalar.to_complex()), integer(scalar.to_int()) {}
  std::complex<double> value;
  int64_t integer;
};
template <typename T>
T number(const KnownNumber& known) {
  if constexpr (kIsComplex<T>) {
    return T(known.value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(known.integer);
  } else {
    return static_cast<T>(known.value.real());
  }
}
inline HotNumbers hot_numbers(const KnownNumber& x, const KnownNumber& y = Scalar(0)) {
  return {.x = x.value.real(), .y = y.value.real(), .integer_x = x.integer, .integer_y = y.integer};
}

// Results of other types than the arguments'.
struct BytesOut {};    // bool, as bytes 0 and 1
struct RealOut {};     // the real type of complex arguments
struct ComplexOut {};  // the complex type of real arguments

template <typename Out, typename T>
struct ResultOf {
  using Type = Out;
};
template <typename T>
struct ResultOf<void, T> {
  using Type = T;
};
template <typename T>
struct ResultOf<BytesOut, T> {
  using Type = uint8_t;
};
template <typename T>
struct ResultOf<bool, T> {
  using Type = uint8_t;
};
template <typename T>
struct ResultOf<RealOut, T> {
  using Type = typename RealPart<T>::Type;
};
template <typename T>
struct ResultOf<ComplexOut, T> {
  using Type = std::complex<T>;
};

template <typename F, typename Out, typename... In>
concept HasRows = requires(const F& f, const In*... from, Out* to) { f.rows(from..., to, size_t{}); };

template <typename F, typename T>
decltype(auto) prepared(const F& function) {
  if constexpr (requires { function.template prepare<T>(); }) {
    return function.template prepare<T>();
  } else {
    return F(function);
  }
}

template <typename F, typename Out, typename First, typename... More>
void row_of(const void* const* inputs, void* const* outputs, size_t count, const void* parameters) {
  const F& function = *static_cast<const F*>(parameters);
  [&]<size_t... I>(std::index_sequence<I...>) {
    auto* const to = static_cast<Out*>(outputs[0]);
    const std::tuple<const First*, const More*...> from{static_cast<const First*>(inputs[0]),
                                                        static_cast<const More*>(inputs[I + 1])...};
    if constexpr (HasRows<F, Out, First, More...>) {
      function.rows(std::get<0>(from), std::get<I + 1>(from)..., to, count);
    } else {
      const auto of_numbers = prepared<F, First>(function);
#pragma GCC ivdep
      for (size_t i = 0; i < count; ++i)
        to[i] = static_cast<Out>(of_numbers(std::get<0>(from)[i], std::get<I + 1>(from)[i]...));
    }
  }(std::index_sequence_for<More...>());
}

template <typename T, size_t>
using Same = T;

template <typename F, typename Out, typename... In>
concept Takes = HasRows<F, Out, In...> || std::is_invocable_v<F, In...> ||
                requires(const F& f) { f.template prepare<std::tuple_element_t<0, std::tuple<In...>>>(); };

// Which hot loop's type computes with elements of type T.
template <typename T>
constexpr HotType kHotType = std::is_same_v<T, float>    ? HotType::kFloat
                             : std::is_same_v<T, double> ? HotType::kDouble
                                                         : HotType::kInt64;
template <typename F, typename T>
concept IsHot = requires { F::kHot; } &&
                (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, int64_t>);

constexpr bool is_hot(Compute compute) {
  return compute == Compute::kFloat || compute == Compute::kDouble || compute == Compute::kInt64;
}

// The row of F for arguments of type T, as many as there are indices.
template <typename F, typename Out, typename T, size_t... I>
Rows rows_for(std::index_sequence<I...>) {
  using R = typename ResultOf<Out, T>::Type;
  if constexpr (IsHot<F, T>) {
    return hot_rows(F::kHot, kHotType<T>);
  } else if constexpr (Takes<F, R, Same<T, I>...>) {
    return &row_of<F, R, Same<T, I>...>;
  } else {
    return nullptr;
  }
}

// The row for that type of computing, of F with kInputs arguments of that type and a result of the same one,
// or of type Out where it is given. Null where F does not take the type.
template <typename F, size_t kInputs, typename Out = void>
Rows find_rows(Compute compute) {
  constexpr auto kIndices = std::make_index_sequence<kInputs>();
  switch (compute) {
    case Compute::kFloat:
      return rows_for<F, Out, float>(kIndices);
    case Compute::kDouble:
      return rows_for<F, Out, double>(kIndices);
    case Compute::kInt64:
      return rows_for<F, Out, int64_t>(kIndices);
    case Compute::kUInt64:
      return rows_for<F, Out, uint64_t>(kIndices);
    case Compute::kComplexFloat:
      if constexpr (!std::is_same_v<Out, ComplexOut>) return rows_for<F, Out, std::complex<float>>(kIndices);
      return nullptr;
    case Compute::kComplexDouble:
      if constexpr (!std::is_same_v<Out, ComplexOut>) return rows_for<F, Out, std::complex<double>>(kIndices);
      return nullptr;
  }
  return nullptr;
}

// Throws Error(kUnsupported): '"sin" not implemented for 'Bool''.
[[noreturn]] void fail_dtype(std::string_view what, DType dtype);
// Throws the same for types that no operator computes with (8-bit floats, quantized and packed ones), and
// for bool unless it is taken.
void require_computable(std::string_view what, DType dtype, bool takes_bool);

// About how many cycles F takes for an element.
template <typename F>
constexpr int cost_of() {
  if constexpr (requires { F::kCost; }) {
    return F::kCost;
  } else {
    return 1;
  }
}
template <typename F>
constexpr bool takes_bool() {
  if constexpr (requires { F::kTakesBool; }) {
    return F::kTakesBool;
  } else {
    return true;
  }
}

// What the body of F is called; `what` where F has no name.
template <typename F>
constexpr std::string_view body_name(std::string_view what) {
  if constexpr (requires { F::kBody; }) {
    return F::kBody;
  } else if constexpr (requires { F::kName; }) {
    return F::kName;
  } else {
    return what;
  }
}

// What F computes where it is computed in that type, as code.
template <typename F>
BodyCode code_of(Compute compute) {
  if constexpr (requires { F::kHot; }) {
    if (is_hot(compute)) return hot_code(F::kHot);
  } else if constexpr (requires { F::kCode; }) {
    if (compute == Compute::kFloat || compute == Compute::kDouble) return {F::kCode};
  } else if constexpr (requires { F::kFloatCode; }) {
    if (compute == Compute::kFloat) return {F::kFloatCode};
  }
  return {};
}

// F over inputs, to a result of the same or another type.
template <typename F, typename Out = void, size_t kInputs>
Body body_of_inputs(std::string_view what, const F& function, DType common, const Tensor& out,
                    const Input (&inputs)[kInputs]) {
  static_assert(kInputs <= Body::kMostInputs);
  Body body;
  body.name = body_name<F>(what);
  body.rows = find_rows<F, kInputs, Out>(compute_type(common));
  if (body.rows.plain == nullptr) fail_dtype(what, common);
  require_computable(what, common, takes_bool<F>());
  body.row = std::is_void_v<Out>                                          ? compute_dtype(common)
             : std::is_same_v<Out, bool> || std::is_same_v<Out, BytesOut> ? DType::kBool
                                                                          : compute_dtype(out.dtype());
  body.cost = cost_of<F>();
  body.code = code_of<F>(compute_type(common));
  for (const Input& input : inputs) body.add(input);
  if constexpr (requires { function.numbers(); }) {
    if (is_hot(compute_type(common))) {
      body.set_parameters(function.numbers());
      return body;
    }
  }
  body.set_parameters(function);
  return body;
}

// The same over tensors and numbers that are all taken as `common`, and computed in its type.
template <typename F, typename Out = void, typename... Operands>
Body body_of(std::string_view what, const F& function, DType common, const Tensor& out,
             const Operands&... operands) {
  const Input in[] = {computed(operands, common)...};
  return body_of_inputs<F, Out>(what, function, common, out, in);
}

// Runs it by itself.
template <typename F, typename Out = void, typename... Operands>
void map(Context& context, std::string_view what, const F& function, DType common, const Tensor& out,
         const Operands&... operands) {
  run_body(context, body_of<F, Out>(what, function, common, out, operands...), out);
}

}  // namespace flambeau::ops
