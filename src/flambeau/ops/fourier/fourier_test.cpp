// Transforms as operators: sizes and strides, what is refused and in which words, and hostile numbers.
#include <gtest/gtest.h>

#include "flambeau/base/error.h"
#include "flambeau/ops/dense/test_tensors.h"
#include "flambeau/ops/mechanism/call.h"

namespace flambeau::ops {
namespace {

struct Fourier : OperatorTest {};
struct FourierRefusals : OperatorTest {};

TEST_F(Fourier, GivesHalfOfARealSignal) {
  const Tensor spectrum = run("aten::fft_rfft", floats({4}, {1, 2, 3, 5}));
  EXPECT_EQ(spectrum.dtype(), DType::kComplex64);
  expect_values(run("aten::view_as_real", spectrum), {11, 0, -2, 3, -3, 0});
  expect_values(run("aten::fft_irfft", spectrum), {1, 2, 3, 5});
  expect_values(run("aten::view_as_real", run("aten::fft_fft", floats({3}, {1, 2, 4}))),
                {7, 0, -2, 1.7320508F, -2, -1.7320508F});
}

TEST_F(Fourier, LaysTransformedDimensionsInnermost) {
  const Tensor x = ramp({3, 4, 5, 6});
  EXPECT_EQ(run("aten::_fft_r2c", x, Dims{3, 1}, 0, true).strides(), (Dims{90, 1, 18, 3}));
  EXPECT_EQ(run("aten::_fft_r2c", x, Dims{2, 0, 1}, 0, false).strides(), (Dims{20, 1, 4, 60}));
  const Tensor z = run("aten::_to_copy", x, DType::kComplex64);
  EXPECT_EQ(run("aten::_fft_c2c", z, Dims{3, 1}, 0, true).strides(), (Dims{120, 6, 24, 1}));
  EXPECT_EQ(run("aten::_fft_c2r", z, Dims{2, 0, 1}, 0, 7).strides(), (Dims{35, 1, 7, 105}));
}

TEST_F(Fourier, HandlesNothingAndOne) {
  EXPECT_EQ(run("aten::fft_fft", ramp({0, 4})).sizes(), (Dims{0, 4}));
  EXPECT_EQ(run("aten::fft_fftn", ramp({}, 1, 2)).sizes(), Dims{});
  expect_values(run("aten::view_as_real", run("aten::fft_fft", floats({1}, {3}))), {3, 0});
  EXPECT_EQ(run("aten::hann_window", 0).sizes(), (Dims{0}));
  expect_values(run("aten::hann_window", 4), {0, 0.5F, 1, 0.5F});
}

TEST_F(FourierRefusals, SayWhatIsWrong) {
  const Tensor x = ramp({4, 8});
  EXPECT_EQ(error("aten::fft_fft", x, 0), "Invalid number of data points (0) specified");
  EXPECT_EQ(error("aten::fft_fft", ramp({4, 0})), "Invalid number of data points (0) specified");
  EXPECT_EQ(error("aten::fft_irfft", ramp({4, 1})), "Invalid number of data points (0) specified");
  EXPECT_EQ(error("aten::fft_fft", x, Value(), 3),
            "Dimension out of range (expected to be in range of [-2, 1], but got 3)");
  EXPECT_EQ(error("aten::fft_fft", ramp({})), "Dimension specified as -1 but tensor has no dimensions");
  EXPECT_EQ(error("aten::fft_fft", x, Value(), -1, "foo"), "Invalid normalization mode: \"foo\"");
  EXPECT_EQ(error("aten::fft_fftn", x, Dims{3, 4, 5}),
            "Got shape with 3 values but input tensor only has 2 dimensions.");
  EXPECT_EQ(error("aten::fft_fftn", x, Dims{3}, Dims{0, 1}),
            "When given, dim and shape arguments must have the same length");
  EXPECT_EQ(error("aten::fft_fftn", x, Value(), Dims{0, -2}), "FFT dims must be unique");
  EXPECT_EQ(error("aten::fft_rfftn", ramp({})), "rfftn must transform at least one axis");
  EXPECT_EQ(error("aten::_fft_r2c", x, Dims{}, 0, true), "at least one dimension must be transformed");
  EXPECT_EQ(error("aten::_fft_r2c", x, Dims{0, 0}, 0, true), "FFT dims must be unique");
  EXPECT_EQ(error("aten::_fft_r2c", x, Dims{0}, 3, true), "Unsupported normalization mode 3");
  const Tensor z = run("aten::_to_copy", x, DType::kComplex64);
  EXPECT_EQ(error("aten::_fft_r2c", z, Dims{0}, 0, true),
            "Only supports floating-point dtypes, but found: complex64");
  EXPECT_EQ(error("aten::_fft_c2c", x, Dims{0}, 0, true), "Only supports complex dtypes, but found: float32");
  EXPECT_EQ(error("aten::_fft_c2r", z, Dims{1}, 0, 40),
            "expected 21 or 40 numbers along dimension 1 for a real signal of 40, got 8");
  EXPECT_EQ(error("aten::fft_rfft", z), "rfft expects a real input tensor, but got ComplexFloat");
  EXPECT_NE(error("aten::fft_fft", run("aten::_to_copy", x, DType::kFloat16)), "no error");
  EXPECT_EQ(error("aten::hann_window", -1),
            "hann_window requires non-negative window_length, got window_length=-1");
  EXPECT_NE(error("aten::hann_window", INT64_MAX), "no error");
  EXPECT_NE(error("aten::fft_fft", x, INT64_MAX), "no error");
  EXPECT_NE(error("aten::fft_fftfreq", INT64_MAX), "no error");
  EXPECT_EQ(error("aten::fft_fftfreq", -1), "Trying to create tensor with negative dimension -1: [-1]");
}

TEST_F(FourierRefusals, OfSpectrograms) {
  const Tensor x = ramp({2, 100});
  const Value none;
  EXPECT_EQ(error("aten::stft", x, 101, none, none, none, false, none, true),
            "stft: expected 0 < n_fft < 100, but got n_fft=101");
  EXPECT_EQ(error("aten::stft", x, 3, none, none, none, false, none, true),
            "stft: expected hop_length > 0, but got hop_length=0");
  EXPECT_EQ(error("aten::stft", x, 16, 4, 17, none, false, none, true),
            "stft: expected 0 < win_length <= n_fft, but got win_length=17");
  EXPECT_EQ(
      error("aten::stft", x, 16, 4, none, ramp({12}), false, none, true),
      "stft: expected a 1D window tensor of size equal to win_length=16, but got window with size [12]");
  EXPECT_EQ(
      error("aten::istft", x, 16),
      "istft requires a complex-valued input tensor matching the output from stft with return_complex=True.");
  EXPECT_EQ(error("aten::unfold_backward", ramp({3, 2}), Dims{9}, 0, 2, 3), "no error");
  EXPECT_EQ(error("aten::unfold_backward", ramp({4, 2}), Dims{9}, 0, 2, 3),
            "expected a gradient of sizes [3, 2], got [4, 2]");
}

}  // namespace
}  // namespace flambeau::ops
