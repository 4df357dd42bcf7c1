// Which objects the index of a distributed checkpoint is made of.
#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/formats/distributed/distributed.h"

namespace flambeau {
namespace {

using pickle::Kind;
using pickle::Node;

// The first are classes of fields, which Python fills without calling anything.
constexpr size_t kClasses = 8;
constexpr std::string_view kNames[] = {
    "torch.distributed.checkpoint.metadata.Metadata",
    "torch.distributed.checkpoint.metadata.TensorStorageMetadata",
    "torch.distributed.checkpoint.metadata.BytesStorageMetadata",
    "torch.distributed.checkpoint.metadata.ChunkStorageMetadata",
    "torch.distributed.checkpoint.metadata.MetadataIndex",
    "torch.distributed.checkpoint.metadata.StorageMeta",
    "torch.distributed.checkpoint.metadata.TensorProperties",
    "torch.distributed.checkpoint.filesystem._StorageInfo",
    "torch.distributed.checkpoint.metadata._MEM_FORMAT_ENCODING",
    "builtins.getattr",
    "pathlib.PosixPath",
    "pathlib._local.PosixPath",
};
constexpr std::string_view kProperties = kNames[6], kMemoryFormat = kNames[8], kGetattr = kNames[9];

bool is_fine(const Node::Call& call, std::string_view name) {
  if (!call.args->is(Kind::kTuple) || call.kwargs != nullptr || call.state_setter != nullptr ||
      !call.pairs.empty() || !call.items.empty())
    return false;
  const auto args = call.args->items();
  if (std::find(kNames, kNames + kClasses, name) != kNames + kClasses) {
    if (!args.empty()) return false;
    return call.state == nullptr || call.state->is(Kind::kDict) ||
           (name == kProperties && call.state->is(Kind::kTuple));
  }
  if (call.state != nullptr) return false;
  // The members of the enumeration: by name until Python 3.11, by number since.
  if (name == kMemoryFormat) return args.size() == 1 && args[0]->is(Kind::kInt);
  if (name == kGetattr) {
    return args.size() == 2 && args[0]->is_global(kMemoryFormat) && args[1]->is(Kind::kString) &&
           args[1]->as_string().starts_with("TORCH_");
  }
  return std::ranges::all_of(args, [](const Node* part) { return part->is(Kind::kString); });  // of a path
}

}  // namespace

std::span<const std::string_view> names_of_distributed_index() { return kNames; }

std::vector<std::string> find_misuses_in_index(const pickle::Tree& tree) {
  constexpr size_t kMost = 100;
  std::vector<std::string> found;
  for (const Node* node : tree.calls()) {
    const Node::Call call = node->as_call();
    if (!call.callee->is(Kind::kGlobal)) continue;  // found in every pickle
    const std::string name = call.callee->as_global().dotted();
    if (std::ranges::find(kNames, name) == std::end(kNames) || is_fine(call, name)) continue;
    found.push_back(fmt::format("calls {} in a way that PyTorch never writes", printable(name)));
    if (found.size() == kMost) break;
  }
  return found;
}

}  // namespace flambeau
