#include <cmath>
#include <type_traits>

#include "flambeau/ops/elementwise/hot_rows.h"

namespace flambeau::ops::FLAMBEAU_ISA {
namespace {

template <typename T>
constexpr bool kReal = std::is_floating_point_v<T>;

// Integers wrap.
template <typename T>
struct Wrapping {
  using Type = T;
};
template <>
struct Wrapping<int64_t> {
  using Type = uint64_t;
};
template <>
struct Wrapping<int32_t> {
  using Type = uint32_t;
};

template <typename T>
struct Numbers {
  explicit Numbers(const void* parameters) {
    const auto& numbers = *static_cast<const HotNumbers*>(parameters);
    if constexpr (kReal<T>) {
      x = static_cast<T>(numbers.x);
      y = static_cast<T>(numbers.y);
    } else {
      x = static_cast<T>(numbers.integer_x);
      y = static_cast<T>(numbers.integer_y);
    }
  }
  T x;
  T y;
};
template <typename T>
struct None {
  explicit None(const void* /*parameters*/) {}
};

// ---- loops

template <typename F, typename T, typename R>
void one(const void* const* in, void* const* out, size_t count, const void* parameters) {
  const F f(parameters);
  const auto* const a = static_cast<const T*>(in[0]);
  auto* const to = static_cast<R*>(out[0]);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<R>(f(a[i]));
}

// Which of the inputs are single elements.
template <typename F, typename T, typename R, bool kFirstIsOne, bool kSecondIsOne>
void two(const void* const* in, void* const* out, size_t count, const void* parameters) {
  const F f(parameters);
  const auto* const a = static_cast<const T*>(in[0]);
  const auto* const b = static_cast<const T*>(in[1]);
  auto* const to = static_cast<R*>(out[0]);
  const T one_a = a[0];
  const T one_b = b[0];
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i)
    to[i] = static_cast<R>(f(kFirstIsOne ? one_a : a[i], kSecondIsOne ? one_b : b[i]));
}

// Of bfloat16, computed in float.
template <template <typename> typename F>
void two_of_bfloat16(const void* const* in, void* const* out, size_t count, const void* parameters) {
  const F<float> f(parameters);
  const auto* const a = static_cast<const uint16_t*>(in[0]);
  const auto* const b = static_cast<const uint16_t*>(in[1]);
  auto* const to = static_cast<uint16_t*>(out[0]);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) {
    const float wide_a = __builtin_bit_cast(float, static_cast<uint32_t>(a[i]) << 16);
    const float wide_b = __builtin_bit_cast(float, static_cast<uint32_t>(b[i]) << 16);
    const auto raw = __builtin_bit_cast(uint32_t, static_cast<float>(f(wide_a, wide_b)));
    const uint32_t rounded = (raw + 0x7fffU + ((raw >> 16) & 1U)) >> 16;
    const bool is_nan = static_cast<int32_t>(raw & 0x7fffffffU) > 0x7f800000;
    to[i] = static_cast<uint16_t>(is_nan ? 0x7fc0U : rounded);
  }
}

template <typename F, typename T>
void three(const void* const* in, void* const* out, size_t count, const void* parameters) {
  const F f(parameters);
  const auto* const a = static_cast<const T*>(in[0]);
  const auto* const b = static_cast<const T*>(in[1]);
  const auto* const c = static_cast<const T*>(in[2]);
  auto* const to = static_cast<T*>(out[0]);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) to[i] = f(a[i], b[i], c[i]);
}

struct Sixteen {
  uint64_t parts[2];
};

template <typename T>
void where(const void* const* in, void* const* out, size_t count, const void* /*parameters*/) {
  const auto* const condition = static_cast<const uint8_t*>(in[0]);
  const auto* const b = static_cast<const T*>(in[1]);
  const auto* const c = static_cast<const T*>(in[2]);
  auto* const to = static_cast<T*>(out[0]);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) {
    const T yes = b[i];
    const T no = c[i];
    to[i] = condition[i] != 0 ? yes : no;
  }
}

