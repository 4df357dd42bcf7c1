// The operators that can be run: those of list.def, and those a user adds. Forms that PyTorch derives (in
// place, out=, the copying twins of views) are made when first asked for. A library is a value; any number of
// threads may search one, nobody may while something is added.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/ops/mechanism/info.h"
#include "flambeau/value/operator_name.h"
#include "flambeau/value/value.h"

namespace flambeau {
class SchemaTable;
}

namespace flambeau::ops {

class Context;
class Definition;
struct Operator;

// What a user's operator does. `shape` is needed to plan memory ahead, and may be left out.
struct UserOperator {
  std::function<std::vector<Value>(Context& context, std::span<const Value> arguments)> function;
  std::function<Infos<Size>(std::span<const Value> arguments)> shape;
};

// What scripts call on an object. Types are written as TorchScript annotates them: "List[int]",
// "Optional[Tensor]", the names of classes. Tuples come and go as lists of values.
struct ObjectMethod {
  struct Argument {
    std::string name;
    std::string type;
  };
  std::string name;                      // "unpack"; "__init__" gives the object that it made
  std::string result = "None";           // its type
  std::vector<Argument> arguments = {};  // without the object
  std::function<Value(const Object& object, std::span<const Value> arguments)> function = {};
};

// A class of objects that operators and scripts make and take, and how a file keeps one: by its state.
struct ObjectClass {
  std::string name;        // "__torch__.torch.classes.quantized.LinearPackedParamsBase"
  std::string state_type;  // what `state` gives: "Tuple[Tensor, Optional[Tensor]]"
  // Throws Error(kCorrupt) for what no object of the class gave. Both are empty where no file can keep one.
  std::function<Object(const Value& state)> from_state = {};
  std::function<Value(const Object& object)> state = {};
  std::vector<ObjectMethod> methods = {};  // beside __getstate__, which `state` is

  // Null when there is none.
  const ObjectMethod* find_method(std::string_view method) const;
};

class Library {
 public:
  // Knows every operator of list.def; reads no schema yet.
  Library();
  ~Library();
  Library(Library&&) noexcept;
  Library& operator=(Library&&) noexcept;

  // Null when there is none. An operator stays where it is as long as the library lives.
  const Operator* find(std::string_view name, std::string_view overload) const;
  const Operator* find(const OperatorName& name) const { return find(name.name, name.overload); }
  // "aten::add.Tensor". Throws Error(kUnsupported) that says whether PyTorch has it, and how to supply it.
  const Operator& get(std::string_view qualified_name) const;
  const Operator& get(const OperatorName& name) const;

  // The names of all that were defined or added, sorted; with `derived`, of all that find() can make out of
  // them.
  std::vector<std::string> names(bool derived = false) const;

  // For the list: starts a definition. The text is kept as a view, and read when the operator is first used.
  Definition define(std::string_view schema);
  // Goes on with one that another file of the list has defined: "aten::add.Tensor".
  Definition extend(std::string_view name);
  // `make` is called when somebody first asks for the class.
  void define_class(std::string_view name, ObjectClass (*make)());
  // Null when there is none. A class stays where it is as long as the library lives.
  const ObjectClass* find_class(std::string_view name) const;
  // Adds an operator of the user's, e.g. "my::scale(Tensor x, float factor) -> Tensor". It may replace none.
  // Throws what parse_schema throws, and Error(kInvalidArgument) where the name is taken.
  void add(std::string_view schema, UserOperator op);
  // Adds a class of the user's, "__torch__.torch.classes.my.Stack": scripts make its objects and call its
  // methods, and files keep them. Throws Error(kInvalidArgument) for another kind of name, one that is taken,
  // and state in part.
  void add_class(ObjectClass added);

  const SchemaTable& schemas() const;

 private:
  friend class Definition;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flambeau::ops
