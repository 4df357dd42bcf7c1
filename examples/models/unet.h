// A small UNet: down to half the size twice, up again, with the images of the way down beside.
#pragma once

#include "flambeau/nn.h"

namespace models {

using flambeau::Tensor;
namespace nn = flambeau::nn;

class DoubleConv : public nn::Layer<DoubleConv> {
 public:
  DoubleConv(int64_t in, int64_t out) {
    for (const int64_t from : {in, out}) {
      block.add<nn::Conv2d>(from, out, 3, nn::ConvOptions<2>{.padding = 1, .bias = false});
      block.add<nn::BatchNorm2d>(out);
      block.add<nn::ReLU>(/*inplace=*/true);
    }
    add_module("block", block);
  }

  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) { return block(x); }

  nn::Sequential block;
};

class UNet : public nn::Layer<UNet> {
 public:
  UNet(int64_t channels, int64_t classes, int64_t width = 8)
      : inc(channels, width),
        down1(width, 2 * width),
        down2(2 * width, 4 * width),
        pool(2),
        up1(4 * width, 2 * width, 2, {.stride = 2}),
        conv1(4 * width, 2 * width),
        up2(2 * width, width, 2, {.stride = 2}),
        conv2(2 * width, width),
        outc(width, classes, 1) {
    add_module("inc", inc);
    add_module("down1", down1);
    add_module("down2", down2);
    add_module("pool", pool);
    add_module("up1", up1);
    add_module("conv1", conv1);
    add_module("up2", up2);
    add_module("conv2", conv2);
    add_module("outc", outc);
  }

  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    const Tensor x1 = inc(x);
    const Tensor x2 = down1(pool(x1));
    const Tensor x3 = down2(pool(x2));
    Tensor y = conv1(nn::cat({x2, up1(x3)}, 1));
    y = conv2(nn::cat({x1, up2(y)}, 1));
    return outc(y);
  }

  DoubleConv inc, down1, down2;
  nn::MaxPool2d pool;
  nn::ConvTranspose2d up1;
  DoubleConv conv1;
  nn::ConvTranspose2d up2;
  DoubleConv conv2;
  nn::Conv2d outc;
};

}  // namespace models
