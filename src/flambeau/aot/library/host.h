// What the library takes from the PyTorch that loads it: the functions that hand tensors over, and no
// operator. The newer ones are weak, as older versions do not have them.
#pragma once

#include <cstdint>

extern "C" {

struct HostTensor;  // PyTorch's, never looked into

int32_t aoti_torch_get_data_ptr(HostTensor* tensor, void** data);
int32_t aoti_torch_get_dim(HostTensor* tensor, int64_t* dim);
int32_t aoti_torch_get_sizes(HostTensor* tensor, int64_t** sizes);
int32_t aoti_torch_get_strides(HostTensor* tensor, int64_t** strides);
int32_t aoti_torch_get_storage_offset(HostTensor* tensor, int64_t* offset);
int32_t aoti_torch_get_dtype(HostTensor* tensor, int32_t* dtype);
int32_t aoti_torch_get_device_type(HostTensor* tensor, int32_t* type);
int32_t aoti_torch_empty_strided(int64_t dim, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                                 int32_t device_type, int32_t device_index, HostTensor** made);
int32_t aoti_torch__reinterpret_tensor(HostTensor* tensor, int64_t dim, const int64_t* sizes,
                                       const int64_t* strides, int64_t offset, HostTensor** made);
[[gnu::weak]] int32_t aoti_torch_new_tensor_handle(HostTensor* tensor, HostTensor** made);
int32_t aoti_torch_delete_tensor_object(HostTensor* tensor);

}  // extern "C"
