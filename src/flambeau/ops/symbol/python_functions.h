// Functions of Python's that a program may call on plain numbers: _operator.add, math.floor, torch.sym_max.
// No schema describes them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "flambeau/value/value.h"

namespace flambeau::ops {

struct PythonFunction {
  std::string_view name;  // "_operator.add"
  size_t arguments;       // kAnyCount: it takes whatever it is given
  Value (*function)(std::span<const Value> arguments);

  static constexpr size_t kAnyCount = static_cast<size_t>(-1);

  // With Python's semantics; only integers are of 64 bits. Throws Error(kInvalidArgument) where Python
  // raises, where an integer does not fit, and for arguments it does not take; the text names function and
  // arguments.
  Value apply(std::span<const Value> arguments) const;
};

// Null when there is none of that name. Also known as "math.floor", "torch.sym_max": as programs write them.
const PythonFunction* find_python_function(std::string_view target);

}  // namespace flambeau::ops
