// Operators that small simplifications of graphs know, as PyTorch's peephole pass does.
#pragma once

#include <cstdint>
#include <string_view>

namespace flambeau::script {

enum class Peephole : uint8_t {
  kNone,
  kIs,
  kIsNot,
  kUnwrap,         // of an optional
  kEqual,          // of what is the same value
  kNotEqual,       //
  kToInt,          // of an int is that int; of a number's tensor, that number
  kToNumber,       // the latter alone
  kToTensor,       // of a number
  kRoundUp,        // of an int
  kTimes,          // by 1, also divisions
  kCommutedTimes,  // the same with either operand
  kPlus,
  kMinus,
  kTranspose,  // twice
  kDimensionCount,
  kConvolution1d,
  kConvolution2d,
  kConvolution3d,
};
// By the operator's name, whatever the overload.
Peephole find_peephole(std::string_view operator_name);

}  // namespace flambeau::script
