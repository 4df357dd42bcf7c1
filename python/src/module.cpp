// The Python module flambeau._flambeau: tensors, operators, errors. The rest of the package is Python.
#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "checkpoints.h"
#include "files.h"
#include "packages.h"
#include "program.h"
#include "scripts.h"
#include "session.h"

namespace flambeau::python {
namespace {

py::object& error_class() {
  // Made once, for the life of the interpreter: exceptions may outlive the module.
  static py::object* const made = [] {
    PyObject* const type = PyErr_NewExceptionWithDoc(
        "flambeau.Error",
        "What Flambeau refuses or cannot do.\n\n"
        "code: what kind of error it is, e.g. 'invalid_argument', 'corrupt', 'unsupported', 'not_found'.\n"
        "message: what was found and what was expected.\n"
        "remedy: what to do about it; may be empty.\n"
        "locations: pairs of kind and value, outermost first, e.g. ('file', 'model.pt2').\n"
        "frames: of an error in a script, the calls that led to it, outermost first, as tuples (function,\n"
        "module_path, place, original); empty for others.",
        PyExc_RuntimeError, nullptr);
    if (type == nullptr) throw py::error_already_set();
    return new py::object(py::reinterpret_steal<py::object>(type));
  }();
  return *made;
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const std::vector<script::ScriptFrame> calls = script::frames_of(error);
    const py::object made =
        error_class()(text_to_python(calls.empty() ? error.what() : script::traceback_text(error)));
    py::list frames;
    for (const script::ScriptFrame& call : calls) {
      frames.append(py::make_tuple(text_to_python(call.function), text_to_python(call.module_path),
                                   text_to_python(call.place), text_to_python(call.original)));
    }
    made.attr("frames") = frames;
    py::list locations;
    for (const Location& location : error.locations())
      locations.append(py::make_tuple(location.kind, location.value));
    made.attr("code") = std::string(error_code_name(error.code()));
    made.attr("message") = error.message();
    made.attr("remedy") = error.remedy();
    made.attr("locations") = locations;
    PyErr_SetObject(error_class().ptr(), made.ptr());
  }
}

Tensor make_tensor(const py::object& object) {
  if (std::optional<Tensor> tensor = find_tensor(object)) return std::move(*tensor);
  if (PyNumber_Check(object.ptr()) != 0 || is_numpy(object, "generic")) {
    const Value value = to_value(object);
    if (value.is_number()) return ops::scalar_tensor(value.scalar(), value.scalar().dtype());
  }
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()))
    return from_numpy(py::module_::import("numpy").attr("array")(object));
  throw Error(ErrorCode::kInvalidArgument, "a " + type_name(object) + " is no tensor",
              "give an array, something with __dlpack__, a number, or nested lists of numbers");
}

std::string describe(const Tensor& tensor) {
  constexpr int64_t kMostShown = 64;
  if (!tensor.defined()) return "flambeau.Tensor(undefined)";
  std::string text = "flambeau.Tensor(" + tensor.summary();
  if (tensor.layout() == Layout::kStrided && !tensor.is_meta() && dlpack_type(tensor.dtype()) &&
      tensor.dtype() != DType::kFloat4E2M1FNx2 && tensor.element_count() <= kMostShown &&
      nested_count(tensor) <= 2 * kMostShown) {
    text += ", " + std::string(py::repr(nested_list(tensor)));
  }
  return text + ")";
}

py::object export_dlpack(const Tensor& tensor, const py::object& stream, const py::object& max_version,
                         const py::object& device, const py::object& copy) {
  if (!stream.is_none()) throw py::buffer_error("a tensor on the CPU has no stream");
  if (!device.is_none() && !device.equal(py::make_tuple(dlpack::kCpu, 0)))
    throw py::buffer_error("the tensor is on the CPU and goes to no other device");
  Tensor shown = tensor;
  if (!copy.is_none() && copy.cast<bool>()) {
    shown = copy_elements(tensor.dtype(), tensor.data(), tensor.sizes(), [&] {
      Dims strides = tensor.strides();
      for (int64_t& stride : strides) stride *= static_cast<int64_t>(tensor.element_size());
      return strides;
    }());
  }
  if (!max_version.is_none() && max_version.cast<std::pair<int, int>>().first >= 1)
    return export_capsule<dlpack::ManagedVersioned>(shown, "dltensor_versioned");
  return export_capsule<dlpack::Managed>(shown, "dltensor");
}

