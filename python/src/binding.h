// How classes are bound, and how files are named: what all parts of the module share.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/files.h"
#include "session.h"

namespace flambeau::python {

// Python can make an object without initializing it (Tensor.__new__), and pybind11 would give methods memory
// with anything in it: it takes the memory from here, and gets none.
inline void* refuse_unmade(size_t) {
  throw py::type_error("the object was never initialized: call its class instead of __new__");
}

// Every class is bound by this one.
template <typename T, typename... More>
py::class_<T, More...> bind_class(py::module_& module, const char* name, const char* text = "") {
  py::class_<T, More...> made(module, name, text);
  py::detail::get_type_info(typeid(T), true)->operator_new = &refuse_unmade;
  return made;
}

inline py::object text_to_python(const std::string& text) {
  const auto size = static_cast<Py_ssize_t>(text.size());
  PyObject* made = PyUnicode_DecodeUTF8(text.data(), size, "surrogatepass");
  if (made == nullptr) {  // the name of a file may be any bytes
    PyErr_Clear();
    made = PyUnicode_DecodeUTF8(text.data(), size, "surrogateescape");
  }
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

// The text that text_to_python() made.
inline std::string text_from_python(const py::handle& object) {
  if (PyUnicode_Check(object.ptr()) == 0)
    throw Error(ErrorCode::kInvalidArgument, "a " + type_name(object) + " is no text");
  for (const char* const errors : {"surrogatepass", "surrogateescape"}) {
    if (PyObject* const bytes = PyUnicode_AsEncodedString(object.ptr(), "utf-8", errors)) {
      return std::string(py::reinterpret_steal<py::bytes>(bytes));
    }
    PyErr_Clear();
  }
  throw Error(ErrorCode::kInvalidArgument, "a text cannot be written as UTF-8");
}

template <typename Texts>
py::list texts_to_python(const Texts& texts) {
  py::list list;
  for (const auto& text : texts) list.append(text_to_python(std::string(text)));
  return list;
}

template <typename Pairs>
py::list pairs_to_python(const Pairs& pairs) {
  py::list list;
  for (const auto& [first, second] : pairs)
    list.append(py::make_tuple(text_to_python(first), text_to_python(second)));
  return list;
}

// A file by its path, as bytes, or what is in it.
struct Source {
  std::string path;
  std::vector<uint8_t> bytes;
  bool is_path = false;
};
inline Source read_source(const py::object& source, bool is_path) {
  const py::buffer_info buffer = py::reinterpret_borrow<py::buffer>(source).request();
  if (PyBuffer_IsContiguous(buffer.view(), 'C') == 0)
    throw Error(ErrorCode::kInvalidArgument, "the bytes of a file must lie one behind another");
  const auto* const data = static_cast<const uint8_t*>(buffer.ptr);
  const auto size = static_cast<size_t>(buffer.size * buffer.itemsize);
  if (is_path) return {.path = {reinterpret_cast<const char*>(data), size}, .bytes = {}, .is_path = true};
  return {.path = {}, .bytes = {data, data + size}, .is_path = false};
}

}  // namespace flambeau::python
