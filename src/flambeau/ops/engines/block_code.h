// A program of blocks as a function in C: few loops over the elements, in which what lies between the steps
// stays in registers, or in the first-level cache between two long ones. The numbers it gives are those of
// the steps' own rows.
//
// Nothing in the text comes from a file: it is made of the bodies' own code (BodyCode) and of counted names.
// Sizes, numbers and parameters are arguments, so that one function serves whatever differs in them alone,
// and two programs with the same text are the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flambeau/ops/engines/block_program.h"

namespace flambeau::ops {

struct BlockOperand {
  DType dtype = DType::kFloat32;
  bool is_single = false;  // one element for all
};

struct BlockCode {
  // Defines a function KERNEL, a BlockKernel, after others PART(0), PART(1)...; block_source() makes it
  // whole.
  std::string text;
  // What the constants beside it point to: the parameters of a step, or the number that is its input. Before
  // them all is a zero of 64 bits.
  struct Constant {
    size_t step = 0;
    std::optional<size_t> input;
  };
  std::vector<Constant> constants;
};

// Nothing where a body has no code, or a type is converted in a way that C does not have.
std::optional<BlockCode> block_code(std::span<const BlockOperand> inputs, std::span<const BlockStep> steps);

}  // namespace flambeau::ops
