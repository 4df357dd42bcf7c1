// What interpolate() and upsample() were before they were written in Python: files of that time call them.
#include <cmath>

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/builtins/tensors.h"

namespace flambeau::interpreter {
namespace {

using Tag = IValue::Tag;

[[noreturn]] void fail_mode(size_t rank, const std::string& mode) {
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("a tensor of {} dimensions cannot be resized in mode '{}'", rank, printable(mode)),
      "linear takes 3 dimensions, bilinear and bicubic 4, trilinear 5, nearest and area any of these");
}

// One factor for each dimension; none where no factors are given.
std::vector<double> factors_of(const IValue& factors, size_t count) {
  if (factors.is_none()) return {};
  std::vector<double> each(count, 0.0);
  for (size_t i = 0; i < count; ++i) {
    const IValue& factor =
        factors.is(Tag::kList) ? factors.items().at(std::min(i, factors.items().size() - 1)) : factors;
    each[i] = float_of(factor);
  }
  return each;
}

Dims sizes_of(const Tensor& input, const IValue& size, const std::vector<double>& factors) {
  const size_t count = input.dim() - 2;
  if (size.is(Tag::kInt)) return Dims(count, size.as_int());
  Dims sizes;
  if (size.is(Tag::kList)) {
    for (const IValue& item : size.items()) sizes.push_back(item.as_int());
    return sizes;
  }
  if (factors.empty())
    throw Error(ErrorCode::kInvalidArgument, "either size or scale_factor should be defined");
  for (size_t i = 0; i < count; ++i)
    sizes.push_back(whole(std::floor(static_cast<double>(input.sizes()[i + 2]) * factors[i])));
  return sizes;
}

Tensor resized(Call& call, const Tensor& input, const IValue& size, const IValue& scale,
               const std::string& mode, std::optional<bool> align_corners, std::optional<bool> recomputes) {
  const size_t rank = input.dim();
  if (rank < 3 || rank > 5) fail_mode(rank, mode);
  const bool is_plain = mode == "nearest" || mode == "area";
  if (is_plain && align_corners) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic "
        "| trilinear");
  }
  if (scale.is(Tag::kList) && scale.items().empty())
    throw Error(ErrorCode::kInvalidArgument, "scale_factor has no factors");
  const std::vector<double> factors = factors_of(scale, rank - 2);
  const Dims sizes = sizes_of(input, size, factors);
  std::vector<Value> arguments = {input, sizes};
  if (mode == "area") {
    static constexpr std::string_view kPools[] = {"aten::adaptive_avg_pool1d", "aten::adaptive_avg_pool2d",
                                                  "aten::adaptive_avg_pool3d"};
    return call_tensor(call, kPools[rank - 3], arguments);
  }
  std::string_view name;
  if (mode == "nearest") {
    static constexpr std::string_view kNearest[] = {"aten::upsample_nearest1d", "aten::upsample_nearest2d",
                                                    "aten::upsample_nearest3d"};
    name = kNearest[rank - 3];
  } else if (mode == "linear" && rank == 3) {
    name = "aten::upsample_linear1d";
  } else if (mode == "bilinear" && rank == 4) {
    name = "aten::upsample_bilinear2d";
  } else if (mode == "bicubic" && rank == 4) {
    name = "aten::upsample_bicubic2d";
  } else if (mode == "trilinear" && rank == 5) {
    name = "aten::upsample_trilinear3d";
  } else {
    fail_mode(rank, mode);
  }
  if (!is_plain) arguments.emplace_back(align_corners.value_or(false));
  // The given factors count only where they are not to be computed again from the sizes, which is the
  // default.
  if (!recomputes.value_or(true)) {
    for (const double factor : factors) arguments.emplace_back(factor);
  }
  return call_tensor(call, name, arguments);
}

}  // namespace

void define_resizing(Builtins& builtins) {
  const Definer define(builtins);
  define({"aten::__interpolate", "aten::__interpolate.scale_list", "aten::__interpolate.size_list",
          "aten::__interpolate.size_list_scale_list"},
         [](Call& call, const Tensor& input, const IValue& size, const IValue& scale, const std::string& mode,
            std::optional<bool> align_corners, std::optional<bool> recomputes,
            bool) { return resized(call, input, size, scale, mode, align_corners, recomputes); });
  define({"aten::__upsample", "aten::__upsample.size_list"},
         [](Call& call, const Tensor& input, const IValue& size, const IValue& scale, const std::string& mode,
            std::optional<bool> align_corners) {
           return resized(call, input, size, scale, mode, align_corners, {});
         });
  define({"aten::__upsample_nearest", "aten::__upsample_nearest.size_list"},
         [](Call& call, const Tensor& input, const IValue& size, const IValue& scale) {
           return resized(call, input, size, scale, "nearest", {}, {});
         });
  define({"aten::__upsample_bilinear", "aten::__upsample_bilinear.scale_list",
          "aten::__upsample_bilinear.size_list", "aten::__upsample_bilinear.size_list_scale_list"},
         [](Call& call, const Tensor& input, const IValue& size, const IValue& scale) {
           return resized(call, input, size, scale, "bilinear", true, {});
         });
}

}  // namespace flambeau::interpreter
