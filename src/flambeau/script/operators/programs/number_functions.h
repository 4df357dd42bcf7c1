// TorchScript's functions on numbers as operators on tensors, for numbers that data decides.
#pragma once

#include <cstdint>
#include <string_view>

namespace flambeau::script {

enum class NumberKind : uint8_t {
  kFloat,
  kSame,  // float if an argument is one, else int
  kBool,
  kInt,    // of a float, rounded
  kTruth,  // of bools alone
  kBits,   // of ints or of bools
};
enum class Asks : uint8_t { kNothing, kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

struct NumberFunction {
  std::string_view builtin;  // without its overload
  std::string_view op;       // of tensors; empty where nothing is computed
  NumberKind gives;
  uint8_t count;  // of numbers that it takes
  Asks asks = Asks::kNothing;
};

// Null where there is none. `builtin`: with its overload or without.
const NumberFunction* find_number_function(std::string_view builtin);

}  // namespace flambeau::script
