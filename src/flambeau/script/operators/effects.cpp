#include "flambeau/script/operators/effects.h"

#include <algorithm>
#include <array>

namespace flambeau::script {

namespace {

// Sorted.
constexpr std::array<std::string_view, 17> kEffects = {
    "aten::_get_cpu_capability",
    "aten::backward",
    "aten::get_autocast_dtype",
    "aten::is_autocast_cpu_enabled",
    "aten::is_autocast_enabled",
    "aten::is_grad_enabled",
    "aten::manual_seed",
    "aten::save",
    "aten::set_grad_enabled",
    "aten::wait",
    "aten::warn",
    "cuda::_current_device",
    "cuda::_set_device",
    "cuda::set_stream",
    "cuda::synchronize",
    "prim::AddStatValue",
    "prim::TimePoint",
};

}  // namespace

bool has_side_effects(const OperatorName& name) {
  return std::ranges::binary_search(kEffects, std::string_view(name.name));
}

bool sees_memory_order(const OperatorName& name) {
  constexpr std::array<std::string_view, 6> kNames = {
      "aten::stride",        "aten::sym_stride",        "aten::is_non_overlapping_and_dense",
      "aten::is_contiguous", "aten::sym_is_contiguous", "aten::is_strides_like_format"};
  return std::ranges::find(kNames, std::string_view(name.name)) != kNames.end();
}

bool is_warning(const OperatorName& name) { return name.name == "aten::warn"; }

}  // namespace flambeau::script