void bind_tensor(py::module_& module) {
  bind_class<Tensor>(
      module, "Tensor",
      "A typed, strided view of memory, shared with whoever gave it.\n\n"
      "Tensor(x) takes PyTorch tensors, numpy arrays and anything with __dlpack__ without a copy\n"
      "(read-only arrays and negative strides are copied), numbers, and nested lists of numbers.")
      .def(py::init(&make_tensor), py::arg("data"))
      .def("__dlpack__", &export_dlpack, py::kw_only(), py::arg("stream") = py::none(),
           py::arg("max_version") = py::none(), py::arg("dl_device") = py::none(),
           py::arg("copy") = py::none(),
           "The same memory as a DLPack capsule: torch.from_dlpack(x), numpy.from_dlpack(x).")
      .def("__dlpack_device__", [](const Tensor&) { return py::make_tuple(dlpack::kCpu, 0); })
      .def("numpy", &to_numpy, "The same memory as a numpy array.")
      .def(
          "__array__",
          [](const Tensor& tensor, const py::object& dtype, const py::object& copy) -> py::object {
            const py::array array = to_numpy(tensor);
            if (!dtype.is_none()) {
              const bool must_copy = !copy.is_none() && copy.cast<bool>();
              return array.attr("astype")(dtype, py::arg("copy") = must_copy);
            }
            if (!copy.is_none() && copy.cast<bool>()) return array.attr("copy")();
            return array;
          },
          py::arg("dtype") = py::none(), py::arg("copy") = py::none())
      .def_property_readonly(
          "dtype", [](const Tensor& tensor) { return std::string(dtype_name(tensor.dtype())); },
          "PyTorch's name of the element type: 'float32'.")
      .def_property_readonly("device", [](const Tensor& tensor) { return tensor.device().to_string(); })
      .def_property_readonly("layout",
                             [](const Tensor& tensor) { return std::string(layout_name(tensor.layout())); })
      .def_property_readonly("shape", [](const Tensor& tensor) { return to_tuple(tensor.sizes()); })
      .def_property_readonly(
          "strides", [](const Tensor& tensor) { return to_tuple(tensor.strides()); }, "In elements.")
      .def_property_readonly(
          "offset", [](const Tensor& tensor) { return tensor.offset(); },
          "Where the first element is in the storage, in elements.")
      .def_property_readonly("ndim", [](const Tensor& tensor) { return tensor.dim(); })
      .def_property_readonly(
          "size", [](const Tensor& tensor) { return tensor.element_count(); }, "The number of elements.")
      .def_property_readonly(
          "data_ptr", [](const Tensor& tensor) { return reinterpret_cast<uintptr_t>(tensor.data()); },
          "The address of the first element.")
      .def("is_contiguous", [](const Tensor& tensor) { return tensor.is_contiguous(); })
      .def(
          "item", [](const Tensor& tensor) { return number_to_python(ops::item(tensor)); },
          "The number in a tensor of one element.")
      .def(
          "tolist", [](const Tensor& tensor) { return nested_list(tensor); }, "The numbers as nested lists.")
      .def("__len__",
           [](const Tensor& tensor) {
             if (tensor.dim() == 0) throw py::type_error("a tensor without dimensions has no length");
             return tensor.sizes()[0];
           })
      .def("__bool__", [](const Tensor& tensor) { return ops::item(tensor).to_bool(); })
      .def("__int__", [](const Tensor& tensor) { return ops::item(tensor).to_int(); })
      .def("__float__", [](const Tensor& tensor) { return ops::item(tensor).to_double(); })
      .def("__repr__", &describe);
  bind_class<Object>(module, "Object", "Something that only some operators understand.")
      .def_readonly("class_name", &Object::class_name);
}

void bind_operators(py::module_& module) {
  bind_class<Session, std::shared_ptr<Session>>(module, "Session",
                                                "The operators, the threads and the random numbers.")
      .def(py::init<>())
      .def("has", &Session::has, py::arg("name"))
      .def("schema", &Session::schema, py::arg("name"))
      .def("overloads", &Session::overloads, py::arg("name"))
      .def(
          "operators", [](const Session& session, bool derived) { return session.library().names(derived); },
          py::arg("derived") = false)
      .def("threads", &Session::threads)
      .def("set_threads", &Session::set_threads, py::arg("threads"))
      .def(
          "set_limits",
          [](Session& session, const py::object& time_limit, const py::object& memory_limit) {
            session.set_bounds(read_bounds(time_limit, memory_limit));
          },
          py::arg("time_limit"), py::arg("memory_limit"))
      .def("limits",
           [](const Session& session) {
             const Bounds bounds = session.bounds();
             return py::make_tuple(bounds.seconds > 0 ? py::object(py::float_(bounds.seconds)) : py::none(),
                                   bounds.bytes > 0 ? py::object(py::int_(bounds.bytes)) : py::none());
           })
      .def("manual_seed", &Session::manual_seed, py::arg("seed"))
      .def("random_state", &Session::random_state)
      .def("set_random_state", &Session::set_random_state, py::arg("state"))
      .def("register", &Session::add, py::arg("schema"), py::arg("function"))
      .def(
          "get",
          [](Session& session, const std::string& name) {
            return BoundOperator{session.shared_from_this(), &session.get(name)};
          },
          py::arg("name"))
      .def("call_best",
           [](Session& session, const std::string& name, const py::args& positional,
              const py::kwargs& keywords) { return session.call_best(name, positional, keywords); });
  bind_class<BoundOperator>(module, "Operator", "One overload of an operator; call it.")
      .def("__call__",
           [](const BoundOperator& self, const py::args& positional, const py::kwargs& keywords) {
             return self.session->call(*self.op, positional, keywords);
           })
      .def_property_readonly("name", [](const BoundOperator& self) { return self.op->name(); })
      .def_property_readonly("schema", [](const BoundOperator& self) { return to_string(self.op->schema); })
      .def("__repr__", [](const BoundOperator& self) {
        return "<flambeau operator " + to_string(self.op->schema) + ">";
      });
}

