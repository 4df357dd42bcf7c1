#include "flambeau/ops/elementwise/hot_rows.h"
#include "flambeau/ops/engines/body.h"

namespace flambeau::ops {

BodyCode hot_code(Hot loop) {
  switch (loop) {
#define FLAMBEAU_PLAIN(Name, arguments, ...) \
  case Hot::k##Name:                         \
    return {#__VA_ARGS__};
#define FLAMBEAU_NUMBERED(Name, arguments, ...) \
  case Hot::k##Name:                            \
    return {#__VA_ARGS__};
#include "flambeau/ops/elementwise/hot_rows.def"
#undef FLAMBEAU_PLAIN
#undef FLAMBEAU_NUMBERED
    case Hot::kWhere:
      return {.text = "return a != 0 ? b : c;", .moves = true};
  }
  return {};
}

}  // namespace flambeau::ops
