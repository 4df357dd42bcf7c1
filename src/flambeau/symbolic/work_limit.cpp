#include "flambeau/symbolic/work_limit.h"

#include <bit>

#include "flambeau/base/error.h"

namespace flambeau::symbolic {
namespace {

thread_local WorkLimit* current = nullptr;

}  // namespace

WorkLimit::WorkLimit(uint64_t units) : left_(units), outer_(current) { current = this; }

WorkLimit::~WorkLimit() { current = outer_; }

void WorkLimit::spend(uint64_t arguments) {
  if (current == nullptr) return;
  const uint64_t units = (arguments + 1) * static_cast<uint64_t>(std::bit_width(arguments + 1));
  if (units > current->left_)
    throw Error(ErrorCode::kLimit, "bringing an expression into canonical form takes too much work");
  current->left_ -= units;
}

}  // namespace flambeau::symbolic
