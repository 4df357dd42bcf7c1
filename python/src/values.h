// What operators take and give, from and to Python. Types come as PyTorch's, numpy's or their names; lists
// keep their kind when all their items are of one.
#pragma once

#include <complex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "exchange.h"
#include "flambeau/ops/engines/elementwise.h"
#include "flambeau/value/value.h"

namespace flambeau::python {

inline int64_t to_int(const py::handle& object) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "the number " + std::string(py::str(object)) + " does not fit into 64 bits");
  }
  if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return number;
}

Value to_value(const py::handle& object);

// Nothing when an item is of another kind.
template <typename T>
std::optional<std::vector<T>> items_as(const ValueList& items) {
  std::vector<T> list;
  for (const Value& item : items) {
    if (!item.is<T>()) return {};
    list.push_back(item.get<T>());
  }
  return list;
}

// A list can hold itself.
class Nesting {
 public:
  Nesting() {
    constexpr int kMostDeep = 64;
    if (depth() == kMostDeep) throw Error(ErrorCode::kInvalidArgument, "the lists are nested too deep");
    ++depth();
  }
  ~Nesting() { --depth(); }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  static int& depth() {
    thread_local int lists = 0;
    return lists;
  }
};

inline Value to_list_value(const py::handle& sequence) {
  const Nesting nesting;
  ValueList items;
  bool has_tensor = false;
  bool has_others = false;
  for (const py::handle item : sequence) {
    const Value& value = items.emplace_back(to_value(item));
    has_tensor = has_tensor || value.is_tensor();
    has_others = has_others || !(value.is_tensor() || value.is_none());
  }
  if (items.empty()) return Dims();
  if (has_tensor && !has_others) {
    TensorList tensors;
    for (const Value& item : items) tensors.push_back(item.is_none() ? Tensor() : item.tensor());
    return tensors;
  }
  if (const auto integers = items_as<int64_t>(items)) return Dims(std::span<const int64_t>(*integers));
  if (auto numbers = items_as<double>(items)) return std::move(*numbers);
  if (auto texts = items_as<std::string>(items)) return std::move(*texts);
  return items;
}

// What PyTorch's own types mean; None of them needs PyTorch here, only its names.
inline std::optional<Value> torch_value(const std::string& type, const py::handle& object) {
  const auto text = [&] {
    std::string name = py::str(object);
    return name.starts_with("torch.") ? name.substr(6) : name;
  };
  if (type == "torch.dtype") {
    if (const std::optional<DType> dtype = parse_dtype(text())) return *dtype;
  } else if (type == "torch.device") {
    if (const std::optional<Device> device = parse_device(text())) return *device;
  } else if (type == "torch.layout") {
    if (const std::optional<Layout> layout = layout_from_name(text())) return *layout;
  } else if (type == "torch.memory_format") {
    if (const std::optional<MemoryFormat> format = memory_format_from_name(text())) return *format;
  }
  return {};
}

inline Value to_value(const py::handle& object) {
  PyObject* const pointer = object.ptr();
  if (object.is_none()) return {};
  if (py::isinstance<Tensor>(object)) return object.cast<const Tensor&>();
  if (PyBool_Check(pointer)) return pointer == Py_True;
  if (PyLong_Check(pointer)) return to_int(object);
  if (PyFloat_Check(pointer)) return PyFloat_AS_DOUBLE(pointer);
  if (PyComplex_Check(pointer))
    return std::complex<double>(PyComplex_RealAsDouble(pointer), PyComplex_ImagAsDouble(pointer));
  if (PyUnicode_Check(pointer)) return object.cast<std::string>();
  if (PyList_Check(pointer) || PyTuple_Check(pointer)) return to_list_value(object);
  if (is_torch(object)) return from_torch(py::reinterpret_borrow<py::object>(object));
  if (py::isinstance<Object>(object)) return object.cast<const Object&>();
  const std::string type = type_name(object);
  if (type.starts_with("torch.")) {
    if (std::optional<Value> value = torch_value(type, object)) return std::move(*value);
  }
  if (is_numpy(object, "dtype")) return dtype_from_numpy(object);
  if (is_numpy(object, "generic")) return to_value(object.attr("item")());
  if (PyType_Check(pointer)) return dtype_from_numpy(py::module_::import("numpy").attr("dtype")(object));
  if (std::optional<Tensor> tensor = find_tensor(object)) return std::move(*tensor);
  if (PyIndex_Check(pointer)) {
    return to_int(py::reinterpret_steal<py::object>(PyNumber_Index(pointer)));
  }
  throw Error(ErrorCode::kInvalidArgument, "an operator takes no " + type,
              "it takes tensors, numbers, strings, lists and types");
}

