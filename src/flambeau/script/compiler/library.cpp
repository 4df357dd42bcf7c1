#include "flambeau/script/compiler/library.h"

#include "flambeau/base/error.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {

std::shared_ptr<const ir::Graph> library_graph(Unit& unit, std::string_view text) {
  (void)unit;
  throw Error(ErrorCode::kUnsupported, "a function of the library is not compiled yet: " + std::string(text));
}

}  // namespace flambeau::script
