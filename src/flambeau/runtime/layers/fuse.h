// Replaces steps by layers of the plan's backend: constant weights packed, what follows a layer fused into
// it, images kept in the layout the layers are fastest with.
#pragma once

#include "flambeau/ops/mechanism/context.h"
#include "flambeau/runtime/plan/plan.h"

namespace flambeau::runtime {

// Convolutions with constant weights, batch normalization and activations behind them.
void prepare_images(ops::Context& context, Plan& plan);
// Products with constant weights, and the activations behind them.
void prepare_products(ops::Context& context, Plan& plan, backends::PackedWeights& packed);
// Recurrent networks with constant weights.
void prepare_recurrent(ops::Context& context, Plan& plan);
// Any other call that the backend has a kernel of its own for.
void prepare_kernels(ops::Context& context, Plan& plan);

}  // namespace flambeau::runtime
