// Classes and functions by their qualified names: what an archive's code, or a user's text, defines. Types
// name classes; the unit says what they are. A unit is a value that its modules share.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flambeau/script/ir/graph.h"
#include "flambeau/script/passes/evaluator.h"
#include "flambeau/script/source.h"
#include "flambeau/script/values/ivalue.h"
#include "flambeau/value/type.h"

namespace flambeau {
class SchemaTable;
struct Schema;
}  // namespace flambeau

namespace flambeau::script {

class OperatorTable;
class Unit;

struct Argument {
  std::string name = {};
  Type type = TypeKind::kTensor;  // lists without their size
  std::optional<IValue> default_value = {};
  bool is_kwarg_only = false;
  // Of "int[2]": a single number stands for a list of so many.
  std::optional<int64_t> list_size = {};
};

// What a function of a script, or an operator, takes and gives.
struct Signature {
  std::string name = {};  // "forward", "aten::add"
  std::string overload = {};
  std::vector<Argument> arguments = {};
  std::vector<Type> returns = {};              // a function has one
  std::vector<std::string> return_names = {};  // as many as returns, or none
  bool is_vararg = false;
  bool is_varret = false;
};
std::string to_string(const Signature& signature);

// A function or method. What it takes and its graph are made when first asked for.
class Function {
 public:
  // Each is called at most once while it succeeds, with nobody else in the unit's compiler.
  using Step = std::function<void(Function& function)>;
  // `declare` sets the signature when that can be known from the annotations alone; `compile` sets the graph,
  // and the signature where it is not set yet.
  Function(const Unit& unit, std::string qualified_name, Step declare, Step compile);
  // One that is complete; without a graph, a method of an interface.
  Function(std::string qualified_name, Signature signature, std::shared_ptr<ir::Graph> graph = nullptr);

  const std::string& qualified_name() const { return qualified_name_; }
  std::string_view name() const;  // "forward"
  // Throw what declaring and compiling throw, each time again; Error(kUnsupported) for a function that calls
  // itself while its result is not known, Error(kInvalidArgument) for the graph of an interface's method.
  const Signature& signature() const;
  const std::shared_ptr<ir::Graph>& graph() const;
  // For whoever compiles, or changes a function.
  void set_signature(Signature signature);
  void set_graph(std::shared_ptr<ir::Graph> graph);
  bool is_declared() const { return is_declared_.load(std::memory_order_acquire); }
  bool is_compiled() const { return is_compiled_.load(std::memory_order_acquire); }

 private:
  void make_signature();
  void make_graph();

  std::string qualified_name_;
  std::shared_ptr<std::recursive_mutex> lock_;
  Step declare_;
  Step compile_;
  bool is_declaring_ = false;
  bool is_compiling_ = false;
  std::atomic<bool> is_declared_ = false;
  std::atomic<bool> is_compiled_ = false;
  Signature signature_;
  std::shared_ptr<ir::Graph> graph_;
};

enum class ClassKind : uint8_t { kModule, kPlain, kNamedTuple, kEnum, kInterface, kModuleInterface };

struct Attribute {
  std::string name = {};
  Type type = TypeKind::kTensor;
  bool is_parameter = false;
  bool is_buffer = false;
  std::optional<IValue> default_value = {};  // of a named tuple's field, or of an attribute in a user's text
};
struct ClassConstant {  // name : Final[T] = value
  std::string name = {};
  Type type = TypeKind::kInt;
  IValue value;
};
struct Enumerator {
  std::string name = {};
  IValue value;
};

// Where the names of a vector are, once it is long enough for that to matter. Goes on where the vector has
// grown.
class NameIndex {
 public:
  // `name_at(i)`: the name of the i-th of `count`.
  std::optional<size_t> find(std::string_view name, size_t count,
                             const std::function<std::string_view(size_t index)>& name_at) const;
  void clear();

 private:
  mutable std::mutex lock_;
  mutable std::unordered_map<std::string, size_t> places_;
  mutable size_t count_ = 0;
};

class Class {
 public:
  Class(ClassKind kind, std::string qualified_name) : kind_(kind), name_(std::move(qualified_name)) {}

  ClassKind kind() const { return kind_; }
  bool is_module() const { return kind_ == ClassKind::kModule; }
  bool is_interface() const { return kind_ == ClassKind::kInterface || kind_ == ClassKind::kModuleInterface; }
  const std::string& qualified_name() const { return name_; }
  Type type() const { return Type::class_named(name_); }

