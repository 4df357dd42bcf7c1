// Steps that call layers: submodules with parameters and buffers of their own, and the functions they stand
// for.
#include <fmt/format.h>

#include "steps.h"

namespace flambeau::random_modules {
namespace {

using Made = std::optional<Proposal>;

Made calling(size_t layer, size_t x) {
  return {{.text = fmt::format("m{}($0)", layer),
           .inputs = {x},
           .run = [layer](Frame& frame, const TensorList& in) {
             return TensorList{frame.module.call_layer(layer, in[0])};
           }}};
}

// What is normalized must differ: where it is nearly constant, its errors become large. Of rows, and of
// groups of channels.
Tensor spread(const Tensor& rows) { return nn::mul(nn::var(rows, -1, false), 0.1); }
Tensor row_spread(const TensorList& in) { return spread(nn::reshape(in[0], {-1, nn::size(in[0], -1)})); }
Margin group_spread(int64_t groups) {
  return
      [groups](const TensorList& in) { return spread(nn::reshape(in[0], {nn::size(in[0], 0), groups, -1})); };
}
Tensor channel_spread(const TensorList& in) { return spread(nn::flatten(nn::transpose(in[0], 0, 1), 1)); }

Made with_margin(Made made, Margin margin) {
  if (made) made->margin = std::move(margin);
  return made;
}

// [..., C] with C static.
std::optional<size_t> pick_rows(Builder& b) {
  return b.pick([&](size_t at) {
    return b.dtype(at) == DType::kFloat32 && b.rank(at) >= 2 && b.is_static(at, b.rank(at) - 1) &&
           b.least(at, b.rank(at) - 1) > 1;
  });
}
// [N, C, ...] with C static, of a rank.
std::optional<size_t> pick_channels(Builder& b, size_t rank, int64_t least_length = 1) {
  return b.pick([&](size_t at) {
    if (b.dtype(at) != DType::kFloat32 || b.rank(at) != rank || !b.is_static(at, 1)) return false;
    for (size_t dim = 2; dim < rank; ++dim) {
      if (b.least(at, dim) < least_length) return false;
    }
    return true;
  });
}

Made make_linear(Builder& b) {
  const auto x = pick_rows(b);
  if (!x) return {};
  const int64_t in = b.least(*x, b.rank(*x) - 1), out = b.random.between(1, 6);
  const bool bias = b.random.chance(70);
  return calling(b.layer<nn::Linear>(fmt::format("Linear({}, {}, bias={})", in, out, bias), in, out, bias),
                 *x);
}

Made make_sequential(Builder& b) {
  const auto x = pick_rows(b);
  if (!x) return {};
  const int64_t in = b.least(*x, b.rank(*x) - 1), middle = b.random.between(2, 6);
  auto net = std::make_shared<nn::Sequential>();
  net->add<nn::Linear>(in, middle);
  if (b.random.chance(50)) {
    net->add<nn::ReLU>();
  } else {
    net->add<nn::GELU>();
  }
  net->add<nn::Dropout>(0.1);
  // Once more the same layer, where it fits.
  if (in == middle) net->add<nn::Linear>(middle, in);
  return calling(b.layer(fmt::format("Sequential(Linear({}, {}), activation, Dropout)", in, middle), net),
                 *x);
}

Made make_row_norm_of(Builder& b) {
  const auto x = pick_rows(b);
  if (!x) return {};
  const int64_t size = b.least(*x, b.rank(*x) - 1);
  switch (b.random.below(4)) {
    case 0:
      return calling(b.layer<nn::LayerNorm>(fmt::format("LayerNorm({})", size), size), *x);
    case 1:
      return calling(b.layer<nn::RMSNorm>(fmt::format("RMSNorm({})", size), size), *x);
    case 2:
      return {{.text = fmt::format("layer_norm($0, [{}])", size),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::layer_norm(in[0], {size}); })}};
    default:
      // Over sizes that the program reads.
      return {{.text = "layer_norm($0, [size($0, -1)])", .inputs = {*x}, .run = one([](const TensorList& in) {
                                                                           return nn::layer_norm(
                                                                               in[0], {nn::size(in[0], -1)});
                                                                         })}};
  }
}

Made make_row_norm(Builder& b) { return with_margin(make_row_norm_of(b), row_spread); }

// In training it writes to its statistics.
size_t trained_norm(Builder& b, int64_t channels) {
  const auto norm = std::make_shared<nn::BatchNorm2d>(channels);
  const size_t layer = b.layer(fmt::format("BatchNorm2d({}) in training", channels), norm);
  norm->train();
  return layer;
}