template <template <typename> typename F, typename T>
Rows rows_of_one() {
  return &one<F<T>, T, T>;
}
template <template <typename> typename F, typename T>
Rows rows_of_test() {
  return &one<F<T>, T, uint8_t>;
}
template <template <typename> typename F, typename T, typename R = T>
Rows rows_of_two() {
  return {&two<F<T>, T, R, false, false>, &two<F<T>, T, R, true, false>, &two<F<T>, T, R, false, true>};
}

// ---- what they compute

template <typename T>
T absolute(T a) {
  if constexpr (kReal<T>) {
    return std::abs(a);
  } else {
    return a < 0 ? static_cast<T>(-static_cast<typename Wrapping<T>::Type>(a)) : a;
  }
}
template <typename T>
T floor_of(T a) {
  return std::floor(a);
}
template <typename T>
T ceil_of(T a) {
  return std::ceil(a);
}
template <typename T>
T trunc_of(T a) {
  return std::trunc(a);
}
template <typename T>
T rint_of(T a) {
  return std::rint(a);
}

#define FLAMBEAU_PLAIN(Name, arguments, ...)               \
  template <typename T>                                    \
  struct Name : None<T> {                                  \
    using None<T>::None;                                   \
    using U [[maybe_unused]] = typename Wrapping<T>::Type; \
    auto operator() arguments const { __VA_ARGS__ }        \
  };
#define FLAMBEAU_NUMBERED(Name, arguments, ...)              \
  template <typename T>                                      \
  struct Name : Numbers<T> {                                 \
    using Numbers<T>::Numbers, Numbers<T>::x, Numbers<T>::y; \
    using U [[maybe_unused]] = typename Wrapping<T>::Type;   \
    auto operator() arguments const { __VA_ARGS__ }          \
  };
#include "flambeau/ops/elementwise/hot_rows.def"
#undef FLAMBEAU_PLAIN
#undef FLAMBEAU_NUMBERED

template <typename T>
Rows rows_of_numbers(Hot loop) {
  switch (loop) {
    case Hot::kAdd:
      return rows_of_two<Add, T>();
    case Hot::kSub:
      return rows_of_two<Sub, T>();
    case Hot::kMul:
      return rows_of_two<Mul, T>();
    case Hot::kMax:
      return rows_of_two<Max, T>();
    case Hot::kMin:
      return rows_of_two<Min, T>();
    case Hot::kAddScaled:
      return &two<AddScaled<T>, T, T, false, false>;
    case Hot::kEq:
      return rows_of_two<Eq, T, uint8_t>();
    case Hot::kNe:
      return rows_of_two<Ne, T, uint8_t>();
    case Hot::kLt:
      return rows_of_two<Lt, T, uint8_t>();
    case Hot::kLe:
      return rows_of_two<Le, T, uint8_t>();
    case Hot::kGt:
      return rows_of_two<Gt, T, uint8_t>();
    case Hot::kGe:
      return rows_of_two<Ge, T, uint8_t>();
    case Hot::kNeg:
      return rows_of_one<Neg, T>();
    case Hot::kAbs:
      return rows_of_one<Abs, T>();
    case Hot::kSquare:
      return rows_of_one<Square, T>();
    case Hot::kSign:
      return rows_of_one<Sign, T>();
    case Hot::kRelu:
      return rows_of_one<Relu, T>();
    case Hot::kClamp:
      return rows_of_one<Clamp, T>();
    case Hot::kThreshold:
      return rows_of_one<Threshold, T>();
    case Hot::kNot:
      return rows_of_test<Not, T>();
    case Hot::kAddProduct:
      return &three<AddProduct<T>, T>;
    default:
      return nullptr;
  }
}

