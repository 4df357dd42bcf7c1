#include "flambeau/nn/functional/upsampling.h"

#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"

namespace flambeau::nn {

namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& remedy = {}) {
  throw Error(ErrorCode::kInvalidArgument, what, remedy);
}

// One for all, or one each.
template <typename T>
std::vector<T> for_each_dimension(const std::vector<T>& given, size_t count) {
  if (given.size() == 1) return std::vector<T>(count, given[0]);
  if (given.size() != count)
    refuse(fmt::format("{} numbers are given to resize {} dimensions", given.size(), count));
  return given;
}

Sizes scaled_sizes(const Tensor& x, const std::vector<double>& factors) {
  Sizes sizes;
  for (size_t d = 0; d < factors.size(); ++d) {
    const SymInt from = size(x, static_cast<int64_t>(d + 2));
    if (!from.is_literal())
      refuse("the size of a resized image cannot be computed from a size that is not known",
             "give its size instead of factors");
    sizes.emplace_back(static_cast<int64_t>(std::floor(static_cast<double>(from.literal()) * factors[d])));
  }
  return sizes;
}

}  // namespace

Tensor interpolate(Input x, const Interpolation& how) {
  const auto spatial = static_cast<size_t>(std::max<int64_t>(dim(x.tensor) - 2, 0));
  if (spatial < 1 || spatial > 3) refuse(fmt::format("an image of {} dimensions cannot be resized", spatial));
  if (how.size.has_value() == how.scale_factor.has_value())
    refuse("give either the size or the scale_factor of the result");
  std::optional<Sizes> sizes;
  std::optional<std::vector<double>> factors;
  if (how.size) {
    sizes = for_each_dimension(*how.size, spatial);
  } else {
    factors = for_each_dimension(*how.scale_factor, spatial);
  }
  if (factors && (how.recompute_scale_factor || how.mode == "area")) {
    sizes = scaled_sizes(x.tensor, *factors);
    factors.reset();
  }
  if (how.mode == "area")
    return call(x, fmt::format("aten::adaptive_avg_pool{}d", spatial), {x.tensor, ints_value(*sizes)});
  const Value size_value = sizes ? ints_value(*sizes) : Value();
  if (how.mode == "nearest" || how.mode == "nearest-exact") {
    const char* const kind = how.mode == "nearest" ? "upsample_nearest" : "_upsample_nearest_exact";
    return call(x, fmt::format("aten::{}{}d.vec", kind, spatial), {x.tensor, size_value, factors});
  }
  static constexpr const char* kLinear[] = {"linear", "bilinear", "trilinear"};
  if (how.mode != kLinear[spatial - 1] && !(how.mode == "bicubic" && spatial == 2))
    refuse(fmt::format("an image of {} dimensions cannot be resized as '{}'", spatial, printable(how.mode)));
  const bool corners = how.align_corners.value_or(false);
  return call(x,
              fmt::format("aten::{}upsample_{}{}d{}.vec", how.antialias ? "_" : "", how.mode, spatial,
                          how.antialias ? "_aa" : ""),
              {x.tensor, size_value, corners, factors});
}

}  // namespace flambeau::nn
