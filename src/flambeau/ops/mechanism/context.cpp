#include "flambeau/ops/mechanism/context.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/kernels/random/generator.h"

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

Tensor Context::allocate(const Info<Size>& info) {
  const int64_t count = flambeau::element_count(info.sizes);
  Geometry geometry{info.sizes, info.strides, 0};
  const Size bytes =
      count == 0 ? Size(0) : Size(storage_extent(geometry)) * static_cast<int64_t>(dtype_size(info.dtype));
  if (info.device.is_meta()) {
    return Tensor::strided(info.dtype, std::move(geometry), Storage::meta(static_cast<size_t>(bytes)),
                           info.device);
  }
  return Tensor::strided(info.dtype, std::move(geometry), allocate_storage(static_cast<size_t>(bytes)),
                         info.device);
}

std::shared_ptr<Storage> Context::allocate_storage(size_t bytes) {
  return allocator != nullptr ? allocator->allocate(bytes) : Storage::uninitialized(bytes);
}

Tensor Context::allocate(DType dtype, std::span<const int64_t> sizes) {
  return allocate(contiguous(dtype, Dims(sizes)));
}

void Context::step() {
  ++steps_;
  if (most_steps != 0 && steps_ > most_steps) {
    throw Error(ErrorCode::kLimit,
                fmt::format("the run takes more than the {} steps it was given", most_steps),
                "give it more steps, or check that its loops end");
  }
  poll_work();
}

}  // namespace flambeau::ops
