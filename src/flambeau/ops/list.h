// The families of operators: list.def has their names, each file of a family defines define_NAME.
#pragma once

namespace flambeau::ops {

class Library;

#define FLAMBEAU_OPERATORS(family) void define_##family(Library& library);
#include "flambeau/ops/list.def"
#undef FLAMBEAU_OPERATORS

// All of them.
void define_all(Library& library);

}  // namespace flambeau::ops
