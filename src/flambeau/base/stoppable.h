// Comparing that can be stopped, for std::sort and its kin: of millions of elements they take seconds.
#pragma once

#include <utility>

#include "flambeau/base/work.h"

namespace flambeau {

template <typename Less>
auto stoppable(WorkPoller& poll, Less less) {
  return [&poll, less = std::move(less)](const auto& a, const auto& b) {
    poll();
    return less(a, b);
  };
}

}  // namespace flambeau
