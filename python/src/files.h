// What files hold, whether they are safe, and how they differ: the reports of the library as dicts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "binding.h"
#include "flambeau/check.h"
#include "flambeau/checkpoint.h"
#include "flambeau/files.h"
#include "flambeau/inspect.h"
#include "flambeau/json.h"
#include "flambeau/program.h"
#include "flambeau/report.h"
#include "flambeau/tensor.h"

namespace flambeau::python {

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

inline py::object inspect_file_report(Session& session, const std::string& path, bool statistics,
                                      bool digests) {
  const json::Value found = session.locked([&] {
    const std::shared_ptr<Mapping> mapping = open_model_file(weights_file_of(path));
    Inspection inspection = inspect_file(mapping);
    std::optional<pt2::Package> package;
    if (is_program_kind(inspection.kind)) {
      package = pt2::load_package(mapping);
      for (const std::string& note : package->notes) inspection.notes.push_back(note);
    }
    ThreadPool pool(session.threads());
    return report::of_inspection(path, mapping, inspection, package ? &*package : nullptr,
                                 {.statistics = statistics, .digests = digests}, pool);
  });
  return json_to_python(found);
}

inline py::object check_file_report(Session& session, const std::string& path) {
  const json::Value found = session.locked([&] {
    const bool is_folder = std::filesystem::is_directory(path);
    return report::of_safety(path, is_folder ? check_folder(path) : check_file(path));
  });
  return json_to_python(found);
}

inline py::object diff_file_report(Session& session, const std::string& a, const std::string& b,
                                   const std::vector<std::string>& patterns, double tolerance,
                                   bool ignore_dtype) {
  const json::Value found = session.locked(
      [&] { return report::of_differences(diff_files(a, b, {patterns, tolerance, ignore_dtype})); });
  return json_to_python(found);
}

inline py::object verify_file_report(Session& session, const std::string& path, const std::string& dialect,
                                     size_t limit) {
  graph::VerifyOptions options;
  options.dialect = report::dialect_from_name(dialect);
  options.most_findings = limit;
  const json::Value found =
      session.locked([&] { return report::of_verification(path, report::verify_file(path, options)); });
  return json_to_python(found);
}

inline void bind_files(py::module_& module) {
  module.def("inspect", &inspect_file_report);
  module.def("check", &check_file_report);
  module.def("diff", &diff_file_report);
  module.def("verify", &verify_file_report);
}

}  // namespace flambeau::python
