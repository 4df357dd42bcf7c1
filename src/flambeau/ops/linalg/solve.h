// Solving with factors that are there already.
#pragma once

#include "flambeau/ops/mechanism/context.h"

namespace flambeau::ops {

// `out` holds B and becomes X: A * X = B, or X * A = B where the unknown is not `left` of it, or with A^H.
// All have the same batch; factors lie column after column, pivots packed.
void run_lu_solve(Context& context, const Tensor& factors, const Tensor& pivots, bool left, bool adjoint,
                  const Tensor& out);
// `factors` holds matrices and becomes L and U.
void run_lu_factor(Context& context, const Tensor& factors, const Tensor& pivots, int32_t* infos);

}  // namespace flambeau::ops
