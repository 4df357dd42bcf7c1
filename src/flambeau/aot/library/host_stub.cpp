// Stands for libtorch_cpu.so while the library is linked, so that it names that library and its functions; it
// is in no package. None of them is ever called.
extern "C" {

#define FLAMBEAU_HOST_FUNCTION(NAME) \
  int NAME() { return 1; }
FLAMBEAU_HOST_FUNCTION(aoti_torch_get_data_ptr)
FLAMBEAU_HOST_FUNCTION(aoti_torch_get_dim)
FLAMBEAU_HOST_FUNCTION(aoti_torch_get_sizes)
FLAMBEAU_HOST_FUNCTION(aoti_torch_get_strides)
FLAMBEAU_HOST_FUNCTION(aoti_torch_get_storage_offset)
FLAMBEAU_HOST_FUNCTION(aoti_torch_get_dtype)
FLAMBEAU_HOST_FUNCTION(aoti_torch_get_device_type)
FLAMBEAU_HOST_FUNCTION(aoti_torch_empty_strided)
FLAMBEAU_HOST_FUNCTION(aoti_torch__reinterpret_tensor)
FLAMBEAU_HOST_FUNCTION(aoti_torch_new_tensor_handle)
FLAMBEAU_HOST_FUNCTION(aoti_torch_delete_tensor_object)

}  // extern "C"
