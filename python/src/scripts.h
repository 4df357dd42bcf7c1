// TorchScript modules from Python: values nested as the script nests them go in and come out; what a script
// prints and warns of goes where Python's own goes.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binding.h"
#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/script.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/boxes.h"
#include "session.h"

namespace flambeau::python {

using script::IValue;

// What Python has nothing for: objects of a script's classes, enumerators. It can be looked at and given
// back.
struct ScriptObject {
  IValue value;
};

inline IValue to_ivalue(const py::handle& object) {
  PyObject* const pointer = object.ptr();
  if (object.is_none()) return {};
  if (py::isinstance<ScriptObject>(object)) return object.cast<const ScriptObject&>().value;
  if (PyUnicode_Check(pointer)) return IValue(text_from_python(object));
  if (PyDict_Check(pointer)) {
    const Nesting nesting;
    std::vector<std::pair<IValue, IValue>> items;
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(object))
      items.emplace_back(to_ivalue(key), to_ivalue(value));
    return script::make_dict(std::move(items));
  }
  if (PyList_Check(pointer) || PyTuple_Check(pointer)) {
    const Nesting nesting;
    std::vector<IValue> items;
    for (const py::handle item : object) items.push_back(to_ivalue(item));
    return PyTuple_Check(pointer) ? IValue::tuple(std::move(items)) : script::make_list(std::move(items));
  }
  return interpreter::to_ivalue(to_value(object));
}

inline py::object to_python(const IValue& value) {
  const Nesting nesting;
  switch (value.tag()) {
    case IValue::Tag::kNone:
    case IValue::Tag::kUninitialized:
      return py::none();
    case IValue::Tag::kBool:
      return py::bool_(value.as_bool());
    case IValue::Tag::kInt:
      return py::int_(value.as_int());
    case IValue::Tag::kFloat:
      return py::float_(value.as_float());
    case IValue::Tag::kComplex:
      return py::reinterpret_steal<py::object>(
          PyComplex_FromDoubles(value.as_complex().real(), value.as_complex().imag()));
    case IValue::Tag::kString:
      return text_to_python(value.as_string());
    case IValue::Tag::kDevice:
      return py::str(value.as_device().to_string());
    case IValue::Tag::kTensor:
      return py::cast(value.as_tensor());
    case IValue::Tag::kList: {
      py::list items;
      for (const IValue& item : value.items()) items.append(to_python(item));
      return items;
    }
    case IValue::Tag::kDict: {
      py::dict items;
      for (const auto& [key, held] : script::dict_items(value)) items[to_python(key)] = to_python(held);
      return items;
    }
    case IValue::Tag::kTuple: {
      py::tuple items(value.items().size());
      for (size_t i = 0; i < items.size(); ++i) items[i] = to_python(value.items()[i]);
      const std::shared_ptr<const script::Class>& named = value.as_tuple().named;
      if (named == nullptr || named->attributes.size() != items.size()) return items;
      py::list fields;
      for (const script::Attribute& field : named->attributes) fields.append(text_to_python(field.name));
      const std::string& name = named->qualified_name();
      return py::module_::import("collections")
          .attr("namedtuple")(text_to_python(name.substr(name.rfind('.') + 1)), fields,
                              py::arg("rename") = true)
          .attr("_make")(items);
    }
    default:
      return py::cast(ScriptObject{value});
  }
}

inline py::object attribute_of(const ScriptObject& self, const std::string& name) {
  if (self.value.is(IValue::Tag::kEnum)) {
    if (name == "name") return text_to_python(self.value.as_enum().name);
    if (name == "value") return to_python(self.value.as_enum().value);
  } else if (self.value.is(IValue::Tag::kObject)) {
    const script::ObjectBox& object = self.value.as_object();
    const std::optional<size_t> slot = object.type->find_attribute(name);
    if (slot && *slot < object.slots.size()) return to_python(object.slots[*slot]);
  }
  throw py::attribute_error("a " + script::type_text(self.value) + " has no attribute '" + printable(name) +
                            "'");
}

