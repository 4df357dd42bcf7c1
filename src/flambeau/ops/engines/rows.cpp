#include "flambeau/ops/engines/rows.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/tensor/dtype_words.h"

namespace flambeau::ops {

void fail_dtype(std::string_view what, DType dtype) {
  throw Error(ErrorCode::kUnsupported,
              fmt::format("\"{}\" not implemented for '{}'", what, dtype_word(dtype)));
}

}  // namespace flambeau::ops
