#include "flambeau/kernels/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/kernels/random_loops.h"
#include "flambeau/tensor/scalar_types.h"
#include "flambeau/tensor/wide_rows.h"

namespace flambeau::kernels {
namespace {

void require_floating(const char* what, DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32:
    case DType::kFloat64:
      return;
    default:
      throw Error(
          ErrorCode::kUnsupported,
          fmt::format(
              "{} numbers of type {} were asked for; there are float16, bfloat16, float32 and float64", what,
              dtype_name(dtype)));
  }
}

void require_number(const char* what, DType dtype) {
  if (wide_kind(dtype) == Wide::kNone || dtype_info(dtype).is_complex ||
      (dtype_info(dtype).is_floating && dtype_size(dtype) == 1)) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} numbers of type {} were asked for; there are integers, "
                            "bool, float16, bfloat16, float32 and float64",
                            what, dtype_name(dtype)));
  }
}

// Draws n numbers of a wide type in order, and stores them as `dtype`.
template <typename T, Wide kWide, typename Draw>
void fill(DType dtype, void* out, size_t n, Draw draw) {
  const StoreRow store = store_row(kWide, dtype);
  const size_t size = dtype_size(dtype);
  auto* to = static_cast<uint8_t*>(out);
  T block[kWideBlock];
  while (n != 0) {
    const size_t count = std::min(n, kWideBlock);
    for (size_t i = 0; i < count; ++i) block[i] = draw();
    store(block, count, to, static_cast<ptrdiff_t>(size));
    to += count * size;
    n -= count;
  }
}
template <typename Draw>
void fill_from_double(DType dtype, void* out, size_t n, Draw draw) {
  fill<double, Wide::kDouble>(dtype, out, n, draw);
}

// What as many calls of uniform_float() give.
void uniform_floats(Generator& generator, float* out, size_t n) {
  uint32_t words[kWideBlock];
  while (n != 0) {
    const size_t count = std::min(n, kWideBlock);
    generator.random(words, count);
    FLAMBEAU_PICK(unit_floats)(words, out, count);
    out += count;
    n -= count;
  }
}

// A float as `dtype` has it.
float rounded_to(DType dtype, float value) {
  if (dtype == DType::kFloat16) return Float16::from_float(value).to_float();
  if (dtype == DType::kBFloat16) return BFloat16::from_float(value).to_float();
  return value;
}

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
double largest_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 65504;
    case DType::kBFloat16:
      return 0x1.fep127;
    case DType::kFloat32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
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

void uniform(Generator& generator, double from, double to, DType dtype, void* out, size_t n) {
  require_floating("uniform", dtype);
  const double largest = largest_of(dtype);
  if (!(from <= to) || from < -largest || to > largest || to - from > largest) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("uniform numbers of type {} from {} to below {} were asked for",
                            dtype_name(dtype), from, to),
                "ask for a range that is not empty and no longer than the largest number of the type");
  }
  if (dtype == DType::kFloat64) {
    fill_from_double(dtype, out, n, [&, width = to - from] {
      const double value = std::fma(generator.uniform_double(), width, from);
      return value == to ? from : value;
    });
    return;
  }
  const auto low = static_cast<float>(from);
  const auto high = static_cast<float>(to);
  const float end = rounded_to(dtype, high);
  const float begin = rounded_to(dtype, low);
  const float width = high - low;
  const StoreRow store = store_row(Wide::kFloat, dtype);
  const size_t size = dtype_size(dtype);
  auto* bytes = static_cast<uint8_t*>(out);
  float block[kWideBlock];
  while (n != 0) {
    const size_t count = std::min(n, kWideBlock);
    uniform_floats(generator, block, count);
    if (dtype != DType::kFloat32 || low != 0 || width != 1) {
      for (size_t i = 0; i < count; ++i) {
        const float value = rounded_to(dtype, std::fma(block[i], width, low));
        block[i] = value == end ? begin : value;  // rounding may reach the end, which is excluded
      }
    }
    store(block, count, bytes, static_cast<ptrdiff_t>(size));
    bytes += count * size;
    n -= count;
  }
}

