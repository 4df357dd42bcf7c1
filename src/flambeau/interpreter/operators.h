// Calls of tensor operators: what a place in the code knows of one before it runs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "flambeau/interpreter/builtins/builtin.h"
#include "flambeau/value/value.h"

namespace flambeau {
struct OperatorEntry;
}
namespace flambeau::ops {
class Library;
struct Operator;
}  // namespace flambeau::ops

namespace flambeau::interpreter {

struct OperatorSite {
  const ops::Operator* op = nullptr;  // null: this library has none
  const OperatorEntry* entry = nullptr;
  struct Argument {
    const Type* type = nullptr;  // without its optional
    std::optional<Value> constant = {};
  };
  std::vector<Argument> arguments;
  struct Result {
    const Type* type = nullptr;
    // The argument that the operator writes to and gives back: the result is that very value.
    std::optional<size_t> same_as = {};
  };
  std::vector<Result> results;
  uint32_t needs = 0;
  bool asks_description = false;  // its result depends on how its tensors are described alone
  size_t number = 0;              // among those of its program
};

// `constants`: of each input that is one, else null. `number`: no other site of the program has it.
std::unique_ptr<OperatorSite> make_site(const ops::Library& library, const OperatorEntry& entry,
                                        std::span<const IValue* const> constants, size_t number);

// Throws Error(kUnsupported) where the library does not have it, Error(kUnsafe) where the machine was not
// granted what it needs, and what the operator throws.
void call_operator(const OperatorSite& site, Call& call);

}  // namespace flambeau::interpreter
