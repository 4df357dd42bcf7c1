// What files hold, whether they are safe, and from one to another: the reports of the library as dicts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "flambeau/checkpoint.h"
#include "flambeau/report.h"
#include "flambeau/tensor.h"
#include "session.h"

namespace flambeau::python {

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

inline py::object json_to_python(const json::Value& value) {
  if (value.is_bool()) return py::bool_(value.as_bool());
  if (value.is_double()) return py::float_(value.as_double());
  if (value.is_string()) return text_to_python(value.as_string());
  if (value.is_integer()) {
    try {
      return py::int_(value.as_int());
    } catch (const Error&) {
      return py::int_(value.as_uint());
    }
  }
  if (value.is_array()) {
    py::list list;
    for (const json::Value& item : value.as_array()) list.append(json_to_python(item));
    return list;
  }
  if (!value.is_object()) return py::none();
  py::dict dict;
  for (const auto& [key, member] : value.as_object()) dict[text_to_python(key)] = json_to_python(member);
  return dict;
}

inline py::object inspect_file_report(const Session& session, const std::string& path, bool statistics,
                                      bool digests) {
  const json::Value found = [&] {
    const py::gil_scoped_release release;
    const std::shared_ptr<Mapping> mapping = open_model_file(weights_file_of(path));
    Inspection inspection = inspect_file(mapping);
    std::optional<pt2::Package> package;
    if (is_program_kind(inspection.kind)) {
      package = pt2::read_package(mapping);
      for (const std::string& note : package->notes) inspection.notes.push_back(note);
    }
    ThreadPool pool(session.threads());
    return report::of_inspection(path, mapping, inspection, package ? &*package : nullptr,
                                 {.statistics = statistics, .digests = digests}, pool);
  }();
  return json_to_python(found);
}

inline py::object check_file_report(const std::string& path) {
  const json::Value found = [&] {
    const py::gil_scoped_release release;
    const bool is_folder = std::filesystem::is_directory(path);
    return report::of_safety(path,
                             is_folder ? check_folder_safety(path) : check_safety(open_model_file(path)));
  }();
  return json_to_python(found);
}

inline py::object convert_file_report(const Session& session, const std::string& source,
                                      const std::string& target, const std::string& dtype,
                                      std::vector<std::string> patterns, const std::string& format,
                                      const std::string& shard_size) {
  ConvertFileOptions options;
  options.patterns = std::move(patterns);
  if (!dtype.empty()) {
    options.dtype = parse_dtype(dtype);
    if (!options.dtype)
      throw Error(ErrorCode::kInvalidArgument, "'" + printable(dtype) + "' is not an element type");
  }
  if (!format.empty()) {
    options.format = weight_format_for("x." + format);
    if (!options.format)
      throw Error(ErrorCode::kInvalidArgument, "'" + printable(format) + "' is no format of weights",
                  "use 'pt', 'safetensors' or 'npz'");
  }
  if (!shard_size.empty()) {
    options.shard_size = parse_byte_count(shard_size);
    if (!options.shard_size)
      throw Error(ErrorCode::kInvalidArgument, "'" + printable(shard_size) + "' is no size of shards",
                  "write '5GB', or a number of bytes");
  }
  ConvertedFile written;
  {
    const py::gil_scoped_release release;
    ThreadPool pool(session.threads());
    options.pool = &pool;
    written = convert_file(source, target, options);
  }
  py::dict result;
  py::list files;
  for (const std::string& file : written.files) files.append(text_to_python(file));
  result["files"] = files;
  result["tensors"] = written.tensors;
  result["bytes"] = written.bytes;
  return result;
}

inline py::object diff_file_report(const std::string& a, const std::string& b,
                                   std::vector<std::string> patterns, double tolerance, bool ignore_dtype) {
  const json::Value found = [&] {
    const py::gil_scoped_release release;
    return report::of_differences(diff_files(a, b, {std::move(patterns), tolerance, ignore_dtype}));
  }();
  return json_to_python(found);
}

inline py::object verify_file_report(const std::string& path, const std::string& dialect, size_t limit) {
  graph::VerifyOptions options;
  options.dialect = report::dialect_from_name(dialect);
  options.most_findings = limit;
  const json::Value found = [&] {
    const py::gil_scoped_release release;
    return report::of_verification(path, report::verify_file(path, options));
  }();
  return json_to_python(found);
}

inline void bind_files(py::module_& module) {
  module.def("inspect", &inspect_file_report);
  module.def("check", &check_file_report);
  module.def("convert", &convert_file_report);
  module.def("diff", &diff_file_report);
  module.def("verify", &verify_file_report);
}

}  // namespace flambeau::python
