#include "flambeau/base/size.h"

#include "flambeau/base/error.h"

namespace flambeau {

void throw_size_overflow() {
  throw Error(ErrorCode::kInvalidArgument, "a size or an index does not fit in 64 bits",
              "give smaller sizes, strides, paddings or counts");
}

void throw_size_division() { throw Error(ErrorCode::kInvalidArgument, "division of a size by zero"); }

}  // namespace flambeau
