// When what is made of views may be done without calling them.
#pragma once

#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/mechanism/sparse_calls.h"

namespace flambeau::ops {

// Whether nobody asks which calls an operator is made of, and sizes are numbers: then it is done at once.
// Programs are full of these, and most of them do nothing but name other sizes.
inline bool is_done_at_once(const Context& context, const Tensor& self) {
  return context.interceptor == nullptr && !self.is_traced() && !is_sparse(self) &&
         self.quantizer() == nullptr && !self.is_meta();
}

}  // namespace flambeau::ops
