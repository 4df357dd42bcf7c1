// Tensors from and to Python: PyTorch's, numpy's, and whatever speaks DLPack. Memory is shared wherever the
// other side may be written to and its strides are ones a tensor can have.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dlpack_abi.h"
#include "flambeau/base/error.h"
#include "flambeau/tensor/dtype_words.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau::python {

namespace py = pybind11;

// Keeps a Python object alive. The last user may be an operator that runs without the interpreter's lock.
inline std::shared_ptr<const void> keep(py::object object) {
  return {static_cast<const void*>(object.release().ptr()), [](const void* pointer) {
            if (Py_IsInitialized() == 0) return;
            const py::gil_scoped_acquire lock;
            Py_DECREF(static_cast<PyObject*>(const_cast<void*>(pointer)));
          }};
}

inline Dims to_dims(const py::handle& sequence) {
  Dims dims;
  for (const py::handle item : sequence) dims.push_back(item.cast<int64_t>());
  return dims;
}

inline py::tuple to_tuple(std::span<const int64_t> numbers) {
  py::tuple tuple(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) tuple[i] = numbers[i];
  return tuple;
}

inline std::string type_name(const py::handle& object) {
  const py::handle type = py::type::handle_of(object);
  const std::string module = py::str(type.attr("__module__"));
  const std::string name = py::str(type.attr("__qualname__"));
  return module == "builtins" ? name : module + "." + name;
}

// Bytes of a tensor that starts at `data`: nothing when a stride is negative.
inline std::optional<size_t> extent_bytes(DType dtype, const Geometry& geometry) {
  for (const int64_t stride : geometry.strides) {
    if (stride < 0) return {};
  }
  return static_cast<size_t>(storage_extent(geometry)) * dtype_size(dtype);
}

// A row-major copy of elements at any byte strides, also negative ones.
inline Tensor copy_elements(DType dtype, const uint8_t* data, const Dims& sizes, const Dims& byte_strides) {
  Tensor tensor = Tensor::zeros(dtype, sizes);
  const size_t size = tensor.element_size();
  uint8_t* target = tensor.mutable_data();
  Dims index(sizes.size(), 0);
  for (int64_t left = tensor.element_count(); left > 0; --left) {
    std::memcpy(target, data, size);
    target += size;
    for (size_t d = sizes.size(); d-- > 0;) {
      data += byte_strides[d];
      if (++index[d] < sizes[d]) break;
      data -= byte_strides[d] * sizes[d];
      index[d] = 0;
    }
  }
  return tensor;
}

// ---- DLPack
inline std::optional<dlpack::DataType> dlpack_type(DType dtype) {
  using namespace dlpack;
  const auto bits = static_cast<uint8_t>(dtype_size(dtype) * 8);
  switch (dtype) {
    case DType::kBool:
      return DataType{kBool, 8, 1};
    case DType::kBFloat16:
      return DataType{kBFloat, 16, 1};
    case DType::kFloat8E4M3FN:
      return DataType{kFloat8E4M3FN, 8, 1};
    case DType::kFloat8E4M3FNUZ:
      return DataType{kFloat8E4M3FNUZ, 8, 1};
    case DType::kFloat8E5M2:
      return DataType{kFloat8E5M2, 8, 1};
    case DType::kFloat8E5M2FNUZ:
      return DataType{kFloat8E5M2FNUZ, 8, 1};
    case DType::kFloat8E8M0FNU:
      return DataType{kFloat8E8M0FNU, 8, 1};
    case DType::kFloat4E2M1FNx2:
      return DataType{kFloat4E2M1FN, 4, 2};
    case DType::kUInt8:
    case DType::kUInt16:
    case DType::kUInt32:
    case DType::kUInt64:
      return DataType{kUInt, bits, 1};
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
      return DataType{kInt, bits, 1};
    case DType::kFloat16:
    case DType::kFloat32:
    case DType::kFloat64:
      return DataType{kFloat, bits, 1};
    case DType::kComplex32:
    case DType::kComplex64:
    case DType::kComplex128:
      return DataType{kComplex, bits, 1};
    default:
      return {};
  }
}

inline DType dtype_from_dlpack(const dlpack::DataType& type) {
  for (const DTypeInfo& info : all_dtypes()) {
    const std::optional<dlpack::DataType> candidate = dlpack_type(info.dtype);
    if (candidate && candidate->code == type.code && candidate->bits == type.bits &&
        candidate->lanes == type.lanes) {
      return info.dtype;
    }
  }
  throw Error(ErrorCode::kUnsupported, "a tensor has elements of DLPack's code " + std::to_string(type.code) +
                                           " with " + std::to_string(type.bits) + " bits and " +
                                           std::to_string(type.lanes) +
                                           " lanes, which is no type of PyTorch's");
}

// What a capsule holds, released by whoever is last; the release may run Python.
template <typename M>
std::shared_ptr<const void> keep_managed(M* managed) {
  return {static_cast<const void*>(managed), [](const void* pointer) {
            if (Py_IsInitialized() == 0) return;
            const py::gil_scoped_acquire lock;
            auto* const held = static_cast<M*>(const_cast<void*>(pointer));
            if (held->release != nullptr) held->release(held);
          }};
}

