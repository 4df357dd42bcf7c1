// The error of every operator here whose arguments contradict each other.
#pragma once

#include <string>

#include "flambeau/base/error.h"

namespace flambeau::ops {

[[noreturn]] inline void fail_argument(std::string message) {
  throw Error(ErrorCode::kInvalidArgument, std::move(message));
}
inline void require(bool holds, const char* message) {
  if (!holds) fail_argument(message);
}

}  // namespace flambeau::ops
