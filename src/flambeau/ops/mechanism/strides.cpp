#include "flambeau/ops/mechanism/strides.h"

#include <fmt/format.h>

#include "flambeau/symbolic/text/print.h"

namespace flambeau::ops {

void fail_broadcast(const std::string& a, const std::string& b, size_t dim) {
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format(
          "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}", a,
          b, dim));
}

void require_broadcast(std::span<const int64_t> sizes, std::span<const int64_t> wanted) {
  if (sizes.size() > wanted.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a tensor of {} dimensions does not broadcast to {} dimensions", sizes.size(),
                            wanted.size()));
  }
  const size_t shift = wanted.size() - sizes.size();
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == wanted[d + shift] || sizes[d] == 1) continue;
    fail_broadcast(number_text(wanted[d + shift]), number_text(sizes[d]), d + shift);
  }
}

void require_rank_of(MemoryFormat format, size_t rank) {
  const size_t wanted = format == MemoryFormat::kChannelsLast     ? 4
                        : format == MemoryFormat::kChannelsLast3d ? 5
                                                                  : rank;
  if (rank == wanted) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("required rank {} tensor to use {} format", wanted, memory_format_name(format)));
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
