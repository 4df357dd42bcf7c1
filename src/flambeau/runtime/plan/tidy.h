// Takes steps out of a plan whose results nobody reads.
#pragma once

#include "flambeau/runtime/plan/plan.h"

namespace flambeau::runtime {

void drop_unread_steps(Plan& plan);

}  // namespace flambeau::runtime
