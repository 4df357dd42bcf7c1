// One function's tree becomes its graph. Variables are stores and loads in it, which a pass makes values that
// are assigned once. Values get the names of their variables, and nodes the order of evaluation, as in
// PyTorch, whose text shows both.
#pragma once

#include <complex>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/script/compiler/conditions.h"
#include "flambeau/script/compiler/matching.h"
#include "flambeau/script/compiler/meaning.h"
#include "flambeau/script/compiler/names.h"
#include "flambeau/script/compiler/scope.h"
#include "flambeau/script/compiler/type_reader.h"
#include "flambeau/script/ir/graph.h"
#include "flambeau/script/syntax/tree.h"
#include "flambeau/script/unit.h"

namespace flambeau::script::compiler {

// Inserts somewhere else in the graph for as long as it lives.
class InsertAt {
 public:
  InsertAt(ir::Graph& graph, ir::Block& at_end_of) : graph_(graph), before_(graph.insert_point()) {
    graph_.set_insert_point(at_end_of);
  }
  InsertAt(ir::Graph& graph, ir::Node* before) : graph_(graph), before_(graph.insert_point()) {
    graph_.set_insert_point(before);
  }
  ~InsertAt() { graph_.set_insert_point(before_); }
  InsertAt(const InsertAt&) = delete;
  InsertAt& operator=(const InsertAt&) = delete;

 private:
  ir::Graph& graph_;
  ir::Node* before_;
};

class Emitter {
 public:
  // `self`: the class whose method it is, or null. All of these outlive the emitter.
  Emitter(Unit& unit, const OuterNames& names, const syntax::Tree& tree, Function& function,
          const Class* self);

  // Sets the function's signature, and gives its graph as it is before all passes.
  std::shared_ptr<ir::Graph> emit_definition(const syntax::Node& definition);

  Unit& unit() const { return unit_; }
  ir::Graph& graph() { return *graph_; }
  // What a name of one of Python's modules means: ("torch.nn.functional", "relu").
  Meaning python_name(const std::string& module, const std::string& name, const SourceRange& place) {
    return python_attribute(module, name, place);
  }

 private:
  using Node = syntax::Node;
  using Value = ir::Value;
  using Given = std::vector<GivenArgument>;
  using Body = std::function<void()>;

  // Definitions and statements (statements.cpp).
  void emit_function(const Node& definition, const Class* self, ir::Block& block, Signature& signature);
  void emit_parameters(const Node& definition, const Class* self, ir::Block& block, Signature& signature);
  void finish_returns(const Node& definition, ir::Block& block);
  void emit_block(const Node& statements);
  // Behind a statement that has errors (recovery.cpp): where it stood, and what it would have assigned.
  struct Place {
    size_t frames;
    size_t definitions;
    ir::Node* insert_point;
  };
  void recover(const Error& error, const Node& statement, const Place& place);
  void forget_targets(const Node& node);
  std::string near_name(const std::string& name) const;
  std::string near_attribute(const Type& type, const std::string& name) const;
  void emit_statement(const Node& statement);
  void emit_return(const Node& place, const Node* value);
  void emit_raise(const SourceRange& place, const Node& exception);
  void raise(const SourceRange& place, const Meaning& exception);
  void emit_assert(const Node& statement);
  void emit_delete(const Node& statement);
  void emit_closure_definition(const Node& definition);
  Meaning emit_closure(const std::function<void(ir::Block&)>& body);

  // Control flow (control_flow.cpp).
  void emit_if(const SourceRange& place, const Condition& condition, const Body& then, const Body& otherwise);
  std::unique_ptr<Frame> emit_branch(ir::Block& block, const SourceRange& place,
                                     const Refinements& refinements, const Body& body);
  void merge_branches(const SourceRange& place, ir::Node* node, const Frame& then, const Frame& otherwise);
  Value* emit_if_value(const SourceRange& place, const Condition& condition,
                       const std::function<Value*()>& then, const std::function<Value*()>& otherwise);
  void emit_for(std::span<const Node* const> targets, const Node& iterable, const SourceRange& place,
                const Body& body);
  void emit_loop(const SourceRange& place, const Meaning* iterable, std::span<const Node* const> targets,
                 const Node* condition, const Body& body);
  void emit_unrolled(const SourceRange& place, const Meaning& iterable, std::span<const Node* const> targets,
                     const Body& body);
  void emit_with(const Node& statement);
  void insert_refinements(const SourceRange& place, const Refinements& refinements);

  // Conditions (conditions.cpp).
  Condition emit_condition(const Node& node);
  Condition emit_logical(const Node& node);
  Condition emit_is(const Node& node);
  Condition emit_is_instance(const Node& object, const Node& types);
  Condition emit_has_attribute(const Node& object, const Node& name);
  Condition known_condition(bool value, const SourceRange& place, Refinements refinements = {});
  Value* to_bool(Value* value, const SourceRange& place);