inline Tensor borrow_view(const dlpack::View& view, std::shared_ptr<const void> owner, bool is_read_only) {
  if (view.device.type != dlpack::kCpu && view.device.type != dlpack::kCudaHost) {
    throw Error(ErrorCode::kUnsupported,
                "a tensor is on DLPack's device " + std::to_string(view.device.type) + ", not on the CPU",
                "move it to the CPU first");
  }
  const DType dtype = dtype_from_dlpack(view.dtype);
  Geometry geometry;
  geometry.sizes = std::span<const int64_t>(view.sizes, static_cast<size_t>(view.dim));
  geometry.strides = view.strides == nullptr
                         ? contiguous_strides(geometry.sizes)
                         : Dims(std::span<const int64_t>(view.strides, static_cast<size_t>(view.dim)));
  auto* const data = static_cast<uint8_t*>(view.data) + view.byte_offset;
  const std::optional<size_t> bytes = extent_bytes(dtype, geometry);
  if (!bytes || is_read_only) {
    Dims byte_strides = geometry.strides;
    for (int64_t& stride : byte_strides) stride *= static_cast<int64_t>(dtype_size(dtype));
    return copy_elements(dtype, data, geometry.sizes, byte_strides);
  }
  return Tensor::strided(dtype, std::move(geometry), Storage::borrow(data, *bytes, std::move(owner)));
}

inline Tensor from_dlpack(const py::handle& object) {
  py::object capsule;
  try {
    capsule = object.attr("__dlpack__")(py::arg("max_version") = py::make_tuple(1, 0));
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    capsule = object.attr("__dlpack__")();  // an exporter of before version 1
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    auto* const managed =
        static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (managed->version.major > 1) {
      throw Error(ErrorCode::kUnsupported,
                  "a tensor comes in version " + std::to_string(managed->version.major) + " of DLPack");
    }
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    return borrow_view(managed->view, keep_managed(managed), (managed->flags & dlpack::kFlagReadOnly) != 0);
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0)
    throw Error(ErrorCode::kInvalidArgument, type_name(object) + ".__dlpack__() gave no DLPack capsule");
  auto* const managed = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  return borrow_view(managed->view, keep_managed(managed), false);
}

// A tensor handed out: its description, and the tensor whose bytes it shows.
template <typename M>
struct Export {
  explicit Export(Tensor from) : tensor(std::move(from)), geometry(tensor.geometry()) {
    if (tensor.layout() != Layout::kStrided || tensor.is_meta())
      throw Error(ErrorCode::kUnsupported, "the tensor " + tensor.summary() + " has no plain memory to show");
    const std::optional<dlpack::DataType> type = dlpack_type(tensor.dtype());
    if (!type) {
      throw Error(ErrorCode::kUnsupported,
                  "DLPack has no type for " + std::string(dtype_name(tensor.dtype())));
    }
    managed.view = {.data = tensor.mutable_data(),
                    .device = {dlpack::kCpu, 0},
                    .dim = static_cast<int32_t>(geometry.sizes.size()),
                    .dtype = *type,
                    .sizes = geometry.sizes.begin(),
                    .strides = geometry.strides.begin(),
                    .byte_offset = 0};
    managed.owner = this;
    managed.release = [](M* held) { delete static_cast<Export*>(held->owner); };
  }
  M managed = {};
  Tensor tensor;
  Geometry geometry;
};

template <typename M>
py::capsule export_capsule(const Tensor& tensor, const char* name) {
  auto exported = std::make_unique<Export<M>>(tensor);
  if constexpr (requires { exported->managed.version; }) exported->managed.version = {1, 0};
  PyObject* const capsule = PyCapsule_New(&exported->managed, name, [](PyObject* object) {
    // Once taken it has another name, and belongs to who took it.
    const char* const own = PyCapsule_GetName(object);
    if (own == nullptr || std::string_view(own).starts_with("used_")) return;
    auto* const held = static_cast<M*>(PyCapsule_GetPointer(object, own));
    held->release(held);
  });
  if (capsule == nullptr) throw py::error_already_set();
  exported.release();
  return py::reinterpret_steal<py::capsule>(capsule);
}

// ---- numpy
inline bool is_numpy(const py::handle& object, const char* type) {
  // Looked up only where numpy is loaded: we do not need it, and an object of its cannot come from elsewhere.
  const py::dict modules = py::module_::import("sys").attr("modules");
  if (!modules.contains("numpy")) return false;
  return py::isinstance(object, modules["numpy"].attr(type));
}

inline DType dtype_from_numpy(const py::handle& dtype) {
  const std::string name = py::str(dtype.attr("name"));
  const std::optional<DType> found = parse_dtype(name);
  if (!found) {
    throw Error(ErrorCode::kUnsupported, "numpy's type '" + name + "' is no type of a tensor",
                "convert the array first, e.g. with astype");
  }
  return *found;
}

