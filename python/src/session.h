// What the Python module owns: the operators, the threads, the random numbers; and how Python calls an
// operator. Several Python threads may call at once: each call has a context of its own.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "flambeau/base/parallel.h"
#include "flambeau/kernels/random/generator.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/value/operator_name.h"
#include "flambeau/value/schema.h"
#include "flambeau/value/schema_table.h"
#include "overlap.h"
#include "values.h"

namespace flambeau::python {

// "aten::add.Tensor", and the same as Python spells it: "aten.add.Tensor".
inline OperatorName read_name(std::string_view text) {
  std::string name(text);
  if (name.find("::") == std::string::npos) {
    const size_t dot = name.find('.');
    if (dot != std::string::npos) name.replace(dot, 1, "::");
  }
  const size_t start = name.find("::");
  const size_t dot = start == std::string::npos ? start : name.find('.', start);
  if (dot == std::string::npos) return {name, ""};
  const std::string overload = name.substr(dot + 1);
  return {name.substr(0, dot), overload == "default" ? "" : overload};
}

// Bounds of what Python runs; 0 for none.
struct Bounds {
  double seconds = 0;
  uint64_t bytes = 0;
};
inline Bounds read_bounds(const py::object& time_limit, const py::object& memory_limit) {
  Bounds bounds;
  if (!time_limit.is_none()) {
    bounds.seconds = time_limit.cast<double>();
    if (!(bounds.seconds > 0)) throw Error(ErrorCode::kInvalidArgument, "the time limit must be positive");
  }
  if (!memory_limit.is_none()) {
    const int64_t bytes = to_int(memory_limit);
    if (bytes <= 0) throw Error(ErrorCode::kInvalidArgument, "the memory limit must be positive");
    bounds.bytes = static_cast<uint64_t>(bytes);
  }
  return bounds;
}

// Lets Python's signal handlers run while the interpreter's lock is released: Control-C ends the work.
inline void look_for_signals() {
  const py::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

class Session : public std::enable_shared_from_this<Session> {
 public:
  const ops::Library& library() const { return *library_; }
  std::shared_ptr<const ops::Library> shared_library() const { return library_; }

  int threads() const { return pool()->threads(); }
  void set_threads(int threads) {
    if (threads < 1) throw Error(ErrorCode::kInvalidArgument, "the number of threads must be at least 1");
    auto fresh = std::make_shared<ThreadPool>(threads);
    const std::lock_guard lock(pool_mutex_);
    pool_ = std::move(fresh);
  }

  Bounds bounds() const {
    const std::lock_guard lock(pool_mutex_);
    return bounds_;
  }
  void set_bounds(const Bounds& bounds) {
    const std::lock_guard lock(pool_mutex_);
    bounds_ = bounds;
  }

  // Work that has the generator may wait for the interpreter's lock, so nobody waits for it with that one.
  void manual_seed(uint64_t seed) {
    const py::gil_scoped_release released;
    const std::lock_guard lock(generator_mutex_);
    generator_.manual_seed(seed);
  }
  py::bytes random_state() const {
    const auto state = [&] {
      const py::gil_scoped_release released;
      const std::lock_guard lock(generator_mutex_);
      return generator_.state();
    }();
    return {reinterpret_cast<const char*>(state.data()), state.size()};
  }
  void set_random_state(const std::string& state) {
    const py::gil_scoped_release released;
    const std::lock_guard lock(generator_mutex_);
    generator_.set_state({reinterpret_cast<const uint8_t*>(state.data()), state.size()});
  }

  bool has(std::string_view name) const { return library_->find(read_name(name)) != nullptr; }
  const ops::Operator& get(std::string_view name) const { return library_->get(read_name(name)); }
  std::string schema(std::string_view name) const {
    const OperatorName parsed = read_name(name);
    if (const ops::Operator* const op = library_->find(parsed)) return to_string(op->schema);
    return to_string(library_->schemas().get(parsed).schema);
  }
  std::vector<std::string> overloads(const std::string& name) const {
    std::vector<std::string> found;
    for (const std::string& overload : library_->schemas().overloads(read_name(name).name)) {
      if (library_->find(read_name(name).name, overload) != nullptr) found.push_back(overload);
    }
    return found;
  }

  // A Python function as an operator. It takes and gives what calls from Python do.
  void add(const std::string& schema, py::function function) {
    if (depth() > 0) {
      throw Error(ErrorCode::kInvalidArgument, "an operator cannot be registered while another one runs");
    }
    const std::shared_ptr<const void> held = keep(std::move(function));
    const size_t returns = parse_schema(schema).returns.size();
    const auto run = [held, returns](ops::Context&, std::span<const Value> arguments) {
      for (const Value& argument : arguments) require_data(argument);
      const py::gil_scoped_acquire lock;
      const py::handle callee(static_cast<PyObject*>(const_cast<void*>(held.get())));
      py::tuple given(arguments.size());
      for (size_t i = 0; i < arguments.size(); ++i) given[i] = to_python(arguments[i]);
      return take_results(callee(*given), returns);
    };
    // Calls that run now search the library, and may be waiting for the interpreter's lock.
    const py::gil_scoped_release released;
    const std::unique_lock lock(library_mutex_);
    library_->add(schema, {.function = run, .shape = {}});
  }

  py::object call(const ops::Operator& op, const py::args& positional, const py::kwargs& keywords) {
    const Arguments arguments = to_arguments(positional, keywords);
    return results_to_python(locked([&] {
      return execute(op, ops::bind_arguments(op.schema, arguments.positional, arguments.keywords));
    }));
  }

  // The overload that fits the arguments best: one that takes them as they are, else one that takes them
  // converted (a number as a tensor, a tensor as a number).
  py::object call_best(const std::string& name, const py::args& positional, const py::kwargs& keywords) {
    const std::vector<const ops::Operator*> candidates = find_overloads(read_name(name).name);
    if (candidates.empty()) library_->get(read_name(name));  // throws
    const Arguments arguments = to_arguments(positional, keywords);
    return results_to_python(locked([&] {
      std::string tried;
      for (const bool is_strict : {true, false}) {
        for (const ops::Operator* const op : candidates) {
          if (is_strict && !fits_as_it_is(op->schema, arguments)) continue;
          std::vector<Value> bound;
          try {
            bound = ops::bind_arguments(op->schema, arguments.positional, arguments.keywords);
          } catch (const Error& error) {
            if (candidates.size() == 1) throw;
            if (!is_strict) tried += "\n  " + error.message();
            continue;
          }
          return execute(*op, std::move(bound));
        }
      }
      throw Error(ErrorCode::kInvalidArgument, "no overload of " + name + " takes these arguments:" + tried);
    }));
  }

  // Runs the body without the interpreter's lock, so that other Python threads go on, while nobody adds
  // operators; within the session's bounds, or those that are given.
  template <typename Body>
  std::invoke_result_t<const Body&> locked(const Body& body) {
    return locked(bounds(), body);
  }
  template <typename Body>
  std::invoke_result_t<const Body&> locked(const Bounds& bounds, const Body& body) {
    const py::gil_scoped_release released;
    const WorkScope work({.seconds = bounds.seconds, .bytes = bounds.bytes, .look = &look_for_signals});
    // An operator of Python's that runs inside another has the lock already.
    std::shared_lock lock(library_mutex_, std::defer_lock);
    if (depth() == 0) lock.lock();
    const Depth inside;
    return body();
  }

 private:
  struct Arguments {
    std::vector<Value> positional;
    KeywordArguments keywords;
  };

  static Arguments to_arguments(const py::args& positional, const py::kwargs& keywords) {
    Arguments arguments;
    for (const py::handle item : positional) arguments.positional.push_back(to_value(item));
    for (const auto& [name, value] : keywords)
      arguments.keywords.emplace_back(name.cast<std::string>(), to_value(value));
    return arguments;
  }

  // Plans are made with tensors that have no data yet: Python is not asked for any.
  static void require_data(const Value& value) {
    const auto check = [](const Tensor& tensor) {
      if (!tensor.defined() || tensor.is_meta() || !tensor.storage() || !tensor.storage()->is_meta()) return;
      throw Error(ErrorCode::kUnsupported, "an operator of Python's takes tensors with data only");
    };
    if (const auto* const tensor = value.get_if<Tensor>()) check(*tensor);
    if (const auto* const tensors = value.get_if<TensorList>()) {
      for (const Tensor& tensor : *tensors) check(tensor);
    }
  }

  static std::vector<Value> take_results(const py::object& given, size_t count) {
    if (count == 0) return {};
    if (count == 1) return {to_value(given)};
    if (!py::isinstance<py::tuple>(given) || py::len(given) != count) {
      throw Error(ErrorCode::kInvalidArgument, "the function gave a " + type_name(given) +
                                                   ", its schema promises a tuple of " +
                                                   std::to_string(count));
    }
    std::vector<Value> results;
    for (const py::handle item : given) results.push_back(to_value(item));
    return results;
  }

  static bool fits_as_it_is(const Schema& schema, const Arguments& arguments) {
    const auto fits = [](const Value& value, const Type& type) {
      const TypeKind kind = type.without_optional().kind();
      if (kind == TypeKind::kTensor) return !value.is_number();
      const bool is_number = kind == TypeKind::kNumber || kind == TypeKind::kInt ||
                             kind == TypeKind::kFloat || kind == TypeKind::kBool || kind == TypeKind::kSymInt;
      return !(is_number && value.is_tensor());
    };
    for (size_t i = 0; i < arguments.positional.size() && i < schema.arguments.size(); ++i) {
      if (schema.arguments[i].is_kwarg_only) return false;
      if (!fits(arguments.positional[i], schema.arguments[i].type)) return false;
    }
    for (const auto& [name, value] : arguments.keywords) {
      const std::optional<size_t> index = schema.find_argument(name);
      if (!index || !fits(value, schema.arguments[*index].type)) return false;
    }
    return true;
  }

  // The default one first.
  std::vector<const ops::Operator*> find_overloads(const std::string& name) const {
    std::vector<const ops::Operator*> found;
    if (const ops::Operator* const op = library_->find(name, "")) found.push_back(op);
    for (const std::string& overload : library_->schemas().overloads(name)) {
      if (overload.empty()) continue;
      if (const ops::Operator* const op = library_->find(name, overload)) found.push_back(op);
    }
    return found;
  }

  std::shared_ptr<ThreadPool> pool() const {
    const std::lock_guard lock(pool_mutex_);
    return pool_;
  }

  std::vector<Value> execute(const ops::Operator& op, std::vector<Value> arguments) {
    if (op.schema.is_mutable()) SharedMemory::join(arguments);
    const std::shared_ptr<ThreadPool> threads = pool();
    ops::Context context(*library_, *threads);
    // Threads that draw random numbers take turns, so that one seed gives one sequence.
    std::unique_lock lock(generator_mutex_, std::defer_lock);
    if (draws_random_numbers(op)) {
      lock.lock();
      context.generator = &generator_;
    }
    return ops::call(context, op, arguments);
  }

  bool draws_random_numbers(const ops::Operator& op) const {
    if (op.user_function) return false;  // Python's: what it calls draws for itself
    if (op.is(ops::Trait::kRandom)) return true;
    const OperatorEntry* const entry = library_->schemas().find(op.schema.name);
    return entry != nullptr && entry->has(OperatorFlag::kNondeterministicSeeded);
  }

  // How many calls this thread is inside of.
  static int& depth() {
    thread_local int calls = 0;
    return calls;
  }
  struct Depth {
    Depth() { ++depth(); }
    ~Depth() { --depth(); }
  };

  std::shared_ptr<ops::Library> library_ = std::make_shared<ops::Library>();
  mutable std::shared_mutex library_mutex_;
  std::shared_ptr<ThreadPool> pool_ = std::make_shared<ThreadPool>();
  Bounds bounds_;
  mutable std::mutex pool_mutex_;  // of the pool and the bounds
  kernels::Generator generator_;
  mutable std::mutex generator_mutex_;
};

// One operator, as Python holds it.
struct BoundOperator {
  std::shared_ptr<Session> session;
  const ops::Operator* op;
};

}  // namespace flambeau::python
