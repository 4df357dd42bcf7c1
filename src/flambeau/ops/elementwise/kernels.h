// Elementwise operators in a line each, by a function that gives the body of a call. The shape rule follows
// from its C++ signature: the result has the broadcast sizes of all tensors, the strides PyTorch gives it,
// and the type that a rule says.
//
//   elementwise<FloatType, unary<Sin>>(library, "aten::sin(Tensor self) -> Tensor");
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "flambeau/ops/engines/rows.h"
#include "flambeau/ops/mechanism/definition.h"
#include "flambeau/ops/mechanism/promotion.h"
#include "flambeau/ops/mechanism/strides.h"

namespace flambeau::ops {

// ---- rules of result types: what type() gives of the operator's arguments

namespace rules {

template <typename T>
void add_tensor(ResultType&, const T&) {}
template <typename N>
void add_tensor(ResultType& result, const Info<N>& info) {
  result.add(info);
}
template <typename N>
void add_tensor(ResultType& result, const Info<N>* info) {
  if (info != nullptr) result.add(*info);
}
template <typename T>
void add_number(ResultType& result, const T& argument) {
  add_tensor(result, argument);
}
inline void add_number(ResultType& result, const Scalar& scalar) { result.add(scalar); }
inline void add_number(ResultType& result, const std::optional<Scalar>& scalar) {
  if (scalar) result.add(*scalar);
}
template <typename N, typename... A>
const Info<N>& first_info(const Info<N>& info, const A&...) {
  return info;
}
template <typename First, typename... A>
const auto& first_info(const First&, const A&... more) {
  return first_info(more...);
}

}  // namespace rules

// The first tensor's.
struct SameType {
  template <typename... A>
  static DType type(const A&... arguments) {
    return rules::first_info(arguments...).dtype;
  }
};
// That, or float32 for integers.
struct FloatType {
  template <typename... A>
  static DType type(const A&... arguments) {
    return int_to_float(SameType::type(arguments...));
  }
};
// The type of the parts where it is complex.
struct RealType {
  template <typename... A>
  static DType type(const A&... arguments) {
    return to_real(SameType::type(arguments...));
  }
};
struct BoolType {
  template <typename... A>
  static DType type(const A&...) {
    return DType::kBool;
  }
};
// Of all tensors.
struct PromotedType {
  template <typename... A>
  static DType type(const A&... arguments) {
    ResultType result;
    (rules::add_tensor(result, arguments), ...);
    return result.get();
  }
};
struct PromotedFloatType {
  template <typename... A>
  static DType type(const A&... arguments) {
    return int_to_float(PromotedType::type(arguments...));
  }
};
// Of the four operations of arithmetic.
template <typename Rule>
struct InOrder : Rule {
  static constexpr Compared kCompared = Compared::kInOrder;
};
// Of all tensors and numbers; the numbers count as operands for the strides too, as PyTorch makes tensors of
// them.
struct NumberType {
  static constexpr bool kCountsNumbers = true;
  template <typename... A>
  static DType type(const A&... arguments) {
    ResultType result;
    (rules::add_number(result, arguments), ...);
    return result.get();
  }
};
struct NumberFloatType {
  static constexpr bool kCountsNumbers = true;
  template <typename... A>
  static DType type(const A&... arguments) {
    return int_to_float(NumberType::type(arguments...));
  }
};
struct NumberBoolType : BoolType {
  static constexpr bool kCountsNumbers = true;
};
// Of the first number and all tensors: what follows (alpha) has no say.
struct FirstNumberType {
  static constexpr bool kCountsNumbers = true;
  template <typename N, typename... A>
  static DType type(const Info<N>& self, const Scalar& other, const A&...) {
    return result_type(self, other);
  }
};

// ---- the shape rule of a function that gives a body

template <typename N, typename A>
struct Seen {
  using Type = A;
};
template <typename N>
struct Seen<N, const Tensor&> {
  using Type = const Info<N>&;
};
template <typename N>
struct Seen<N, const Tensor*> {
  using Type = const Info<N>*;
};

template <typename Rule, typename N, typename Arguments>
struct ElementwiseShape;
template <typename Rule, typename N, typename... A>
struct ElementwiseShape<Rule, N, std::tuple<A...>> {
  // As the boxing of shape rules gives them.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  static Info<N> of(typename Seen<N, A>::Type... arguments) {
    std::array<const Info<N>*, sizeof...(A) + 1> infos{};
    size_t count = 0;
    const auto collect = [&]<typename T>(const T& argument) {
      if constexpr (std::is_same_v<T, Info<N>>) {
        infos[count++] = &argument;
      } else if constexpr (std::is_same_v<T, const Info<N>*>) {
        if (argument != nullptr) infos[count++] = argument;
      }
    };
    (collect(arguments), ...);
    const Info<N> of_number;
    if constexpr (requires { Rule::kCountsNumbers; }) infos[count++] = &of_number;
    Compared order = Compared::kLastFirst;
    if constexpr (requires { Rule::kCompared; }) order = Rule::kCompared;
    return elementwise_info<N>(Rule::type(arguments...), std::span<const Info<N>* const>(infos.data(), count),
                               order);
  }
};

// The arguments of the function: without the result.
template <typename Function>
struct BodyArguments;
template <typename... A>
struct BodyArguments<Body (*)(A...)> {
  template <size_t... I>
  static std::tuple<std::tuple_element_t<I, std::tuple<A...>>...> pick(std::index_sequence<I...>);
  using Type = decltype(pick(std::make_index_sequence<sizeof...(A) - 1>()));
};

template <typename Rule, auto kBody>
Definition elementwise(Library& library, std::string_view schema) {
  using Arguments = typename BodyArguments<decltype(kBody)>::Type;
  return library.define(schema)
      .template shape<&ElementwiseShape<Rule, Size, Arguments>::of,
                      &ElementwiseShape<Rule, SymInt, Arguments>::of>()
      .template body<kBody>()
      .elementwise();
}

// An operator without parameters, as what follows a layer.
template <Epilogue::Kind kKind>
Epilogue plain_epilogue(const Tensor& self) {
  return {{.kind = kKind}, &self};
}

// ---- bodies of a function F of numbers; see rows.h

template <typename F>
Body unary(const Tensor& self, const Tensor& out) {
  return body_of(F::kName, F{}, out.dtype(), out, self);
}
// To bool.
template <typename F>
Body test(const Tensor& self, const Tensor& out) {
  return body_of<F, BytesOut>(F::kName, F{}, self.dtype(), out, self);
}
template <typename F>
Body binary(const Tensor& self, const Tensor& other, const Tensor& out) {
  return body_of(F::kName, F{}, out.dtype(), out, self, other);
}
template <typename F>
Body binary_number(const Tensor& self, Scalar other, const Tensor& out) {
  return body_of(F::kName, F{}, out.dtype(), out, self, other);
}
template <typename F>
Body number_binary(Scalar self, const Tensor& other, const Tensor& out) {
  return body_of(F::kName, F{}, out.dtype(), out, self, other);
}
// Comparisons: to bool, of arguments in their common type.
template <typename F>
Body compare(const Tensor& self, const Tensor& other, const Tensor& out) {
  return body_of<F, BytesOut>(F::kName, F{}, result_type(self, other), out, self, other);
}
template <typename F>
Body compare_number(const Tensor& self, Scalar other, const Tensor& out) {
  return body_of<F, BytesOut>(F::kName, F{}, result_type(self, other), out, self, other);
}

}  // namespace flambeau::ops
