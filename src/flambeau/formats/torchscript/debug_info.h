// The debug information beside an archive's sources (code/x.py.debug_pkl): which range of which original
// source each piece of a serialized text came from. Three generations of it are read, the latest is written.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "flambeau/base/bytes.h"
#include "flambeau/script/printer/tagged_text.h"
#include "flambeau/script/source.h"

namespace flambeau::script {

// In the order of their offsets. Ranges that lie outside of their text are left out. Throws Error(kCorrupt,
// kUnsupported, kLimit).
std::vector<TextOrigin> read_debug_pickle(ByteSpan bytes);

// Reads the record when it is first asked; one that is corrupt tells nothing. `read` gives its bytes.
std::shared_ptr<const SourceOrigins> lazy_origins(std::function<std::vector<uint8_t>()> read);

// Writes the records of all files of one archive: a range has one number (tag) in all of them.
class DebugPickler {
 public:
  std::string pickle(std::span<const TextOrigin> records);

 private:
  using Key = std::tuple<const Source*, uint32_t, uint32_t>;
  std::map<Key, int64_t> tags_;
};

}  // namespace flambeau::script
