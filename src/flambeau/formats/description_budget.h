// What knowing a file's tensors may cost. Five bytes of a pickle can name a tensor, and a tensor takes a
// kilobyte once it is in the lists: a small file must not become a large process by being opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "flambeau/tensor/tensor.h"

namespace flambeau {

// PyTorch itself allows any rank; more is beyond any use and only costs memory. What has more is not written.
constexpr size_t kMostDimensions = 4096;

class DescriptionBudget {
 public:
  // Where a few bytes can name a tensor: 24 MB, enough for 20,000 tensors in a file of any size, and 8 times
  // the file. A tensor with a name, a shape and a value of its own takes at least 100 bytes there.
  explicit DescriptionBudget(uint64_t file_size) : DescriptionBudget(file_size, 8) {}
  // Where each tensor has its own 50 bytes of header: 24 times the file, so that any number is read.
  static DescriptionBudget for_headers(uint64_t file_size) { return {file_size, 24}; }

  // Throws Error(kLimit).
  void charge(const Tensor& tensor, std::string_view name);
  void charge(uint64_t bytes);

 private:
  DescriptionBudget(uint64_t file_size, uint64_t factor);

  uint64_t left_;
};

}  // namespace flambeau
