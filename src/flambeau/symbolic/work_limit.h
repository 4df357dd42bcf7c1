// A cap on the work that building expressions may take, for text that comes from strangers: canonical forms
// of a few hostile shapes (a chain of divisions) take quadratic time.
#pragma once

#include <cstdint>

namespace flambeau::symbolic {

// While it lives, expressions built by this thread draw on it; Error(kLimit) once it is used up. The
// innermost counts.
class WorkLimit {
 public:
  explicit WorkLimit(uint64_t units);
  ~WorkLimit();
  WorkLimit(const WorkLimit&) = delete;
  WorkLimit& operator=(const WorkLimit&) = delete;

  // Called for every node made: sorting its arguments is what costs.
  static void spend(uint64_t arguments);

 private:
  uint64_t left_;
  WorkLimit* outer_;
};

}  // namespace flambeau::symbolic
