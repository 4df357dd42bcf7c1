// Operators whose constants can become a part of a layer's weights.
#pragma once

#include <cstdint>
#include <string_view>

#include "flambeau/value/operator_name.h"

namespace flambeau::script {

enum class Folding : uint8_t {
  kNone,
  kConvolution,  // (input, weight, bias, ...)
  kLinear,       // likewise
  kBatchNorm,    // (input, weight, bias, mean, variance, whether training, momentum, eps, ...)
  kRank,         // (tensor)
  kAdd,          // (a, b, alpha)
  kSubtract,     // likewise
  kMultiply,     // (a, b)
  kDivide,       // likewise
};
Folding folding_of(const OperatorName& name);

// The operator that gives what this one writes into its first argument: "aten::relu" of "aten::relu_". Empty
// for others.
std::string_view functional_name(std::string_view operator_name);
// Adds an element to the end of a list: (list, element).
bool is_append(std::string_view operator_name);
// Gives what a forked function gave: (future).
bool is_wait(std::string_view operator_name);

}  // namespace flambeau::script
