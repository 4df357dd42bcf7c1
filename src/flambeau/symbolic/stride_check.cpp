#include "flambeau/symbolic/stride_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/node.h"

namespace flambeau::symbolic {

std::optional<Number> is_non_overlapping_and_dense(std::span<const Number> args) {
  const size_t rank = args.size() / 2;
  std::vector<std::pair<int64_t, int64_t>> dimensions;  // stride, size
  for (size_t i = 0; i < rank; ++i) {
    if (!args[i].is_integer() || !args[rank + i].is_integer()) return std::nullopt;
    dimensions.emplace_back(args[rank + i].numerator(), args[i].numerator());
  }
  if (rank == 1) return Number(dimensions[0].first == 1 || dimensions[0].second < 2 ? 1 : 0);
  std::stable_sort(dimensions.begin(), dimensions.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Number expected(1);
  for (const auto& [stride, size] : dimensions) {
    if (size == 1) continue;
    if (!expected.is(stride)) return Number(0);
    expected = multiply(expected, Number(size));
  }
  return Number(1);
}

Expr non_overlapping_and_dense_indicator(std::vector<Expr> args) {
  const std::string_view name = kind_info(Kind::kIsNonOverlappingAndDense).name;
  if (args.size() % 2 != 0)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} has {} arguments, but takes as many sizes as strides", name, args.size()));
  const size_t rank = args.size() / 2;
  if (rank == 1) {
    if (args[1].is(1)) return Expr(1);
    if (args[0].is_number() && compare(args[0].number(), Number(2)) < 0) return Expr(1);
  }
  // The size at the largest stride does not matter.
  std::vector<Number> numbers;
  size_t largest = 0;
  for (size_t i = 0; i < rank; ++i) {
    const Expr& stride = args[rank + i];
    if (!stride.is_integer()) return make_node(Kind::kIsNonOverlappingAndDense, std::move(args));
    if (stride.integer() >= args[rank + largest].integer()) largest = i;
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].is_integer() && i != largest)
      return make_node(Kind::kIsNonOverlappingAndDense, std::move(args));
    numbers.push_back(args[i].is_integer() ? args[i].number() : Number(42));
  }
  return Expr(*is_non_overlapping_and_dense(numbers));
}

}  // namespace flambeau::symbolic