class LoadedScript {
 public:
  LoadedScript(std::shared_ptr<Session> session, script::ScriptModule module)
      : session_(std::move(session)), module_(std::move(module)) {}

  static LoadedScript load(Session& session, const py::object& source, bool is_path,
                           const py::object& threads, bool run_set_state, uint64_t most_steps) {
    script::ScriptLoadOptions options;
    options.run_set_state = run_set_state;
    options.most_steps = most_steps;
    options.threads = threads.is_none() ? session.threads() : threads.cast<int>();
    options.library = session.shared_library();
    Source read = read_source(source, is_path);
    script::ScriptModule module = session.locked([&] {
      if (read.is_path) return script::load_script(read.path, options);
      return script::load_script(Mapping::from_buffer(std::move(read.bytes)), options);
    });
    return {session.shared_from_this(), std::move(module)};
  }
  static LoadedScript make(Session& session, const std::string& class_name) {
    script::ScriptLoadOptions options;
    options.threads = session.threads();
    options.library = session.shared_library();
    return {session.shared_from_this(),
            session.locked([&] { return script::make_script(class_name, options); })};
  }

  // Waits for whoever runs it, so without the interpreter's lock.
  template <typename Body>
  auto locked(const Body& body) const {
    return session_->locked([&] { return body(module_); });
  }
  template <typename Body>
  auto locked(const Body& body) {
    return session_->locked([&] { return body(module_); });
  }
  LoadedScript with(script::ScriptModule module) const { return {session_, std::move(module)}; }

  py::object run(const std::string& method, const py::tuple& args, const py::dict& kwargs,
                 const py::object& bounds, uint64_t most_steps, bool may_use_files, bool may_set_seed) const {
    std::vector<IValue> arguments;
    for (const py::handle item : args) arguments.push_back(to_ivalue(item));
    script::ScriptModule::Keywords keywords;
    for (const auto& [name, value] : kwargs) keywords.emplace_back(text_from_python(name), to_ivalue(value));
    script::ScriptRunOptions options;
    options.most_steps = most_steps;
    options.may_use_files = may_use_files;
    options.may_set_seed = may_set_seed;
    options.print = [](std::string_view text) {
      const py::gil_scoped_acquire lock;
      py::module_::import("sys").attr("stdout").attr("write")(text_to_python(std::string(text)));
    };
    options.warn = [](const std::string& text) {
      const py::gil_scoped_acquire lock;
      if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 2) != 0) throw py::error_already_set();
    };
    const Bounds limits = bounds.is_none()
                              ? session_->bounds()
                              : read_bounds(py::object(bounds[py::int_(0)]), py::object(bounds[py::int_(1)]));
    const IValue result = session_->locked(
        limits, [&] { return module_.run_method(method, std::move(arguments), keywords, options); });
    return to_python(result);
  }

  py::bytes bytes(const std::vector<std::pair<std::string, std::string>>& extra_files) const {
    MemorySink sink;
    session_->locked([&] { script::write_script_module(module_, sink, "archive", extra_files); });
    return {reinterpret_cast<const char*>(sink.buffer().data()), sink.buffer().size()};
  }

 private:
  std::shared_ptr<Session> session_;
  script::ScriptModule module_;
};

inline py::list named_to_python(const NamedTensors& tensors) {
  py::list list;
  for (const NamedTensor& each : tensors) list.append(py::make_tuple(text_to_python(each.name), each.tensor));
  return list;
}

inline py::list findings_to_python(const std::vector<script::CodeFinding>& findings) {
  py::list list;
  for (const script::CodeFinding& each : findings) {
    py::dict made;
    made["function"] = text_to_python(each.function);
    made["place"] = text_to_python(each.place);
    made["original"] = text_to_python(each.original);
    made["message"] = text_to_python(each.message);
    list.append(made);
  }
  return list;
}

