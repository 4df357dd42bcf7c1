// Replaces steps by prepared layers: constant weights packed, what follows a layer fused into it, images kept
// in the layout the layers are fastest with.
#pragma once

#include "flambeau/ops/mechanism/context.h"
#include "flambeau/runtime/layers/packed_weights.h"
#include "flambeau/runtime/plan.h"

namespace flambeau::runtime {

// Products with constant weights, and the activations behind them.
void prepare_products(ops::Context& context, Plan& plan, PackedWeights& packed);
// Convolutions and pooling, and everything between them that can keep their layout.
void prepare_images(ops::Context& context, Plan& plan);
// Recurrent networks with constant weights.
void prepare_recurrent(ops::Context& context, Plan& plan);

}  // namespace flambeau::runtime
