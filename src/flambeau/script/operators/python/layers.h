// Layers of torch.nn as their forward shows them: which operators it calls, and where the arguments of the
// layer's constructor are found.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace flambeau::script {

enum class LayerSource : uint8_t {
  kInput,      // of the operator: what the argument `from` is given; else the module's constant of that name
  kSizes,      // the same, of a list; equal numbers are one number
  kStride,     // the same; left out where it is that of the kernel
  kConstant,   // of the module: an attribute or constant
  kSize,       // of the tensor `from` in dimension `number`
  kChannels,   // the same, times the groups
  kKernel,     // the sizes of `from` behind the first two
  kHas,        // whether there is a tensor `from`
  kHasBeside,  // the same; left out where there is no weight
  kInPlace,    // whether the operator is the one in place
  kRequired,   // nothing that is written: of the operator, must be as `usual` where it has such an argument
};

struct LayerArgument {
  std::string_view name;
  LayerSource source;
  std::string_view from;  // names to look for, the first one that is there: "pad|padding"
  int64_t number = 0;
  std::string_view usual = {};  // values that are left out: "1|1.0"; an argument without goes by its place
};

struct LayerFact {
  std::string_view name;       // "linear.Linear", without "torch.nn.modules."
  std::string_view operators;  // one of these is called, once: "aten::relu aten::relu_"
  std::string_view others;     // these may be, too; "*" for any, and for any number of the first ones
  std::string_view tensors;    // all it may have
  std::string_view result;     // what forward gives, as annotations have it
  std::span<const LayerArgument> arguments;
};

// Null when it is no layer that is known.
const LayerFact* find_layer(std::string_view name);

}  // namespace flambeau::script
