#include "flambeau/aot/library/tensors.h"

#include <fmt/format.h>

#include <cstring>

#include "flambeau/base/error.h"

namespace flambeau::aot {
namespace {

constexpr int32_t kCpu = 0;

void require(int32_t status, std::string_view what) {
  if (status != 0) throw Error(ErrorCode::kIo, fmt::format("PyTorch could not {}", what));
}

HostTensorPointer empty(DType dtype, const Dims& sizes, const Dims& strides) {
  HostTensor* made = nullptr;
  require(aoti_torch_empty_strided(static_cast<int64_t>(sizes.size()), sizes.begin(), strides.begin(),
                                   static_cast<int32_t>(dtype), kCpu, 0, &made),
          "make a tensor");
  return HostTensorPointer(made);
}

uint8_t* data_of(HostTensor* tensor) {
  void* data = nullptr;
  require(aoti_torch_get_data_ptr(tensor, &data), "say where a tensor's elements are");
  return static_cast<uint8_t*>(data);
}

template <typename T>
HostTensorPointer number(DType dtype, T value) {
  HostTensorPointer made = empty(dtype, {}, {});
  std::memcpy(data_of(made.get()), &value, sizeof value);
  return made;
}

// The same elements from another handle: PyTorch counts the offset from the start of that one.
HostTensorPointer alias(HostTensor* input, const Tensor& output) {
  HostTensor* made = nullptr;
  require(aoti_torch__reinterpret_tensor(input, static_cast<int64_t>(output.dim()), output.sizes().begin(),
                                         output.strides().begin(), output.offset(), &made),
          "make a view of a tensor");
  return HostTensorPointer(made);
}

}  // namespace

Tensor view_of(HostTensor* tensor, const std::string& name) {
  if (tensor == nullptr) throw Error(ErrorCode::kInvalidArgument, name + " is no tensor");
  int64_t dim = 0;
  int64_t* sizes = nullptr;
  int64_t* strides = nullptr;
  int32_t dtype = 0;
  int32_t device = 0;
  const bool is_known = aoti_torch_get_dim(tensor, &dim) == 0 && aoti_torch_get_sizes(tensor, &sizes) == 0 &&
                        aoti_torch_get_strides(tensor, &strides) == 0 &&
                        aoti_torch_get_dtype(tensor, &dtype) == 0 &&
                        aoti_torch_get_device_type(tensor, &device) == 0;
  if (!is_known) {
    throw Error(ErrorCode::kInvalidArgument, name + " is no plain tensor", "give a strided one on the CPU");
  }
  if (device != kCpu) {
    throw Error(ErrorCode::kInvalidArgument, name + " is not on the CPU", "move it there: x.cpu()");
  }
  const std::optional<DType> known = dtype_from_number(dtype);
  if (!known || dtype_size(*known) == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} is of the unknown element type {}", name, dtype));
  }
  const auto count = static_cast<size_t>(dim);
  Geometry geometry{Dims(std::span<const int64_t>(sizes, count)),
                    Dims(std::span<const int64_t>(strides, count)), 0};
  const size_t bytes = static_cast<size_t>(storage_extent(geometry)) * dtype_size(*known);
  return Tensor::strided(*known, std::move(geometry), Storage::borrow(data_of(tensor), bytes, nullptr));
}

std::shared_ptr<HostTensor> shared_handle(HostTensor* tensor) {
  if (aoti_torch_new_tensor_handle == nullptr) {
    throw Error(ErrorCode::kUnsupported, "this version of PyTorch cannot share tensors with a model",
                "update the constants without user_managed");
  }
  HostTensor* made = nullptr;
  require(aoti_torch_new_tensor_handle(tensor, &made), "share a tensor");
  return {made, DeleteHostTensor()};
}

HostTensorPointer copy_of(const Tensor& tensor) {
  if (tensor.layout() != Layout::kStrided || tensor.quantizer() != nullptr) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} has no plain memory that PyTorch could take", tensor.summary()));
  }
  // Strides are kept where no element is shared and none is skipped.
  const bool is_dense = storage_extent({tensor.sizes(), tensor.strides(), 0}) == tensor.element_count();
  const Tensor& source = is_dense ? tensor : tensor.to_contiguous();
  HostTensorPointer made = empty(source.dtype(), source.sizes(), source.strides());
  const size_t bytes = static_cast<size_t>(source.element_count()) * source.element_size();
  if (bytes != 0) std::memcpy(data_of(made.get()), source.data(), bytes);
  return made;
}

std::shared_ptr<Storage> HostAllocator::allocate(size_t bytes) {
  const size_t size = dtype_size(dtype_);
  if (bytes < kLeast || size == 0 || bytes % size != 0) return Storage::uninitialized(bytes);
  HostTensorPointer made = empty(dtype_, {static_cast<int64_t>(bytes / size)}, {1});
  HostTensor* const handle = made.get();
  const std::shared_ptr<HostTensor> owner(made.release(), DeleteHostTensor());
  std::shared_ptr<Storage> storage = Storage::borrow(data_of(handle), bytes, owner);
  const std::lock_guard lock(mutex_);
  made_.emplace_back(storage, handle);
  return storage;
}

HostTensor* HostAllocator::find(const Tensor& result) const {
  // State that the program keeps must not change when the caller writes to the result.
  if (result.dtype() != dtype_ || result.layout() != Layout::kStrided || result.storage().use_count() != 1)
    return nullptr;
  const std::lock_guard lock(mutex_);
  for (const auto& [storage, handle] : made_) {
    if (!storage.owner_before(result.storage()) && !result.storage().owner_before(storage)) return handle;
  }
  return nullptr;
}

HostTensorPointer handle_of(const Value& value, std::span<const Tensor> views,
                            std::span<const HostTensorPointer> inputs, const HostAllocator& allocator) {
  if (value.is_none()) return nullptr;
  if (const auto* const integer = value.get_if<int64_t>()) return number(DType::kInt64, *integer);
  if (const auto* const real = value.get_if<double>()) return number(DType::kFloat64, *real);
  if (const auto* const flag = value.get_if<bool>()) return number(DType::kBool, *flag);
  if (!value.is_tensor()) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("an output is {}, and PyTorch takes tensors alone", value.summary()));
  }
  const Tensor& tensor = value.tensor();
  if (!tensor.defined()) return nullptr;
  for (size_t i = 0; i < views.size(); ++i) {
    if (tensor.storage() == views[i].storage() && tensor.dtype() == views[i].dtype())
      return alias(inputs[i].get(), tensor);
  }
  if (HostTensor* const made = allocator.find(tensor)) return alias(made, tensor);
  return copy_of(tensor);
}

}  // namespace flambeau::aot
