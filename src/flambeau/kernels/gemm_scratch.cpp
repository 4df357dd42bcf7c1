#include "flambeau/kernels/gemm_scratch.h"

#include <new>

namespace flambeau::kernels {
namespace {

constexpr size_t kMostKept = size_t{4} << 20;
constexpr std::align_val_t kAlignment{64};

struct Kept {
  std::shared_ptr<void> data;
  size_t bytes = 0;
  bool used = false;
};

Kept& kept() {
  thread_local Kept memory;
  return memory;
}

}  // namespace

std::shared_ptr<void> aligned_memory(size_t bytes) {
  return {::operator new(bytes, kAlignment), [](void* memory) { ::operator delete(memory, kAlignment); }};
}

Scratch::Scratch(size_t bytes) : data_(nullptr), kept_(!kept().used && bytes <= kMostKept) {
  if (!kept_) {
    own_ = aligned_memory(bytes);
    data_ = own_.get();
    return;
  }
  Kept& memory = kept();
  if (memory.bytes < bytes) {
    memory.data = aligned_memory(bytes);
    memory.bytes = bytes;
  }
  memory.used = true;
  data_ = memory.data.get();
}

Scratch::~Scratch() {
  if (kept_) kept().used = false;
}

}  // namespace flambeau::kernels