inline Tensor from_numpy(py::array array) {
  const DType dtype = dtype_from_numpy(array.dtype());
  const auto size = static_cast<int64_t>(dtype_size(dtype));
  if (!array.dtype().attr("isnative").cast<bool>())
    array = array.attr("astype")(array.dtype().attr("newbyteorder")("="));
  Dims sizes;
  Dims byte_strides;
  bool fits = array.writeable() && reinterpret_cast<uintptr_t>(array.data()) % static_cast<size_t>(size) == 0;
  Geometry geometry;
  for (py::ssize_t d = 0; d < array.ndim(); ++d) {
    geometry.sizes.push_back(array.shape(d));
    byte_strides.push_back(array.strides(d));
    geometry.strides.push_back(array.strides(d) / size);
    fits = fits && array.strides(d) % size == 0;
  }
  auto* const data = static_cast<uint8_t*>(const_cast<void*>(array.data()));
  const std::optional<size_t> bytes = extent_bytes(dtype, geometry);
  if (!fits || !bytes) return copy_elements(dtype, data, geometry.sizes, byte_strides);
  return Tensor::strided(dtype, std::move(geometry), Storage::borrow(data, *bytes, keep(std::move(array))));
}

inline py::array to_numpy(const Tensor& tensor) {
  if (tensor.layout() != Layout::kStrided || tensor.is_meta())
    throw Error(ErrorCode::kUnsupported, "the tensor " + tensor.summary() + " has no plain memory to show");
  const std::optional<dlpack::DataType> type = dlpack_type(tensor.dtype());
  if (!type || type->code > dlpack::kBool || type->code == dlpack::kBFloat ||
      tensor.dtype() == DType::kComplex32) {
    throw Error(ErrorCode::kUnsupported, "numpy has no type for " + std::string(dtype_name(tensor.dtype())),
                "convert the tensor first: flambeau.ops.aten.to.dtype(x, 'float32')");
  }
  const auto size = static_cast<py::ssize_t>(tensor.element_size());
  std::vector<py::ssize_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
  std::vector<py::ssize_t> strides(tensor.strides().begin(), tensor.strides().end());
  for (py::ssize_t& stride : strides) stride *= size;
  const py::capsule owner(new Tensor(tensor), [](void* held) { delete static_cast<Tensor*>(held); });
  return {py::dtype(std::string(dtype_name(tensor.dtype()))), sizes, strides, tensor.mutable_data(), owner};
}

// ---- PyTorch
// By its own accessors rather than DLPack: the whole storage comes along, which as_strided and resize_ see,
// and every type does.
inline Tensor from_torch(py::object object) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::kUnsupported, "a PyTorch tensor " + what + " cannot be taken");
  };
  const std::string layout = py::str(object.attr("layout"));
  if (layout != "torch.strided") fail("of layout " + layout);
  if (object.attr("is_quantized").cast<bool>()) fail("that is quantized");
  // Bits that say "take the conjugate when reading": here they are made real.
  if (object.attr("is_conj")().cast<bool>()) object = object.attr("resolve_conj")();
  if (object.attr("is_neg")().cast<bool>()) object = object.attr("resolve_neg")();
  const std::string dtype_text = py::str(object.attr("dtype"));
  const std::optional<DType> dtype = parse_dtype(dtype_text);
  if (!dtype) fail("of type " + dtype_text);
  Geometry geometry = {to_dims(object.attr("size")()), to_dims(object.attr("stride")()),
                       object.attr("storage_offset")().cast<int64_t>()};
  py::object storage = object.attr("untyped_storage")();
  const auto bytes = storage.attr("nbytes")().cast<size_t>();
  const std::string device = py::str(object.attr("device").attr("type"));
  if (device == "meta") {
    return Tensor::strided(*dtype, std::move(geometry), Storage::meta(bytes),
                           Device{.type = DeviceType::kMeta});
  }
  if (device != "cpu") fail("on the device " + device);
  auto* const data = reinterpret_cast<uint8_t*>(storage.attr("data_ptr")().cast<uintptr_t>());
  return Tensor::strided(*dtype, std::move(geometry), Storage::borrow(data, bytes, keep(std::move(storage))));
}

inline bool is_torch(const py::handle& object) {
  return !PyType_Check(object.ptr()) && py::hasattr(object, "untyped_storage");
}

// ---- any of them
// Nothing when the object is no tensor of any kind.
inline std::optional<Tensor> find_tensor(const py::handle& object) {
  if (py::isinstance<Tensor>(object)) return object.cast<const Tensor&>();
  if (is_torch(object)) return from_torch(py::reinterpret_borrow<py::object>(object));
  if (is_numpy(object, "ndarray")) return from_numpy(py::reinterpret_borrow<py::array>(object));
  if (is_numpy(object, "generic")) return {};  // a number
  if (py::hasattr(object, "__dlpack__")) return from_dlpack(object);
  if (py::hasattr(object, "__array_interface__") || py::isinstance<py::buffer>(object)) {
    if (py::isinstance<py::bytes>(object) || py::isinstance<py::type>(object)) return {};
    return from_numpy(py::array::ensure(object));
  }
  return {};
}

}  // namespace flambeau::python
