// Where a tensor says it lives: what a file recorded, or a program asks for. Where its bytes are is its
// storage's device, which is the host's unless a backend brought them elsewhere; "meta" means that there are
// none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flambeau {

enum class DeviceType : uint8_t {
  kCpu,
  kCuda,
  kMeta,
  kMps,
  kXpu,
  kHip,
  kXla,
  kHpu,
  kMtia,
  kPrivateUse1,
  kOpenGl,
  kOpenCl,
  kMkldnn,
  kIdeep,
  kVe,
  kFpga,
  kMaia,
  kLazy,
  kVulkan,
  kMetal,
  kIpu,
  kOther,  // a backend registered under a name of its own
};

struct Device {
  DeviceType type = DeviceType::kCpu;
  int16_t index = -1;  // -1: none given

  bool is_meta() const { return type == DeviceType::kMeta; }
  // "cpu", "cuda:0".
  std::string to_string() const;
  bool operator==(const Device&) const = default;
};

// "cpu", "cuda:1"; nothing when it is not of that form. A well-formed but unknown kind gives kOther.
std::optional<Device> parse_device(std::string_view text);

}  // namespace flambeau