  // Assignments (assignments.cpp).
  void emit_assignment(const Node& statement);
  void emit_single_assignment(const Node& target, const Node* type, const Node& value, const Node& statement);
  void assign(const std::string& name, Meaning meaning, const SourceRange& place,
              const Type* annotated = nullptr);
  void assign_targets(std::span<const Node* const> targets, std::span<const Meaning> values,
                      const SourceRange& place, size_t binders);
  void assign_tuple(const Node& targets, const Meaning& value, const SourceRange& place);
  // Whether one of them is starred.
  bool check_targets(std::span<const Node* const> targets, const SourceRange& place);
  void emit_augmented(const Node& statement);
  Value* augmented_value(const Node& statement, Value* left);
  void augment_subscript(const Node& statement);
  void assign_subscript(const SourceRange& place, const Node& target, Value* value);

  // Expressions (expressions.cpp).
  Meaning emit_meaning(const Node& node, size_t binders = 1, const Type* hint = nullptr);
  Value* emit(const Node& node, const Type* hint = nullptr);
  Value* emit_simple(const Node& node, const Type* hint);
  Value* emit_binary(const Node& node);
  Value* emit_unary(const Node& node);
  Value* emit_number(const Node& node);
  Value* emit_format(const Node& node);
  Value* emit_conditional(const Node& node, const Type* hint);
  Meaning find_name(const std::string& name, const SourceRange& place);
  Given emit_arguments(std::span<const Node* const> arguments, bool may_unpack);
  std::vector<Value*> emit_values(std::span<const Node* const> nodes);
  std::string temporary(const char* prefix) { return prefix + std::to_string(temporaries_++); }

  // What meanings can do (attributes.cpp).
  Value* as_value(const Meaning& meaning, const SourceRange& place);
  std::vector<Meaning> as_tuple(const Meaning& meaning, const SourceRange& place,
                                std::optional<size_t> size = {});
  Meaning attribute(const Meaning& of, const std::string& name, const SourceRange& place);
  Meaning python_attribute(const std::string& module, const std::string& name, const SourceRange& place);
  Meaning value_attribute(Value* value, const std::string& name, const SourceRange& place);
  std::optional<Meaning> class_attribute(Value* value, const std::string& name, const SourceRange& place);
  bool has_attribute(const Meaning& of, const std::string& name, const SourceRange& place);
  void set_attribute(const Meaning& of, const std::string& name, Value* value, const SourceRange& place);
  std::optional<Meaning> operator_method(Value* value, const std::string& name);
  bool has_method(const Type& type, const std::string& name) const;

  // Calls (calls.cpp).
  Meaning emit_call(const Node& node, size_t binders, const Type* hint);
  Meaning call(const Meaning& callee, Given arguments, Given keywords, const SourceRange& place);
  Meaning make_exception(const std::string& name, const Given& arguments, const SourceRange& place);
  Meaning call_method(Value* object, const std::string& name, Given arguments, Given keywords,
                      const SourceRange& place);
  Meaning call_function(const std::shared_ptr<Function>& function, Given arguments, Given keywords,
                        const SourceRange& place);
  Meaning call_builtin(const Builtin& builtin, Given arguments, Given keywords, const SourceRange& place);
  Meaning call_with_method(std::string_view method, std::string_view operator_name, Given arguments,
                           Given keywords, const SourceRange& place);
  Value* operate(std::string_view name, Given arguments, const SourceRange& place, Given keywords = {});

  // Special forms (forms.cpp).
  Meaning emit_form(Form form, const Node& node, const Type* hint);
  Meaning emit_annotate(const Node& node);
  Meaning emit_get_attribute(const Node& node);
  Meaning emit_fork(const Node& node, ir::NodeKind kind);
  Meaning emit_enumerate(const Node& node);
  Meaning emit_list_call(const Node& node, const Type* hint);
  Meaning emit_dict_call(const Node& node, const Type* hint);
  std::optional<Type> dict_hint(const Type* hint, const SourceRange& place);
  Meaning emit_hinted(const Node& node, const Type* hint);
  Value* insert_to_list(Value* tensor, const Type& type, const SourceRange& place);
  // Throws for another number of arguments, and for keywords.
  std::span<const Node* const> arguments_of(const Node& node, size_t least, size_t most);

  // What is walked (iterables.cpp).
  Meaning iterate(const Meaning& meaning, const SourceRange& place);
  Meaning make_range(const std::vector<Value*>& inputs, const SourceRange& place,
                     std::optional<int64_t> count = {});
  Value* length_of(const Meaning& iterable, const SourceRange& place);
  Meaning item_of(const Meaning& iterable, Value* index, const SourceRange& place,
                  const Type* hint = nullptr);
  std::optional<int64_t> known_length(const Meaning& iterable) const;
  void add_iterable(Meaning& to, Meaning part, const SourceRange& place);

