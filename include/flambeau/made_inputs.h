// Inputs for a program when there are none at hand: of the sizes it takes, random or filled with a number.
//
//   const InputSizes sizes(program, {{"batch", 8}});
//   const Tensor ones = filled_tensor(DType::kFloat32, sizes.of(program.inputs()[0]), 1);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "flambeau/kernels/random/generator.h"
#include "flambeau/runtime.h"

namespace flambeau {

using kernels::Generator;

// Values of the symbols in sizes: {"s77", 8}; or by the name that the model's author gave them: {"batch", 8}.
using SymbolSizes = std::map<std::string, int64_t, std::less<>>;

// The sizes of a program's inputs. A symbol is what `symbols` says, else what it was when the program was
// exported, else the smallest the program allows.
class InputSizes {
 public:
  // Throws Error(kInvalidArgument) for symbols that stand for nothing in the program.
  explicit InputSizes(const Program& program, const SymbolSizes& symbols = {});
  // Of an input that is a tensor. Throws Error(kInvalidArgument) for sizes below zero, and where a symbol has
  // no value.
  Dims of(const Leaf& leaf) const;

 private:
  struct Bound;
  std::shared_ptr<const Bound> bound_;
};
// The same for one input.
Dims input_sizes(const Program& program, const Leaf& leaf, const SymbolSizes& symbols = {});

// What the sizes of one input say of the symbols in them, so that others can follow: of an input x of
// [2*s77 + 1, 4] with 7 rows, s77 is 3. Symbols that have a value already keep it, and sizes that say nothing
// definite are passed over.
void learn_sizes(const Program& program, const Leaf& leaf, const Dims& sizes, SymbolSizes& symbols);

// Floating-point numbers are what torch.randn draws from a generator with the same seed, integers what
// torch.randint draws from `range`, the second number excluded; bools are even odds.
Tensor random_tensor(DType dtype, const Dims& sizes, Generator& generator,
                     std::pair<int64_t, int64_t> range = {0, 2});
// Every element is the number, converted.
Tensor filled_tensor(DType dtype, const Dims& sizes, const Scalar& number);

}  // namespace flambeau
