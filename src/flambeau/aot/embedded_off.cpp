// Stands in for embedded.cpp in builds without the prebuilt library.
#include "flambeau/aot/compile.h"

namespace flambeau::aot {

ByteSpan prebuilt_library() { return {}; }

}  // namespace flambeau::aot
