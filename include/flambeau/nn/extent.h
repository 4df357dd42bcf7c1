// A number for each of N dimensions, e.g. a kernel's size: 3 means {3, 3}.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

#include "flambeau/tensor/dims.h"

namespace flambeau::nn {

// Throws Error(kInvalidArgument): as many numbers as dimensions are needed.
[[noreturn]] void fail_extent(size_t wanted, size_t given);

template <size_t N>
class Extent {
 public:
  Extent(int64_t all) { values_.fill(all); }       // NOLINT(google-explicit-constructor): 3 is {3, 3}
  Extent(int all) : Extent(int64_t{all}) {}        // NOLINT
  Extent(std::initializer_list<int64_t> values) {  // NOLINT
    if (values.size() == 1) {
      values_.fill(*values.begin());
      return;
    }
    if (values.size() != N) fail_extent(N, values.size());
    std::copy(values.begin(), values.end(), values_.begin());
  }

  int64_t operator[](size_t i) const { return values_[i]; }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  Dims dims() const { return std::span<const int64_t>(values_); }
  bool operator==(const Extent&) const = default;

 private:
  std::array<int64_t, N> values_;
};

}  // namespace flambeau::nn
