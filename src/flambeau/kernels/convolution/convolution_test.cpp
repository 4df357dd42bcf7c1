#include "flambeau/kernels/convolution/convolution.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/tensor/elements/scalar_types.h"

namespace flambeau::kernels {
namespace {

template <typename T>
std::vector<T> numbers(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> result(static_cast<size_t>(count));
  for (T& value : result) {
    const int number = static_cast<int>(random() % 7) - 3;
    if constexpr (std::is_arithmetic_v<T>) {
      value = static_cast<T>(number);
    } else if constexpr (requires { T::from_float(0.0F); }) {
      value = T::from_float(static_cast<float>(number));
    } else {
      value =
          T(static_cast<typename T::value_type>(number), static_cast<typename T::value_type>(random() % 3));
    }
  }
  return result;
}

// Where an element of a batch of images lies.
int64_t place(ImageOrder order, int64_t channels, const Spatial& size, int64_t n, int64_t c,
              const Spatial& at) {
  const int64_t pixel = (at[0] * size[1] + at[1]) * size[2] + at[2];
  const int64_t pixels = size[0] * size[1] * size[2];
  return order == ImageOrder::kChannelsFirst ? (n * channels + c) * pixels + pixel
                                             : (n * pixels + pixel) * channels + c;
}

template <typename Body>
void for_each_place(const Spatial& size, Body&& body) {
  for (int64_t z = 0; z < size[0]; ++z) {
    for (int64_t y = 0; y < size[1]; ++y) {
      for (int64_t x = 0; x < size[2]; ++x) body(Spatial{z, y, x});
    }
  }
}

bool inside(const Spatial& at, const Spatial& size) {
  for (size_t i = 0; i < 3; ++i) {
    if (at[i] < 0 || at[i] >= size[i]) return false;
  }
  return true;
}

// The definition, written down. An input pixel and an output pixel meet through a tap in both directions.
template <typename T>
std::vector<T> by_definition(const ConvolutionShape& shape, const std::vector<T>& input,
                             const std::vector<T>& weights, const std::vector<T>& bias) {
  const Spatial output = shape.output();
  std::vector<T> result(static_cast<size_t>(shape.batch * shape.out_channels * shape.output_size()));
  const int64_t ins = shape.in_channels / shape.groups, outs = shape.out_channels / shape.groups;
  for (int64_t n = 0; n < shape.batch; ++n) {
    for (int64_t o = 0; o < shape.out_channels; ++o) {
      const auto out_at = [&](const Spatial& at) -> T& {
        return result[static_cast<size_t>(place(shape.output_order, shape.out_channels, output, n, o, at))];
      };
      for_each_place(output, [&](const Spatial& at) {
        out_at(at) = bias.empty() ? T(0) : bias[static_cast<size_t>(o)];
      });
      for (int64_t c = 0; c < ins; ++c) {
        const int64_t channel = o / outs * ins + c;
        const auto in_at = [&](const Spatial& at) {
          return input[static_cast<size_t>(
              place(shape.input_order, shape.in_channels, shape.input, n, channel, at))];
        };
        for_each_place(shape.kernel, [&](const Spatial& tap) {
          const int64_t filter = shape.transposed ? channel * outs + o % outs : o * ins + c;
          const int64_t at_tap = (tap[0] * shape.kernel[1] + tap[1]) * shape.kernel[2] + tap[2];
          const T weight = weights[static_cast<size_t>(filter * shape.kernel_size() + at_tap)];
          for_each_place(shape.transposed ? shape.input : output, [&](const Spatial& at) {
            Spatial other;
            for (size_t i = 0; i < 3; ++i) {
              other[i] = at[i] * shape.stride[i] - shape.padding[i] + tap[i] * shape.dilation[i];
            }
            if (!inside(other, shape.transposed ? output : shape.input)) return;
            if (shape.transposed) {
              out_at(other) += weight * in_at(at);
            } else {
              out_at(at) += weight * in_at(other);
            }
          });
        });
      }
    }
  }
  return result;
}

std::string describe(const ConvolutionShape& s) {
  return fmt::format(
      "{} {} batch {} groups {} channels {}->{} input {}x{}x{} kernel {}x{}x{} stride {} padding {} "
      "dilation {} orders {} {}",
      dtype_name(s.dtype), s.transposed ? "transposed" : "", s.batch, s.groups, s.in_channels, s.out_channels,
      s.input[0], s.input[1], s.input[2], s.kernel[0], s.kernel[1], s.kernel[2], s.stride[2], s.padding[2],
      s.dilation[2], static_cast<int>(s.input_order), static_cast<int>(s.output_order));
}

template <typename T>
void check(const ConvolutionShape& shape, bool with_bias) {
  SCOPED_TRACE(describe(shape));
  const std::vector<T> input = numbers<T>(shape.batch * shape.in_channels * shape.input_size(), 1);
  const std::vector<T> weights =
      numbers<T>(shape.in_channels * shape.out_channels / shape.groups * shape.kernel_size(), 2);
  const std::vector<T> bias = with_bias ? numbers<T>(shape.out_channels, 3) : std::vector<T>();
  const std::vector<T> wanted = by_definition(shape, input, weights, bias);
  std::vector<T> found(wanted.size(), T(77));
  ThreadPool pool(2);
  const Convolution convolution(pool, shape, weights.data(), with_bias ? bias.data() : nullptr);
  convolution.run(pool, input.data(), found.data());
  ASSERT_EQ(found, wanted);
}

constexpr ImageOrder kImageOrders[] = {ImageOrder::kChannelsFirst, ImageOrder::kChannelsLast};

template <typename T>
void check_all(DType dtype) {
  for (const bool transposed : {false, true}) {
    for (const ImageOrder input_order : kImageOrders) {
      for (const ImageOrder output_order : kImageOrders) {
        ConvolutionShape shape = {.dtype = dtype,
                                  .transposed = transposed,
                                  .batch = 2,
                                  .in_channels = 6,
                                  .out_channels = 10,
                                  .input = {1, 9, 11},
                                  .kernel = {1, 3, 3},
                                  .input_order = input_order,
                                  .output_order = output_order};
        check<T>(shape, true);
        shape.padding = {0, 1, 1};
        check<T>(shape, false);
        shape.stride = {1, 2, 3};
        shape.dilation = {1, 2, 1};
        check<T>(shape, true);
        shape.groups = 2;
        check<T>(shape, true);
        if (!transposed) {
          shape.padding_after = {0, 3, 0};
          check<T>(shape, true);
          shape.padding_after = {-1, -1, -1};
        }
        if (transposed) {
          shape.output_padding = {0, 1, 2};
          check<T>(shape, true);
        }
        shape = {.dtype = dtype,  // one dimension
                 .transposed = transposed,
                 .in_channels = 5,
                 .out_channels = 4,
                 .input = {1, 1, 50},
                 .kernel = {1, 1, 4},
                 .stride = {1, 1, 2},
                 .padding = {0, 0, 3},
                 .input_order = input_order,
                 .output_order = output_order};
        check<T>(shape, true);
        shape = {.dtype = dtype,  // three dimensions
                 .transposed = transposed,
                 .batch = 2,
                 .in_channels = 4,
                 .out_channels = 6,
                 .input = {5, 6, 7},
                 .kernel = {3, 2, 3},
                 .stride = {2, 1, 1},
                 .padding = {1, 0, 1},
                 .input_order = input_order,
                 .output_order = output_order};
        check<T>(shape, true);
        shape = {.dtype = dtype,  // pointwise
                 .transposed = transposed,
                 .batch = 2,
                 .groups = 3,
                 .in_channels = 9,
                 .out_channels = 6,
                 .input = {1, 7, 7},
                 .input_order = input_order,
                 .output_order = output_order};
        check<T>(shape, true);
        shape.groups = 1;
        check<T>(shape, true);
        shape = {.dtype = dtype,  // depthwise
                 .transposed = transposed,
                 .batch = 2,
                 .groups = 7,
                 .in_channels = 7,
                 .out_channels = 7,
                 .input = {1, 12, 40},
                 .kernel = {1, 3, 3},
                 .padding = {0, 1, 1},
                 .input_order = input_order,
                 .output_order = output_order};
        check<T>(shape, true);
        if (!transposed) {
          shape.padding_after = {0, 0, 2};
          check<T>(shape, true);
          shape.padding_after = {-1, -1, -1};
        }
        shape.stride = {1, 2, 2};
        shape.kernel = {1, 5, 7};
        shape.padding = {0, 2, 3};
        check<T>(shape, false);
        shape.dilation = {1, 1, 3};
        shape.stride = {1, 1, 3};
        shape.padding = {0, 2, 9};
        shape.out_channels = 14;
        check<T>(shape, true);
        shape = {.dtype = dtype,  // many filters over one channel: long windows far apart
                 .transposed = transposed,
                 .batch = 2,
                 .in_channels = 1,
                 .out_channels = 40,
                 .input = {1, 1, 90},
                 .kernel = {1, 1, 30},
                 .stride = {1, 1, 15},
                 .padding = {0, 0, 5},
                 .input_order = input_order,
                 .output_order = output_order};
        check<T>(shape, true);
        shape.stride[2] = 1;
        shape.input[2] = 30;
        check<T>(shape, false);
      }
    }
  }
}

TEST(Convolution, Float) { check_all<float>(DType::kFloat32); }
TEST(Convolution, Double) { check_all<double>(DType::kFloat64); }
TEST(Convolution, Int64) { check_all<int64_t>(DType::kInt64); }
TEST(Convolution, Int16) { check_all<int16_t>(DType::kInt16); }
TEST(Convolution, ComplexFloat) { check_all<std::complex<float>>(DType::kComplex64); }
TEST(Convolution, ComplexDouble) { check_all<std::complex<double>>(DType::kComplex128); }

TEST(Convolution, DepthOfManyBlocks) {
  ConvolutionShape shape = {
      .in_channels = 70, .out_channels = 40, .input = {1, 6, 37}, .kernel = {1, 3, 3}, .padding = {0, 1, 1}};
  check<float>(shape, true);
  shape.input_order = shape.output_order = ImageOrder::kChannelsLast;
  check<float>(shape, true);
  shape.transposed = true;
  check<float>(shape, true);
}

// Every sum is exact in float32, so the result is the float32 one rounded once.
template <typename Small>
void check_small(DType dtype, ConvolutionShape shape) {
  shape.dtype = dtype;
  SCOPED_TRACE(describe(shape));
  const std::vector<Small> input = numbers<Small>(shape.batch * shape.in_channels * shape.input_size(), 1);
  const std::vector<Small> weights =
      numbers<Small>(shape.in_channels * shape.out_channels / shape.groups * shape.kernel_size(), 2);
  const std::vector<Small> bias = numbers<Small>(shape.out_channels, 3);
  const auto widen = [](const std::vector<Small>& values) {
    std::vector<float> result;
    for (const Small value : values) result.push_back(value.to_float());
    return result;
  };
  const std::vector<float> wanted = by_definition(shape, widen(input), widen(weights), widen(bias));
  std::vector<Small> found(wanted.size());
  ThreadPool pool(2);
  Convolution(pool, shape, weights.data(), bias.data()).run(pool, input.data(), found.data());
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(found[i].to_float(), Small::from_float(wanted[i]).to_float()) << "at " << i;
  }
}

TEST(Convolution, SixteenBits) {
  for (const bool transposed : {false, true}) {
    for (const ImageOrder order : kImageOrders) {
      for (const int64_t groups : {1, 8}) {
        const ConvolutionShape shape = {.transposed = transposed,
                                        .batch = 2,
                                        .groups = groups,
                                        .in_channels = 8,
                                        .out_channels = 8,
                                        .input = {1, 10, 13},
                                        .kernel = {1, 3, 3},
                                        .stride = {1, 1, 2},
                                        .padding = {0, 1, 1},
                                        .input_order = order,
                                        .output_order = order};
        check_small<Float16>(DType::kFloat16, shape);
        check_small<BFloat16>(DType::kBFloat16, shape);
      }
    }
  }
}

void expect_refused(const ConvolutionShape& shape, const std::string& message) {
  ThreadPool pool(1);
  const std::vector<float> weights(1000);
  try {
    const Convolution convolution(pool, shape, weights.data(), nullptr);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), message);
  }
}

TEST(Convolution, SaysWhatIsWrong) {
  expect_refused({.groups = 2, .in_channels = 3, .out_channels = 4},
                 "3 input and 4 output channels cannot be shared out among 2 groups");
  expect_refused({.input = {1, 4, 4}, .kernel = {1, 3, 3}, .dilation = {1, 2, 2}},
                 "a kernel of 3 (dilation 2) does not fit into an input of 4 with padding 0");
  expect_refused(
      {.input = {1, 4, 4}, .stride = {1, 0, 1}},
      "a convolution with kernel 1, stride 0, dilation 1 and padding 0; expected at least 1, 1, 1 and 0");
}

}  // namespace
}  // namespace flambeau::kernels
