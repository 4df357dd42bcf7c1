// ResNet-18: residual blocks of two convolutions.
#pragma once

#include <memory>

#include "flambeau/nn.h"

namespace models {

using flambeau::Tensor;
namespace nn = flambeau::nn;

class BasicBlock : public nn::Layer<BasicBlock> {
 public:
  BasicBlock(int64_t in, int64_t out, int64_t stride)
      : conv1(in, out, 3, {.stride = stride, .padding = 1, .bias = false}),
        bn1(out),
        relu(/*inplace=*/true),
        conv2(out, out, 3, {.padding = 1, .bias = false}),
        bn2(out) {
    add_module("conv1", conv1);
    add_module("bn1", bn1);
    add_module("relu", relu);
    add_module("conv2", conv2);
    add_module("bn2", bn2);
    if (stride != 1 || in != out) {
      downsample = std::make_shared<nn::Sequential>();
      downsample->add<nn::Conv2d>(in, out, 1, nn::ConvOptions<2>{.stride = stride, .bias = false});
      downsample->add<nn::BatchNorm2d>(out);
      add_module("downsample", *downsample);
    }
  }

  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    Tensor out = relu(bn1(conv1(x)));
    out = bn2(conv2(out));
    const Tensor identity = downsample ? (*downsample)(x) : x;
    return relu(nn::add_(out, identity));
  }

  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::ReLU relu;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  std::shared_ptr<nn::Sequential> downsample;
};

class ResNet : public nn::Layer<ResNet> {
 public:
  explicit ResNet(int64_t num_classes = 1000)
      : conv1(3, 64, 7, {.stride = 2, .padding = 3, .bias = false}),
        bn1(64),
        relu(/*inplace=*/true),
        maxpool(3, {.stride = 2, .padding = 1}),
        avgpool(1) {
    add_module("conv1", conv1);
    add_module("bn1", bn1);
    add_module("relu", relu);
    add_module("maxpool", maxpool);
    add_layer("layer1", layer1, 64, 64, 1);
    add_layer("layer2", layer2, 64, 128, 2);
    add_layer("layer3", layer3, 128, 256, 2);
    add_layer("layer4", layer4, 256, 512, 2);
    add_module("avgpool", avgpool);
    fc = std::make_shared<nn::Linear>(512, num_classes);
    add_module("fc", *fc);
    apply([](nn::Module& module) {
      if (auto* const conv = dynamic_cast<nn::Conv2d*>(&module))
        nn::init::kaiming_normal_(conv->weight, 0, nn::init::FanMode::kFanOut, "relu");
    });
  }

  static constexpr std::array kArguments{"x"};
  Tensor forward(const Tensor& x) {
    Tensor y = maxpool(relu(bn1(conv1(x))));
    y = layer4(layer3(layer2(layer1(y))));
    return (*fc)(nn::flatten(avgpool(y), 1));
  }

  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::ReLU relu;
  nn::MaxPool2d maxpool;
  nn::Sequential layer1, layer2, layer3, layer4;
  nn::AdaptiveAvgPool2d avgpool;
  std::shared_ptr<nn::Linear> fc;

 private:
  void add_layer(const char* name, nn::Sequential& layer, int64_t in, int64_t out, int64_t stride) {
    layer.add<BasicBlock>(in, out, stride);
    layer.add<BasicBlock>(out, out, 1);
    add_module(name, layer);
  }
};

}  // namespace models
