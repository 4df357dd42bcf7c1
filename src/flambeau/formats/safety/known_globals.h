// What is known of the names in pickles: which ones only build data, and which ones do harm.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/archive/pickle/tree.h"

namespace flambeau {

enum class GlobalVerdict : uint8_t {
  kData,   // builds a tensor, a container or another plain value; as torch.load(weights_only=True) allows
  kNumpy,  // builds a NumPy value; weights_only allows it on request
  kTorchScript,  // a class that the archive itself defines, or a helper of TorchScript
  kUnknown,      // anything: unpickling it in Python would import and call it
  kDangerous,    // known to run commands or code, or to touch files
};
std::string_view verdict_name(GlobalVerdict verdict);

// Exact names, and none with a dot in it. `in_torchscript`: whether the pickle belongs to a TorchScript
// archive.
GlobalVerdict judge_global(const pickle::Node::GlobalName& global, bool in_torchscript);

// "builtins.set" also for what protocol 2 calls "__builtin__.set".
std::string name_in_python_3(const pickle::Node::GlobalName& global);

// Of what only builds data, torch.load(weights_only=True) allows nearly all.
bool is_allowed_by_weights_only(const pickle::Node::GlobalName& global);

// The names in a pickle that do more than build data, each once: what torch.load(weights_only=True) refuses.
std::vector<std::string> unsafe_globals(const pickle::Tree& tree);

}  // namespace flambeau
