// The strides that PyTorch's rules in Python give a view of symbols, where no number tells which of two
// strides is the smaller one: dimensions are joined until the wanted one divides them, with the smallest of
// their strides, and split again. Its rules in C++, which take over when a program is taken apart, know the
// number.
#pragma once

#include "flambeau/ops/mechanism/info.h"

namespace flambeau::trace {

// Sets the strides of the result of an operator with Trait::kReshapes on `self`. Where the sizes do not tell,
// they stay as they are.
void set_merged_strides(const ops::Info<symbolic::SymInt>& self, ops::Info<symbolic::SymInt>& result);

}  // namespace flambeau::trace
