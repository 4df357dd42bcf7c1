// Exported programs from Python: arguments nested as the model's author nested them go in, results come out
// nested the same way.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "flambeau/base/files/mapping.h"
#include "flambeau/graph/bind_call.h"
#include "flambeau/graph/program.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/program.h"
#include "flambeau/runtime.h"
#include "session.h"

namespace flambeau::python {

// The names of a container's children: a dict's keys, a dataclass's fields; empty when they only have places.
inline py::list names_of(const TreeSpec& spec) {
  py::list names;
  for (const json::Value& key : spec.keys()) {
    if (key.is_string()) {
      names.append(key.as_string());
    } else if (key.is_bool()) {
      names.append(key.as_bool());
    } else if (key.is_integer()) {
      names.append(key.as_int());
    } else if (key.is_double()) {
      names.append(key.as_double());
    } else {
      throw Error(ErrorCode::kUnsupported, "a dict of the program has the key " + json::dump(key));
    }
  }
  if (spec.kind() != TreeKind::kOther) return names;
  for (size_t i = 0; i < spec.children().size(); ++i) {
    const std::string path = spec.child_path(i);
    if (!path.starts_with('.')) break;
    names.append(path.substr(1));
  }
  if (!names.empty()) return names;
  // Classes that are dicts too write their keys: "[\"logits\", \"loss\"]", as a text inside the text.
  const json::Value context = json::parse(spec.context_json());
  const json::Value inner = context.is_string() && context.as_string().starts_with('[')
                                ? json::parse(context.as_string())
                                : context;
  if (!inner.is_array() || inner.as_array().size() != spec.children().size()) return names;
  for (const json::Value& key : inner.as_array()) {
    if (!key.is_string()) return py::list();
    names.append(key.as_string());
  }
  return names;
}

// Turns nested arguments into the flat list a program takes.
class Flattener {
 public:
  std::vector<Value> leaves;

  void add(const TreeSpec& spec, const py::handle& object, const std::string& path) {
    if (spec.is_leaf()) {
      leaves.push_back(with_location("argument", path, [&] { return to_value(object); }));
      return;
    }
    const size_t count = spec.children().size();
    const py::list names = names_of(spec);
    if (names.empty()) {
      if (!PySequence_Check(object.ptr()) || PyUnicode_Check(object.ptr()) || PyDict_Check(object.ptr()))
        fail(path, "a " + type_name(object), "a sequence of " + std::to_string(count));
      if (py::len(object) != count)
        fail(path, std::to_string(py::len(object)) + " items", std::to_string(count));
      size_t i = 0;
      for (const py::handle item : object) add_child(spec, i++, item, path);
      return;
    }
    const bool is_dict = PyDict_Check(object.ptr()) != 0;
    if (is_dict && py::len(object) != count) {
      fail(path,
           "a dict with the keys " +
               std::string(py::repr(py::list(py::reinterpret_borrow<py::object>(object)))),
           "the keys " + std::string(py::repr(names)));
    }
    for (size_t i = 0; i < count; ++i) {
      const py::object name = names[i];
      if (is_dict && object.contains(name)) {
        add_child(spec, i, object[name], path);
      } else if (!is_dict && py::hasattr(object, name)) {
        add_child(spec, i, object.attr(name), path);
      } else {
        fail(path, "a " + type_name(object) + " without " + std::string(py::repr(name)),
             "the keys " + std::string(py::repr(names)));
      }
    }
  }

 private:
  void add_child(const TreeSpec& spec, size_t index, const py::handle& item, const std::string& path) {
    add(spec.child(index), item, path + spec.child_path(index));
  }
  [[noreturn]] static void fail(const std::string& path, const std::string& found,
                                const std::string& expected) {
    throw Error(ErrorCode::kInvalidArgument, path + " is " + found + ", expected are " + expected);
  }
};

// Nests a program's results again. Classes that are not Python's own come out as flambeau.Record: what a file
// names is never looked up or called.
class Unflattener {
 public:
  Unflattener(const std::vector<Value>& leaves, py::object record)
      : leaves_(&leaves), record_(std::move(record)) {}

