// Convolutions as matrix products, the panels of the image side gathered where they are needed.
#include <cstring>

#include "flambeau/base/parallel.h"
#include "flambeau/kernels/convolution/prepared.h"
#include "flambeau/kernels/gemm/scratch.h"

namespace flambeau::kernels {
namespace {

// The image's windows as a matrix: one side counts output positions, the other, its depth, the products of a
// sum. Depths are ordered channel, tap where channels come first in memory, and tap, channel where they come
// last.
template <typename T>
class WindowOperand : public GemmOperand<T> {
 public:
  WindowOperand(const ConvolutionShape& shape, bool left, const void* image)
      : shape_(shape),
        output_(shape.output()),
        channels_(shape.in_channels / shape.groups),
        kernels_(gemm_kernels<T>()),
        access_(shape.dtype),
        left_(left),
        first_(shape.input_order == ImageOrder::kChannelsFirst),
        image_(image) {}

  // `batch` counts images and, within them, groups.
  Panel<T> panel(int64_t batch, int64_t begin, int64_t count, int64_t depth_begin, int64_t depth,
                 T* room) const override {
    const int64_t image = batch / shape_.groups;
    const int64_t channel = batch % shape_.groups * channels_;
    const int64_t width = left_ ? count : kernels_.columns;
    Run runs[kMostRuns];
    const int64_t run_count = find_runs(begin, count, runs);
    // Complex right panels keep their parts apart, so those are gathered first and then packed.
    if (std::is_arithmetic_v<T> || left_) {
      gather(image, channel, runs, run_count, depth_begin, depth, room, width);
      for (int64_t d = 0; count < width && d < depth; ++d) {
        std::fill_n(room + d * width + count, width - count, T(0));
      }
    } else {
      const Scratch scratch(Size(depth) * count * sizeof(T));
      gather(image, channel, runs, run_count, depth_begin, depth, scratch.as<T>(), count);
      kernels_.pack_right(scratch.as<T>(), count, 1, depth, count, room);
    }
    return {room, width};
  }

 private:
  static constexpr int64_t kMostRuns = 64;  // no panel is wider

  // Neighbouring positions in one row of the output.
  struct Run {
    int64_t z, y, x, count, place;
  };

  int64_t find_runs(int64_t begin, int64_t count, Run* runs) const {
    int64_t found = 0;
    for (int64_t done = 0; done < count; ++found) {
      const int64_t position = begin + done;
      const int64_t x = position % output_[2];
      const int64_t some = std::min(count - done, output_[2] - x);
      runs[found] = {position / output_[2] / output_[1], position / output_[2] % output_[1], x, some, done};
      done += some;
    }
    return found;
  }

  int64_t start(size_t axis, int64_t position, int64_t tap) const {
    return position * shape_.stride[axis] - shape_.padding[axis] + tap * shape_.dilation[axis];
  }

  // Where a run meets the input for a tap: the row's first element (before x) and the range of the run that
  // is inside; empty when the row is outside.
  struct Meeting {
    int64_t row = 0, x = 0, begin = 0, end = 0;
  };
  Meeting meet(const Run& run, int64_t tap) const {
    const int64_t z = start(0, run.z, tap / shape_.kernel[2] / shape_.kernel[1]);
    const int64_t y = start(1, run.y, tap / shape_.kernel[2] % shape_.kernel[1]);
    if (z < 0 || z >= shape_.input[0] || y < 0 || y >= shape_.input[1]) return {};
    const int64_t x = start(2, run.x, tap % shape_.kernel[2]);
    const ValidRange valid(x, shape_.stride[2], shape_.input[2], run.count);
    return {(z * shape_.input[1] + y) * shape_.input[2], x, valid.begin, valid.end};
  }

  void gather(int64_t image, int64_t channel, const Run* runs, int64_t run_count, int64_t depth_begin,
              int64_t depth, T* to, int64_t step) const {
    for (int64_t tap = 0; tap < shape_.kernel_size(); ++tap) {
      if (first_) {
        gather_planes(image, channel, tap, runs, run_count, depth_begin, depth, to, step);
      } else {
        gather_channels(image, channel, tap, runs, run_count, depth_begin, depth, to, step);
      }
    }
  }

