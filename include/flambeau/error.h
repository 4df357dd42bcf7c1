// The one error type of the library: what was found, what was expected, where, and what to do.
//
//   try {
//     load_checkpoint("model.pt");
//   } catch (const Error& error) {
//     std::puts(error.what());  // also error.code(), message(), remedy() and locations()
//   }
#pragma once

#include "flambeau/base/error.h"
#include "flambeau/base/nearest.h"
