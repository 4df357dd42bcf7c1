#include "flambeau/ops/strides.h"

#include <fmt/format.h>

#include "flambeau/symbolic/print.h"

namespace flambeau::ops {

void fail_broadcast(const std::string& a, const std::string& b, size_t dim) {
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format(
          "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}", a,
          b, dim));
}

std::string number_text(int64_t number) { return fmt::format("{}", number); }
std::string number_text(const SymInt& number) { return symbolic::to_string(number.expr()); }

size_t wrap_dim(int64_t dim, size_t rank) {
  const auto count = static_cast<int64_t>(rank == 0 ? 1 : rank);
  if (dim < -count || dim >= count) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("Dimension out of range (expected to be in range of [{}, {}], but got {})",
                            -count, count - 1, dim));
  }
  return static_cast<size_t>(dim < 0 ? dim + count : dim);
}

}  // namespace flambeau::ops
