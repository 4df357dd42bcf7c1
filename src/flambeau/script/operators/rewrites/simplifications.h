// What can be said of a call when some of its arguments are known, besides computing it.
#pragma once

#include <cstdint>

#include "flambeau/value/operator_name.h"

namespace flambeau::script {

enum class Simplification : uint8_t {
  kNone,
  kDropout,   // (input, probability, whether training): its input when it is not
  kIs,        // (a, b): known when one is None and the other cannot be
  kIsNot,     // likewise
  kListItem,  // (list, index): an element of a list that is known
  kLength,    // (list)
  kListSum,   // (list, list): a list of the elements of both
  kListPart,  // (list, first, last, step)
  kDictItem,  // (dict, key)
  kDictLength,
};

Simplification simplification_of(const OperatorName& name);

}  // namespace flambeau::script