inline py::object number_to_python(const Scalar& number) {
  if (number.is_bool()) return py::bool_(number.to_bool());
  if (number.is_int()) return py::int_(number.to_int());
  if (number.is_float()) return py::float_(number.to_double());
  return py::cast(number.to_complex());
}

inline py::object to_python(const Value& value);

struct PythonMaker {
  py::object operator()(std::monostate) const { return py::none(); }
  py::object operator()(const Tensor& tensor) const {
    return tensor.defined() ? py::cast(tensor) : py::none();
  }
  py::object operator()(int64_t number) const { return py::int_(number); }
  py::object operator()(double number) const { return py::float_(number); }
  py::object operator()(bool flag) const { return py::bool_(flag); }
  py::object operator()(const std::complex<double>& number) const {
    return py::reinterpret_steal<py::object>(PyComplex_FromDoubles(number.real(), number.imag()));
  }
  py::object operator()(const std::string& text) const { return py::str(text); }
  py::object operator()(DType dtype) const { return py::str(std::string(dtype_name(dtype))); }
  py::object operator()(Device device) const { return py::str(device.to_string()); }
  py::object operator()(Layout layout) const { return py::str(std::string(layout_name(layout))); }
  py::object operator()(MemoryFormat format) const {
    return py::str(std::string(memory_format_name(format)));
  }
  py::object operator()(const SymInt& number) const {
    if (number.is_literal()) return py::int_(number.literal());
    throw Error(ErrorCode::kUnsupported, "a symbol has no number in Python");
  }
  py::object operator()(const Object& object) const { return py::cast(object); }
  py::object operator()(const Value& value) const { return to_python(value); }
  template <typename List>
    requires requires(const List& list) { list.begin(); }
  py::object operator()(const List& list) const {
    py::list items;
    for (const auto& item : list) items.append((*this)(item));
    return items;
  }
};

inline py::object to_python(const Value& value) { return std::visit(PythonMaker{}, value.data()); }

inline py::object results_to_python(const std::vector<Value>& results) {
  if (results.empty()) return py::none();
  if (results.size() == 1) return to_python(results[0]);
  py::tuple tuple(results.size());
  for (size_t i = 0; i < results.size(); ++i) tuple[i] = to_python(results[i]);
  return tuple;
}

// Nested lists of numbers, as tolist() of the other libraries gives them.
// How many lists and numbers a tensor is as nested lists: one without elements can be many empty lists.
inline Size nested_count(const Tensor& tensor) {
  Size all = 1;
  Size here = 1;
  for (const int64_t size : tensor.sizes()) {
    here *= size;
    all += here;
  }
  return all;
}

inline py::object nested_items(const Tensor& tensor, size_t d, int64_t offset) {
  if (d == tensor.dim())
    return number_to_python(ops::item(tensor.with_geometry({.sizes = {}, .strides = {}, .offset = offset})));
  py::list items;
  for (int64_t i = 0; i < tensor.sizes()[d]; ++i) {
    if (i % 4096 == 4095 && PyErr_CheckSignals() != 0) throw py::error_already_set();
    items.append(nested_items(tensor, d + 1, offset + i * tensor.strides()[d]));
  }
  return items;
}

inline py::object nested_list(const Tensor& tensor) {
  constexpr int64_t kBytesEach = 40;  // of a Python object and the pointer to it, at least
  require_memory(static_cast<uint64_t>((nested_count(tensor) * kBytesEach).value()));
  return nested_items(tensor, 0, tensor.offset());
}

}  // namespace flambeau::python
