// What an expression of a script can mean beside a value: a namespace, an operator with an object already
// bound, a class, a special form. Only when it is used as a value must it be one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flambeau/script/ir/graph.h"
#include "flambeau/script/operators/language.h"
#include "flambeau/script/unit.h"

namespace flambeau::script::compiler {

// Calls whose arguments are not simply evaluated one after the other.
enum class Form : uint8_t {
  kAnnotate,
  kAwaitable,
  kCreateObject,
  kDict,
  kEnumerate,
  kFork,
  kGetAttr,
  kHasAttr,
  kIsInstance,
  kList,
  kPrint,
  kRange,
  kSlice,
  kTensorIndex,
  kToList,
  kTuple,
  kUncheckedCast,
  kUninitialized,
  kZip,
};

struct Meaning {
  enum class Kind : uint8_t {
    kValue,             // value
    kNothing,           // what a call of print() gives
    kOperator,          // name; value is bound to "self" unless null
    kTorch,             // torch, whose names are aten operators
    kPython,            // name: a module of Python's, "torch.nn.functional"
    kOps,               // ops, whose names are namespaces
    kOpsNamespace,      // name
    kConstants,         // CONSTANTS
    kForm,              // form
    kNamespace,         // name: "__torch__.a"
    kClass,             // type
    kNamedTuple,        // type
    kEnum,              // type
    kFunction,          // function
    kMethod,            // value, name
    kBuiltin,           // builtin
    kTensorCast,        // value, number: of the data type
    kException,         // name
    kExceptionMessage,  // value; parts: the class's name, or none
    kClosure,           // value
    kRange,             // parts: begin, end, step; is_only_end, count
    kSlice,             // parts: begin, end, step, which are kNothing where they are missing
    kIterables,         // parts that are walked side by side; count
    kTuple,             // parts
  };

  Kind kind = Kind::kNothing;
  Form form = Form::kAnnotate;
  bool is_only_end = false;
  ir::Value* value = nullptr;
  int64_t number = 0;
  std::optional<int64_t> count;  // how many turns, where that is known while compiling
  std::string name;
  const Builtin* builtin = nullptr;
  std::shared_ptr<Class> type;
  std::shared_ptr<Function> function;
  std::vector<Meaning> parts;

  bool is(Kind of) const { return kind == of; }

  static Meaning of(ir::Value* value) {
    Meaning made;
    made.kind = Kind::kValue;
    made.value = value;
    return made;
  }
  static Meaning of(Form form) {
    Meaning made;
    made.kind = Kind::kForm;
    made.form = form;
    return made;
  }
  static Meaning of(Kind kind, std::string name = {}, ir::Value* value = nullptr) {
    Meaning made;
    made.kind = kind;
    made.name = std::move(name);
    made.value = value;
    return made;
  }
  static Meaning of(Kind kind, std::shared_ptr<Class> type) {
    Meaning made;
    made.kind = kind;
    made.type = std::move(type);
    return made;
  }
  static Meaning of(std::shared_ptr<Function> function) {
    Meaning made;
    made.kind = Kind::kFunction;
    made.function = std::move(function);
    return made;
  }
  static Meaning of(std::vector<Meaning> parts) {
    Meaning made;
    made.kind = Kind::kTuple;
    made.parts = std::move(parts);
    return made;
  }
};

}  // namespace flambeau::script::compiler
