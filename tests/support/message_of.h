// What tests of errors look at.
#pragma once

#include <string>

#include "flambeau/base/error.h"

namespace flambeau {

// The text of the Error that the action throws.
template <typename Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace flambeau
