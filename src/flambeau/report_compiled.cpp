// Compiled models of a package in `flambeau inspect --json`.
#include "flambeau/formats/compiled.h"
#include "flambeau/report.h"

namespace flambeau::report {
namespace {

json::Array texts(const std::vector<std::string>& list) {
  json::Array array;
  for (const std::string& text : list) array.emplace_back(text);
  return array;
}

json::Value library_value(const CompiledLibrary& library) {
  json::Value value;
  value.set("record", library.record);
  value.set("bytes", library.bytes);
  if (!library.problem.empty()) {
    value.set("problem", library.problem);
    return value;
  }
  value.set("machine", library.machine);
  value.set("needed", texts(library.needed));
  value.set("versions", texts(library.versions));
  value.set("search_paths", texts(library.search_paths));
  value.set("host_functions", texts(library.host_functions));
  value.set("system_functions", texts(library.system_functions));
  value.set("other_imports", library.other_imports);
  value.set("exports", library.exports);
  value.set("run_by_loading", library.run_by_loading);
  value.set("text_relocations", library.has_text_relocations);
  value.set("executable_stack", library.has_executable_stack);
  return value;
}

json::Value constant_value(const CompiledConstant& constant) {
  json::Value value;
  value.set("name", constant.name);
  value.set("original", constant.original);
  value.set("dtype", constant.dtype);
  value.set("kind", constant.kind);
  json::Array shape;
  for (const int64_t size : constant.sizes) shape.emplace_back(size);
  value.set("shape", std::move(shape));
  value.set("bytes", constant.bytes);
  return value;
}

}  // namespace

json::Value of_compiled(const CompiledModel& model) {
  json::Value value;
  value.set("name", model.name);
  value.set("device", model.device.empty() ? json::Value() : json::Value(model.device));
  json::Value metadata{json::Object{}};
  for (const auto& [key, text] : model.metadata) metadata.set(key, text);
  value.set("metadata", std::move(metadata));
  value.set("inputs", texts(model.inputs));
  value.set("outputs", texts(model.outputs));
  value.set("in_spec", model.in_spec);
  value.set("out_spec", model.out_spec);
  json::Array constants, libraries;
  for (const CompiledConstant& constant : model.constants) constants.push_back(constant_value(constant));
  for (const CompiledLibrary& library : model.libraries) libraries.push_back(library_value(library));
  value.set("constants", std::move(constants));
  value.set("libraries", std::move(libraries));
  value.set("compiled_by_loading", model.is_source_only);
  value.set("notes", texts(model.notes));
  return value;
}

}  // namespace flambeau::report
