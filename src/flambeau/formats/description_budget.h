// What knowing a file's tensors may cost. Five bytes of a pickle can name a tensor, and a tensor takes a
// kilobyte once it is in the lists: a small file must not become a large process by being opened.
#pragma once

#include <cstdint>
#include <string_view>

#include "flambeau/tensor/tensor.h"

namespace flambeau {

// 24 MB, enough for 20,000 tensors in a file of any size, and 8 times the file: a tensor with a name, a shape
// and a value of its own takes at least 100 bytes there.
class DescriptionBudget {
 public:
  explicit DescriptionBudget(uint64_t file_size);

  // Throws Error(kLimit).
  void charge(const Tensor& tensor, std::string_view name);
  void charge(uint64_t bytes);

 private:
  uint64_t left_;
};

}  // namespace flambeau
