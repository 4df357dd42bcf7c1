#include "flambeau/kernels/random/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "flambeau/base/error.h"
#include "flambeau/base/work.h"
#include "flambeau/kernels/random/fill.h"
#include "flambeau/kernels/random/loops.h"

namespace flambeau::kernels {

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
  if (!is_plain(dtype) || dtype_info(dtype).is_complex ||
      (dtype_info(dtype).is_floating && dtype_size(dtype) == 1)) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} numbers of type {} were asked for; there are integers, "
                            "bool, float16, bfloat16, float32 and float64",
                            what, dtype_name(dtype)));
  }
}

namespace {

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
  const StoreRow store = store_row(Compute::kFloat, dtype);
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
  const StoreRow store = store_row(Compute::kFloat, dtype);
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
  WorkPoller poll;
  if (n < std::numeric_limits<uint32_t>::max() / 20) {
    for (size_t i = 0; i < n; ++i) out[i] = static_cast<int64_t>(i);
    for (size_t i = 0; i + 1 < n; ++i) {
      poll();
      std::swap(out[i], out[i + generator.random() % (n - i)]);
    }
    return;
  }
  // Too many for 32 bits to be fair.
  for (size_t i = 0; i < n; ++i) {
    poll();
    const size_t other = generator.random64() % (i + 1);
    out[i] = static_cast<int64_t>(i);
    out[i] = out[other];
    out[other] = static_cast<int64_t>(i);
  }
}

}  // namespace flambeau::kernels
