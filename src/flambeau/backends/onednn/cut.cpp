#include "flambeau/backends/onednn/cut.h"

#include <algorithm>
#include <utility>

#include "flambeau/base/parallel.h"

namespace flambeau::backends::onednn {
namespace {

using kernels::ConvolutionShape;
using kernels::ImageOrder;

constexpr int64_t kThreads = 16;
constexpr int64_t kMostParts = 2 * kThreads;

// The library's calls cannot be interrupted: of a part so large that it takes some ten milliseconds, more are
// made, and work can be stopped between them.
constexpr double kMostOperations = 1 << 29;

// Starting one of the library's loops, and taking its piece, in nanoseconds.
constexpr double kPartTime = 2500;
// What cutting may cost a single thread, of all that the layer takes.
constexpr double kMostAdded = 0.04;

int64_t divide_up(int64_t value, int64_t by) { return (value + by - 1) / by; }

double bytes_of(double elements) { return elements * sizeof(float); }

// How long sixteen threads take for a layer with so many parts that cost as much as the largest, each with
// some work that is not there without cutting. Threads share the way to memory, so what many of them read is
// not hidden behind computing.
double time_of(int64_t parts, const Cost& part, double added) {
  const double each = part.nanoseconds() + Cost{.bytes = part.bytes / 2}.nanoseconds() + added;
  return static_cast<double>(divide_up(parts, kThreads)) * each;
}

// Whether the result can be cut by its rows and channels, too. Padding as large as the kernel would leave
// parts without input.
bool has_rows(const ConvolutionShape& shape) {
  return shape.input_order == ImageOrder::kChannelsLast && shape.output_order == ImageOrder::kChannelsLast &&
         std::max(shape.padding[kHeight], shape.after(kHeight)) < reach_of(shape);
}

}  // namespace

ProductCut cut_product(const kernels::GemmShape& shape) {
  constexpr int64_t kLeastRows = 32, kMostRows = 128;
  const auto columns = static_cast<double>(shape.columns), depth = static_cast<double>(shape.depth);
  const auto rows = static_cast<double>(shape.rows);
  // One row reads the weights and does little else.
  const Cost reading = {.operations = columns * depth, .bytes = bytes_of(columns * depth)};
  const auto worth = static_cast<int64_t>(reading.nanoseconds() / kPieceTime);
  const int64_t steps = divide_up(shape.columns, kColumnStep);
  int64_t width = steps, least = 0;
  for (int64_t each = divide_up(steps, kMostParts); each <= divide_up(steps, kThreads); ++each) {
    const int64_t longest = divide_up(divide_up(steps, each), kThreads) * each;
    if (least == 0 || longest < least) width = each, least = longest;
  }
  width = std::min(std::max(width, divide_up(steps, std::max<int64_t>(worth, 1))), steps);
  ProductCut result{.columns = width == steps ? shape.columns : width * kColumnStep};
  const int64_t slices = divide_up(steps, width);
  const Cost all = {.operations = rows * columns * depth,
                    .bytes = bytes_of(columns * depth + rows * (columns + depth))};
  const auto most = static_cast<int64_t>(all.nanoseconds() / kPieceTime) / slices;
  result.rows = std::clamp<int64_t>(std::min({divide_up(kThreads, slices), shape.rows / kLeastRows, most}), 1,
                                    shape.rows);
  const double of_a_row = static_cast<double>(result.columns) * depth;
  const auto stoppable = static_cast<int64_t>(kMostOperations / std::max(of_a_row, 1.0));
  result.rows = std::max(result.rows, divide_up(shape.rows, std::clamp<int64_t>(stoppable, 1, kMostRows)));
  return result;
}

ConvolutionCut cut_convolution(const ConvolutionShape& shape) {
  constexpr int64_t kLeastSteps = 2;  // of channels: fewer leave the multipliers waiting for pixels
  const int64_t out_rows = shape.output()[kHeight];
  if (out_rows <= 0) return {};
  const bool can_rows = has_rows(shape);
  const bool can_channels = can_rows && shape.groups == 1 && shape.out_channels % kChannelStep == 0;
  const int64_t steps = can_channels ? shape.out_channels / kChannelStep : 1;
  const int64_t group_channels = shape.in_channels / shape.groups;
  const auto taps = static_cast<double>(group_channels * shape.kernel_size());
  const double weights = taps * static_cast<double>(shape.out_channels);
  const double row = static_cast<double>(shape.output_size()) / static_cast<double>(out_rows);
  const double in_row =
      static_cast<double>(shape.in_channels * shape.input_size()) / static_cast<double>(shape.input[kHeight]);
  // Of so many images, rows of the result and steps of its channels.
  const auto cost_of = [&](int64_t images, int64_t rows, int64_t channel_steps) {
    const auto count = static_cast<double>(images);
    const double share = static_cast<double>(channel_steps) / static_cast<double>(steps);
    const double results =
        count * static_cast<double>(rows) * row * share * static_cast<double>(shape.out_channels);
    // Parts that follow each other read the rows between them twice.
    const int64_t in_rows = (rows - 1) * shape.stride[kHeight] + reach_of(shape);
    const double read = count * in_row * static_cast<double>(std::min(in_rows, shape.input[kHeight]));
    return std::pair(Cost{.operations = results * taps, .bytes = bytes_of(results + read + weights * share)},
                     results);
  };
  const Cost all = cost_of(shape.batch, out_rows, steps).first;
  const double whole = all.nanoseconds();
  const int64_t most_parts = std::max(kMostParts, static_cast<int64_t>(2 * all.operations / kMostOperations));
  ConvolutionCut best;
  best.images =
      std::clamp<int64_t>(static_cast<int64_t>(whole / kPieceTime), 1, std::min(shape.batch, most_parts));
  const int64_t images = divide_up(shape.batch, best.images);
  double least = -1;
  for (int64_t rows = 1; rows <= (can_rows ? std::min(out_rows, most_parts) : 1); ++rows) {
    for (int64_t cuts = 1; cuts <= std::max<int64_t>(steps / kLeastSteps, 1); ++cuts) {
      const int64_t parts = best.images * rows * cuts;
      if (rows * cuts > 1 && parts > most_parts) break;
      // Of the largest part.
      const auto [cost, results] = cost_of(images, divide_up(out_rows, rows), divide_up(steps, cuts));
      // Some channels are computed apart and copied into their places.
      const Cost copied = {.bytes = cuts > 1 ? bytes_of(2 * results) : 0};
      const double added = kPartTime + copied.nanoseconds();
      if (rows * cuts > 1 &&
          (cost.nanoseconds() < kPieceTime || static_cast<double>(parts) * added > kMostAdded * whole))
        continue;
      // Before all else no part is too large.
      const double overlong = std::max(0.0, cost.operations - kMostOperations) * kThreads;
      const double time = time_of(parts, cost, added) + overlong;
      if (least < 0 || time < least) best.rows = rows, best.channels = cuts, least = time;
    }
  }
  return best;
}

}  // namespace flambeau::backends::onednn
