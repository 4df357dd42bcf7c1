// The one error type of the library, and what it says.
#pragma once

#include "flambeau/base/error.h"
#include "flambeau/base/nearest.h"
