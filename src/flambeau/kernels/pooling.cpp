#include "flambeau/kernels/pooling.h"

#include <fmt/format.h>

#include <limits>

#include "flambeau/base/error.h"
#include "flambeau/base/parallel.h"
#include "flambeau/kernels/convolution_prepared.h"
#include "flambeau/kernels/gemm_rows.h"
#include "flambeau/kernels/gemm_scratch.h"
#include "flambeau/kernels/pooling_kernels.h"

namespace flambeau::kernels {
namespace {

template <typename T>
const PoolingKernels<T>& table() {
  if constexpr (std::is_same_v<T, float>) return FLAMBEAU_PICK(float_pooling)();
  if constexpr (std::is_same_v<T, double>) return FLAMBEAU_PICK(double_pooling)();
  if constexpr (std::is_same_v<T, int64_t>) return FLAMBEAU_PICK(int64_pooling)();
}

// Integers are read and written as unsigned ones by the row functions; the bits are the same.
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;

// A window along one axis: the taps that meet the input.
struct Taps {
  int64_t start, begin, end;  // the first tap's place; taps [begin, end) are inside
  Taps(const PoolingShape& shape, size_t axis, int64_t position)
      : start(position * shape.stride[axis] - shape.padding[axis]), begin(0), end(0) {
    const ValidRange valid(start, shape.dilation[axis], shape.input[axis], shape.kernel[axis]);
    begin = valid.begin, end = valid.end;
  }
};

template <typename T>
class Pooling {
 public:
  Pooling(const PoolingShape& shape, DType dtype, ImageOrder order, const void* input, void* output,
          int64_t* indices)
      : shape_(shape),
        access_(dtype),
        kernels_(table<T>()),
        last_(order == ImageOrder::kChannelsLast),
        max_(shape.kind == PoolingKind::kMax),
        input_(input),
        output_(output),
        indices_(indices),
        in_size_(shape.input[0] * shape.input[1] * shape.input[2]),
        out_size_(shape.output[0] * shape.output[1] * shape.output[2]) {}

  void run(ThreadPool& pool) const {
    // Channels first: a piece is a plane; last: a row of results with all their channels.
    const int64_t rows = shape_.output[0] * shape_.output[1];
    const int64_t count = shape_.batch * (last_ ? rows : shape_.channels);
    const int64_t taps = shape_.kernel[0] * shape_.kernel[1] * shape_.kernel[2];
    const int64_t work =
        std::max<int64_t>(1, taps * (last_ ? shape_.output[2] * shape_.channels : out_size_));
    const auto grain = static_cast<size_t>(std::max<int64_t>(1, (int64_t{1} << 15) / work));
    pool.for_each_range(static_cast<size_t>(count), grain, [&](size_t begin, size_t end) {
      const int64_t converted = access_.same() ? 0 : last_ ? shape_.channels : in_size_;
      const int64_t width = last_ ? shape_.channels : shape_.output[2];
      const Scratch scratch(static_cast<size_t>(width + converted) * sizeof(T));
      T* const room = scratch.as<T>();
      for (auto index = static_cast<int64_t>(begin); index < static_cast<int64_t>(end); ++index) {
        if (last_) {
          run_row(index, room, room + width);
        } else {
          run_plane(index, room, room + width);
        }
      }
    });
  }

 private:
  static T least() {
    if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::min();
  }
  int64_t place(const Taps& z, const Taps& y, const Taps& x) const {
    const auto at = [&](const Taps& taps, size_t axis) {
      return taps.start + taps.begin * shape_.dilation[axis];
    };
    return (at(z, 0) * shape_.input[1] + at(y, 1)) * shape_.input[2] + at(x, 2);
  }

  // What the sum of a window is divided by.
  T divisor(const Taps& z, const Taps& y, const Taps& x) const {
    if (shape_.divisor != 0) return static_cast<T>(shape_.divisor);
    if (shape_.kind == PoolingKind::kAverageOfExisting) {
      return static_cast<T>((z.end - z.begin) * (y.end - y.begin) * (x.end - x.begin));
    }
    int64_t size = 1;
    const Taps* const all[] = {&z, &y, &x};
    for (size_t i = 0; i < 3; ++i) {
      size *= std::min(shape_.kernel[i], shape_.input[i] + shape_.padding[i] - all[i]->start);
    }
    return static_cast<T>(size);
  }

  const T* load(int64_t index, int64_t count, T* converted) const {
    if (access_.same()) return static_cast<const T*>(input_) + index;
    access_.load(input_, index, 1, count, reinterpret_cast<Stored<T>*>(converted));
    return converted;
  }
  void store(const T* values, int64_t count, int64_t index) const {
    access_.store(reinterpret_cast<const Stored<T>*>(values), count, output_, index, 1);
  }

