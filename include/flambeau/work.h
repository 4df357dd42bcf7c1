// Work that can be stopped, and limited in time and memory: a WorkScope around any calls of the library.
#pragma once

#include "flambeau/base/work.h"  // IWYU pragma: export
