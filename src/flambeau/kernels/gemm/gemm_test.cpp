#include "flambeau/kernels/gemm/gemm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/tensor/elements/scalar_types.h"

namespace flambeau::kernels {
namespace {

// How a matrix lies in memory, for tests: its steps and the elements to allocate.
struct Lying {
  MatrixSteps steps;
  int64_t size;
};

enum class Order { kRows, kColumns, kGaps };

Lying lie(Order order, int64_t batch, int64_t rows, int64_t columns) {
  switch (order) {
    case Order::kRows:
      return {{columns, 1, rows * columns}, batch * rows * columns};
    case Order::kColumns:
      return {{1, rows, rows * columns}, batch * rows * columns};
    default:
      return {{2 * columns + 3, 2, rows * (2 * columns + 3)}, batch * rows * (2 * columns + 3) + 1};
  }
}

int64_t at(const MatrixSteps& steps, int64_t b, int64_t r, int64_t c) {
  return b * steps.batch + r * steps.row + c * steps.column;
}

template <typename T>
struct Traits {
  static T make(std::mt19937& random) { return static_cast<T>(static_cast<int>(random() % 7) - 3); }
};
template <typename R>
struct Traits<std::complex<R>> {
  static std::complex<R> make(std::mt19937& random) {
    return {static_cast<R>(static_cast<int>(random() % 7) - 3),
            static_cast<R>(static_cast<int>(random() % 5) - 2)};
  }
};

template <typename T>
std::vector<T> numbers(std::mt19937& random, int64_t count) {
  std::vector<T> result(static_cast<size_t>(count));
  for (T& value : result) value = Traits<T>::make(random);
  return result;
}

// Small whole numbers, so that every order of additions gives the same result.
template <typename T>
void check(DType dtype, int64_t batch, int64_t rows, int64_t columns, int64_t depth, Order left_order,
           Order right_order, Order out_order, bool with_addend, int packed_side) {
  SCOPED_TRACE(fmt::format("{} batch {} {}x{}x{} orders {} {} {} addend {} packed {}", dtype_name(dtype),
                           batch, rows, columns, depth, static_cast<int>(left_order),
                           static_cast<int>(right_order), static_cast<int>(out_order), with_addend,
                           packed_side));
  std::mt19937 random(static_cast<uint32_t>(rows * 131 + columns * 17 + depth));
  const Lying left_lies = lie(left_order, batch, rows, depth);
  const Lying right_lies = lie(right_order, batch, depth, columns);
  const Lying out_lies = lie(out_order, batch, rows, columns);
  const std::vector<T> left = numbers<T>(random, left_lies.size);
  const std::vector<T> right = numbers<T>(random, right_lies.size);
  const std::vector<T> bias = numbers<T>(random, columns);
  std::vector<T> out = numbers<T>(random, out_lies.size);
  std::vector<T> wanted = out;
  const T alpha = with_addend ? T(3) : T(1);
  const T beta = T(2);
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        T sum = 0;
        for (int64_t d = 0; d < depth; ++d) {
          sum += left[static_cast<size_t>(at(left_lies.steps, b, r, d))] *
                 right[static_cast<size_t>(at(right_lies.steps, b, d, c))];
        }
        sum *= alpha;
        if (with_addend) sum += beta * bias[static_cast<size_t>(c)];
        wanted[static_cast<size_t>(at(out_lies.steps, b, r, c))] = sum;
      }
    }
  }
  ThreadPool pool(2);
  const GemmShape shape = {.dtype = dtype,
                           .rows = rows,
                           .columns = columns,
                           .depth = depth,
                           .batch = batch,
                           .left = left_lies.steps,
                           .right = right_lies.steps,
                           .out = out_lies.steps};
  GemmAddend addend;
  if (with_addend) addend = {.data = bias.data(), .steps = {0, 1, 0}, .beta = 2.0};
  const Factor factor = with_addend ? Factor(int64_t{3}) : Factor(1.0);
  if (packed_side == 1) {
    const PackedMatrix packed(pool, PackedMatrix::Side::kLeft, dtype, rows, depth, shape.left, left.data(),
                              batch);
    gemm(pool, shape, packed, right.data(), out.data(), addend, factor);
  } else if (packed_side == 2) {
    const PackedMatrix packed(pool, PackedMatrix::Side::kRight, dtype, depth, columns, shape.right,
                              right.data(), batch);
    gemm(pool, shape, left.data(), packed, out.data(), addend, factor);
  } else {
    gemm(pool, shape, left.data(), right.data(), out.data(), addend, factor);
  }
  ASSERT_EQ(out, wanted);
}

