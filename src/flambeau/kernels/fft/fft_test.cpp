#include "flambeau/kernels/fft/fft.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <thread>

#include "flambeau/base/error.h"
#include "flambeau/base/work.h"

namespace flambeau::kernels {
namespace {

using FftKind = FftLines::Kind;
template <typename T>
using FftSignal = std::vector<std::complex<T>>;

template <typename T>
constexpr DType kPart = sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;

// By its definition.
template <typename T>
FftSignal<long double> transformed(const FftSignal<T>& signal, bool is_forward) {
  const size_t n = signal.size();
  std::vector<std::complex<long double>> roots(n);
  for (size_t e = 0; e < n; ++e) {
    const long double angle =
        2 * std::numbers::pi_v<long double> * static_cast<long double>(e) / static_cast<long double>(n);
    roots[e] = {std::cos(angle), is_forward ? -std::sin(angle) : std::sin(angle)};
  }
  FftSignal<long double> result(n);
  for (size_t k = 0; k < n; ++k) {
    for (size_t j = 0; j < n; ++j) {
      result[k] += std::complex<long double>(signal[j].real(), signal[j].imag()) * roots[j * k % n];
    }
  }
  return result;
}

template <typename T>
FftSignal<T> noise(size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  FftSignal<T> signal(count);
  for (std::complex<T>& number : signal)
    number = {static_cast<T>(normal(engine)), static_cast<T>(normal(engine))};
  return signal;
}

// The root of the mean square of the error, in parts of what is expected.
template <typename T>
double relative_error(const FftSignal<T>& result, const FftSignal<long double>& expected, double scale = 1) {
  long double error = 0, size = 0;
  for (size_t i = 0; i < result.size(); ++i) {
    const std::complex<long double> wanted = expected[i] * static_cast<long double>(scale);
    error += std::norm(std::complex<long double>(result[i].real(), result[i].imag()) - wanted);
    size += std::norm(wanted);
  }
  return static_cast<double>(std::sqrt(error / (size == 0 ? 1 : size)));
}

template <typename T>
constexpr double kFftAllowed = sizeof(T) == 4 ? 6e-7 : 1.2e-15;

std::vector<size_t> lengths() {
  std::vector<size_t> all;
  for (size_t n = 1; n <= 71; ++n) all.push_back(n);
  for (const size_t n : {243, 256, 343, 512, 1000, 1024, 1009}) all.push_back(n);
  return all;
}

template <typename T>
class Fft : public testing::Test {
 public:
  ThreadPool pool{2};
};
using FftParts = testing::Types<float, double>;
TYPED_TEST_SUITE(Fft, FftParts);

TYPED_TEST(Fft, OneLineOfAnyLength) {
  using T = TypeParam;
  for (const size_t n : lengths()) {
    const FftSignal<T> signal = noise<T>(n, 1);
    for (const bool is_forward : {true, false}) {
      FftSignal<T> result(n);
      run_fft(this->pool, {.is_forward = is_forward,
                           .part = kPart<T>,
                           .length = n,
                           .scale = 0.5,
                           .from = signal.data(),
                           .to = result.data()});
      EXPECT_LT(relative_error(result, transformed(signal, is_forward), 0.5), kFftAllowed<T>) << n;
    }
  }
}

// Of a matrix of numbers, along either side, from and to either order.
TYPED_TEST(Fft, ManyLinesOfAnyOrder) {
  using T = TypeParam;
  for (const size_t n : {1, 2, 12, 17, 40, 64, 67}) {
    for (const size_t lines : {1, 3, 37}) {
      const FftSignal<T> signal = noise<T>(n * lines, 2);
      for (const bool reads_across : {true, false}) {
        for (const bool writes_across : {true, false}) {
          FftSignal<T> result(n * lines);
          const auto across = static_cast<int64_t>(lines), along = static_cast<int64_t>(n);
          run_fft(this->pool, {.part = kPart<T>,
                               .length = n,
                               .from = signal.data(),
                               .from_step = reads_across ? across : 1,
                               .to = result.data(),
                               .to_step = writes_across ? across : 1,
                               .axes = {{lines, reads_across ? 1 : along, writes_across ? 1 : along}}});
          for (size_t line = 0; line < lines; ++line) {
            FftSignal<T> one(n), got(n);
            for (size_t i = 0; i < n; ++i) {
              one[i] = signal[reads_across ? i * lines + line : line * n + i];
              got[i] = result[writes_across ? i * lines + line : line * n + i];
            }
            ASSERT_LT(relative_error(got, transformed(one, true)), kFftAllowed<T>)
                << n << " " << lines << " " << reads_across << writes_across;
          }
        }
      }
    }
  }
}

TYPED_TEST(Fft, RealLinesThereAndBack) {
  using T = TypeParam;
  for (const size_t n : lengths()) {
    for (const int64_t step : {1, 3}) {
      std::vector<T> signal(n * static_cast<size_t>(step));
      FftSignal<T> complex(n);
      const FftSignal<T> random = noise<T>(n, 3);
      for (size_t i = 0; i < n; ++i) {
        complex[i] = random[i].real();
        signal[i * static_cast<size_t>(step)] = complex[i].real();
      }
      FftSignal<T> half((n / 2 + 1) * static_cast<size_t>(step));
      run_fft(this->pool, {.kind = FftKind::kRealToComplex,
                           .part = kPart<T>,
                           .length = n,
                           .from = signal.data(),
                           .from_step = step,
                           .to = half.data(),
                           .to_step = step});
      FftSignal<T> packed(n / 2 + 1);
      for (size_t k = 0; k < packed.size(); ++k) packed[k] = half[k * static_cast<size_t>(step)];
      ASSERT_LT(relative_error(packed, transformed(complex, true)), 2 * kFftAllowed<T>) << n;
      // What has no place in a real line is not looked at.
      half[0] += std::complex<T>(0, 5);
      if (n % 2 == 0) half[n / 2 * static_cast<size_t>(step)] += std::complex<T>(0, 7);
      std::vector<T> back(signal.size());
      run_fft(this->pool, {.kind = FftKind::kComplexToReal,
                           .is_forward = false,
                           .part = kPart<T>,
                           .length = n,
                           .scale = 1 / static_cast<double>(n),
                           .from = half.data(),
                           .from_step = step,
                           .to = back.data(),
                           .to_step = step});
      FftSignal<T> got(n);
      FftSignal<long double> expected(n);
      for (size_t i = 0; i < n; ++i) {
        got[i] = back[i * static_cast<size_t>(step)];
        expected[i] = complex[i].real();
      }
      ASSERT_LT(relative_error(got, expected), 2 * kFftAllowed<T>) << n;
    }
  }
}

TYPED_TEST(Fft, ManyRealLinesOfAnyOrder) {
  using T = TypeParam;
  for (const size_t n : {1, 2, 3, 12, 15, 64, 67, 90}) {
    for (const size_t lines : {9, 37}) {
      const size_t half = n / 2 + 1;
      const FftSignal<T> random = noise<T>(n * lines, 6);
      for (const bool is_across : {true, false}) {
        const auto at = [&](size_t line, size_t i, size_t size) {
          return is_across ? i * lines + line : line * size + i;
        };
        const auto step = static_cast<int64_t>(is_across ? lines : 1);
        const auto axis = [&](size_t size) { return static_cast<int64_t>(is_across ? 1 : size); };
        std::vector<T> signal(n * lines), back(n * lines);
        for (size_t i = 0; i < signal.size(); ++i) signal[i] = random[i].real();
        FftSignal<T> result(half * lines);
        run_fft(this->pool, {.kind = FftKind::kRealToComplex,
                             .part = kPart<T>,
                             .length = n,
                             .from = signal.data(),
                             .from_step = step,
                             .to = result.data(),
                             .to_step = step,
                             .axes = {{lines, axis(n), axis(half)}}});
        for (size_t line = 0; line < lines; ++line) {
          FftSignal<T> one(n), got(half);
          for (size_t i = 0; i < n; ++i) one[i] = signal[at(line, i, n)];
          for (size_t k = 0; k < half; ++k) got[k] = result[at(line, k, half)];
          ASSERT_LT(relative_error(got, transformed(one, true)), 2 * kFftAllowed<T>) << n << " " << lines;
          result[at(line, 0, half)] += std::complex<T>(0, 5);
        }
        run_fft(this->pool, {.kind = FftKind::kComplexToReal,
                             .is_forward = false,
                             .part = kPart<T>,
                             .length = n,
                             .scale = 1 / static_cast<double>(n),
                             .from = result.data(),
                             .from_step = step,
                             .to = back.data(),
                             .to_step = step,
                             .axes = {{lines, axis(half), axis(n)}}});
        for (size_t i = 0; i < signal.size(); ++i) {
          ASSERT_NEAR(back[i], signal[i], 10 * kFftAllowed<T>) << n << " " << lines;
        }
      }
    }
  }
}

TYPED_TEST(Fft, WorksInPlace) {
  using T = TypeParam;
  for (const size_t n : {16, 300, 1009}) {
    FftSignal<T> signal = noise<T>(n, 4);
    const FftSignal<long double> expected = transformed(signal, true);
    run_fft(this->pool, {.part = kPart<T>, .length = n, .from = signal.data(), .to = signal.data()});
    EXPECT_LT(relative_error(signal, expected), kFftAllowed<T>) << n;
  }
}

TYPED_TEST(Fft, LongLinesComeBack) {
  using T = TypeParam;
  for (const size_t n : {size_t{1} << 17, size_t{3 * 3 * 3 * 5 * 7 * 11 * 13}, size_t{100003}}) {
    const FftSignal<T> signal = noise<T>(n, 5);
    FftSignal<T> there(n), back(n);
    run_fft(this->pool, {.part = kPart<T>, .length = n, .from = signal.data(), .to = there.data()});
    run_fft(this->pool, {.is_forward = false,
                         .part = kPart<T>,
                         .length = n,
                         .scale = 1 / static_cast<double>(n),
                         .from = there.data(),
                         .to = back.data()});
    EXPECT_LT(relative_error(back, FftSignal<long double>(signal.begin(), signal.end())), 2 * kFftAllowed<T>)
        << n;
  }
}

TEST(FftLimits, StopsWithinALongLine) {
  for (const size_t n : {size_t{1} << 22, size_t{2097143}}) {
    FftSignal<float> signal(n);
    std::atomic<bool> cancel = false;
    std::chrono::steady_clock::time_point asked;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      asked = std::chrono::steady_clock::now();
      cancel = true;
    });
    const WorkScope scope({.cancel = &cancel});
    ThreadPool pool(1);
    bool is_stopped = false;
    try {
      for (int i = 0; i < 100; ++i) {
        run_fft(pool, {.length = n, .from = signal.data(), .to = signal.data()});
      }
    } catch (const Error& error) {
      is_stopped = error.code() == ErrorCode::kCancelled;
    }
    const auto stopped = std::chrono::steady_clock::now();
    other.join();
    EXPECT_TRUE(is_stopped);
    EXPECT_LT(stopped - asked, std::chrono::seconds(2));
  }
}

TEST(FftLimits, AsksForMemoryFirst) {
  const size_t n = size_t{1} << 20;
  FftSignal<float> signal(n);
  const WorkScope scope({.bytes = 1 << 10});
  ThreadPool pool(1);
  EXPECT_THROW(run_fft(pool, {.length = n, .from = signal.data(), .to = signal.data()}), Error);
}

}  // namespace
}  // namespace flambeau::kernels
