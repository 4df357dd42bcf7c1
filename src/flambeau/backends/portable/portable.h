// The backend that every build has: the portable kernels with their weights packed once. Others for the
// host's memory are made of it, and give what they do better.
#pragma once

#include "flambeau/backends/backend.h"

namespace flambeau::backends {

class Portable : public Backend {
 public:
  std::string_view name() const override { return "portable"; }
  LayerPointer convolution(ops::Context& context, const Convolution& wanted) const override;
  LayerPointer product(ops::Context& context, const Product& wanted, PackedWeights& packed) const override;
  LayerPointer recurrent(ops::Context& context, const ops::RecurrentCall& call) const override;
};

}  // namespace flambeau::backends
