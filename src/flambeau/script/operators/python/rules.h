// How Python writes the operators of TorchScript, where it is not a call of torch.ops: x + y, len(x),
// x.append(y), x.dtype, x[i].
#pragma once

#include <cstdint>
#include <string>

#include "flambeau/value/schema.h"

namespace flambeau::script {

// How tightly parts of an expression are bound.
enum PythonLevel : uint8_t {
  kLevelConditional,  // a if c else b
  kLevelOr,
  kLevelAnd,
  kLevelNot,
  kLevelCompare,  // neither side may be one
  kLevelBitOr,
  kLevelBitXor,
  kLevelBitAnd,
  kLevelShift,
  kLevelSum,
  kLevelProduct,
  kLevelSign,
  kLevelPower,
  kLevelAtom,
};

enum class PythonForm : uint8_t {
  kOps,          // torch.ops.aten.add.Tensor(x, y)
  kCall,         // word(x, y)
  kMethod,       // x.word(y)
  kAttribute,    // x.word
  kInfix,        // x word y
  kContains,     // y in x
  kPrefix,       // word x
  kDivide,       // x / y of numbers, which gives infinity and not an error where y is 0
  kHelper,       // word(x, y), a function that the text brings along
  kVariadic,     // the same with any number of arguments
  kText,         // str(x), as TorchScript writes values
  kEntries,      // list(x.word())
  kItem,         // x[i]
  kSetItem,      // x[i] = y
  kDelete,       // del x[i]
  kListSlice,    // x[a:b:c]
  kTensorSlice,  // x[:, a:b]
  kSelect,       // x[:, i]
  kIndex,        // x[:, y]
  kIndexPut,     // x[:, y] = z
  kRangeLength,  // len(range(a, b, c))
  kDeriveIndex,  // a + i * c
  kSame,         // x
  kWarn,
  kDataType,  // x.dtype, an object in Python and a number in TorchScript
  kLayout,    // likewise
};

struct PythonRule {
  PythonForm form = PythonForm::kOps;
  std::string word = {};
  PythonLevel level = kLevelAtom;
};
PythonRule python_rule(const Schema& schema);

}  // namespace flambeau::script
