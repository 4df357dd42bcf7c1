#include "flambeau/ops/mechanism/promotion.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/tensor/elements/wide_rows.h"

namespace flambeau::ops {
namespace {

bool is_bare_unsigned(DType dtype) {
  return dtype == DType::kUInt16 || dtype == DType::kUInt32 || dtype == DType::kUInt64;
}

bool is_plain_float(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 || dtype == DType::kFloat32 ||
         dtype == DType::kFloat64;
}

[[noreturn]] void refuse(DType a, DType b) {
  throw Error(ErrorCode::kUnsupported,
              fmt::format("there is no promotion of {} and {}", dtype_name(a), dtype_name(b)),
              "convert one of them first");
}

DType promote_floats(DType a, DType b) {
  const size_t size_a = dtype_size(a);
  const size_t size_b = dtype_size(b);
  if (size_a == 2 && size_b == 2) return DType::kFloat32;  // float16 and bfloat16
  return size_a > size_b ? a : b;
}

DType promote_integers(DType a, DType b) {
  if (a == DType::kBool) return b;
  if (b == DType::kBool) return a;
  if (is_bare_unsigned(a) || is_bare_unsigned(b)) refuse(a, b);
  if (a == DType::kUInt8 || b == DType::kUInt8) {
    const DType other = a == DType::kUInt8 ? b : a;
    return other == DType::kInt8 ? DType::kInt16 : other;
  }
  return dtype_size(a) > dtype_size(b) ? a : b;
}

bool is_higher(const std::optional<DType>& dtype) {
  return dtype && (is_floating(*dtype) || is_complex(*dtype));
}

std::optional<DType> combine(const std::optional<DType>& higher, const std::optional<DType>& lower) {
  if (!higher) return lower;
  if (!lower || is_complex(*higher)) return higher;
  if (is_floating(*higher)) return is_complex(*lower) ? to_complex(*higher) : higher;
  if (*higher == DType::kBool || is_higher(lower)) return promote(*higher, *lower);
  return higher;
}

}  // namespace

DType to_complex(DType floating) {
  switch (floating) {
    case DType::kFloat16:
      return DType::kComplex32;
    case DType::kFloat64:
      return DType::kComplex128;
    case DType::kComplex32:
    case DType::kComplex64:
    case DType::kComplex128:
      return floating;
    default:
      return DType::kComplex64;
  }
}

DType to_real(DType complex) { return part_dtype(complex); }

DType promote(DType a, DType b) {
  if (a == b) return a;
  const auto is_plain = [](DType dtype) {
    return is_integral(dtype) || is_plain_float(dtype) || is_complex(dtype);
  };
  if (!is_plain(a) || !is_plain(b) || dtype_info(a).is_quantized || dtype_info(b).is_quantized) refuse(a, b);
  if (is_complex(a) || is_complex(b)) {
    if (is_integral(a)) return b;
    if (is_integral(b)) return a;
    const auto part = [](DType dtype) { return is_complex(dtype) ? to_real(dtype) : dtype; };
    return part(a) == part(b) ? to_complex(part(a)) : to_complex(promote_floats(part(a), part(b)));
  }
  if (is_floating(a) && is_floating(b)) return promote_floats(a, b);
  if (is_floating(a)) return a;
  if (is_floating(b)) return b;
  return promote_integers(a, b);
}

bool can_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating(from) && is_integral(to)) return false;
  return from == DType::kBool || to != DType::kBool;
}

ResultType& ResultType::add(DType dtype, bool is_zero_dim, bool is_wrapped) {
  if (is_wrapped) {
    if (is_floating(dtype)) dtype = kDefaultFloat;
    if (is_complex(dtype)) dtype = kDefaultComplex;
  }
  std::optional<DType>& slot = is_wrapped ? wrapped_ : is_zero_dim ? zero_dim_ : with_dims_;
  slot = slot ? promote(*slot, dtype) : dtype;
  return *this;
}

DType ResultType::get() const {
  return combine(with_dims_, combine(zero_dim_, wrapped_)).value_or(kDefaultFloat);
}

}  // namespace flambeau::ops
