// The functions of PyTorch's C interface that make, describe and share tensors.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "flambeau/aot/native/box.h"
#include "flambeau/aot/native/packed.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/ops/mechanism/call.h"

namespace flambeau::aot::native {
namespace {

constexpr int32_t kCpu = 0;
constexpr int32_t kMkldnnLayout = 3;

void require_cpu(int32_t device) {
  if (device != kCpu)
    throw Error(ErrorCode::kUnsupported, "the library makes tensors that are not on the CPU");
}

DType read_dtype(int32_t number) {
  if (const std::optional<DType> dtype = dtype_from_number(number)) return *dtype;
  throw Error(ErrorCode::kUnsupported, "the library makes tensors of an unknown element type");
}

Dims dims_of(const int64_t* numbers, int64_t count) {
  if (count < 0 || (numbers == nullptr && count != 0))
    throw Error(ErrorCode::kInvalidArgument, "a list of sizes is broken");
  return Dims(std::span<const int64_t>(numbers, static_cast<size_t>(count)));
}

template <typename T, typename Get>
int32_t answer(std::string_view name, Handle tensor, T* to, const Get& get) noexcept {
  return guarded(name, [&] { *to = get(at(tensor)); });
}

int32_t get_data_ptr(Handle tensor, void** data) {
  return answer("get_data_ptr", tensor, data, [](const Tensor& it) -> void* {
    return it.storage() == nullptr || it.storage()->size() == 0 ? nullptr : it.mutable_data();
  });
}
int32_t get_dim(Handle tensor, int64_t* dim) {
  return answer("get_dim", tensor, dim, [](const Tensor& it) { return static_cast<int64_t>(it.dim()); });
}
int32_t get_numel(Handle tensor, int64_t* count) {
  return answer("get_numel", tensor, count, [](const Tensor& it) { return it.element_count(); });
}
int32_t get_sizes(Handle tensor, int64_t** sizes) {
  return answer("get_sizes", tensor, sizes,
                [](const Tensor& it) { return const_cast<int64_t*>(it.sizes().begin()); });
}
int32_t get_strides(Handle tensor, int64_t** strides) {
  return answer("get_strides", tensor, strides,
                [](const Tensor& it) { return const_cast<int64_t*>(it.strides().begin()); });
}
int64_t one_of(const Dims& dims, int64_t d) {
  const auto count = static_cast<int64_t>(dims.size());
  if (d < -count || d >= count) throw Error(ErrorCode::kInvalidArgument, "there is no such dimension");
  return dims[static_cast<size_t>(d < 0 ? d + count : d)];
}
int32_t get_size(Handle tensor, int64_t d, int64_t* size) {
  return answer("get_size", tensor, size, [&](const Tensor& it) { return one_of(it.sizes(), d); });
}
int32_t get_stride(Handle tensor, int64_t d, int64_t* stride) {
  return answer("get_stride", tensor, stride, [&](const Tensor& it) { return one_of(it.strides(), d); });
}
int32_t get_dtype(Handle tensor, int32_t* dtype) {
  return answer("get_dtype", tensor, dtype,
                [](const Tensor& it) { return static_cast<int32_t>(it.dtype()); });
}
int32_t get_device_type(Handle tensor, int32_t* type) {
  return answer("get_device_type", tensor, type, [](const Tensor&) { return kCpu; });
}
int32_t get_device_index(Handle tensor, int32_t* index) {
  return answer("get_device_index", tensor, index, [](const Tensor&) { return -1; });
}
int32_t get_layout(Handle tensor, int32_t* layout) {
  return answer("get_layout", tensor, layout,
                [](const Tensor& it) { return static_cast<int32_t>(it.layout()); });
}
int32_t get_storage_offset(Handle tensor, int64_t* offset) {
  return answer("get_storage_offset", tensor, offset, [](const Tensor& it) { return it.offset(); });
}
int32_t get_storage_size(Handle tensor, int64_t* bytes) {
  return answer("get_storage_size", tensor, bytes,
                [](const Tensor& it) { return static_cast<int64_t>(it.storage()->size()); });
}
int32_t get_storage_numel(Handle tensor, int64_t* count) {
  return answer("get_storage_numel", tensor, count, [](const Tensor& it) {
    return static_cast<int64_t>(it.storage()->size() / it.element_size());
  });
}
int32_t is_contiguous(Handle tensor, bool* is) {
  return answer("is_contiguous", tensor, is, [](const Tensor& it) { return it.is_contiguous(); });
}
int32_t is_defined(Handle tensor, bool* is) {
  return answer("is_defined", tensor, is, [](const Tensor& it) { return it.defined(); });
}

int32_t delete_tensor_object(Handle tensor) {
  delete tensor;
  return 0;
}
int32_t new_tensor_handle(Handle tensor, Handle* made) {
  return guarded("new_tensor_handle", [&] { give(made, at(tensor)); });
}
int32_t new_uninitialized_tensor(Handle* made) {
  return guarded("new_uninitialized_tensor", [&] { give(made, Tensor()); });
}

int32_t empty_strided(int64_t dim, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                      int32_t device, int32_t /*index*/, Handle* made) {
  return guarded("empty_strided", [&] {
    require_cpu(device);
    Geometry geometry{dims_of(sizes, dim), dims_of(strides, dim), 0};
    const DType type = read_dtype(dtype);
    const auto bytes = static_cast<uint64_t>(storage_extent(geometry)) * dtype_size(type);
    give(made, Tensor::strided(type, std::move(geometry), Storage::uninitialized(bytes)));
  });
}

// Their offset counts from the start of the tensor's storage only where the tensor itself begins there.
int32_t reinterpret_tensor(Handle tensor, int64_t dim, const int64_t* sizes, const int64_t* strides,
                           int64_t offset, Handle* made) {
  return guarded("_reinterpret_tensor", [&] {
    const Tensor& whole = at(tensor);
    give(made,
         Tensor::strided(whole.dtype(), {dims_of(sizes, dim), dims_of(strides, dim), whole.offset() + offset},
                         whole.storage()));
  });
}

Tensor borrowed(void* data, int64_t dim, const int64_t* sizes, const int64_t* strides, int64_t offset,
                int32_t dtype) {
  const DType type = read_dtype(dtype);
  Geometry geometry{dims_of(sizes, dim), dims_of(strides, dim), offset};
  const auto bytes = static_cast<uint64_t>(storage_extent(geometry)) * dtype_size(type);
  return Tensor::strided(type, std::move(geometry),
                         Storage::borrow(static_cast<uint8_t*>(data), bytes, nullptr));
}

int32_t create_tensor_from_blob(void* data, int64_t dim, const int64_t* sizes, const int64_t* strides,
                                int64_t offset, int32_t dtype, int32_t device, int32_t /*index*/,
                                Handle* made) {
  return guarded("create_tensor_from_blob", [&] {
    require_cpu(device);
    give(made, borrowed(data, dim, sizes, strides, offset, dtype));
  });
}
int32_t create_tensor_from_blob_v2(void* data, int64_t dim, const int64_t* sizes, const int64_t* strides,
                                   int64_t offset, int32_t dtype, int32_t device, int32_t index, Handle* made,
                                   int32_t layout, const uint8_t* description, int64_t description_size) {
  if (layout != kMkldnnLayout)
    return create_tensor_from_blob(data, dim, sizes, strides, offset, dtype, device, index, made);
  return guarded("create_tensor_from_blob_v2", [&] {
    require_cpu(device);
    if (description == nullptr || description_size < 0)
      throw Error(ErrorCode::kCorrupt, "a packed weight has no description");
    give(made, unpack(static_cast<const uint8_t*>(data), {description, static_cast<size_t>(description_size)},
                      read_dtype(dtype), dims_of(sizes, dim)));
  });
}

int32_t clone(Handle tensor, Handle* made) {
  return guarded("clone", [&] { give(made, ops::call(Scope::context(), "aten::clone", at(tensor))); });
}
int32_t clone_preserve_strides(Handle tensor, Handle* made) {
  return guarded("clone_preserve_strides", [&] {
    const Tensor& from = at(tensor);
    Geometry geometry{from.sizes(), from.strides(), 0};
    const auto bytes = static_cast<uint64_t>(storage_extent(geometry)) * from.element_size();
    std::shared_ptr<Storage> storage = Storage::uninitialized(bytes);
    if (bytes != 0) std::memcpy(storage->mutable_bytes().data(), from.data(), bytes);
    give(made, Tensor::strided(from.dtype(), std::move(geometry), std::move(storage)));
  });
}
int32_t copy_from(Handle to, Handle from, int32_t /*non_blocking*/) {
  return guarded("copy_", [&] {
    ops::Context& context = Scope::context();
    const Tensor& target = at(to);
    const Tensor source = ops::call(context, "aten::expand", at(from), target.sizes());
    ops::copy_into(context, source, target);
  });
}
int32_t tensor_copy(Handle from, Handle to) { return copy_from(to, from, 0); }
int32_t zero(Handle tensor) {
  return guarded("zero_", [&] { ops::call(Scope::context(), "aten::zero_", at(tensor)); });
}
int32_t assign_tensors(Handle from, Handle to) {
  return guarded("assign_tensors", [&] {
    if (to == nullptr) throw Error(ErrorCode::kInvalidArgument, "a tensor is NULL");
    to->tensor = at(from);
  });
}
int32_t assign_tensors_out(Handle from, Handle* to) {
  return guarded("assign_tensors_out", [&] { give(to, at(from)); });
}
int32_t as_strided(Handle tensor, const int64_t* sizes, const int64_t* strides, Handle* made) {
  return guarded("as_strided", [&] {
    const Tensor& whole = at(tensor);
    const auto dim = static_cast<int64_t>(whole.dim());
    give(made, Tensor::strided(whole.dtype(), {dims_of(sizes, dim), dims_of(strides, dim), whole.offset()},
                               whole.storage()));
  });
}

bool grad_mode_is_enabled() { return false; }
void grad_mode_set_enabled(bool) {}

// In their own code this is an exception, which they catch.
void check(bool condition, const char* function_name, const char* /*file*/, uint32_t /*line*/,
           const char* message) {
  if (condition) return;
  last_failure() =
      std::string(function_name == nullptr ? "" : function_name) + ": " + (message == nullptr ? "" : message);
  throw std::runtime_error(last_failure());
}
void warn(const char*, const char*, uint32_t, const char*) {}

const Function kTensorFunctions[] = {
    function("aoti_torch_get_data_ptr", get_data_ptr),
    function("aoti_torch_get_dim", get_dim),
    function("aoti_torch_get_numel", get_numel),
    function("aoti_torch_get_sizes", get_sizes),
    function("aoti_torch_get_strides", get_strides),
    function("aoti_torch_get_size", get_size),
    function("aoti_torch_get_stride", get_stride),
    function("aoti_torch_get_dtype", get_dtype),
    function("aoti_torch_get_device_type", get_device_type),
    function("aoti_torch_get_device_index", get_device_index),
    function("aoti_torch_get_layout", get_layout),
    function("aoti_torch_get_storage_offset", get_storage_offset),
    function("aoti_torch_get_storage_size", get_storage_size),
    function("aoti_torch_get_storage_numel", get_storage_numel),
    function("aoti_torch_is_contiguous", is_contiguous),
    function("aoti_torch_is_defined", is_defined),
    function("aoti_torch_delete_tensor_object", delete_tensor_object),
    function("aoti_torch_new_tensor_handle", new_tensor_handle),
    function("aoti_torch_new_uninitialized_tensor", new_uninitialized_tensor),
    function("aoti_torch_empty_strided", empty_strided),
    function("aoti_torch__reinterpret_tensor", reinterpret_tensor),
    function("aoti_torch_create_tensor_from_blob", create_tensor_from_blob),
    function("aoti_torch_create_tensor_from_blob_v2", create_tensor_from_blob_v2),
    function("aoti_torch_clone", clone),
    function("aoti_torch_clone_preserve_strides", clone_preserve_strides),
    function("aoti_torch_copy_", copy_from),
    function("aoti_torch_tensor_copy_", tensor_copy),
    function("aoti_torch_zero_", zero),
    function("aoti_torch_assign_tensors", assign_tensors),
    function("aoti_torch_assign_tensors_out", assign_tensors_out),
    function("aoti_torch_as_strided", as_strided),
    function("aoti_torch_grad_mode_is_enabled", grad_mode_is_enabled),
    function("aoti_torch_grad_mode_set_enabled", grad_mode_set_enabled),
    function("aoti_torch_check", check),
    function("aoti_torch_warn", warn),
};

}  // namespace

std::span<const Function> tensor_functions() { return kTensorFunctions; }

}  // namespace flambeau::aot::native
