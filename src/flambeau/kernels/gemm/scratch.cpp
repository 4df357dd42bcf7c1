#include "flambeau/kernels/gemm/scratch.h"

#include <new>

#include "flambeau/base/work.h"

namespace flambeau::kernels {
namespace {

constexpr Size kMostKept = int64_t{4} << 20;
constexpr std::align_val_t kAlignment{64};

struct Kept {
  std::shared_ptr<void> data;
  Size bytes = 0;
  bool used = false;
};

Kept& kept() {
  thread_local Kept memory;
  return memory;
}

}  // namespace

std::shared_ptr<void> aligned_memory(Size bytes) {
  require_memory(static_cast<uint64_t>(bytes.value()));
  return {::operator new(static_cast<size_t>(bytes), kAlignment),
          [](void* memory) { ::operator delete(memory, kAlignment); }};
}

Scratch::Scratch(Size bytes) : data_(nullptr), kept_(!kept().used && bytes <= kMostKept) {
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
