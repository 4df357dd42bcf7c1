#include "flambeau/ops/list.h"

namespace flambeau::ops {

void define_all(Library& library) {
#define FLAMBEAU_OPERATORS(family) define_##family(library);
#include "flambeau/ops/list.def"
#undef FLAMBEAU_OPERATORS
}

}  // namespace flambeau::ops