void normal(Generator& generator, double mean, double deviation, DType dtype, void* out, size_t n,
            bool contiguous) {
  require_floating("normal", dtype);
  if (!(deviation >= 0)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("normal numbers with deviation {} were asked for", deviation),
                "give a deviation that is not negative");
  }
  if (n < 16 || !contiguous) {
    fill_from_double(dtype, out, n, [&] { return std::fma(generator.normal_double(), deviation, mean); });
    return;
  }
  // Blocks of 16; a last one that is not full is drawn anew over the last 16 elements.
  if (dtype == DType::kFloat64) {
    auto* const data = static_cast<double*>(out);
    const auto transform = [&](double* block) {
      for (int i = 0; i < 8; ++i) {
        const double radius = std::sqrt(-2 * std::log(1 - block[i]));
        const double angle = 2 * std::numbers::pi * block[i + 8];
        block[i] = std::fma(radius * std::cos(angle), deviation, mean);
        block[i + 8] = std::fma(radius * std::sin(angle), deviation, mean);
      }
    };
    for (size_t i = 0; i < n; ++i) data[i] = generator.uniform_double();
    for (size_t i = 0; i + 16 <= n; i += 16) transform(data + i);
    if (n % 16 != 0) {
      for (size_t i = n - 16; i < n; ++i) data[i] = generator.uniform_double();
      transform(data + n - 16);
    }
    return;
  }
  const auto blocks_of = FLAMBEAU_PICK(normal_blocks);
  const auto transform = [&](float* data, size_t blocks) {
    blocks_of(data, blocks, static_cast<float>(mean), static_cast<float>(deviation));
  };
  if (dtype == DType::kFloat32) {
    auto* const data = static_cast<float*>(out);
    uniform_floats(generator, data, n);
    transform(data, n / 16);
    if (n % 16 != 0) {
      for (size_t i = n - 16; i < n; ++i) data[i] = generator.uniform_float();
      transform(data + n - 16, 1);
    }
    return;
  }
  // The half types draw each block where float32 draws all numbers first: another order in the last block.
  const StoreRow store = store_row(Wide::kFloat, dtype);
  auto* const to = static_cast<uint8_t*>(out);
  float block[16];
  const auto draw_block = [&](size_t at) {
    for (float& value : block) value = generator.uniform_float();
    transform(block, 1);
    store(block, 16, to + 2 * at, 2);
  };
  for (size_t i = 0; i + 16 <= n; i += 16) draw_block(i);
  if (n % 16 != 0) draw_block(n - 16);
}

void random_integers(Generator& generator, int64_t from, std::optional<int64_t> to, DType dtype, void* out,
                     size_t n) {
  require_number("random", dtype);
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  if (!to && from == kLowest) {  // all 2^64
    if (dtype != DType::kInt64 && dtype != DType::kFloat64 && dtype != DType::kFloat32 &&
        dtype != DType::kBFloat16) {
      bad_range(from, std::numeric_limits<int64_t>::max(), dtype);
    }
    fill<int64_t, Wide::kInt64>(dtype, out, n, [&] { return static_cast<int64_t>(generator.random64()); });
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
    fill<int64_t, Wide::kInt64>(dtype, out, n,
                                [&] { return static_cast<int64_t>(generator.random64() % range + base); });
  } else {
    const auto small = static_cast<uint32_t>(range);
    fill<int64_t, Wide::kInt64>(dtype, out, n,
                                [&] { return static_cast<int64_t>(generator.random() % small + base); });
  }
}

void random_integers(Generator& generator, DType dtype, void* out, size_t n) {
  require_number("random", dtype);
  if (dtype == DType::kFloat64 || dtype == DType::kInt64) {
    const uint64_t range = dtype == DType::kInt64 ? uint64_t{1} << 63 : (uint64_t{1} << 53) + 1;
    fill<int64_t, Wide::kInt64>(dtype, out, n,
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
  fill<int64_t, Wide::kInt64>(dtype, out, n,
                              [&] { return static_cast<int64_t>(generator.random() % range); });
}

void bernoulli(Generator& generator, double p, DType dtype, void* out, size_t n) {
  require_number("bernoulli", dtype);
  if (!(p >= 0 && p <= 1)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("a probability of {} was given", p),
                "give one from 0 to 1");
  }
  fill<int64_t, Wide::kInt64>(dtype, out, n,
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
  const StoreRow store = store_row(Wide::kInt64, dtype);
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

void exponential(Generator& generator, double lambda, DType dtype, void* out, size_t n) {
  require_floating("exponential", dtype);
  fill_from_double(dtype, out, n, [&] { return -1.0 / lambda * std::log1p(-generator.uniform_double()); });
}

void geometric(Generator& generator, double p, DType dtype, void* out, size_t n) {
  require_number("geometric", dtype);
  fill_from_double(dtype, out, n,
                   [&] { return std::ceil(std::log(generator.uniform_double()) / std::log1p(-p)); });
}

void cauchy(Generator& generator, double median, double sigma, DType dtype, void* out, size_t n) {
  require_floating("cauchy", dtype);
  fill_from_double(dtype, out, n, [&] {
    return std::fma(sigma, std::tan(std::numbers::pi * (generator.uniform_double() - 0.5)), median);
  });
}

void log_normal(Generator& generator, double mean, double deviation, DType dtype, void* out, size_t n) {
  require_floating("log-normal", dtype);
  fill_from_double(dtype, out, n,
                   [&] { return std::exp(std::fma(generator.normal_double(), deviation, mean)); });
}

void permutation(Generator& generator, int64_t* out, size_t n) {
  if (n < std::numeric_limits<uint32_t>::max() / 20) {
    for (size_t i = 0; i < n; ++i) out[i] = static_cast<int64_t>(i);
    for (size_t i = 0; i + 1 < n; ++i) std::swap(out[i], out[i + generator.random() % (n - i)]);
    return;
  }
  // Too many for 32 bits to be fair.
  for (size_t i = 0; i < n; ++i) {
    const size_t other = generator.random64() % (i + 1);
    out[i] = static_cast<int64_t>(i);
    out[i] = out[other];
    out[other] = static_cast<int64_t>(i);
  }
}

}  // namespace flambeau::kernels
