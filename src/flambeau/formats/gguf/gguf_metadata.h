// The values of GGUF's metadata as text.
#pragma once

#include "flambeau/base/bytes.h"
#include "flambeau/formats/gguf/gguf.h"

namespace flambeau {

// A string with its length before it.
std::string_view read_gguf_string(ByteReader& reader, std::string_view what);

// The type and value that follow a key. Arrays are read in full, of which a few values are kept.
GgufMetadata read_gguf_value(ByteReader& reader);

}  // namespace flambeau
