#include "flambeau/tensor/device.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace flambeau {
namespace {

constexpr std::array<std::string_view, 22> kNames = {
    "cpu",    "cuda",   "meta",  "mps", "xpu",  "hip",  "xla",  "hpu",    "mtia",  "privateuseone", "opengl",
    "opencl", "mkldnn", "ideep", "ve",  "fpga", "maia", "lazy", "vulkan", "metal", "ipu",           "other"};

}  // namespace

std::string Device::to_string() const {
  std::string text(kNames[static_cast<size_t>(type)]);
  if (index >= 0) text += ':' + std::to_string(index);
  return text;
}

std::optional<Device> parse_device(std::string_view text) {
  Device device;
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  if (kind.empty() || kind.size() > 32 ||
      !std::all_of(kind.begin(), kind.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; })) {
    return std::nullopt;
  }
  const auto* found = std::find(kNames.begin(), kNames.end(), kind);
  device.type = found == kNames.end() ? DeviceType::kOther : static_cast<DeviceType>(found - kNames.begin());
  if (colon != std::string_view::npos) {
    const std::string_view number = text.substr(colon + 1);
    int16_t index = 0;
    const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), index);
    if (status != std::errc() || end != number.data() + number.size() || index < 0) return std::nullopt;
    device.index = index;
  }
  return device;
}

}  // namespace flambeau
