// Convolutions and their transposed forms: torch.nn.modules.conv.
#pragma once

#include <optional>
#include <string>

#include "flambeau/nn/extent.h"
#include "flambeau/nn/layer.h"

namespace flambeau::nn {

// A number for each dimension, or "same" or "valid".
template <size_t N>
class ConvPadding {
 public:
  ConvPadding(Extent<N> extent) : extent_(extent) {}  // NOLINT(google-explicit-constructor)
  ConvPadding(int all) : extent_(all) {}              // NOLINT
  ConvPadding(std::initializer_list<int64_t> values) : extent_(values) {}  // NOLINT
  ConvPadding(const char* mode) : extent_(0), mode_(mode) {}               // NOLINT
  ConvPadding(std::string mode) : extent_(0), mode_(std::move(mode)) {}    // NOLINT

  const Extent<N>& extent() const { return extent_; }
  const std::string& mode() const { return mode_; }  // empty for numbers

 private:
  Extent<N> extent_;
  std::string mode_;
};

template <size_t N>
struct ConvOptions {
  Extent<N> stride = 1;
  ConvPadding<N> padding = 0;
  Extent<N> dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  std::string padding_mode = "zeros";  // or "reflect", "replicate", "circular"
};

// Conv2d conv(3, 64, 7, {.stride = 2, .padding = 3, .bias = false});
template <size_t N>
class Conv : public Layer<Conv<N>> {
 public:
  Conv(int64_t in_channels, int64_t out_channels, Extent<N> kernel_size, ConvOptions<N> options = {});
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override;

  Tensor weight;  // [out, in / groups, kernel...]
  Tensor bias;

 private:
  ConvOptions<N> options_;
  Dims reversed_padding_;  // as pad() takes it, of the modes that pad by themselves
};
using Conv1d = Conv<1>;
using Conv2d = Conv<2>;
using Conv3d = Conv<3>;

template <size_t N>
struct ConvTransposeOptions {
  Extent<N> stride = 1;
  Extent<N> padding = 0;
  Extent<N> output_padding = 0;
  int64_t groups = 1;
  bool bias = true;
  Extent<N> dilation = 1;
};

template <size_t N>
class ConvTranspose : public Layer<ConvTranspose<N>> {
 public:
  ConvTranspose(int64_t in_channels, int64_t out_channels, Extent<N> kernel_size,
                ConvTransposeOptions<N> options = {});
  static constexpr std::array kArguments{"input", "output_size"};
  // With `output_size`, the output padding is what gives it.
  Tensor forward(const Tensor& input, const std::optional<std::vector<SymInt>>& output_size = {});
  std::string class_name() const override;

  Tensor weight;  // [in, out / groups, kernel...]
  Tensor bias;

 private:
  std::vector<SymInt> output_padding(const Tensor& input,
                                     const std::optional<std::vector<SymInt>>& output_size) const;

  Extent<N> kernel_size_;
  ConvTransposeOptions<N> options_;
};
using ConvTranspose1d = ConvTranspose<1>;
using ConvTranspose2d = ConvTranspose<2>;
using ConvTranspose3d = ConvTranspose<3>;

}  // namespace flambeau::nn