Made make_channel_norm(Builder& b) {
  const auto rank = static_cast<size_t>(b.random.between(3, 4));
  const auto x = pick_channels(b, rank, 2);
  if (!x) return {};
  const int64_t channels = b.least(*x, 1), groups = channels % 2 == 0 ? 2 : 1;
  switch (b.random.below(5)) {
    case 0: {
      const std::string text = fmt::format("GroupNorm({}, {})", groups, channels);
      return with_margin(calling(b.layer<nn::GroupNorm>(text, groups, channels), *x), group_spread(groups));
    }
    case 1:
      return calling(rank == 3 ? b.layer<nn::BatchNorm1d>(fmt::format("BatchNorm1d({})", channels), channels)
                               : b.layer<nn::BatchNorm2d>(fmt::format("BatchNorm2d({})", channels), channels),
                     *x);
    case 2: {
      const std::string text = fmt::format("InstanceNorm{}d({})", rank - 2, channels);
      return with_margin(calling(rank == 3 ? b.layer<nn::InstanceNorm1d>(text, channels)
                                           : b.layer<nn::InstanceNorm2d>(text, channels),
                                 *x),
                         group_spread(channels));
    }
    case 3:
      if (rank != 4) return {};
      return with_margin(calling(trained_norm(b, channels), *x), channel_spread);
    default:
      return {{.text = fmt::format("group_norm($0, {})", groups),
               .inputs = {*x},
               .run = one([=](const TensorList& in) { return nn::group_norm(in[0], groups); }),
               .margin = group_spread(groups)}};
  }
}

Made make_conv1d(Builder& b) {
  const auto x = pick_channels(b, 3, 3);
  if (!x) return {};
  const int64_t channels = b.least(*x, 1), out = b.random.between(1, 5), kernel = b.random.between(1, 3);
  const int64_t stride = b.random.between(1, 2), padding = b.random.between(0, 1);
  switch (b.random.below(4)) {
    case 0:
      return calling(
          b.layer<nn::Conv1d>(fmt::format("Conv1d({}, {}, {}, stride={}, padding={})", channels, out, kernel,
                                          stride, padding),
                              channels, out, kernel,
                              nn::ConvOptions<1>{.stride = stride, .padding = nn::Extent<1>(padding)}),
          *x);
    case 1: {
      const size_t weight = b.parameter({out, channels, kernel});
      return {{.text = fmt::format("conv1d($0, p{}, padding={})", weight, padding),
               .inputs = {*x},
               .run = [=](Frame& frame, const TensorList& in) {
                 return TensorList{nn::conv1d(in[0], frame.module.parameter(weight), {}, 1, padding)};
               }}};
    }
    case 2: {
      const size_t weight = b.parameter({out, channels, kernel});
      return {{.text = fmt::format("conv1d($0, p{}, same)", weight),
               .inputs = {*x},
               .run = [=](Frame& frame, const TensorList& in) {
                 return TensorList{nn::conv1d(in[0], frame.module.parameter(weight), {}, 1, "same")};
               }}};
    }
    default:
      return calling(b.layer<nn::ConvTranspose1d>(
                         fmt::format("ConvTranspose1d({}, {}, {}, stride={})", channels, out, kernel, stride),
                         channels, out, kernel, nn::ConvTransposeOptions<1>{.stride = stride}),
                     *x);
  }
}

Made make_conv2d(Builder& b) {
  const auto x = pick_channels(b, 4, 3);
  if (!x) return {};
  const int64_t channels = b.least(*x, 1), out = b.random.between(1, 4), kernel = b.random.between(1, 3);
  const int64_t stride = b.random.between(1, 2), padding = b.random.between(0, 1);
  switch (b.random.below(4)) {
    case 0:
      return calling(
          b.layer<nn::Conv2d>(fmt::format("Conv2d({}, {}, {}, stride={}, padding={})", channels, out, kernel,
                                          stride, padding),
                              channels, out, kernel,
                              nn::ConvOptions<2>{.stride = stride, .padding = nn::Extent<2>(padding)}),
          *x);
    case 1:
      return calling(b.layer<nn::Conv2d>(fmt::format("Conv2d({0}, {0}, 3, padding=1, groups={0})", channels),
                                         channels, channels, 3,
                                         nn::ConvOptions<2>{.padding = 1, .groups = channels, .bias = false}),
                     *x);
    case 2: {
      const size_t weight = b.parameter({out, channels, kernel, kernel});
      return {{.text = fmt::format("conv2d($0, p{}, stride={}, padding={})", weight, stride, padding),
               .inputs = {*x},
               .run = [=](Frame& frame, const TensorList& in) {
                 return TensorList{nn::conv2d(in[0], frame.module.parameter(weight), {}, stride, padding)};
               }}};
    }
    default:
      return calling(b.layer<nn::ConvTranspose2d>(fmt::format("ConvTranspose2d({}, {}, 2)", channels, out),
                                                  channels, out, 2),
                     *x);
  }
}

