#include "flambeau/kernels/pooling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/tensor/scalar_types.h"

namespace flambeau::kernels {
namespace {

template <typename T>
std::vector<T> numbers(int64_t count) {
  std::mt19937 random(7);
  std::vector<T> result(static_cast<size_t>(count));
  for (T& value : result) value = static_cast<T>(static_cast<int>(random() % 9) - 4);
  return result;
}

template <typename T>
struct Pooled {
  std::vector<T> values;
  std::vector<int64_t> indices;
};

// The definition, written down.
template <typename T>
Pooled<T> by_definition(const PoolingShape& s, ImageOrder order, const std::vector<T>& input) {
  const int64_t outs = s.output[0] * s.output[1] * s.output[2], ins = s.input[0] * s.input[1] * s.input[2];
  Pooled<T> result;
  result.values.resize(static_cast<size_t>(s.batch * s.channels * outs));
  result.indices.resize(result.values.size());
  for (int64_t plane = 0; plane < s.batch * s.channels; ++plane) {
    const int64_t n = plane / s.channels, c = plane % s.channels;
    const bool first = order == ImageOrder::kChannelsFirst;
    for (int64_t o = 0; o < outs; ++o) {
      const int64_t at[] = {o / s.output[2] / s.output[1], o / s.output[2] % s.output[1], o % s.output[2]};
      T most = std::is_integral_v<T> ? std::numeric_limits<T>::lowest() : -std::numeric_limits<T>::infinity();
      T sum = 0;
      int64_t index = -1, existing = 0, window = 1;
      for (size_t i = 0; i < 3; ++i) {
        const int64_t start = at[i] * s.stride[i] - s.padding[i];
        window *= std::min(start + s.kernel[i], s.input[i] + s.padding[i]) - start;
      }
      for (int64_t k = 0; k < s.kernel[0] * s.kernel[1] * s.kernel[2]; ++k) {
        const int64_t tap[] = {k / s.kernel[2] / s.kernel[1], k / s.kernel[2] % s.kernel[1], k % s.kernel[2]};
        int64_t in[3];
        bool inside = true;
        for (size_t i = 0; i < 3; ++i) {
          in[i] = at[i] * s.stride[i] - s.padding[i] + tap[i] * s.dilation[i];
          inside = inside && in[i] >= 0 && in[i] < s.input[i];
        }
        if (!inside) continue;
        const int64_t pixel = (in[0] * s.input[1] + in[1]) * s.input[2] + in[2];
        const T value =
            input[static_cast<size_t>(first ? plane * ins + pixel : (n * ins + pixel) * s.channels + c)];
        if (index < 0) index = pixel;
        if (value > most || value != value) most = value, index = pixel;
        sum += value;
        ++existing;
      }
      const int64_t by = s.divisor != 0 ? s.divisor : s.kind == PoolingKind::kAverage ? window : existing;
      const auto place = static_cast<size_t>(first ? plane * outs + o : (n * outs + o) * s.channels + c);
      result.values[place] = s.kind == PoolingKind::kMax ? most : sum / static_cast<T>(by);
      result.indices[place] = index;
    }
  }
  return result;
}

std::vector<PoolingShape> shapes() {
  return {{.batch = 2,
           .channels = 3,
           .input = {1, 8, 50},
           .output = {1, 4, 25},
           .kernel = {1, 2, 2},
           .stride = {1, 2, 2}},
          {.channels = 20,
           .input = {1, 9, 41},
           .output = {1, 5, 21},
           .kernel = {1, 3, 3},
           .stride = {1, 2, 2},
           .padding = {0, 1, 1}},
          {.channels = 2,  // sizes rounded up
           .input = {1, 8, 8},
           .output = {1, 4, 4},
           .kernel = {1, 3, 3},
           .stride = {1, 2, 2},
           .padding = {0, 0, 0}},
          {.batch = 2,
           .channels = 5,
           .input = {4, 5, 9},
           .output = {2, 5, 3},
           .kernel = {2, 3, 4},
           .stride = {2, 1, 3},
           .padding = {0, 1, 2}}};
}

template <typename T>
void check(DType dtype, PoolingShape shape, ImageOrder order) {
  const std::vector<T> input =
      numbers<T>(shape.batch * shape.channels * shape.input[0] * shape.input[1] * shape.input[2]);
  const Pooled<T> wanted = by_definition(shape, order, input);
  std::vector<T> found(wanted.values.size());
  std::vector<int64_t> indices(found.size());
  ThreadPool pool(2);
  pool_windows(pool, shape, dtype, order, input.data(), found.data());
  EXPECT_EQ(found, wanted.values);
  if (shape.kind != PoolingKind::kMax) return;
  found.assign(found.size(), T(0));
  pool_windows(pool, shape, dtype, order, input.data(), found.data(), indices.data());
  EXPECT_EQ(found, wanted.values);
  EXPECT_EQ(indices, wanted.indices);
}

constexpr ImageOrder kOrders[] = {ImageOrder::kChannelsFirst, ImageOrder::kChannelsLast};

TEST(Pooling, EqualsTheDefinition) {
  for (const ImageOrder order : kOrders) {
    for (PoolingShape shape : shapes()) {
      SCOPED_TRACE(shape.input[2]);
      check<int32_t>(DType::kInt32, shape, order);
      check<int64_t>(DType::kInt64, shape, order);
      for (const PoolingKind kind :
           {PoolingKind::kMax, PoolingKind::kAverage, PoolingKind::kAverageOfExisting}) {
        shape.kind = kind;
        check<float>(DType::kFloat32, shape, order);
        check<double>(DType::kFloat64, shape, order);
      }
      shape.divisor = 3;
      check<float>(DType::kFloat32, shape, order);
    }
    PoolingShape dilated = {
        .channels = 3, .input = {1, 9, 40}, .output = {1, 5, 36}, .kernel = {1, 3, 3}, .dilation = {1, 2, 2}};
    check<float>(DType::kFloat32, dilated, order);
  }
}

TEST(Pooling, NanIsTheMaximum) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> input = {1, nan, 3, 4, -inf, -inf, 2, 2};
  const PoolingShape shape = {
      .input = {1, 1, 8}, .output = {1, 1, 4}, .kernel = {1, 1, 2}, .stride = {1, 1, 2}};
  std::vector<float> found(4);
  std::vector<int64_t> indices(4);
  ThreadPool pool(1);
  for (const ImageOrder order : kOrders) {
    pool_windows(pool, shape, DType::kFloat32, order, input.data(), found.data(), indices.data());
    EXPECT_TRUE(std::isnan(found[0]));
    EXPECT_EQ((std::vector<float>(found.begin() + 1, found.end())), (std::vector<float>{4, -inf, 2}));
    EXPECT_EQ(indices, (std::vector<int64_t>{1, 3, 4, 6}));
  }
}

TEST(Pooling, SixteenBitsAreRoundedOnce) {
  const std::vector<BFloat16> input(300, BFloat16::from_float(1));
  const PoolingShape shape = {
      .kind = PoolingKind::kAverage, .input = {1, 1, 300}, .output = {1, 1, 1}, .kernel = {1, 1, 300}};
  BFloat16 found = {};
  ThreadPool pool(1);
  pool_windows(pool, shape, DType::kBFloat16, ImageOrder::kChannelsFirst, input.data(), &found);
  EXPECT_EQ(found.to_float(), 1);
}

TEST(Pooling, SaysWhatIsWrong) {
  ThreadPool pool(1);
  const auto refused = [&](DType dtype, PoolingKind kind, int64_t* indices) -> std::string {
    try {
      pool_windows(pool, {.kind = kind}, dtype, ImageOrder::kChannelsFirst, nullptr, nullptr, indices);
    } catch (const Error& error) {
      return error.message();
    }
    return "no error";
  };
  int64_t index = 0;
  EXPECT_EQ(refused(DType::kComplex64, PoolingKind::kMax, nullptr),
            "maxima of windows of complex64 elements");
  EXPECT_EQ(refused(DType::kInt64, PoolingKind::kAverage, nullptr), "averages of windows of int64 elements");
  EXPECT_EQ(refused(DType::kFloat32, PoolingKind::kAverage, &index),
            "an average was not found anywhere, so it has no index");
}

}  // namespace
}  // namespace flambeau::kernels
