// How the machine calls a builtin: arguments where they lie, results where they go.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flambeau/interpreter/code.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::interpreter {

class Machine;

class Call {
 public:
  Call(Machine& machine, const Code& code, const Instruction& instruction, const ir::Node* node,
       IValue* registers)
      : machine_(machine),
        tables_{registers, code.constants.data()},
        inputs_(code.operands.data() + instruction.operands),
        results_(inputs_ + instruction.input_count),
        size_(instruction.input_count),
        result_count_(instruction.result_count),
        node_(node) {}

  Machine& machine() const { return machine_; }
  const ir::Node* node() const { return node_; }
  size_t size() const { return size_; }
  const IValue& operator[](size_t i) const { return tables_[inputs_[i].table()][inputs_[i].index()]; }
  // The argument itself where nobody reads it afterwards, else a copy.
  IValue take(size_t i) const {
    const IValue& value = (*this)[i];
    if (!inputs_[i].is_last()) return value;
    return std::move(const_cast<IValue&>(value));
  }
  // The next result.
  void give(IValue value) {
    if (given_ == result_count_) return;
    const Operand to = results_[given_++];
    if (!to.is_none()) registers()[to.index()] = std::move(value);
  }

 private:
  IValue* registers() const { return const_cast<IValue*>(tables_[0]); }

  Machine& machine_;
  const IValue* tables_[2];
  const Operand* inputs_;
  const Operand* results_;
  uint32_t size_;
  uint16_t result_count_;
  uint16_t given_ = 0;
  const ir::Node* node_;
};

using AnyFunction = void (*)();

// What a parameter of a builtin's function takes; tests compare it with the schema.
enum class Kind : char {
  kAny,
  kInt,
  kFloat,
  kBool,
  kComplex,
  kNumber,
  kString,
  kTensor,
  kList,
  kDict,
  kTuple,
  kDevice,
  kEnum,
  kFuture,
  kNative,
  kCall,  // all of them
};
struct ParameterKind {
  Kind kind = Kind::kAny;
  bool is_optional = false;
};

struct Builtin {
  void (*caller)(const Builtin& builtin, Call& call) = nullptr;
  AnyFunction function = nullptr;
  std::vector<ParameterKind> parameters = {};
  uint32_t needs = 0;     // what the caller of the machine must have granted: Capability
  std::string name = {};  // "aten::add.int"
  // Of one that stands before another: that other, and what it needs besides.
  const Builtin* inner = nullptr;
  void* data = nullptr;

  void operator()(Call& call) const { caller(*this, call); }
};

// All of them by name. A value; nobody changes it once a program has it.
class Builtins {
 public:
  Builtins();
  // "aten::add.int"; null when there is none.
  const Builtin* find(std::string_view name) const;
  std::vector<std::string> names() const;
  void add(Builtin builtin);
  // Every one of them is called through what `make` gives for it, where that gives something.
  template <typename Make>
  void replace(Make&& make) {
    for (auto& [name, builtin] : by_name_) {
      Builtin made = make(*builtin);
      if (made.caller == nullptr) continue;
      made.name = builtin->name;
      made.needs = builtin->needs;
      made.inner = builtin.get();
      // Its name is the key, and must stay where it is.
      replaced_.push_back(std::exchange(builtin, std::make_unique<Builtin>(std::move(made))));
    }
  }

 private:
  std::unordered_map<std::string_view, std::unique_ptr<Builtin>> by_name_;
  std::vector<std::unique_ptr<Builtin>> replaced_;
};

}  // namespace flambeau::interpreter
