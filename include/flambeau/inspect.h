// Look into any file of PyTorch, list and extract its records.
#pragma once

#include "flambeau/formats/digest.h"
#include "flambeau/formats/inspect.h"
#include "flambeau/formats/safety/known_globals.h"
