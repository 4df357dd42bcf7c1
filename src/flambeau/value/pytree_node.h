// What a TreeSpec holds. Internal.
#pragma once

#include "flambeau/value/pytree.h"

namespace flambeau {

struct TreeSpec::Node {
  TreeKind kind = TreeKind::kLeaf;
  std::string type_name;
  std::string context_json = "null";
  std::string
      extra;  // members of the JSON object that are not known here, as text to be printed after the others
  std::vector<TreeSpec> children;
  json::Array keys;                 // of the dict types
  std::vector<std::string> fields;  // of what looks like a dataclass: the names of the children
  size_t num_leaves = 0;
  size_t num_nodes = 1;
  int depth = 1;
};

}  // namespace flambeau
