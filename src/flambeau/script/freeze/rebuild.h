// A module anew, with the methods that it is given and of its attributes those that these still use.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flambeau/script/freeze/attributes.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {

struct FrozenMethod {
  std::string name;
  Signature signature;
  std::shared_ptr<ir::Graph> graph;
};

// `use`: of these methods' graphs, whose types become those of the new classes. Objects that are used as a
// whole stay what they are. Throws Error(kUnsupported) when the module itself is one of them.
IValue rebuild_module(Unit& unit, const IValue& module, const AttributeUse& use,
                      const std::vector<FrozenMethod>& methods);

}  // namespace flambeau::script
