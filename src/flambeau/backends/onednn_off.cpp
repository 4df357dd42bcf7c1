// Stands in for the folder onednn/ in builds without the library.
#include "flambeau/backends/backend.h"

namespace flambeau::backends {

std::unique_ptr<const Backend> make_onednn() { return nullptr; }

}  // namespace flambeau::backends
