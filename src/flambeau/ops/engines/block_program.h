// A small program of bodies, run block by block: what one operator gives the next stays in the first-level
// cache, and has no memory of its own. Every result is rounded to its operator's type before the next one
// reads it, so that all numbers are bit for bit those that the operators give one after another.
//
// Sizes, strides and types are known when it is made; a run adds nothing but where the tensors lie. Where
// there is machine code for the whole program (block_kernel.h), that runs in place of the loops.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "flambeau/ops/engines/body.h"
#include "flambeau/ops/mechanism/context.h"

namespace flambeau::ops {

class BlockKernels;

// What an operator of the program reads: the program's input of that number, the result of the step of that
// number, or the body's own number.
struct BlockSource {
  enum class Kind : uint8_t { kInput, kStep, kNumber };
  Kind kind = Kind::kNumber;
  size_t index = 0;
};

struct BlockStep {
  Body body;
  std::vector<BlockSource> sources;  // beside the body's inputs; steps come before those that read them
  DType dtype = DType::kFloat32;     // of the operator's result
  bool is_output = false;
};

class BlockProgram {
 public:
  static constexpr size_t kMostTensors = 8;  // inputs and outputs
  static constexpr size_t kMostSteps = 16;

  // The inputs broadcast to the sizes of `like`, which must be dense: outputs lie as it does. Tensors need no
  // data. `kernels` may be null; they must outlive it.
  BlockProgram(std::span<const Tensor> inputs, std::span<const BlockStep> steps, const Tensor& like,
               const BlockKernels* kernels = nullptr);
  ~BlockProgram();

  // `inputs` are tensors; `outputs` are those of the steps that say so, in their order. None of them lies in
  // the memory of another.
  void run(Context& context, std::span<const Value> inputs, std::span<const Tensor> outputs) const;

  // Whether an input can be read as fast as by an operator of its own: one that lies across what is written
  // had better be turned before.
  static bool takes(const Tensor& input, const Tensor& like);

 private:
  struct Layout;
  std::unique_ptr<const Layout> layout_;
};

}  // namespace flambeau::ops
