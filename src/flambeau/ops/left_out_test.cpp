#include "flambeau/ops/left_out.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/mechanism/library.h"

namespace flambeau::ops {
namespace {

TEST(LeftOut, WhatABuildLacksNamesItsOption) {
  const Library library;
  const std::pair<const char*, const char*> kinds[] = {
      {"aten::fft_fft", "FLAMBEAU_FFT"},           {"aten::stft.center", "FLAMBEAU_FFT"},
      {"aten::linalg_qr", "FLAMBEAU_LINALG"},      {"aten::inverse", "FLAMBEAU_LINALG"},
      {"quantized::linear", "FLAMBEAU_QUANTIZED"}, {"aten::quantize_per_tensor", "FLAMBEAU_QUANTIZED"},
  };
  for (const auto& [name, option] : kinds) {
    if (option_left_out(name).empty()) {
      EXPECT_NO_THROW(library.get(name)) << name;
      continue;
    }
    EXPECT_EQ(option_left_out(name), option) << name;
    try {
      library.get(name);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
      EXPECT_EQ(error.remedy(), std::string("build it with -D") + option + "=ON");
    }
  }
}

TEST(LeftOut, WhatNobodyHasIsNotLeftOut) {
  EXPECT_EQ(option_left_out(""), "");
  EXPECT_EQ(option_left_out("aten::add.Tensor"), "");
  EXPECT_EQ(option_left_out("my::own"), "");
}

}  // namespace
}  // namespace flambeau::ops
