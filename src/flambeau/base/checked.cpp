#include "flambeau/base/checked.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"

namespace flambeau {

void throw_overflow(std::string_view what, size_t bits) {
  throw Error(ErrorCode::kCorrupt,
              fmt::format("{} does not fit in {} {}-bit number", what, bits == 8 ? "an" : "a", bits));
}

}  // namespace flambeau