template <typename T>
Rows rows_of_reals(Hot loop) {
  switch (loop) {
    case Hot::kDiv:
      return rows_of_two<Div, T>();
    case Hot::kEluJoin:
      return &two<EluJoin<T>, T, T, false, false>;
    case Hot::kPrelu:
      return rows_of_two<Prelu, T>();
    case Hot::kCube:
      return rows_of_one<Cube, T>();
    case Hot::kReciprocal:
      return rows_of_one<Reciprocal, T>();
    case Hot::kReciprocalSquare:
      return rows_of_one<ReciprocalSquare, T>();
    case Hot::kFloor:
      return rows_of_one<Floor, T>();
    case Hot::kCeil:
      return rows_of_one<Ceil, T>();
    case Hot::kTrunc:
      return rows_of_one<Trunc, T>();
    case Hot::kRound:
      return rows_of_one<Round, T>();
    case Hot::kLeakyRelu:
      return rows_of_one<LeakyRelu, T>();
    case Hot::kHardSwish:
      return rows_of_one<HardSwish, T>();
    case Hot::kHardSigmoid:
      return rows_of_one<HardSigmoid, T>();
    case Hot::kSoftShrink:
      return rows_of_one<SoftShrink, T>();
    case Hot::kHardShrink:
      return rows_of_one<HardShrink, T>();
    case Hot::kIsNan:
      return rows_of_test<IsNan, T>();
    case Hot::kIsInf:
      return rows_of_test<IsInf, T>();
    case Hot::kIsFinite:
      return rows_of_test<IsFinite, T>();
    case Hot::kAddQuotient:
      return &three<AddQuotient<T>, T>;
    case Hot::kLerp:
      return &three<Lerp<T>, T>;
    default:
      return rows_of_numbers<T>(loop);
  }
}

template <typename T>
Rows rows_of_bits(Hot loop) {
  switch (loop) {
    case Hot::kAnd:
      return rows_of_two<And, T>();
    case Hot::kOr:
      return rows_of_two<Or, T>();
    case Hot::kXor:
      return rows_of_two<Xor, T>();
    default:
      return nullptr;
  }
}

Rows rows_of_int32(Hot loop) {
  switch (loop) {
    case Hot::kAdd:
      return rows_of_two<Add, int32_t>();
    case Hot::kSub:
      return rows_of_two<Sub, int32_t>();
    case Hot::kMul:
      return rows_of_two<Mul, int32_t>();
    default:
      return nullptr;
  }
}

Rows rows_of_bfloat16(Hot loop) {
  switch (loop) {
    case Hot::kAdd:
      return &two_of_bfloat16<Add>;
    case Hot::kSub:
      return &two_of_bfloat16<Sub>;
    case Hot::kMul:
      return &two_of_bfloat16<Mul>;
    case Hot::kDiv:
      return &two_of_bfloat16<Div>;
    default:
      return nullptr;
  }
}

}  // namespace

Rows hot_rows(Hot loop, HotType element) {
  const bool is_where = loop == Hot::kWhere;
  switch (element) {
    case HotType::kFloat:
      return is_where ? Rows(&where<float>) : rows_of_reals<float>(loop);
    case HotType::kDouble:
      return is_where ? Rows(&where<double>) : rows_of_reals<double>(loop);
    case HotType::kInt64: {
      const Rows rows = rows_of_numbers<int64_t>(loop);
      return rows.plain != nullptr ? rows : rows_of_bits<int64_t>(loop);
    }
    case HotType::kByte:
      if (is_where) return &where<uint8_t>;
      if (loop == Hot::kNot) return rows_of_test<Not, uint8_t>();
      return rows_of_bits<uint8_t>(loop);
    case HotType::kTwoBytes:
      return is_where ? &where<uint16_t> : nullptr;
    case HotType::kInt32:
      return rows_of_int32(loop);
    case HotType::kBFloat16:
      return rows_of_bfloat16(loop);
    case HotType::kSixteenBytes:
      return is_where ? &where<Sixteen> : nullptr;
  }
  return nullptr;
}

}  // namespace flambeau::ops::FLAMBEAU_ISA
