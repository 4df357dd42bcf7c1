// Which names unpickling would import, and which of them it would call: what to look at before trusting.
#pragma once

#include <vector>

#include "flambeau/archive/pickle/tree.h"

namespace flambeau::pickle {

struct GlobalUse {
  Node::GlobalName name;  // a view into the tree
  bool called = false;
};

// Each name once, in order of appearance. Includes names whose value the pickle throws away again:
// Python would have imported or called them by then.
std::vector<GlobalUse> list_globals(const Tree& tree);

}  // namespace flambeau::pickle