  void gather_planes(int64_t image, int64_t channel, int64_t tap, const Run* runs, int64_t run_count,
                     int64_t depth_begin, int64_t depth, T* to, int64_t step) const {
    const int64_t taps = shape_.kernel_size();
    const int64_t plane = shape_.input_size();
    const int64_t stride = shape_.stride[2];
    const int64_t first =
        (depth_begin - tap + taps - 1) / taps;  // the first channel with a depth in the panel
    for (int64_t i = 0; i < run_count; ++i) {
      const Run& run = runs[i];
      const Meeting meeting = meet(run, tap);
      const int64_t inside = meeting.end - meeting.begin;
      const int64_t from = inside <= 0 ? 0 : meeting.row + meeting.x + meeting.begin * stride;
      for (int64_t c = first, d = c * taps + tap - depth_begin; d < depth; ++c, d += taps) {
        T* const row = to + d * step + run.place;
        for (int64_t x = 0; x < meeting.begin; ++x) row[x] = T(0);
        for (int64_t x = meeting.end; x < run.count; ++x) row[x] = T(0);
        if (inside <= 0) continue;
        const int64_t index = (image * shape_.in_channels + channel + c) * plane + from;
        if (access_.same()) {
          kernels_.copy_strided(static_cast<const T*>(image_) + index, stride, inside, row + meeting.begin);
        } else {
          access_.load(image_, index, stride, inside, row + meeting.begin);
        }
      }
    }
  }

  void gather_channels(int64_t image, int64_t channel, int64_t tap, const Run* runs, int64_t run_count,
                       int64_t depth_begin, int64_t depth, T* to, int64_t step) const {
    const int64_t begin = std::max(tap * channels_, depth_begin);
    const int64_t end = std::min((tap + 1) * channels_, depth_begin + depth);
    if (begin >= end) return;
    const int64_t plane = shape_.input_size();
    for (int64_t i = 0; i < run_count; ++i) {
      const Run& run = runs[i];
      const Meeting meeting = meet(run, tap);
      for (int64_t x = 0; x < run.count; ++x) {
        T* const column = to + (begin - depth_begin) * step + run.place + x;
        if (x < meeting.begin || x >= meeting.end) {
          for (int64_t d = 0; d < end - begin; ++d) column[d * step] = T(0);
          continue;
        }
        const int64_t pixel = image * plane + meeting.row + meeting.x + x * shape_.stride[2];
        const int64_t index = pixel * shape_.in_channels + channel + begin - tap * channels_;
        if (access_.same()) {
          const T* const from = static_cast<const T*>(image_) + index;
          for (int64_t d = 0; d < end - begin; ++d) column[d * step] = from[d];
        } else {
          T piece[256];
          for (int64_t done = begin; done < end; done += 256) {
            const int64_t some = std::min<int64_t>(256, end - done);
            access_.load(image_, index + done - begin, 1, some, piece);
            for (int64_t d = 0; d < some; ++d) column[(done - begin + d) * step] = piece[d];
          }
        }
      }
    }
  }

  const ConvolutionShape& shape_;
  const Spatial output_;
  const int64_t channels_;
  const GemmKernels<T>& kernels_;
  const RowAccess<T> access_;
  const bool left_, first_;
  const void* image_;
};

template <typename T>
class Product : public Convolution::Prepared {
 public:
  Product(ThreadPool& pool, const ConvolutionShape& the_shape, const void* weights, const void* bias,
          Epilogues the_epilogues)
      : Prepared(the_shape, the_epilogues),
        images_left_(shape.output_order == ImageOrder::kChannelsLast || wastes_columns()) {
    const int64_t rows = shape.out_channels / shape.groups;
    const int64_t channels = shape.in_channels / shape.groups;
    const int64_t taps = shape.kernel_size();
    const size_t size = dtype_size(shape.dtype);
    const void* from = weights;
    std::shared_ptr<void> turned;
    if (shape.input_order == ImageOrder::kChannelsLast && taps > 1 && channels > 1) {
      turned = aligned_memory(Size(shape.out_channels) * channels * taps * size);
      const auto* source = static_cast<const uint8_t*>(weights);
      auto* target = static_cast<uint8_t*>(turned.get());
      for (int64_t o = 0; o < shape.out_channels; ++o) {
        for (int64_t t = 0; t < taps; ++t) {
          for (int64_t c = 0; c < channels; ++c, target += size) {
            std::memcpy(target, source + static_cast<size_t>((o * channels + c) * taps + t) * size, size);
          }
        }
      }
      from = turned.get();
    }
    const int64_t depth = channels * taps;
    weights_ = images_left_ ? PackedMatrix(pool, PackedMatrix::Side::kRight, shape.dtype, depth, rows,
                                           {1, depth, rows * depth}, from, shape.groups)
                            : PackedMatrix(pool, PackedMatrix::Side::kLeft, shape.dtype, rows, depth,
                                           {depth, 1, rows * depth}, from, shape.groups);
    if (bias != nullptr) {
      const size_t bytes = static_cast<size_t>(shape.out_channels) * size;
      bias_ = aligned_memory(bytes);
      std::memcpy(bias_.get(), bias, bytes);
    }
  }

