// Exported programs as files from Python: packages and the programs in them, to look at, change and save.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binding.h"
#include "files.h"
#include "flambeau/aot.h"
#include "flambeau/export.h"
#include "flambeau/passes.h"
#include "flambeau/program.h"
#include "flambeau/report.h"
#include "program.h"

namespace flambeau::python {

using HeldPackage = std::shared_ptr<pt2::Package>;
// What Python has is never changed: a changed program is another one.
using HeldModel = std::shared_ptr<pt2::Model>;

inline HeldModel hold(graph::ExportedProgram program) {
  return std::make_shared<pt2::Model>(pt2::Model{.name = "model", .program = std::move(program)});
}

inline HeldPackage open_package(Session& session, const py::object& given, bool is_path) {
  Source source = read_source(given, is_path);
  return std::make_shared<pt2::Package>(session.locked([&] {
    if (source.is_path) return pt2::load_package(source.path);
    return pt2::load_package(Mapping::from_buffer(std::move(source.bytes)));
  }));
}

inline pt2::PackageLayout read_layout(const std::string& layout, const std::string& path) {
  if (layout.empty())
    return path.ends_with(".json") ? pt2::PackageLayout::kJson : pt2::PackageLayout::kArchive;
  if (const auto found = pt2::layout_from_name(layout)) return *found;
  throw Error(ErrorCode::kInvalidArgument, "'" + printable(layout) + "' is no layout of a package",
              "use 'archive', 'zip' or 'json'");
}

inline void save_model(Session& session, const HeldModel& model, const std::string& path,
                       const std::string& layout) {
  const pt2::PackageLayout chosen = read_layout(layout, path);
  session.locked([&] {
    pt2::Package package;
    // PyTorch opens the program of this name when not told otherwise.
    package.models.push_back({.name = "model", .program = model->program.clone()});
    pt2::save_package(package, path, chosen);
    return 0;
  });
}

inline py::object text_of(Session& session, const HeldModel& model, const std::string& format) {
  return text_to_python(session.locked([&] {
    if (format == "json") return pt2::write_program(model->program);
    if (format == "dot") return graph::to_dot(model->program, {});
    return graph::to_text(model->program, {.lossless = format == "full"});
  }));
}

inline py::dict weights_of(const std::vector<graph::Weight>& weights) {
  py::dict dict;
  for (const graph::Weight& weight : weights) {
    if (weight.pickled == nullptr) dict[text_to_python(weight.name)] = py::cast(weight.tensor);
  }
  return dict;
}

// (args, kwargs), as the model's author nested them.
inline py::object example_inputs_of(Session& session, const HeldModel& model, const py::object& record) {
  if (!pt2::has_example_inputs(model->program)) return py::none();
  const std::vector<Value> leaves = session.locked([&] { return pt2::read_example_inputs(model->program); });
  return Unflattener(leaves, record).take(parse_treespec(model->program.root_call()->in_spec));
}

inline py::list findings_of(Session& session, const HeldModel& model, const std::string& dialect) {
  graph::VerifyOptions options;
  options.dialect = report::dialect_from_name(dialect);
  py::list list;
  for (const graph::Finding& finding :
       session.locked([&] { return graph::verify(model->program, options); })) {
    py::dict entry;
    entry["rule"] = text_to_python(finding.rule);
    entry["where"] = text_to_python(finding.where);
    entry["message"] = text_to_python(finding.message);
    entry["remedy"] = text_to_python(finding.remedy);
    list.append(entry);
  }
  return list;
}

inline HeldModel simplified(Session& session, const HeldModel& model) {
  return hold(session.locked([&] {
    require_sound(model->program, session.library());
    graph::ExportedProgram program = model->program.clone();
    passes::simplify(program, session.library());
    return program;
  }));
}

inline HeldModel decomposed(Session& session, const HeldModel& model, std::vector<std::string> keep) {
  return hold(session.locked([&] {
    require_sound(model->program, session.library());
    return run_decompositions(model->program, {.keep = std::move(keep), .library = session.shared_library()});
  }));
}

// A program that was loaded, or the path of one, as a compiled model.
inline void compile_to_path(Session& session, const py::object& program, const std::string& path,
                            const std::string& model, bool library_only, bool kernels,
                            const std::string& compiler, bool stored,
                            std::vector<std::pair<std::string, std::string>> metadata) {
  CompileOptions options;
  options.model = model;
  options.metadata = std::move(metadata);
  if (library_only) options.form = CompiledForm::kLibraryPackage;
  options.kernels = kernels || !compiler.empty();
  options.compiler = compiler;
  options.is_stored = stored;
  if (py::isinstance<pt2::Model>(program)) {
    const HeldModel held = program.cast<HeldModel>();
    session.locked([&] { return aot_compile(held->program.clone(), path, options); });
  } else {
    const auto from = program.cast<std::string>();
    session.locked([&] { return aot_compile(from, path, options); });
  }
}

// The keywords that a call must have; None where nothing says it.
inline py::object keyword_names(const LoadedProgram& loaded) {
  const TreeSpec& spec = loaded.program().in_spec();
  if (spec.children().size() != 2 || spec.child(1).kind() != TreeKind::kDict) return py::none();
  py::list names;
  for (const json::Value& key : spec.child(1).keys()) names.append(json_to_python(key));
  return names;
}

inline void bind_packages(py::module_& module) {
  bind_class<pt2::Model, HeldModel>(module, "ExportedProgram")
      .def_property_readonly("name", [](const pt2::Model& self) { return text_to_python(self.name); })
      .def_property_readonly("nodes",
                             [](const pt2::Model& self) { return self.program.graph().node_count(); })
      .def_property_readonly("has_weights", [](const pt2::Model& self) { return self.program.has_weights; })
      .def_property_readonly(
          "torch_version", [](const pt2::Model& self) { return text_to_python(self.program.torch_version); })
      .def_property_readonly(
          "schema_version",
          [](const pt2::Model& self) { return text_to_python(pt2::to_string(self.program.schema_version)); })
      .def_property_readonly("state_dict",
                             [](const pt2::Model& self) { return weights_of(self.program.state_dict); })
      .def_property_readonly("constants",
                             [](const pt2::Model& self) { return weights_of(self.program.constants); })
      .def("inputs",
           [](const pt2::Model& self) {
             return graph::interface_of(self.program, graph::Trust::kUnverified).inputs;
           })
      .def("outputs", [](const pt2::Model& self) {
        return graph::interface_of(self.program, graph::Trust::kUnverified).outputs;
      });
  bind_class<pt2::Package, HeldPackage>(module, "Package")
      .def_property_readonly("layout", [](const pt2::Package& self) { return pt2::layout_name(self.layout); })
      .def_property_readonly("notes", [](const pt2::Package& self) { return texts_to_python(self.notes); })
      .def_property_readonly("extra_files",
                             [](const pt2::Package& self) {
                               py::dict dict;
                               for (const pt2::Record& record : self.extra_files) {
                                 const ByteSpan bytes = record.bytes->bytes();
                                 dict[text_to_python(record.name)] =
                                     py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                               }
                               return dict;
                             })
      .def("models", [](const HeldPackage& self) {
        py::list models;
        for (pt2::Model& model : self->models) models.append(py::cast(HeldModel(self, &model)));
        return models;
      });
  module.def("load_package", &open_package);
  module.def("save_package", [](Session& session, const HeldPackage& package, const std::string& path,
                                const std::string& layout) {
    const pt2::PackageLayout chosen =
        layout.empty() && !path.ends_with(".json") ? package->layout : read_layout(layout, path);
    session.locked([&] { return pt2::save_package(*package, path, chosen), 0; });
  });
  module.def("save_program", &save_model);
  module.def("aot_compile", &compile_to_path);
  module.def("keyword_names", &keyword_names);
  module.def("text_of", &text_of);
  module.def("example_inputs_of", &example_inputs_of);
  module.def("findings_of", &findings_of);
  module.def("simplified", &simplified);
  module.def("decomposed", &decomposed);
}

}  // namespace flambeau::python
