// Where a region is sampled along one dimension: each bin is the mean of evenly spaced places, each of which
// lies between two pixels. So a bin is a few neighbouring pixels, each with a weight; a bin of two dimensions
// is the product of one of each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "flambeau/base/work.h"

namespace flambeau::ops {

template <typename T>
class RegionSamples {
 public:
  // `count` bins from `start` on. Without a ratio a bin has as many places as it is pixels long.
  void set(T start, T length, int64_t count, int64_t ratio, int64_t size) {
    first_.assign(static_cast<size_t>(count), 0);
    begin_.assign(static_cast<size_t>(count) + 1, 0);
    weights_.clear();
    const T bin = length / static_cast<T>(count);
    places_ = ratio > 0 ? static_cast<double>(ratio) : std::ceil(static_cast<double>(bin));
    for (int64_t i = 0; i < count; ++i) {
      add_bin(start + static_cast<T>(i) * bin, bin, size, static_cast<size_t>(i));
      begin_[static_cast<size_t>(i) + 1] = weights_.size();
    }
  }

  // How many places a bin has, within the image or not; none or fewer for a box that is turned round.
  double places() const { return places_; }
  // The pixels of a bin: from `first` on, one for each weight.
  int64_t first(int64_t bin) const { return first_[static_cast<size_t>(bin)]; }
  int64_t count(int64_t bin) const {
    return static_cast<int64_t>(begin_[static_cast<size_t>(bin) + 1] - begin_[static_cast<size_t>(bin)]);
  }
  const T* weights(int64_t bin) const { return weights_.data() + begin_[static_cast<size_t>(bin)]; }

 private:
  void add_bin(T base, T bin, int64_t size, size_t index) {
    if (!(places_ >= 1)) return;
    // A stranger may ask for more places than can be counted: only those near the image are.
    double from = 0, to = places_ - 1;
    const double step = static_cast<double>(bin) / places_;
    if (places_ > 64 && step != 0) {
      const double a = (-1 - static_cast<double>(base)) / step, b = (static_cast<double>(size) - base) / step;
      from = std::max(from, std::floor(std::min(a, b)) - 2);
      to = std::min(to, std::ceil(std::max(a, b)) + 2);
    }
    if (!(from <= to)) return;
    line_.assign(static_cast<size_t>(size), 0);
    int64_t low = size, high = 0;
    WorkPoller poll;
    for (double i = 0; from + i <= to; ++i) {
      poll();
      T place = base + (static_cast<T>(from + i) + static_cast<T>(0.5)) * bin / static_cast<T>(places_);
      if (!(place >= -1 && place <= static_cast<T>(size))) continue;
      place = std::max(place, T(0));
      const auto pixel = static_cast<int64_t>(place);
      if (pixel >= size - 1) {
        line_[static_cast<size_t>(size) - 1] += 1;
        low = std::min(low, size - 1);
        high = size;
      } else {
        const double rest = static_cast<double>(place - static_cast<T>(pixel));
        line_[static_cast<size_t>(pixel)] += 1 - rest;
        line_[static_cast<size_t>(pixel) + 1] += rest;
        low = std::min(low, pixel);
        high = std::max(high, pixel + 2);
      }
    }
    first_[index] = std::min(low, high);
    for (int64_t i = low; i < high; ++i)
      weights_.push_back(static_cast<T>(line_[static_cast<size_t>(i)] / places_));
  }

  double places_ = 0;
  ScratchVector<int64_t> first_;
  ScratchVector<size_t> begin_;
  ScratchVector<T> weights_;
  ScratchVector<double> line_;
};

// Both dimensions of a region.
template <typename T>
struct RegionGrid {
  RegionSamples<T> rows, columns;
};

}  // namespace flambeau::ops
