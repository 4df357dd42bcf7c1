#include "flambeau/ops/context.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"

namespace flambeau::ops {

Context Context::without_interceptor() const {
  Context plain = *this;
  plain.interceptor = nullptr;
  return plain;
}

kernels::Generator& Context::require_generator() const {
  if (generator_turn != nullptr && !generator_turn->owns_lock()) generator_turn->lock();
  if (generator != nullptr) return *generator;
  throw Error(ErrorCode::kInvalidArgument, "the operator draws random numbers, and no generator was given",
              "set Context::generator");
}

Tensor Context::allocate(const Info<int64_t>& info) {
  const int64_t count = flambeau::element_count(info.sizes);
  Geometry geometry{info.sizes, info.strides, 0};
  const size_t bytes =
      count == 0 ? 0 : static_cast<size_t>(storage_extent(geometry)) * dtype_size(info.dtype);
  if (info.device.is_meta()) {
    return Tensor::strided(info.dtype, std::move(geometry), Storage::meta(bytes), info.device);
  }
  return Tensor::strided(info.dtype, std::move(geometry), allocate_storage(bytes), info.device);
}

std::shared_ptr<Storage> Context::allocate_storage(size_t bytes) {
  bytes_ += bytes;
  if (budget.bytes != 0 && bytes_ > budget.bytes) {
    throw Error(ErrorCode::kLimit,
                fmt::format("the run needs more than the {} bytes of memory it was given", budget.bytes),
                "give it more, or smaller inputs");
  }
  return allocator != nullptr ? allocator->allocate(bytes) : Storage::uninitialized(bytes);
}

Tensor Context::allocate(DType dtype, std::span<const int64_t> sizes) {
  return allocate(contiguous(dtype, Dims(sizes)));
}

void Context::step() {
  ++steps_;
  if (budget.steps != 0 && steps_ > budget.steps) {
    throw Error(ErrorCode::kLimit,
                fmt::format("the run takes more than the {} steps it was given", budget.steps),
                "give it more steps, or check that its loops end");
  }
  if (budget.cancel != nullptr && budget.cancel->load(std::memory_order_relaxed)) {
    throw Error(ErrorCode::kCancelled, "the run was cancelled");
  }
}

}  // namespace flambeau::ops
