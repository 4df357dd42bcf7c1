// Any bytes are a tree spec or an Error; a spec comes back from its own text, and has a path for each leaf.
#include <cstdlib>

#include "flambeau/base/error.h"
#include "flambeau/value/pytree.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  flambeau::TreeSpec spec;
  try {
    spec = flambeau::parse_treespec(text);
  } catch (const flambeau::Error&) {
    return 0;
  }
  const std::string dumped = flambeau::dump_treespec(spec);
  const flambeau::TreeSpec again = flambeau::parse_treespec(dumped);
  if (!(again == spec) || flambeau::dump_treespec(again) != dumped) std::abort();
  size_t leaves = 0;
  flambeau::visit_leaf_paths(spec, "x", [&](std::string_view) { ++leaves; });
  if (leaves != spec.num_leaves()) std::abort();
  if (spec.to_string().empty()) std::abort();
  return 0;
}
