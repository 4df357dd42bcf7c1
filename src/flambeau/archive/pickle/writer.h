// Turns a Tree into pickle bytes, in the two dialects that PyTorch's files hold.
#pragma once

#include <string>
#include <unordered_map>

#include "flambeau/archive/pickle/tree.h"

namespace flambeau::pickle {

// What CPython's pickler writes at `protocol` (2 to 5): torch.save's dialect. A node that occurs twice is
// written once and fetched from the memo, as an object would be. Throws Error(kInvalidArgument) for what
// a protocol cannot say.
//
// Where `substitutions` has a node, its substitute (of any tree) is written in its place; a null one says
// that the node must not be written: Error(kUnsupported) when it would be.
using Substitutions = std::unordered_map<const Node*, const Node*>;
std::string write_python(const Node& root, int protocol = 2, const Substitutions* substitutions = nullptr);

// What PyTorch's C++ pickler writes (torch.jit's data.pkl and constants.pkl, torch::pickle_save).
std::string write_torch(const Node& root);

}  // namespace flambeau::pickle