  py::object take(const TreeSpec& spec) {
    if (spec.is_leaf()) return next_ < leaves_->size() ? to_python((*leaves_)[next_++]) : py::none();
    py::list items;
    for (const TreeSpec& child : spec.children()) items.append(take(child));
    const py::list names = names_of(spec);
    if (!names.empty()) {
      const bool is_dict = spec.kind() != TreeKind::kOther;
      py::object named = is_dict ? py::object(py::dict()) : record_();
      for (size_t i = 0; i < names.size(); ++i) named[names[i]] = items[i];
      return named;
    }
    switch (spec.kind()) {
      case TreeKind::kList:
      case TreeKind::kImmutableList:
        return items;
      case TreeKind::kDict:
      case TreeKind::kOrderedDict:
      case TreeKind::kDefaultDict:
      case TreeKind::kImmutableDict:
        return py::dict();
      case TreeKind::kDeque:
        return py::module_::import("collections").attr("deque")(items);
      default:
        return py::tuple(items);
    }
  }

 private:
  const std::vector<Value>* leaves_;
  py::object record_;
  size_t next_ = 0;
};

// Throws Error that says what is wrong with it.
inline void require_sound(const graph::ExportedProgram& program, const ops::Library& library) {
  graph::VerifyOptions options;
  options.schemas = &library.schemas();
  graph::require_valid(program, options);
}

class LoadedProgram {
 public:
  LoadedProgram(Session& session, const py::object& source, const std::string& model,
                const py::object& threads, bool plan, const std::string& backend, bool ignore_guards,
                std::optional<Bounds> bounds, py::object record)
      : session_(session.shared_from_this()), bounds_(bounds), record_(std::move(record)), program_([&] {
          LoadOptions options{.model = model, .program = {}};
          options.program.threads = threads.is_none() ? session_->threads() : threads.cast<int>();
          options.program.library = session_->shared_library();
          options.program.plan = plan;
          options.program.backend = backends::make_backend(backend);
          options.program.ignore_guards = ignore_guards;
          if (py::isinstance<pt2::Model>(source)) {
            const pt2::Model& held = source.cast<const pt2::Model&>();
            return session_->locked([&] {
              require_sound(held.program, session_->library());
              return Program(held.program.clone(), options.program);
            });
          }
          if (PyObject_CheckBuffer(source.ptr()) != 0) {
            const py::buffer_info buffer = py::reinterpret_borrow<py::buffer>(source).request();
            const auto* const data = static_cast<const uint8_t*>(buffer.ptr);
            std::vector<uint8_t> bytes(data, data + buffer.size * buffer.itemsize);
            return session_->locked(
                [&] { return load_program(Mapping::from_buffer(std::move(bytes)), options); });
          }
          const std::string path = py::str(py::module_::import("os").attr("fspath")(source));
          return session_->locked([&] { return load_program(path, options); });
        }()) {}

  const Program& program() const { return program_; }
  Program& program() { return program_; }

  py::object run(const py::args& args, const py::kwargs& kwargs, Profile* profile = nullptr) {
    const std::vector<Value> leaves = flatten(args, kwargs);
    RunOptions options;
    options.profile = profile;
    const std::vector<Value> results = session_->locked(bounds_ ? *bounds_ : session_->bounds(),
                                                        [&] { return program_.run(leaves, options); });
    const TreeSpec& spec = program_.out_spec();
    if (spec.is_leaf() && results.size() != 1) return results_to_python(results);
    return Unflattener(results, record_).take(spec);
  }

 private:
  std::vector<Value> flatten(const py::args& args, const py::kwargs& kwargs) const {
    std::vector<std::string> names;
    std::vector<py::object> named;
    for (const auto& [key, value] : kwargs) {
      names.push_back(py::str(key));
      named.push_back(py::reinterpret_borrow<py::object>(value));
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    Flattener flattener;
    for (const graph::BoundArgument& each : graph::bind_call(program_.interface(), args.size(), views)) {
      const py::object given = each.is_keyword ? named[each.index] : py::object(args[each.index]);
      flattener.add(*each.spec, given, each.path);
    }
    return std::move(flattener.leaves);
  }

  std::shared_ptr<Session> session_;
  std::optional<Bounds> bounds_;  // the session's where there are none
  py::object record_;
  Program program_;
};

}  // namespace flambeau::python