template <typename T>
void check_orders(DType dtype) {
  constexpr Order kOrders[] = {Order::kRows, Order::kColumns, Order::kGaps};
  constexpr int64_t kSizes[][3] = {{1, 1, 1},   {1, 40, 33},  {40, 1, 33},  {3, 65, 17}, {8, 33, 20},
                                   {15, 31, 9}, {29, 64, 70}, {70, 130, 1}, {2, 3, 300}, {17, 5, 0}};
  for (const auto& size : kSizes) {
    for (const Order left : kOrders) {
      for (const Order right : kOrders) {
        for (const Order out : kOrders) {
          check<T>(dtype, 1, size[0], size[1], size[2], left, right, out, false, 0);
          check<T>(dtype, 2, size[0], size[1], size[2], left, right, out, true, 0);
        }
        check<T>(dtype, 2, size[0], size[1], size[2], left, right, Order::kRows, true, 1);
        check<T>(dtype, 2, size[0], size[1], size[2], left, right, Order::kColumns, false, 2);
        check<T>(dtype, 1, size[0], size[1], size[2], left, right, Order::kRows, true, 2);
      }
    }
  }
}

TEST(Gemm, Float) { check_orders<float>(DType::kFloat32); }
TEST(Gemm, Double) { check_orders<double>(DType::kFloat64); }
TEST(Gemm, Int64) { check_orders<int64_t>(DType::kInt64); }
TEST(Gemm, Int32) { check_orders<int32_t>(DType::kInt32); }
TEST(Gemm, UInt8) { check_orders<uint8_t>(DType::kUInt8); }
TEST(Gemm, ComplexFloat) { check_orders<std::complex<float>>(DType::kComplex64); }
TEST(Gemm, ComplexDouble) { check_orders<std::complex<double>>(DType::kComplex128); }

TEST(Gemm, EveryNumberOfRows) {
  for (int64_t rows = 1; rows <= 45; ++rows) {
    check<float>(DType::kFloat32, 1, rows, 37, 19, Order::kRows, Order::kRows, Order::kRows, true, 0);
    check<double>(DType::kFloat64, 1, rows, 37, 19, Order::kRows, Order::kColumns, Order::kRows, false, 2);
  }
}

TEST(Gemm, LargerThanABlock) {
  check<float>(DType::kFloat32, 1, 400, 700, 600, Order::kRows, Order::kColumns, Order::kRows, true, 0);
  check<float>(DType::kFloat32, 1, 350, 530, 513, Order::kColumns, Order::kRows, Order::kRows, false, 1);
  check<float>(DType::kFloat32, 1, 1, 5000, 700, Order::kRows, Order::kRows, Order::kRows, true, 0);
  check<float>(DType::kFloat32, 1, 1, 5000, 700, Order::kRows, Order::kColumns, Order::kRows, true, 2);
}

TEST(Gemm, IntegersWrapAround) {
  ThreadPool pool(1);
  const int64_t big = std::numeric_limits<int64_t>::max();
  const std::vector<int64_t> left = {big, 2}, right = {2, big};
  int64_t out = 0;
  const GemmShape shape = {.dtype = DType::kInt64,
                           .rows = 1,
                           .columns = 1,
                           .depth = 2,
                           .left = {2, 1},
                           .right = {1, 1},
                           .out = {1, 1}};
  gemm(pool, shape, left.data(), right.data(), &out);
  EXPECT_EQ(out, -4);
}

