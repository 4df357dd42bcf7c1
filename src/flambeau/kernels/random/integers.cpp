// Random integers and bernoulli numbers.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/kernels/random/fill.h"
#include "flambeau/kernels/random/random.h"

namespace flambeau::kernels {
namespace {

// How many binary digits the significand has.
int digits_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 11;
    case DType::kBFloat16:
      return 8;
    case DType::kFloat32:
      return 24;
    default:
      return 53;
  }
}
int64_t cast_through(DType dtype, int64_t value) {
  const double cast = dtype == DType::kFloat64
                          ? static_cast<double>(value)
                          : static_cast<double>(rounded_to(dtype, static_cast<float>(value)));
  if (cast >= 0x1p63 || cast < -0x1p63) return std::numeric_limits<int64_t>::min();  // as x86 converts
  return static_cast<int64_t>(cast);
}
int exponent_of(int64_t value) {
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(value < 0 ? -value : value))) - 1;
}

struct Limits {
  int64_t least;
  int64_t most;
};
Limits limits_of(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return {0, 1};
    case DType::kUInt8:
      return {0, 255};
    case DType::kInt8:
      return {-128, 127};
    case DType::kInt16:
      return {-32768, 32767};
    case DType::kUInt16:
      return {0, 65535};
    case DType::kInt32:
      return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case DType::kUInt32:
      return {0, std::numeric_limits<uint32_t>::max()};
    case DType::kUInt64:
      return {0, std::numeric_limits<int64_t>::max()};
    default:
      return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
}

[[noreturn]] void bad_range(int64_t from, int64_t to, DType dtype) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("random integers of type {} from {} to below {} were asked for", dtype_name(dtype),
                          from, to),
              "ask for a range that is not empty and that the type can hold");
}

}  // namespace

void random_integers(Generator& generator, int64_t from, std::optional<int64_t> to, DType dtype, void* out,
                     size_t n) {
  require_number("random", dtype);
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  if (!to && from == kLowest) {  // all 2^64
    if (dtype != DType::kInt64 && dtype != DType::kFloat64 && dtype != DType::kFloat32 &&
        dtype != DType::kBFloat16) {
      bad_range(from, std::numeric_limits<int64_t>::max(), dtype);
    }
    fill<int64_t, Compute::kInt64>(dtype, out, n, [&] { return static_cast<int64_t>(generator.random64()); });
    return;
  }
  const bool floating = dtype_info(dtype).is_floating;
  int64_t last = 0;
  if (to) {
    if (from >= *to) bad_range(from, *to, dtype);
    int64_t end = *to;
    if (floating) {  // narrowed, until no number of the range rounds to a bound
      const int64_t second = cast_through(dtype, from + 1);
      if (second < from) from = second + (int64_t{1} << (exponent_of(from + 1) - digits_of(dtype) + 1));
      const int64_t before = cast_through(dtype, end - 1);
      if (before >= end) end = before - (int64_t{1} << (exponent_of(end - 1) - digits_of(dtype) + 1));
      if (from >= end) bad_range(from, end, dtype);
    }
    last = end - 1;
  } else if (floating) {
    last = int64_t{1} << digits_of(dtype);
    const int64_t second = cast_through(dtype, from + 1);
    if (second < from) from = second + (int64_t{1} << (exponent_of(from + 1) - digits_of(dtype) + 1));
    if (from >= last) bad_range(from, last + 1, dtype);
  } else {
    last = limits_of(dtype).most;
  }
  if (floating) {
    const double most = largest_of(dtype);
    if (std::abs(static_cast<double>(from)) > most || std::abs(static_cast<double>(last)) > most) {
      bad_range(from, last, dtype);
    }
  } else {
    const Limits limits = limits_of(dtype);
    if (from < limits.least || from > limits.most || last < limits.least || last > limits.most) {
      bad_range(from, last, dtype);
    }
  }
  const uint64_t range = static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1;
  const auto base = static_cast<uint64_t>(from);
  if (range >= uint64_t{1} << 28) {
    fill<int64_t, Compute::kInt64>(dtype, out, n,
                                   [&] { return static_cast<int64_t>(generator.random64() % range + base); });
  } else {
    const auto small = static_cast<uint32_t>(range);
    fill<int64_t, Compute::kInt64>(dtype, out, n,
                                   [&] { return static_cast<int64_t>(generator.random() % small + base); });
  }
}

void random_integers(Generator& generator, DType dtype, void* out, size_t n) {
  require_number("random", dtype);
  if (dtype == DType::kFloat64 || dtype == DType::kInt64) {
    const uint64_t range = dtype == DType::kInt64 ? uint64_t{1} << 63 : (uint64_t{1} << 53) + 1;
    fill<int64_t, Compute::kInt64>(dtype, out, n,
                                   [&] { return static_cast<int64_t>(generator.random64() % range); });
    return;
  }
  if (dtype == DType::kUInt16 || dtype == DType::kUInt32 || dtype == DType::kUInt64) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("random numbers of type {} have no range of their own", dtype_name(dtype)),
                "say from where to where");
  }
  const uint64_t range = dtype_info(dtype).is_floating ? (uint64_t{1} << digits_of(dtype)) + 1
                                                       : static_cast<uint64_t>(limits_of(dtype).most) + 1;
  fill<int64_t, Compute::kInt64>(dtype, out, n,
                                 [&] { return static_cast<int64_t>(generator.random() % range); });
}

void bernoulli(Generator& generator, double p, DType dtype, void* out, size_t n) {
  require_number("bernoulli", dtype);
  if (!(p >= 0 && p <= 1)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("a probability of {} was given", p),
                "give one from 0 to 1");
  }
  fill<int64_t, Compute::kInt64>(dtype, out, n,
                                 [&] { return static_cast<int64_t>(generator.uniform_double() < p); });
}

void bernoulli(Generator& generator, DType p_dtype, const void* p, DType dtype, void* out, size_t n) {
  require_number("bernoulli", dtype);
  require_floating("bernoulli probabilities:", p_dtype);
  const auto* from = static_cast<const uint8_t*>(p);
  const size_t p_size = dtype_size(p_dtype);
  const size_t size = dtype_size(dtype);
  const bool wide = p_dtype == DType::kFloat64;
  const LoadRow load = load_row(p_dtype);
  const StoreRow store = store_row(Compute::kInt64, dtype);
  auto* to = static_cast<uint8_t*>(out);
  double doubles[kWideBlock];
  float floats[kWideBlock];
  int64_t drawn[kWideBlock];
  while (n != 0) {
    const size_t count = std::min(n, kWideBlock);
    load(from, static_cast<ptrdiff_t>(p_size), count, wide ? static_cast<void*>(doubles) : floats);
    for (size_t i = 0; i < count; ++i) {
      const double chance = wide ? doubles[i] : static_cast<double>(floats[i]);
      if (!(chance >= 0 && chance <= 1)) {
        throw Error(ErrorCode::kInvalidArgument, fmt::format("a probability of {} was given", chance),
                    "give probabilities from 0 to 1");
      }
      drawn[i] = static_cast<int64_t>(wide ? generator.uniform_double() < chance
                                           : generator.uniform_float() < floats[i]);
    }
    store(drawn, count, to, static_cast<ptrdiff_t>(size));
    from += count * p_size;
    to += count * size;
    n -= count;
  }
}

}  // namespace flambeau::kernels