  // Slots, in order; fields of a named tuple.
  std::vector<Attribute> attributes;
  std::vector<ClassConstant> constants;
  std::vector<std::shared_ptr<Function>> methods;  // in the order of definition; an interface's have no graph
  std::vector<std::shared_ptr<Function>> forward_hooks;
  std::vector<std::shared_ptr<Function>> forward_pre_hooks;
  // Of an enum.
  std::vector<Enumerator> enumerators;
  Type value_type = TypeKind::kInt;

  std::optional<size_t> find_attribute(std::string_view name) const;
  const ClassConstant* find_constant(std::string_view name) const;  // null when there is none, as below
  const std::shared_ptr<Function>* find_method(std::string_view name) const;
  const Enumerator* find_enumerator(std::string_view name) const;
  // Of a named tuple: Tuple[...] of its fields' types.
  Type tuple_type() const;
  // Whoever gives another name to an attribute or method says so here.
  void names_changed();

 private:
  ClassKind kind_;
  std::string name_;
  NameIndex attribute_index_;
  NameIndex method_index_;
};

// A method of a class that is no script's: types as annotations write them.
struct NativeMethod {
  struct Argument {
    std::string name = {};
    std::string type = {};
  };
  std::string name = {};
  std::string result = {};
  std::vector<Argument> arguments = {};  // without the object
};
// What objects of a class have, "__torch__.torch.classes.my.Stack". Nothing for a class that is not known.
using NativeMethods = std::function<std::vector<NativeMethod>(std::string_view class_name)>;

class Unit {
 public:
  // Finds what a qualified name means when it is first asked for, e.g. in an archive's code: it adds the
  // class or function to the unit. False when it knows of none.
  using Resolver = std::function<bool(Unit& unit, std::string_view qualified_name)>;

  explicit Unit(const std::shared_ptr<const SchemaTable>& operators);
  // Shares what is known of operators with other units.
  explicit Unit(std::shared_ptr<const OperatorTable> operators);
  ~Unit();
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;
  const SchemaTable& operators() const;
  const OperatorTable& operator_table() const { return *operators_; }

  // Null when there is none. May compile: throws what the resolver throws.
  std::shared_ptr<Class> find_class(std::string_view qualified_name) const;
  std::shared_ptr<Function> find_function(std::string_view qualified_name) const;
  // Throw Error(kNotFound).
  Class& get_class(std::string_view qualified_name) const;
  Function& get_function(std::string_view qualified_name) const;
  // Throw Error(kInvalidArgument) for a name that is taken.
  void add(std::shared_ptr<Class> added);
  void add(std::shared_ptr<Function> added);
  // Takes back all but the first so many: of a text that has errors.
  void keep_first(size_t classes, size_t functions);
  // In the order they were added.
  std::span<const std::shared_ptr<Class>> classes() const { return classes_; }
  std::span<const std::shared_ptr<Function>> functions() const { return functions_; }
  void set_resolver(Resolver resolver) { resolver_ = std::move(resolver); }
  const Resolver& resolver() const { return resolver_; }
  // Runs operators on constants while functions are compiled; without one, a few are known. Set before
  // anything is compiled.
  const Evaluator& evaluator() const { return evaluator_; }
  void set_evaluator(Evaluator evaluator) { evaluator_ = std::move(evaluator); }
  // Says what can be called on objects that are no script's. Set before anything is compiled.
  const NativeMethods& native_methods() const { return native_methods_; }
  void set_native_methods(NativeMethods methods) { native_methods_ = std::move(methods); }

  // Held by whoever compiles: a unit has one compiler at a time.
  std::recursive_mutex& compiler_lock() const { return *lock_; }
  int64_t next_warn_id() { return next_warn_id_++; }
  // Of library_graph: by the texts of the library, which stay where they are. For whoever holds the lock.
  std::unordered_map<const char*, std::shared_ptr<const ir::Graph>>& library_graphs() {
    return library_graphs_;
  }

 private:
  friend class Function;
  template <typename Named>
  using ByName = std::unordered_map<std::string_view, std::shared_ptr<Named>>;  // keys are the things' own
  template <typename Named>
  std::shared_ptr<Named> find(const ByName<Named>& known, std::string_view name) const;
  void require_free(std::string_view name) const;

  std::shared_ptr<const OperatorTable> operators_;
  std::vector<std::shared_ptr<Class>> classes_;
  std::vector<std::shared_ptr<Function>> functions_;
  ByName<Class> classes_by_name_;
  ByName<Function> functions_by_name_;
  Resolver resolver_;
  Evaluator evaluator_;
  NativeMethods native_methods_;
  std::shared_ptr<std::recursive_mutex> lock_;
  int64_t next_warn_id_ = 0;
  std::unordered_map<const char*, std::shared_ptr<const ir::Graph>> library_graphs_;
};

}  // namespace flambeau::script