  // Lists and dicts (containers.cpp).
  Value* emit_list(const Node& node, const Type* hint);
  Value* emit_dict(const Node& node, const Type* hint);
  Value* emit_list_comprehension(const Node& element, const Node& target, const Node& iterable,
                                 const SourceRange& place, const Type* hint);
  Value* emit_dict_comprehension(const Node& key, const Node& value, const Node& target, const Node& iterable,
                                 const SourceRange& place, const Type* hint);
  // What a hint says of a literal: one type, or several of a union.
  struct ContainerHint {
    std::optional<Type> type;
    std::vector<Type> candidates;
    std::optional<Type> annotated_union;
  };
  ContainerHint container_hint(const Type* hint, TypeKind kind, const SourceRange& place);
  Type pick_list(const ContainerHint& hint, const Type& element, const SourceRange& place);
  Type pick_dict(const ContainerHint& hint, const Type& key, const Type& value, const SourceRange& place);

  // Subscripts (subscripts.cpp).
  Meaning emit_subscript(const Node& node, const Type* hint);
  std::pair<Value*, std::vector<Value*>> index_tensor(Value* tensor, std::span<const Node* const> indices,
                                                      const SourceRange& place);
  Value* emit_indexing(Value* tensor, std::span<const Node* const> indices, const SourceRange& place);
  Meaning emit_slice(const Node& slice);
  Value* insert_slice(Value* of, Value* dimension, const Meaning& slice, const SourceRange& place);
  Value* slice_tuple(Value* tuple, const Type& type, Value* begin, Value* end, Value* step,
                     const SourceRange& place);
  Value* index_tuple(Value* tuple, const Type& type, Value* index, const SourceRange& place);
  Value* index_with(Value* tensor, std::span<Value* const> indices, const SourceRange& place);

  // Nodes (nodes.cpp).
  Value* constant(const IValue& value, const SourceRange& place) {
    return insert_constant(*graph_, value, place);
  }
  // Numbers of the text are made once, before everything else.
  Value* number(int64_t value, const SourceRange& place);
  Value* number(double value, const SourceRange& place);
  Value* number(std::complex<double> value, const SourceRange& place);
  Value* make_tuple(std::span<Value* const> values);
  Value* make_list(const Type& element, std::span<Value* const> values);
  std::vector<Value*> unpack_tuple(Value* tuple);
  Value* cast_unchecked(Value* value, const Type& type);
  Value* insert_one(ir::NodeKind kind, std::span<Value* const> inputs, Type type,
                    const SourceRange& place = {});
  std::optional<IValue> constant_of(const Value* value) const;

  // Types.
  Type read_type(const Node& node) const;
  Type read_type_or(const Node* node, TypeKind otherwise) const;
  bool is_subtype(const Type& type, const Type& of) const;
  std::optional<Type> unify(const Type& a, const Type& b, bool default_to_union = false,
                            const Type* hint = nullptr) const;
  std::optional<Type> tuple_type(const Type& type) const;
  // The class that a type names; null for other types, and for tuples.
  std::shared_ptr<Class> class_of(const Type& type) const;
  bool is_object(const Type& type) const;  // of a plain class or module

  SourceRange range(const Node& node) const { return tree_.range(node); }
  CallContext context() { return {unit_, *graph_, names_.version(), names_.uses_scripted_operators()}; }
  Frame& frame() { return *frames_.back(); }
  void push_frame(ir::Block& block);
  std::unique_ptr<Frame> pop_frame();
  bool exits(const ir::Block& block) const { return exits_.contains(&block); }

  enum class LoopKind : uint8_t { kNone, kLoop, kUnrolled };
  struct Definition {
    std::optional<Type> declared;  // what it returns, by its annotation
    std::optional<Type> merged;    // by its return statements so far
  };

  Unit& unit_;
  const OuterNames& names_;
  const syntax::Tree& tree_;
  Function& function_;
  const Class* self_;
  std::shared_ptr<ir::Graph> graph_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<Definition> definitions_;
  std::unordered_set<const ir::Block*> exits_;  // that always return or raise
  std::map<std::string, std::string> missing_;  // why a variable that an `if` set is not there
  std::set<std::string> unknown_;               // variables that a statement with errors assigns
  bool has_errors_ = false;                     // that were gathered
  LoopKind loop_ = LoopKind::kNone;
  size_t temporaries_ = 0;
  std::map<int64_t, Value*> ints_;
  std::map<double, Value*> floats_;
  std::map<std::pair<double, double>, Value*> complexes_;
};

}  // namespace flambeau::script::compiler
