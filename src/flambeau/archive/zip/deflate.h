// A deflate compressor that makes the same choices as the one inside PyTorch (miniz at level 9). Any
// deflate stream would load; the same one lets an unchanged TorchScript file come back byte for byte.
#pragma once

#include <string>

#include "flambeau/base/bytes.h"

namespace flambeau::zip {

std::string deflate_like_pytorch(ByteSpan data);

}  // namespace flambeau::zip