  void run_plane(int64_t index, T* row, T* converted) const {
    const T* const plane = load(index * in_size_, in_size_, converted);
    const int64_t width = shape_.output[2];
    for (int64_t oz = 0; oz < shape_.output[0]; ++oz) {
      const Taps z(shape_, 0, oz);
      for (int64_t oy = 0; oy < shape_.output[1]; ++oy) {
        const Taps y(shape_, 1, oy);
        const int64_t out = index * out_size_ + (oz * shape_.output[1] + oy) * width;
        int64_t* const indices = indices_ == nullptr ? nullptr : indices_ + out;
        std::fill_n(row, width, max_ ? least() : T(0));
        for (int64_t x = 0; indices != nullptr && x < width; ++x)
          indices[x] = place(z, y, Taps(shape_, 2, x));
        for (int64_t kz = z.begin; kz < z.end; ++kz) {
          for (int64_t ky = y.begin; ky < y.end; ++ky) {
            const int64_t line =
                (z.start + kz * shape_.dilation[0]) * shape_.input[1] + y.start + ky * shape_.dilation[1];
            for (int64_t kx = 0; kx < shape_.kernel[2]; ++kx) {
              const int64_t offset = kx * shape_.dilation[2] - shape_.padding[2];
              const ValidRange xs(offset, shape_.stride[2], shape_.input[2], width);
              meet(plane, line * shape_.input[2] + offset + xs.begin * shape_.stride[2], shape_.stride[2],
                   xs.end - xs.begin, row + xs.begin, indices == nullptr ? nullptr : indices + xs.begin);
            }
          }
        }
        for (int64_t x = 0; !max_ && x < width; ++x) row[x] /= divisor(z, y, Taps(shape_, 2, x));
        store(row, width, out);
      }
    }
  }

  void meet(const T* plane, int64_t from, int64_t step, int64_t count, T* row, int64_t* indices) const {
    if (indices != nullptr) {
      kernels_.max_index(plane + from, step, count, row, from, step, indices);
    } else if (max_) {
      kernels_.max(plane + from, step, count, row);
    } else {
      kernels_.add(plane + from, step, count, row);
    }
  }

  void run_row(int64_t index, T* values, T* converted) const {
    const int64_t channels = shape_.channels;
    const int64_t image = index / shape_.output[1] / shape_.output[0];
    const Taps z(shape_, 0, index / shape_.output[1] % shape_.output[0]);
    const Taps y(shape_, 1, index % shape_.output[1]);
    for (int64_t ox = 0; ox < shape_.output[2]; ++ox) {
      const Taps x(shape_, 2, ox);
      const int64_t out = (index * shape_.output[2] + ox) * channels;
      int64_t* const indices = indices_ == nullptr ? nullptr : indices_ + out;
      std::fill_n(values, channels, max_ ? least() : T(0));
      if (indices != nullptr) std::fill_n(indices, channels, place(z, y, x));
      for (int64_t kz = z.begin; kz < z.end; ++kz) {
        for (int64_t ky = y.begin; ky < y.end; ++ky) {
          for (int64_t kx = x.begin; kx < x.end; ++kx) {
            const int64_t pixel =
                ((z.start + kz * shape_.dilation[0]) * shape_.input[1] + y.start + ky * shape_.dilation[1]) *
                    shape_.input[2] +
                x.start + kx * shape_.dilation[2];
            const T* const from = load((image * in_size_ + pixel) * channels, channels, converted);
            if (indices != nullptr) {
              kernels_.max_index(from, 1, channels, values, pixel, 0, indices);
            } else if (max_) {
              kernels_.max(from, 1, channels, values);
            } else {
              kernels_.add(from, 1, channels, values);
            }
          }
        }
      }
      if (!max_) {
        const T by = divisor(z, y, x);
        for (int64_t c = 0; c < channels; ++c) values[c] /= by;
      }
      store(values, channels, out);
    }
  }

  const PoolingShape& shape_;
  const RowAccess<Stored<T>> access_;
  const PoolingKernels<T>& kernels_;
  const bool last_, max_;
  const void* const input_;
  void* const output_;
  int64_t* const indices_;
  const int64_t in_size_, out_size_;
};

}  // namespace

void pool_windows(ThreadPool& pool, const PoolingShape& shape, DType dtype, ImageOrder order,
                  const void* input, void* output, int64_t* indices) {
  const Compute compute = compute_type(dtype);
  const bool real = compute == Compute::kFloat || compute == Compute::kDouble;
  const bool max = shape.kind == PoolingKind::kMax;
  if (!real && (compute != Compute::kInt64 || !max)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} of windows of {} elements", max ? "maxima" : "averages", dtype_name(dtype)),
                "convert the tensor to a floating-point type first");
  }
  if (indices != nullptr && !max) {
    throw Error(ErrorCode::kInvalidArgument, "an average was not found anywhere, so it has no index");
  }
  if (compute == Compute::kDouble) {
    Pooling<double>(shape, dtype, order, input, output, indices).run(pool);
  } else if (real) {
    Pooling<float>(shape, dtype, order, input, output, indices).run(pool);
  } else {
    Pooling<int64_t>(shape, dtype, order, input, output, indices).run(pool);
  }
}

}  // namespace flambeau::kernels