TEST(Gemm, BetaZeroHidesNan) {
  ThreadPool pool(1);
  const std::vector<float> left(20, 1), right(20, 1);
  std::vector<float> out(16, std::numeric_limits<float>::quiet_NaN());
  const GemmShape shape = {
      .rows = 4, .columns = 4, .depth = 5, .left = {5, 1}, .right = {4, 1}, .out = {4, 1}};
  gemm(pool, shape, left.data(), right.data(), out.data(),
       {.data = out.data(), .steps = {4, 1}, .beta = 0.0});
  EXPECT_EQ(out, std::vector<float>(16, 5));
  gemm(pool, shape, left.data(), right.data(), out.data(),
       {.data = out.data(), .steps = {4, 1}, .beta = 0.5});
  EXPECT_EQ(out, std::vector<float>(16, 7.5));
}

// The sum of 1 and many tiny numbers is right only where no partial sum was rounded to 16 bits.
template <typename Small>
void check_rounded_once(DType dtype, int64_t rows, int64_t columns, Order right_order) {
  constexpr int64_t kDepth = 1025;
  std::vector<Small> left(static_cast<size_t>(rows * kDepth), Small::from_float(1));
  const Lying right_lies = lie(right_order, 1, kDepth, columns);
  std::vector<Small> right(static_cast<size_t>(right_lies.size), Small::from_float(std::ldexp(1.0F, -10)));
  for (int64_t c = 0; c < columns; ++c) {
    right[static_cast<size_t>(at(right_lies.steps, 0, 0, c))] = Small::from_float(1);
  }
  std::vector<Small> out(static_cast<size_t>(rows * columns));
  const std::vector<Small> bias(1, Small::from_float(2));
  ThreadPool pool(2);
  const GemmShape shape = {.dtype = dtype,
                           .rows = rows,
                           .columns = columns,
                           .depth = kDepth,
                           .left = {kDepth, 1},
                           .right = right_lies.steps,
                           .out = {columns, 1}};
  gemm(pool, shape, left.data(), right.data(), out.data(), {.data = bias.data()});
  for (const Small value : out) ASSERT_EQ(value.to_float(), 4);
  const PackedMatrix packed(pool, PackedMatrix::Side::kRight, dtype, kDepth, columns, shape.right,
                            right.data());
  std::fill(out.begin(), out.end(), Small{});
  gemm(pool, shape, left.data(), packed, out.data(), {.data = bias.data()});
  for (const Small value : out) ASSERT_EQ(value.to_float(), 4);
}

TEST(Gemm, SixteenBitsAreRoundedOnce) {
  for (const int64_t rows : {1, 5, 40}) {
    for (const Order order : {Order::kRows, Order::kColumns, Order::kGaps}) {
      check_rounded_once<Float16>(DType::kFloat16, rows, 35, order);
      check_rounded_once<BFloat16>(DType::kBFloat16, rows, 35, order);
    }
  }
}

TEST(Gemm, RefusesWhatIsNoNumber) {
  ThreadPool pool(1);
  const GemmShape shape = {.dtype = DType::kQInt8,
                           .rows = 1,
                           .columns = 1,
                           .depth = 1,
                           .left = {1, 1},
                           .right = {1, 1},
                           .out = {1, 1}};
  int8_t byte = 0;
  try {
    gemm(pool, shape, &byte, &byte, &byte);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "a product of qint8 elements, which are no plain numbers");
  }
}

TEST(Gemm, RefusesAPackedMatrixOfAnotherShape) {
  ThreadPool pool(1);
  const std::vector<float> data(12);
  std::vector<float> out(12);
  const PackedMatrix packed(pool, PackedMatrix::Side::kRight, DType::kFloat32, 3, 4, {4, 1}, data.data());
  const GemmShape shape = {.rows = 2, .columns = 4, .depth = 2, .left = {2, 1}, .out = {4, 1}};
  try {
    gemm(pool, shape, data.data(), packed, out.data());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(
        error.message(),
        "the packed right side is 3 x 4 of float32, a batch of 1; the product wants the right side 2 x 4 of "
        "float32, a batch of 1");
  }
}

}  // namespace
}  // namespace flambeau::kernels
