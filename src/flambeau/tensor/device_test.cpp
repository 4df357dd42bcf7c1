#include "flambeau/tensor/device.h"

#include <gtest/gtest.h>

namespace flambeau {
namespace {

TEST(Device, ReadsWhatPyTorchWrites) {
  EXPECT_EQ(parse_device("cpu"), Device{});
  EXPECT_EQ(parse_device("cuda:0"), (Device{DeviceType::kCuda, 0}));
  EXPECT_EQ(parse_device("cuda:12"), (Device{DeviceType::kCuda, 12}));
  EXPECT_EQ(parse_device("mps"), (Device{DeviceType::kMps, -1}));
  EXPECT_TRUE(parse_device("meta")->is_meta());
  EXPECT_EQ(parse_device("privateuseone:1"), (Device{DeviceType::kPrivateUse1, 1}));
}

TEST(Device, RoundTrips) {
  for (const char* text :
       {"cpu", "cuda", "cuda:3", "meta", "xpu:1", "hpu", "mtia", "maia", "vulkan", "xla:0"}) {
    EXPECT_EQ(parse_device(text)->to_string(), text);
  }
}

TEST(Device, KeepsUnknownBackendsApartFromNonsense) {
  EXPECT_EQ(parse_device("npu:2"), (Device{DeviceType::kOther, 2}));
  for (const char* text : {"", ":", ":0", "cuda:", "cuda:-1", "cuda:x", "cuda:1x", "cuda:99999", "CUDA",
                           "c u", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    EXPECT_FALSE(parse_device(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace flambeau