Made make_pool1d(Builder& b) {
  const auto x = pick_channels(b, 3, 4);
  if (!x) return {};
  switch (b.random.below(4)) {
    case 0:
      return {{.text = "max_pool1d($0, 2)", .inputs = {*x}, .run = one([](const TensorList& in) {
                                                              return nn::max_pool1d(in[0], 2);
                                                            })}};
    case 1:
      return {{.text = "avg_pool1d($0, 3, stride=1, padding=1)",
               .inputs = {*x},
               .run = one([](const TensorList& in) { return nn::avg_pool1d(in[0], 3, 1, 1); })}};
    case 2:
      return {{.text = "adaptive_avg_pool1d($0, 1)",
               .inputs = {*x},
               .run = one([](const TensorList& in) { return nn::adaptive_avg_pool1d(in[0], {1}); })}};
    default:
      return {{.text = "interpolate($0, scale=2, linear)",
               .inputs = {*x},
               .run = one([](const TensorList& in) {
                 return nn::interpolate(in[0], {.scale_factor = std::vector<double>{2.0}, .mode = "linear"});
               })}};
  }
}

Made make_pool2d(Builder& b) {
  const auto x = pick_channels(b, 4, 4);
  if (!x) return {};
  switch (b.random.below(7)) {
    case 0:
      return calling(b.layer<nn::MaxPool2d>("MaxPool2d(2)", 2), *x);
    case 1:
      return {{.text = "max_pool2d($0, 3, stride=2, padding=1)",
               .inputs = {*x},
               .run = one([](const TensorList& in) { return nn::max_pool2d(in[0], 3, 2, 1); })}};
    case 2:
      return {{.text = "avg_pool2d($0, 2)", .inputs = {*x}, .run = one([](const TensorList& in) {
                                                              return nn::avg_pool2d(in[0], 2);
                                                            })}};
    case 3:
      return {{.text = "adaptive_avg_pool2d($0, [1, 1])",
               .inputs = {*x},
               .run = one([](const TensorList& in) { return nn::adaptive_avg_pool2d(in[0], {1, 1}); })}};
    case 4:
      return {{.text = "interpolate($0, scale=2, nearest)",
               .inputs = {*x},
               .run = one([](const TensorList& in) {
                 return nn::interpolate(in[0], {.scale_factor = std::vector<double>{2.0, 2.0}});
               })}};
    case 5:
      return {{.text = "interpolate($0, size=[5, size($0, 3) + 1], bilinear)",
               .inputs = {*x},
               .run = one([](const TensorList& in) {
                 const SymInt width = nn::size(in[0], 3) + 1;
                 return nn::interpolate(in[0], {.size = nn::Sizes{5, width}, .mode = "bilinear"});
               })}};
    default:
      if (b.least(*x, 1) % 4 != 0) return {};
      return {{.text = "pixel_shuffle($0, 2)", .inputs = {*x}, .run = one([](const TensorList& in) {
                                                                 return nn::pixel_shuffle(in[0], 2);
                                                               })}};
  }
}

Made make_embedding(Builder& b) {
  const auto i = b.pick_integer(1);
  if (!i || b.rank(*i) > 3) return {};
  const size_t layer = b.layer<nn::Embedding>("Embedding(8, 4)", 8, 4);
  return {{.text = fmt::format("m{}(clamp($0, 0, 7))", layer),
           .inputs = {*i},
           .run = [=](Frame& frame, const TensorList& in) {
             return TensorList{frame.module.call_layer(layer, nn::clamp(in[0], 0, 7))};
           }}};
}

// A layer that was called before, with something else.
Made make_again(Builder& b) {
  const auto x = pick_rows(b);
  if (!x) return {};
  const int64_t size = b.least(*x, b.rank(*x) - 1);
  const size_t layer = b.layer<nn::Linear>(fmt::format("Linear({0}, {0})", size), size, size);
  return {{.text = fmt::format("m{0}(tanh(m{0}($0)))", layer),
           .inputs = {*x},
           .run = [=](Frame& frame, const TensorList& in) {
             const Tensor once = frame.module.call_layer(layer, in[0]);
             return TensorList{frame.module.call_layer(layer, nn::tanh(once))};
           }}};
}

Made make_prelu(Builder& b) {
  const auto x = pick_rows(b);
  if (!x) return {};
  return calling(b.layer<nn::PReLU>("PReLU()"), *x);
}

constexpr Maker kLayersMakers[] = {
    make_linear, make_sequential, make_row_norm,  make_channel_norm, make_channel_norm,
    make_conv1d, make_conv1d,     make_conv2d,    make_conv2d,       make_pool1d,
    make_pool2d, make_pool2d,     make_embedding, make_again,        make_prelu,
};

}  // namespace

std::span<const Maker> layer_makers() { return kLayersMakers; }

}  // namespace flambeau::random_modules
