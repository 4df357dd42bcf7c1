// Classes and functions by their qualified names: what an archive's code, or a user's text, defines. Types
// name classes; the unit says what they are. A unit is a value that its modules share.
#pragma once

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
#include "flambeau/script/source.h"
#include "flambeau/script/values/ivalue.h"
#include "flambeau/value/type.h"

namespace flambeau {
class SchemaTable;
struct Schema;
}  // namespace flambeau

namespace flambeau::script {

class Unit;

struct Argument {
  std::string name;
  Type type = TypeKind::kTensor;
  std::optional<IValue> default_value;
  bool is_kwarg_only = false;
};

// What a function of a script, or an operator, takes and gives.
struct Signature {
  std::string name;  // "forward", "aten::add"
  std::string overload;
  std::vector<Argument> arguments;
  std::vector<Type> returns;  // a function has one
  bool is_vararg = false;
  bool is_varret = false;
};
std::string to_string(const Signature& signature);

// A function or method. Its graph is made when first asked for.
class Function {
 public:
  // Makes the signature's types and the graph; called at most once, with nobody else in the unit's compiler.
  using Compile = std::function<void(Function& function)>;
  Function(std::string qualified_name, Compile compile);

  const std::string& qualified_name() const { return qualified_name_; }
  std::string_view name() const;  // "forward"
  // Throws what compiling throws, each time again.
  const Signature& signature() const;
  const std::shared_ptr<ir::Graph>& graph() const;
  // For whoever compiles, or changes a function.
  void set_signature(Signature signature) { signature_ = std::move(signature); }
  void set_graph(std::shared_ptr<ir::Graph> graph) { graph_ = std::move(graph); }
  bool is_compiled() const { return graph_ != nullptr; }

 private:
  std::string qualified_name_;
  mutable Compile compile_;
  Signature signature_;
  std::shared_ptr<ir::Graph> graph_;
};

enum class ClassKind : uint8_t { kModule, kPlain, kNamedTuple, kEnum, kInterface, kModuleInterface };

struct Attribute {
  std::string name;
  Type type = TypeKind::kTensor;
  bool is_parameter = false;
  bool is_buffer = false;
  std::optional<IValue> default_value;  // of a named tuple's field
};
struct ClassConstant {  // name : Final[T] = value
  std::string name;
  Type type = TypeKind::kInt;
  IValue value;
};
struct Enumerator {
  std::string name;
  IValue value;
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

 private:
  ClassKind kind_;
  std::string name_;
};

class Unit {
 public:
  // Finds what a qualified name means when it is first asked for, e.g. in an archive's code: it adds the
  // class or function to the unit. False when it knows of none.
  using Resolver = std::function<bool(Unit& unit, std::string_view qualified_name)>;

  explicit Unit(std::shared_ptr<const SchemaTable> operators);
  const SchemaTable& operators() const { return *operators_; }

  // Null when there is none. May compile: throws what the resolver throws.
  std::shared_ptr<Class> find_class(std::string_view qualified_name) const;
  std::shared_ptr<Function> find_function(std::string_view qualified_name) const;
  // Throw Error(kNotFound).
  Class& get_class(std::string_view qualified_name) const;
  Function& get_function(std::string_view qualified_name) const;
  // Throw Error(kInvalidArgument) for a name that is taken.
  void add(std::shared_ptr<Class> added);
  void add(std::shared_ptr<Function> added);
  // In the order they were added.
  std::span<const std::shared_ptr<Class>> classes() const { return classes_; }
  std::span<const std::shared_ptr<Function>> functions() const { return functions_; }
  void set_resolver(Resolver resolver) { resolver_ = std::move(resolver); }

  // Held by whoever compiles: a unit has one compiler at a time.
  std::recursive_mutex& compiler_lock() const { return lock_; }
  int64_t next_warn_id() { return next_warn_id_++; }

 private:
  std::shared_ptr<const SchemaTable> operators_;
  std::vector<std::shared_ptr<Class>> classes_;
  std::vector<std::shared_ptr<Function>> functions_;
  std::unordered_map<std::string, std::shared_ptr<Class>> classes_by_name_;
  std::unordered_map<std::string, std::shared_ptr<Function>> functions_by_name_;
  Resolver resolver_;
  mutable std::recursive_mutex lock_;
  int64_t next_warn_id_ = 0;
};

}  // namespace flambeau::script