  void run(ThreadPool& pool, const void* input, void* output) const override {
    // A group's bias depends on the group alone, so images with groups go one by one.
    const int64_t images = shape.groups == 1 ? 1 : shape.batch;
    for (int64_t image = 0; image < images; ++image) run_some(pool, image, input, output);
  }

 private:
  void run_some(ThreadPool& pool, int64_t image, const void* input, void* output) const {
    const size_t size = dtype_size(shape.dtype);
    const bool first = shape.input_order == ImageOrder::kChannelsFirst;
    const int64_t plane = shape.input_size();
    const int64_t channels = shape.in_channels / shape.groups;
    const int64_t rows = shape.out_channels / shape.groups;
    const int64_t positions = shape.output_size();
    const auto* const from =
        static_cast<const uint8_t*>(input) + static_cast<size_t>(image * shape.in_channels * plane) * size;
    auto* const to =
        static_cast<uint8_t*>(output) + static_cast<size_t>(image * shape.out_channels * positions) * size;

    const WindowOperand<T> windows(shape, images_left_, from);
    // Groups are a batch whose step is a group's channels; without groups the batch is the images.
    const int64_t batch_step = shape.groups == 1 ? shape.in_channels * plane : channels * (first ? plane : 1);
    const MemoryOperand<T> pixels(
        images_left_ ? MemoryOperand<T>::Side::kLeft : MemoryOperand<T>::Side::kRight, shape.dtype, from,
        first ? 1 : shape.in_channels, first ? plane : 1, batch_step, rows <= 2 * gemm_kernels<T>().rows);
    const PackedOperand<T> packed(weights_);
    const GemmOperand<T>* const images =
        is_pointwise() ? static_cast<const GemmOperand<T>*>(&pixels) : &windows;
    GemmProblem<T> problem = {.dtype = shape.dtype,
                              .rows = rows,
                              .columns = positions,
                              .depth = channels * shape.kernel_size(),
                              .batch = shape.groups == 1 ? shape.batch : shape.groups,
                              .left = &packed,
                              .right = images,
                              .out = to,
                              .out_steps = {positions, 1, rows * positions},
                              .addend = bias_.get(),
                              .addend_steps = {1, 0, shape.groups == 1 ? 0 : rows},
                              .alpha = T(1),
                              .beta = T(1),
                              .epilogues = epilogues};
    if (images_left_) {
      std::swap(problem.rows, problem.columns);
      std::swap(problem.left, problem.right);
      if (shape.output_order == ImageOrder::kChannelsLast) {
        problem.out_steps = {shape.out_channels, 1,
                             shape.groups == 1 ? shape.out_channels * positions : rows};
      } else {
        problem.out_steps = {1, positions, rows * positions};
      }
      problem.addend_steps = {0, 1, problem.addend_steps.batch};
    }
    run_gemm(pool, problem);
  }

  // Positions fill the panels of the right side badly where they are few; on the left they always fit. Its
  // result is transposed on the way out, which many channels make up for.
  bool wastes_columns() const {
    const int64_t width = gemm_kernels<T>().columns;
    const int64_t positions = shape.output_size();
    const int64_t taken = (positions + width - 1) / width * width;
    const int64_t depth = shape.in_channels / shape.groups * shape.kernel_size();
    return positions * 10 < taken * 9 && depth >= 64 && shape.out_channels / shape.groups >= width;
  }

  bool is_pointwise() const {
    for (size_t i = 0; i < 3; ++i) {
      if (shape.kernel[i] != 1 || shape.stride[i] != 1 || shape.padding[i] != 0 || shape.after(i) != 0)
        return false;
    }
    return true;
  }

  bool images_left_;
  PackedMatrix weights_;
  std::shared_ptr<void> bias_;
};

}  // namespace

PreparedConvolution prepare_product(ThreadPool& pool, const ConvolutionShape& shape, const void* weights,
                                    const void* bias, Epilogues epilogues) {
  return with_product_type(shape.dtype, [&]<typename T>() -> PreparedConvolution {
    return std::make_unique<Product<T>>(pool, shape, weights, bias, epilogues);
  });
}

}  // namespace flambeau::kernels
