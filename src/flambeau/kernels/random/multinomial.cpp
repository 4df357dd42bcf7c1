// Draws from a distribution over categories.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/work.h"
#include "flambeau/kernels/random/random.h"
#include "flambeau/kernels/sort.h"
#include "flambeau/tensor/elements/wide_rows.h"

namespace flambeau::kernels {
namespace {

[[noreturn]] void bad_weights(const char* what) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("multinomial weights {}", what),
              "give weights that are finite and not negative, with at least one that is not 0");
}

template <typename T>
void check(const std::vector<T>& weights) {
  T sum = 0;
  for (const T weight : weights) {
    if (!(weight >= 0)) bad_weights("contain a negative number or NaN");
    if (!std::isfinite(weight)) bad_weights("contain infinity");
    sum += weight;
  }
  if (!(sum > 0)) bad_weights("are all 0");
}

// Each draw finds its place in the cumulative sums, computed in T.
template <typename T>
void draw_again(Generator& generator, std::vector<T>& sums, size_t samples, int64_t* out) {
  T sum = 0;
  for (T& weight : sums) weight = sum += weight;
  for (T& weight : sums) weight /= sum;
  sums.back() = 1;
  for (size_t i = 0; i < samples; ++i) {
    const double place = generator.uniform_double();
    const auto found = std::partition_point(sums.begin(), sums.end(),
                                            [&](T edge) { return static_cast<double>(edge) < place; });
    out[i] = found - sums.begin();
  }
}

template <typename T>
void draw(Generator& generator, DType dtype, const void* weights, size_t rows, size_t categories,
          size_t samples, bool with_replacement, int64_t* out) {
  const LoadRow load = load_row(dtype);
  const size_t size = dtype_size(dtype);
  const auto* from = static_cast<const uint8_t*>(weights);
  std::vector<T> row(categories);
  if (with_replacement && samples != 1) {
    for (size_t i = 0; i < rows; ++i, from += categories * size, out += samples) {
      load(from, static_cast<ptrdiff_t>(size), categories, row.data());
      check(row);
      draw_again(generator, row, samples, out);
    }
    return;
  }
  // The categories with the largest weight / Exp(1); all in the weights' own type.
  const StoreRow store = store_row(dtype == DType::kFloat64 ? Compute::kDouble : Compute::kFloat, dtype);
  ScratchVector<uint8_t> rounded(categories * size);
  for (size_t i = 0; i < rows; ++i) {
    load(from + i * categories * size, static_cast<ptrdiff_t>(size), categories, row.data());
    check(row);
  }
  std::vector<T> exponentials(categories);
  for (size_t i = 0; i < rows; ++i, from += categories * size, out += samples) {
    load(from, static_cast<ptrdiff_t>(size), categories, row.data());
    exponential(generator, 1.0, dtype, rounded.data(), categories);
    load(rounded.data(), static_cast<ptrdiff_t>(size), categories, exponentials.data());
    for (size_t j = 0; j < categories; ++j) exponentials[j] = row[j] / exponentials[j];
    store(exponentials.data(), categories, rounded.data(), static_cast<ptrdiff_t>(size));
    load(rounded.data(), static_cast<ptrdiff_t>(size), categories, exponentials.data());
    if (samples == 1) {
      *out = std::max_element(exponentials.begin(), exponentials.end()) - exponentials.begin();
    } else {
      top_k_row(exponentials.data(), categories, samples, true, true, out);
    }
  }
}

}  // namespace

void multinomial(Generator& generator, DType dtype, const void* weights, size_t rows, size_t categories,
                 size_t samples, bool with_replacement, int64_t* out) {
  if (categories == 0 || samples == 0 || (!with_replacement && samples > categories)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} draws {} replacement from {} categories were asked for", samples,
                            with_replacement ? "with" : "without", categories),
                "ask for at least one draw, and without replacement for no more than there are categories");
  }
  switch (dtype) {
    case DType::kFloat64:
      return draw<double>(generator, dtype, weights, rows, categories, samples, with_replacement, out);
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32:
      return draw<float>(generator, dtype, weights, rows, categories, samples, with_replacement, out);
    default:
      throw Error(
          ErrorCode::kUnsupported,
          fmt::format("multinomial weights of type {}; there are float16, bfloat16, float32 and float64",
                      dtype_name(dtype)));
  }
}

}  // namespace flambeau::kernels
