// Batch normalization of a dense tensor, shared by its many operators and by instance norm.
#pragma once

#include "flambeau/ops/mechanism/context.h"

namespace flambeau::ops {

struct BatchNorm {
  const Tensor* weight = nullptr;
  const Tensor* bias = nullptr;
  const Tensor* running_mean = nullptr;  // updated when training
  const Tensor* running_var = nullptr;
  bool training = false;
  double momentum = 0.1;
  double eps = 1e-5;
};

// `out` is row-major or channels last; the means and inverse deviations used are saved where asked for.
void run_batch_norm(Context& context, const Tensor& input, const BatchNorm& norm, const Tensor& out,
                    const Tensor* save_mean, const Tensor* save_rstd);

}  // namespace flambeau::ops
