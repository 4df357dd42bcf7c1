#include "flambeau/base/checked.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"

namespace flambeau {

void throw_overflow(std::string_view what) {
  throw Error(ErrorCode::kCorrupt, fmt::format("{} does not fit in a 64-bit number", what));
}

}  // namespace flambeau
