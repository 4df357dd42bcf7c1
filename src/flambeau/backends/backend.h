// A backend: where the layers of a plan come from, and whose memory they work in. A plan asks it for each
// layer that it has put together (constant weights, batch normalization folded, what follows fused), and
// takes the operators' own kernels where it gets none. Backends are values without state: any number of
// threads may ask one at once.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "flambeau/backends/choice.h"
#include "flambeau/backends/packed_weights.h"
#include "flambeau/kernels/convolution/convolution.h"
#include "flambeau/kernels/epilogue.h"
#include "flambeau/kernels/gemm/gemm.h"
#include "flambeau/ops/mechanism/context.h"
#include "flambeau/ops/mechanism/facts.h"

namespace flambeau::backends {

// What replaces one or several operators' kernels: made once, with its constants packed, and run by any
// number of threads at once.
class PreparedLayer {
 public:
  virtual ~PreparedLayer() = default;
  // Writes all of `outputs`. `scratch` has at least scratch_bytes(), aligned to 64, in the backend's memory.
  virtual void run(ops::Context& context, std::span<const Value> arguments, std::span<Tensor> outputs,
                   Storage& scratch) const = 0;
  virtual size_t scratch_bytes() const { return 0; }
};
using LayerPointer = std::unique_ptr<const PreparedLayer>;

// A convolution with constant weights. Runs with its input alone.
struct Convolution {
  kernels::ConvolutionShape shape;  // with the orders of both images
  size_t space = 2;                 // dimensions of the images beside batch and channels
  Tensor weight;                    // packed
  Tensor bias;                      // packed, of the weight's type; undefined for none
  std::vector<kernels::Epilogue> epilogues;
};

// One product with a constant matrix. Runs with its left side alone.
struct Product {
  kernels::GemmShape shape;
  Tensor weight;  // the right side, as the shape says it lies
  Tensor bias;    // a packed number for each column; undefined for none
  std::vector<kernels::Epilogue> epilogues;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;

  // ---- memory

  // Where its layers read and write. Elsewhere than on the host, plans copy what others make, and what they
  // need.
  virtual Device device() const { return {}; }
  virtual std::shared_ptr<Storage> allocate(size_t bytes) const;
  // Packed bytes from the host's memory to its own, or back.
  virtual void copy(const Tensor& from, const Tensor& to) const;

  // ---- layers. Null: it has none for that.

  // How images should lie between convolutions such as this one.
  virtual kernels::ImageOrder image_order(const ops::ConvolutionCall& call) const;
  virtual LayerPointer convolution(ops::Context& context, const Convolution& wanted) const;
  // `packed` is shared by all plans of a program.
  virtual LayerPointer product(ops::Context& context, const Product& wanted, PackedWeights& packed) const;
  // With constant parameters; runs with the input and the states.
  virtual LayerPointer recurrent(ops::Context& context, const ops::RecurrentCall& call) const;
  // A kernel of its own for one call of an operator, which runs with all of the arguments.
  virtual LayerPointer kernel(ops::Context& context, const ops::Operator& op,
                              std::span<const Value> arguments, std::span<const Tensor> outputs) const;
};

// Each in a folder of its own; null where this build does not have it.
std::unique_ptr<const Backend> make_onednn();
std::unique_ptr<const Backend> make_portable();

}  // namespace flambeau::backends