void bind_programs(py::module_& module) {
  bind_class<Leaf>(module, "Leaf", "One input or output of a program.")
      .def_readonly("name", &Leaf::name, "What the program calls it.")
      .def_readonly("path", &Leaf::path, "How a caller reaches it: \"args[0]\", \"kwargs['mask']\".")
      .def_property_readonly(
          "kind", [](const Leaf& leaf) { return graph::leaf_kind_name(leaf.kind); },
          "'tensor', 'int', 'float', 'bool', 'str' or 'None'.")
      .def_property_readonly("dtype",
                             [](const Leaf& leaf) -> py::object {
                               if (!leaf.is_tensor()) return py::none();
                               return py::str(std::string(dtype_name(leaf.dtype)));
                             })
      .def_property_readonly(
          "shape",
          [](const Leaf& leaf) -> py::object {
            if (!leaf.is_tensor()) return py::none();
            py::list sizes;
            for (const graph::LeafSize& size : leaf.sizes())
              sizes.append(size.literal ? py::object(py::int_(*size.literal))
                                        : py::object(py::str(size.text)));
            return py::tuple(sizes);
          },
          "Numbers, and the text of what is not fixed: (8, 's77').")
      .def_property_readonly("range", &Leaf::range, "Of the symbols in the shape: '2 <= s77 <= 9'.")
      .def("__repr__", &Leaf::to_string);
  bind_class<LoadedProgram>(module, "Program")
      .def(py::init([](Session& session, const py::object& source, const std::string& model,
                       const py::object& threads, bool plan, const std::string& backend, bool ignore_guards,
                       const py::object& time_limit, const py::object& memory_limit, py::object record) {
        std::optional<Bounds> bounds;
        if (!time_limit.is_none() || !memory_limit.is_none()) bounds = read_bounds(time_limit, memory_limit);
        return std::make_unique<LoadedProgram>(session, source, model, threads, plan, backend, ignore_guards,
                                               bounds, std::move(record));
      }))
      .def_property_readonly("inputs", [](const LoadedProgram& self) { return self.program().inputs(); })
      .def_property_readonly("outputs", [](const LoadedProgram& self) { return self.program().outputs(); })
      .def_property_readonly("in_spec",
                             [](const LoadedProgram& self) { return self.program().in_spec().to_string(); })
      .def_property_readonly("out_spec",
                             [](const LoadedProgram& self) { return self.program().out_spec().to_string(); })
      .def_property_readonly("unknown_guards",
                             [](const LoadedProgram& self) { return self.program().unknown_guards(); })
      .def("__call__", [](LoadedProgram& self, const py::args& args,
                          const py::kwargs& kwargs) { return self.run(args, kwargs); })
      .def("profiled",
           [](LoadedProgram& self, const py::args& args, const py::kwargs& kwargs) {
             Profile profile;
             py::object result = self.run(args, kwargs, &profile);
             py::list entries;
             for (const Profile::Entry& entry : profile.entries) {
               entries.append(py::make_tuple(entry.node, entry.op, entry.calls,
                                             std::chrono::duration<double>(entry.time).count(), entry.bytes,
                                             entry.flops));
             }
             return py::make_tuple(result, entries);
           })
      .def("state",
           [](const LoadedProgram& self, const std::string& name) {
             const Tensor tensor = self.program().state(name);
             if (!tensor.defined())
               throw Error(ErrorCode::kNotFound, "the program has no weight '" + printable(name) + "'");
             return tensor;
           })
      .def("manual_seed", [](LoadedProgram& self, uint64_t seed) {
        const py::gil_scoped_release released;  // a run that has the generator may wait for the lock
        self.program().manual_seed(seed);
      });
}

}  // namespace
}  // namespace flambeau::python

PYBIND11_MODULE(_flambeau, module) {
  using namespace flambeau::python;
  module.attr("Error") = error_class();
  py::register_exception_translator(&translate);
  bind_tensor(module);
  bind_operators(module);
  bind_programs(module);
  bind_files(module);
  bind_checkpoints(module);
  bind_packages(module);
  bind_scripts(module);
}