inline std::vector<std::pair<std::string, std::string>> read_files(const py::dict& files) {
  std::vector<std::pair<std::string, std::string>> read;
  for (const auto& [name, contents] : files) {
    read.emplace_back(text_from_python(name),
                      PyUnicode_Check(contents.ptr()) != 0
                          ? text_from_python(contents)
                          : std::string(py::bytes(py::reinterpret_borrow<py::object>(contents))));
  }
  return read;
}

inline void bind_scripts(py::module_& module) {
  using Module = script::ScriptModule;
  bind_class<ScriptObject>(module, "ScriptObject", "A value of a script that Python has nothing for.")
      .def_property_readonly(
          "class_name",
          [](const ScriptObject& self) { return text_to_python(script::type_text(self.value)); })
      .def("__getattr__", &attribute_of)
      .def("__eq__",
           [](const ScriptObject& self, const ScriptObject& other) {
             return self.value.identity() == other.value.identity();
           })
      .def("__hash__",
           [](const ScriptObject& self) { return reinterpret_cast<intptr_t>(self.value.identity()); })
      .def("__repr__", [](const ScriptObject& self) { return text_to_python(script::to_text(self.value)); });
  bind_class<LoadedScript>(module, "Script")
      .def_static("load", &LoadedScript::load)
      .def_static("make", &LoadedScript::make)
      .def_property_readonly("class_name",
                             [](const LoadedScript& self) {
                               return self.locked([](const Module& it) { return it.class_name(); });
                             })
      .def_property_readonly("path",
                             [](const LoadedScript& self) {
                               return text_to_python(self.locked([](const Module& it) { return it.path(); }));
                             })
      .def("methods",
           [](const LoadedScript& self) {
             py::dict found;
             for (const auto& each : self.locked([](const Module& it) { return it.methods(); }))
               found[text_to_python(each.name)] = text_to_python(each.signature);
             return found;
           })
      .def("attributes",
           [](const LoadedScript& self) {
             static constexpr const char* kKinds[] = {"attribute", "parameter", "buffer", "module"};
             py::list found;
             for (const auto& each : self.locked([](const Module& it) { return it.attributes(); }))
               found.append(py::make_tuple(text_to_python(each.name), text_to_python(each.type),
                                           kKinds[static_cast<size_t>(each.kind)]));
             return found;
           })
      .def("get",
           [](const LoadedScript& self, const std::string& name) {
             return to_python(self.locked([&](const Module& it) { return it.attribute(name); }));
           })
      .def("set",
           [](LoadedScript& self, const std::string& name, const py::object& value) {
             const IValue given = to_ivalue(value);
             self.locked([&](Module& it) { it.set_attribute(name, given); });
           })
      .def("register",
           [](LoadedScript& self, const std::string& kind, const std::string& name, const std::string& type,
              const py::object& value) {
             if (kind == "module") {
               const Module part =
                   value.cast<const LoadedScript&>().locked([](const Module& it) { return it; });
               return self.locked([&](Module& it) { it.add_module(name, part); });
             }
             const IValue given =
                 kind == "attribute" ? to_ivalue(value) : IValue(value.cast<const Tensor&>());
             self.locked([&](Module& it) {
               if (kind == "attribute") return it.add_attribute(name, type, given);
               if (kind == "parameter") return it.add_parameter(name, given.as_tensor());
               it.add_buffer(name, given.as_tensor());
             });
           })
      .def("new_module",
           [](LoadedScript& self, const std::string& class_name) {
             return self.with(self.locked([&](Module& it) { return it.new_module(class_name); }));
           })
      .def("define", [](LoadedScript& self,
                        const std::string& text) { self.locked([&](Module& it) { it.define(text); }); })
      .def("submodule",
           [](const LoadedScript& self, const std::string& path) {
             return self.with(self.locked([&](const Module& it) { return it.submodule(path); }));
           })
      .def("modules",
           [](const LoadedScript& self) {
             py::list found;
             for (Module& each : self.locked([](const Module& it) { return it.modules(); }))
               found.append(self.with(std::move(each)));
             return found;
           })
      .def("parameters",
           [](const LoadedScript& self) {
             return named_to_python(self.locked([](const Module& it) { return it.parameters(); }));
           })
      .def("buffers",
           [](const LoadedScript& self) {
             return named_to_python(self.locked([](const Module& it) { return it.buffers(); }));
           })
      .def("state_dict",
           [](const LoadedScript& self) {
             return named_to_python(self.locked([](const Module& it) { return it.state_dict(); }));
           })
      .def("is_training",
           [](const LoadedScript& self) {
             return self.locked([](const Module& it) { return it.is_training(); });
           })
      .def("train", [](LoadedScript& self, bool on) { self.locked([&](Module& it) { it.train(on); }); })
      .def("to",
           [](LoadedScript& self, const py::object& dtype) {
             const Value given = to_value(dtype);
             std::optional<DType> wanted;
             if (const auto* const known = given.get_if<DType>()) wanted = *known;
             if (const auto* const name = given.get_if<std::string>()) wanted = parse_dtype(*name);
             if (!wanted)
               throw Error(ErrorCode::kInvalidArgument, "a module goes to an element type, 'float16'");
             self.locked([&](Module& it) { it.to(*wanted); });
           })
      .def("copy",
           [](const LoadedScript& self, bool is_deep) {
             return self.with(
                 self.locked([&](const Module& it) { return is_deep ? it.deepcopy() : it.copy(); }));
           })
      .def("optimized",
           [](const LoadedScript& self, const std::vector<std::string>& preserved, bool only_freezes) {
             return self.with(self.locked([&](const Module& it) {
               return only_freezes ? script::freeze(it, preserved) : script::optimize(it, preserved);
             }));
           })
      .def("run", &LoadedScript::run)
      .def("manual_seed",
           [](LoadedScript& self, uint64_t seed) { self.locked([&](Module& it) { it.manual_seed(seed); }); })
      .def("code",
           [](const LoadedScript& self, const std::string& method) {
             return text_to_python(
                 self.locked([&](const Module& it) { return method.empty() ? it.code() : it.code(method); }));
           })
      .def("original_code",
           [](const LoadedScript& self, const std::string& method) {
             return text_to_python(self.locked([&](const Module& it) { return it.original_code(method); }));
           })
      .def("python_code",
           [](const LoadedScript& self) {
             return text_to_python(self.locked([](const Module& it) { return it.python_code(); }));
           })
      .def("graph",
           [](const LoadedScript& self, const std::string& method) {
             return text_to_python(self.locked([&](const Module& it) { return it.graph(method); }));
           })
      .def("archive_version",
           [](const LoadedScript& self) {
             return self.locked([](const Module& it) { return it.archive_version(); });
           })
      .def("extra_files",
           [](const LoadedScript& self) {
             py::dict found;
             for (const std::string& name : self.locked([](const Module& it) { return it.extra_files(); }))
               found[text_to_python(name)] =
                   py::bytes(self.locked([&](const Module& it) { return it.extra_file(name); }));
             return found;
           })
      .def("operators",
           [](const LoadedScript& self) {
             return texts_to_python(self.locked([](const Module& it) { return it.operators(); }));
           })
      .def("problems",
           [](const LoadedScript& self) {
             return findings_to_python(self.locked([](const Module& it) { return it.problems(); }));
           })
      .def("outside_calls",
           [](const LoadedScript& self) {
             return findings_to_python(self.locked([](const Module& it) { return it.outside_calls(); }));
           })
      .def("run_at_load",
           [](const LoadedScript& self) {
             return texts_to_python(self.locked([](const Module& it) { return it.run_at_load(); }));
           })
      .def("save",
           [](const LoadedScript& self, const py::bytes& path, const py::dict& files) {
             const auto extras = read_files(files);
             const std::string to(path);
             self.locked([&](const Module& it) { script::save_script(it, to, extras); });
           })
      .def("bytes",
           [](const LoadedScript& self, const py::dict& files) { return self.bytes(read_files(files)); });
}

}  // namespace flambeau::python
