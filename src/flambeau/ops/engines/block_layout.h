// How a program of bodies becomes loops over blocks: which array lies where, which conversions stand between
// the rows, and how large a block is. Made once; the rest of block_program.h runs it.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "flambeau/ops/engines/block_kernel.h"
#include "flambeau/ops/engines/block_program.h"
#include "flambeau/ops/engines/walk.h"

namespace flambeau::ops {

// A packed array of one block, or a single element that stands for all of it.
struct BlockPlace {
  enum class Kind : uint8_t {
    kTensor,  // in a tensor's own memory
    kSlot,    // in scratch memory
    kNumber,
  };
  Kind kind = Kind::kSlot;
  bool is_single = false;
  DType type = DType::kFloat32;
  size_t index = 0;   // kNumber: which
  size_t offset = 0;  // kSlot: in scratch memory
};

struct BlockOperation {
  enum class Kind : uint8_t { kRow, kConvert, kRepeat };
  Kind kind = Kind::kConvert;
  bool is_single = false;                          // of one element
  std::array<size_t, Body::kMostInputs> inputs{};  // places
  size_t output = 0;
  DType from = DType::kFloat32;  // kConvert
  DType to = DType::kFloat32;    // kConvert, kRepeat
  Row row = nullptr;
  size_t step = 0;  // kRow: whose parameters
};

// A tensor whose elements of a block are a packed array where they lie, or are copied to one.
struct BlockTensor {
  size_t operand = 0;  // of the walk
  size_t place = 0;
  int64_t step = 0;  // bytes from element to element
  size_t size = 0;   // of an element
};

struct alignas(16) BlockNumber {
  std::array<uint8_t, kMostElement> bytes;
};
struct alignas(16) BlockParameters {
  std::array<uint8_t, Body::kMostParameters> bytes;
};

struct BlockLayout {
  static constexpr size_t kMostPlaces = 256;
  static constexpr size_t kScratch = size_t{64} << 10;

  BlockLayout(std::span<const Tensor> inputs, std::span<const BlockStep> steps, const Tensor& like,
              const BlockKernels* kernels);

  Walk walk;             // over the outputs, and then the inputs
  bool gathers = false;  // rows are short: blocks take many
  size_t block = 0;      // elements
  int cost = 1;
  std::vector<BlockPlace> places;
  std::vector<BlockTensor> tensors;
  std::vector<BlockTensor> gathered;
  std::vector<size_t> singles;             // places of tensors that are one element in each block
  std::vector<BlockOperation> of_numbers;  // once
  std::vector<BlockOperation> of_singles;  // where a single element has changed
  std::vector<BlockOperation> operations;  // in each block
  std::vector<BlockNumber> numbers;
  std::vector<BlockParameters> parameters;  // beside the steps

  BlockKernel kernel = nullptr;       // in place of the operations
  std::vector<size_t> kernel_inputs;  // places
  std::vector<size_t> kernel_outputs;
  std::vector<BlockNumber> kernel_numbers;
  std::vector<const void*> constants;
};

}  // namespace flambeau::ops
