#include "flambeau/kernels/linalg/matrix.h"

#include "flambeau/kernels/gemm/gemm.h"
#include "flambeau/kernels/linalg/loops.h"

namespace flambeau::kernels::linalg {
namespace {

template <typename T>
constexpr DType kType = DType::kFloat32;
template <>
constexpr DType kType<double> = DType::kFloat64;
template <>
constexpr DType kType<std::complex<float>> = DType::kComplex64;
template <>
constexpr DType kType<std::complex<double>> = DType::kComplex128;

// Below this many multiplications the engine's preparations take longer.
constexpr int64_t kFewMultiplications = 512;

}  // namespace

template <typename T>
const Loops<T>& loops() {
  static const AllLoops all = FLAMBEAU_PICK(make_loops)();
  if constexpr (std::is_same_v<T, float>) {
    return all.single;
  } else if constexpr (std::is_same_v<T, double>) {
    return all.twofold;
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return all.complex_single;
  } else {
    return all.complex_twofold;
  }
}

template <typename T>
void product(ThreadPool& pool, Matrix<T> left, Matrix<T> right, Matrix<T> out, T alpha, T beta) {
  if (out.rows == 0 || out.columns == 0) return;
  const int64_t depth = left.columns;
  if (depth == 0) {
    if (beta == T(0)) {
      for (int64_t c = 0; c < out.columns; ++c) {
        for (int64_t r = 0; r < out.rows; ++r) out(r, c) = T(0);
      }
    }
    return;
  }
  if (out.rows <= 16 && out.columns <= 16 && out.rows * out.columns * depth <= kFewMultiplications) {
    for (int64_t c = 0; c < out.columns; ++c) {
      for (int64_t r = 0; r < out.rows; ++r) {
        T sum = 0;
        for (int64_t k = 0; k < depth; ++k) sum += times(left(r, k), right(k, c));
        out(r, c) = times(alpha, sum) + (beta == T(0) ? T(0) : out(r, c));
      }
    }
    return;
  }
  const auto steps = [](const Matrix<T>& a) { return MatrixSteps{a.row_step, a.column_step, 0}; };
  const auto factor = [](T number) -> Factor {
    return real_part(number) < 0 ? -1.0 : real_part(number) > 0 ? 1.0 : 0.0;
  };
  const GemmShape shape{.dtype = kType<T>,
                        .rows = out.rows,
                        .columns = out.columns,
                        .depth = depth,
                        .left = steps(left),
                        .right = steps(right),
                        .out = steps(out)};
  GemmAddend addend;
  if (beta != T(0)) addend = {.data = out.data, .steps = steps(out), .beta = 1.0};
  gemm(pool, shape, left.data, right.data, out.data, addend, factor(alpha));
}

template <typename T>
Real<T> norm(int64_t count, const T* x) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double re = std::real(x[i]), im = std::imag(x[i]);
    sum += re * re + im * im;
  }
  if (sum == 0 || (sum > 1e-290 && sum < 1e290)) {
    if (sum != 0) return static_cast<Real<T>>(std::sqrt(sum));
  }
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    largest = std::max({largest, std::abs(double(std::real(x[i]))), std::abs(double(std::imag(x[i])))});
  }
  if (largest == 0 || !std::isfinite(largest)) return static_cast<Real<T>>(std::sqrt(sum));
  sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double re = std::real(x[i]) / largest, im = std::imag(x[i]) / largest;
    sum += re * re + im * im;
  }
  return static_cast<Real<T>>(largest * std::sqrt(sum));
}

#define FLAMBEAU_MAKE(T)                                                        \
  template const Loops<T>& loops<T>();                                          \
  template void product<T>(ThreadPool&, Matrix<T>, Matrix<T>, Matrix<T>, T, T); \
  template Real<T> norm<T>(int64_t, const T*);
FLAMBEAU_LINALG_TYPES(FLAMBEAU_MAKE)
#undef FLAMBEAU_MAKE

}  // namespace flambeau::kernels::linalg
