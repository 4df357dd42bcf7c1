// Memory that the dense engines work in, aligned for vectors.
#pragma once

#include <cstddef>
#include <memory>

#include "flambeau/base/size.h"

namespace flambeau::kernels {

// Uninitialized memory, aligned to a cache line. Throws Error(kLimit) where there is not enough.
std::shared_ptr<void> aligned_memory(Size bytes);

// Memory for the duration of one piece of work on this thread. Up to a few megabytes stay with the thread, so
// that a small product does not pay for fresh pages; a second scratch inside the first has memory of its own.
class Scratch {
 public:
  // The number of bytes is computed from sizes, so it is a checked one all the way.
  explicit Scratch(Size bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_;
  bool kept_;
  std::shared_ptr<void> own_;
};

}  // namespace flambeau::kernels
