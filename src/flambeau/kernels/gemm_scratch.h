// Memory that the dense engines work in, aligned for vectors.
#pragma once

#include <cstddef>
#include <memory>

namespace flambeau::kernels {

// Uninitialized memory, aligned to a cache line.
std::shared_ptr<void> aligned_memory(size_t bytes);

// Memory for the duration of one piece of work on this thread. Up to a few megabytes stay with the thread, so
// that a small product does not pay for fresh pages; a second scratch inside the first has memory of its own.
class Scratch {
 public:
  explicit Scratch(size_t bytes);
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
