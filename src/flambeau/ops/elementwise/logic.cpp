// Logic of truth values, and of the bits of integers.
#include "flambeau/base/error.h"
#include "flambeau/ops/elementwise/kernels.h"

namespace flambeau::ops {
namespace {

// ---- truth values: every argument is taken as bool

Body truth(std::string_view name, Hot loop) {
  Body body;
  body.name = name;
  body.rows = hot_rows(loop, HotType::kByte);
  body.row = DType::kBool;
  body.code = hot_code(loop);
  return body;
}
Input as_truth(const Tensor& tensor) { return {&tensor, DType::kBool, DType::kBool}; }
Input as_truth(const Scalar& number) { return {number, DType::kBool, DType::kBool}; }

template <Hot kLoop, typename First, typename Second>
Body truth_of_two(const First& self, const Second& other) {
  Body body = truth(kLoop == Hot::kAnd  ? "logical_and"
                    : kLoop == Hot::kOr ? "logical_or"
                                        : "logical_xor",
                    kLoop);
  body.add(as_truth(self));
  body.add(as_truth(other));
  return body;
}
template <Hot kLoop>
Body logical(const Tensor& self, const Tensor& other, const Tensor&) {
  return truth_of_two<kLoop>(self, other);
}
Body logical_not(const Tensor& self, const Tensor&) {
  Body body = truth("logical_not", Hot::kNot);
  body.add(as_truth(self));
  return body;
}

// ---- bits

template <Hot kLoop>
struct Bits {
  static constexpr std::string_view kName = kLoop == Hot::kAnd  ? "bitwise_and"
                                            : kLoop == Hot::kOr ? "bitwise_or"
                                                                : "bitwise_xor";
  static constexpr Hot kHot = kLoop;
  uint64_t operator()(uint64_t a, uint64_t b) const {
    if constexpr (kLoop == Hot::kAnd) return a & b;
    if constexpr (kLoop == Hot::kOr) return a | b;
    return a ^ b;
  }
};

template <Hot kLoop, typename First, typename Second>
Body bits_of_two(const First& self, const Second& other, const Tensor& out) {
  using F = Bits<kLoop>;
  if (out.dtype() == DType::kBool) return truth_of_two<kLoop>(self, other);
  if (!is_integral(out.dtype())) fail_dtype(F::kName, out.dtype());
  return body_of(F::kName, F{}, out.dtype(), out, self, other);
}
template <Hot kLoop>
Body bits(const Tensor& self, const Tensor& other, const Tensor& out) {
  return bits_of_two<kLoop>(self, other, out);
}
template <Hot kLoop>
Body bits_number(const Tensor& self, Scalar other, const Tensor& out) {
  return bits_of_two<kLoop>(self, other, out);
}
template <Hot kLoop>
Body number_bits(Scalar self, const Tensor& other, const Tensor& out) {
  return bits_of_two<kLoop>(self, other, out);
}

struct Complement {
  static constexpr std::string_view kName = "bitwise_not";
  template <IntegerNumber T>
  T operator()(T a) const {
    return ~a;
  }
};
Body bitwise_not(const Tensor& self, const Tensor& out) {
  if (self.dtype() == DType::kBool) return logical_not(self, out);
  return unary<Complement>(self, out);
}

// Shifts by the width of the type or more, or by less than nothing, leave no bit of the number but its sign.
struct LeftShift {
  static constexpr std::string_view kName = "lshift";
  static constexpr bool kTakesBool = false;
  int64_t width;
  template <IntegerNumber T>
  T operator()(T a, T b) const {
    const auto by = static_cast<uint64_t>(b);
    return by >= static_cast<uint64_t>(width) ? T(0) : static_cast<T>(static_cast<uint64_t>(a) << by);
  }
};
struct RightShift {
  static constexpr std::string_view kName = "rshift";
  static constexpr bool kTakesBool = false;
  int64_t width;
  template <IntegerNumber T>
  T operator()(T a, T b) const {
    const auto most = static_cast<uint64_t>(width - (std::is_signed_v<T> ? 1 : 0));
    const auto by = static_cast<uint64_t>(b);
    if (by >= most) return std::is_signed_v<T> ? static_cast<T>(a >> 63) : T(0);
    return a >> by;
  }
};

template <typename F, typename First, typename Second>
Body shift_of_two(const First& self, const Second& other, const Tensor& out) {
  const auto width = static_cast<int64_t>(8 * dtype_size(out.dtype()));
  return body_of(F::kName, F{.width = width}, out.dtype(), out, self, other);
}
template <typename F>
Body shift(const Tensor& self, const Tensor& other, const Tensor& out) {
  return shift_of_two<F>(self, other, out);
}
template <typename F>
Body shift_number(const Tensor& self, Scalar other, const Tensor& out) {
  return shift_of_two<F>(self, other, out);
}
template <typename F>
Body number_shift(Scalar self, const Tensor& other, const Tensor& out) {
  return shift_of_two<F>(self, other, out);
}

#define FLAMBEAU_BITS(name, underscored, loop)                                                               \
  elementwise<PromotedType, bits<loop>>(library,                                                             \
                                        "aten::" name ".Tensor(Tensor self, Tensor other) -> Tensor");       \
  elementwise<NumberType, bits_number<loop>>(library,                                                        \
                                             "aten::" name ".Scalar(Tensor self, Scalar other) -> Tensor");  \
  elementwise<NumberType, number_bits<loop>>(                                                                \
      library, "aten::" name ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor");                         \
  elementwise<PromotedType, bits<loop>>(library,                                                             \
                                        "aten::" underscored ".Tensor(Tensor self, Tensor other) -> Tensor") \
      .alias("aten::" name ".Tensor");                                                                       \
  elementwise<NumberType, bits_number<loop>>(                                                                \
      library, "aten::" underscored ".Scalar(Tensor self, Scalar other) -> Tensor")                          \
      .alias("aten::" name ".Scalar")

#define FLAMBEAU_SHIFT(name, underscored, F)                                                                \
  elementwise<PromotedType, shift<F>>(library,                                                              \
                                      "aten::" name ".Tensor(Tensor self, Tensor other) -> Tensor");        \
  elementwise<NumberType, shift_number<F>>(                                                                 \
      library, "aten::" name ".Tensor_Scalar(Tensor self, Scalar other) -> Tensor");                        \
  elementwise<NumberType, number_shift<F>>(                                                                 \
      library, "aten::" name ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor");                        \
  elementwise<PromotedType, shift<F>>(library,                                                              \
                                      "aten::" underscored ".Tensor(Tensor self, Tensor other) -> Tensor"); \
  elementwise<NumberType, shift_number<F>>(                                                                 \
      library, "aten::" underscored ".Scalar(Tensor self, Scalar other) -> Tensor")

}  // namespace

void define_logic(Library& library) {
  elementwise<BoolType, logical<Hot::kAnd>>(library,
                                            "aten::logical_and(Tensor self, Tensor other) -> Tensor");
  elementwise<BoolType, logical<Hot::kOr>>(library, "aten::logical_or(Tensor self, Tensor other) -> Tensor");
  elementwise<BoolType, logical<Hot::kXor>>(library,
                                            "aten::logical_xor(Tensor self, Tensor other) -> Tensor");
  elementwise<BoolType, logical_not>(library, "aten::logical_not(Tensor self) -> Tensor");
  elementwise<SameType, bitwise_not>(library, "aten::bitwise_not(Tensor self) -> Tensor");
  FLAMBEAU_BITS("bitwise_and", "__and__", Hot::kAnd);
  FLAMBEAU_BITS("bitwise_or", "__or__", Hot::kOr);
  FLAMBEAU_BITS("bitwise_xor", "__xor__", Hot::kXor);
  FLAMBEAU_SHIFT("bitwise_left_shift", "__lshift__", LeftShift);
  FLAMBEAU_SHIFT("bitwise_right_shift", "__rshift__", RightShift);
}

}  // namespace flambeau::ops
