// Elements that meet others of the same type: replaced, added, multiplied, or the larger or smaller of both.
#include <complex>
#include <cstring>

#include "flambeau/base/wrapping.h"
#include "flambeau/ops/elementwise/hot_rows.h"
#include "flambeau/ops/engines/indexing.h"
#include "flambeau/ops/engines/rows.h"
#include "flambeau/tensor/elements/element_types.h"

namespace flambeau::ops {
namespace {

template <size_t kSize>
void replace(uint8_t* to, int64_t to_step, const uint8_t* from, int64_t from_step, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(to, from, kSize);
    to += to_step;
    from += from_step;
  }
}

template <Combine kCombine, typename T>
T meet(T a, T b) {
  if constexpr (kCombine == Combine::kAdd) {
    return wrapping_add(a, b);
  } else if constexpr (kCombine == Combine::kMultiply) {
    return wrapping_multiply(a, b);
  } else if constexpr (kCombine == Combine::kLargest) {
    return b > a || b != b ? b : a;
  } else {
    return b < a || b != b ? b : a;
  }
}

template <Combine kCombine, typename T>
void combine_elements(uint8_t* to, int64_t to_step, const uint8_t* from, int64_t from_step, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    T a;
    T b;
    std::memcpy(&a, to, sizeof(T));
    std::memcpy(&b, from, sizeof(T));
    if constexpr (std::is_same_v<T, BoolByte>) {
      a.bits = kCombine == Combine::kAdd || kCombine == Combine::kLargest
                   ? static_cast<uint8_t>((a.bits | b.bits) != 0)
                   : static_cast<uint8_t>(a.bits != 0 && b.bits != 0);
    } else if constexpr (kIsSmallFloat<T>) {
      a = T::from_float(meet<kCombine, float>(a.to_float(), b.to_float()));
    } else {
      a = meet<kCombine, T>(a, b);
    }
    std::memcpy(to, &a, sizeof(T));
    to += to_step;
    from += from_step;
  }
}

// Rows that lie packed have a loop for each level of the instruction set.
template <typename T, HotType kType>
void add_real(uint8_t* to, int64_t to_step, const uint8_t* from, int64_t from_step, size_t count) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  constexpr size_t kFew = 8;
  if (count < kFew || to_step != kSize || from_step != kSize)
    return combine_elements<Combine::kAdd, T>(to, to_step, from, from_step, count);
  static const Row add = hot_rows(Hot::kAdd, kType).plain;
  const void* const in[] = {to, from};
  void* const out[] = {to};
  add(in, out, count, nullptr);
}

// Computed in single precision.
template <Combine kCombine>
void combine_half_complex(uint8_t* to, int64_t to_step, const uint8_t* from, int64_t from_step,
                          size_t count) {
  const auto load = [](const uint8_t* at) {
    Float16 parts[2];
    std::memcpy(parts, at, sizeof(parts));
    return std::complex<float>(parts[0].to_float(), parts[1].to_float());
  };
  for (size_t i = 0; i < count; ++i) {
    const std::complex<float> met = meet<kCombine, std::complex<float>>(load(to), load(from));
    const Float16 parts[2] = {Float16::from_float(met.real()), Float16::from_float(met.imag())};
    std::memcpy(to, parts, sizeof(parts));
    to += to_step;
    from += from_step;
  }
}

template <Combine kCombine>
CombineRow find(DType dtype) {
  if constexpr (kCombine == Combine::kAdd) {
    if (dtype == DType::kFloat32) return add_real<float, HotType::kFloat>;
    if (dtype == DType::kFloat64) return add_real<double, HotType::kDouble>;
  }
  if constexpr (kCombine == Combine::kAdd || kCombine == Combine::kMultiply) {
    if (dtype == DType::kComplex32) return combine_half_complex<kCombine>;
    if (dtype == DType::kComplex64) return combine_elements<kCombine, std::complex<float>>;
    if (dtype == DType::kComplex128) return combine_elements<kCombine, std::complex<double>>;
  }
  return with_element_type<CombineRow>(
      dtype, nullptr, []<typename T>(T) -> CombineRow { return combine_elements<kCombine, T>; });
}

}  // namespace

CombineRow combine_row(Combine combine, DType dtype) {
  CombineRow row = nullptr;
  switch (combine) {
    case Combine::kReplace:
      switch (dtype_size(dtype)) {
        case 1:
          return replace<1>;
        case 2:
          return replace<2>;
        case 4:
          return replace<4>;
        case 8:
          return replace<8>;
        default:
          return replace<16>;
      }
    case Combine::kAdd:
      row = find<Combine::kAdd>(dtype);
      break;
    case Combine::kMultiply:
      row = find<Combine::kMultiply>(dtype);
      break;
    case Combine::kLargest:
      row = find<Combine::kLargest>(dtype);
      break;
    case Combine::kSmallest:
      row = find<Combine::kSmallest>(dtype);
      break;
  }
  if (row == nullptr) fail_dtype("index_put", dtype);
  return row;
}

}  // namespace flambeau::ops
