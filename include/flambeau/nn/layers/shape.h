// Layers that only move numbers: torch.nn.modules.flatten, pixelshuffle, channelshuffle and fold.
#pragma once

#include <string>
#include <vector>

#include "flambeau/nn/extent.h"
#include "flambeau/nn/layer.h"

namespace flambeau::nn {

class Flatten : public Layer<Flatten> {
 public:
  explicit Flatten(int64_t start_dim = 1, int64_t end_dim = -1) : start_dim_(start_dim), end_dim_(end_dim) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.flatten.Flatten"; }

 private:
  int64_t start_dim_, end_dim_;
};

class Unflatten : public Layer<Unflatten> {
 public:
  Unflatten(int64_t dim, std::vector<int64_t> unflattened_size)
      : dim_(dim), unflattened_size_(std::move(unflattened_size)) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.flatten.Unflatten"; }

 private:
  int64_t dim_;
  std::vector<int64_t> unflattened_size_;
};

class PixelShuffle : public Layer<PixelShuffle> {
 public:
  explicit PixelShuffle(int64_t upscale_factor) : upscale_factor_(upscale_factor) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.pixelshuffle.PixelShuffle"; }

 private:
  int64_t upscale_factor_;
};

class PixelUnshuffle : public Layer<PixelUnshuffle> {
 public:
  explicit PixelUnshuffle(int64_t downscale_factor) : downscale_factor_(downscale_factor) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.pixelshuffle.PixelUnshuffle"; }

 private:
  int64_t downscale_factor_;
};

class ChannelShuffle : public Layer<ChannelShuffle> {
 public:
  explicit ChannelShuffle(int64_t groups) : groups_(groups) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.channelshuffle.ChannelShuffle"; }

 private:
  int64_t groups_;
};

struct FoldOptions {
  Extent<2> dilation = 1;
  Extent<2> padding = 0;
  Extent<2> stride = 1;
};

// The patches under a kernel, as columns.
class Unfold : public Layer<Unfold> {
 public:
  explicit Unfold(Extent<2> kernel_size, FoldOptions options = {})
      : kernel_size_(kernel_size), options_(options) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.fold.Unfold"; }

 private:
  Extent<2> kernel_size_;
  FoldOptions options_;
};

// Columns summed up into an image of that size.
class Fold : public Layer<Fold> {
 public:
  Fold(Extent<2> output_size, Extent<2> kernel_size, FoldOptions options = {})
      : output_size_(output_size), kernel_size_(kernel_size), options_(options) {}
  static constexpr std::array kArguments{"input"};
  Tensor forward(const Tensor& input);
  std::string class_name() const override { return "torch.nn.modules.fold.Fold"; }

 private:
  Extent<2> output_size_, kernel_size_;
  FoldOptions options_;
};

}  // namespace flambeau::nn
