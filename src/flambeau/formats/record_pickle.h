// The pickles and JSON texts inside of archives, with what they may cost measured by the file and not by what
// a record says it inflates to: a kilobyte can inflate to a megabyte, which can describe sixteen megabytes of
// nodes.
#pragma once

#include <string_view>
#include <vector>

#include "flambeau/archive/json/json.h"
#include "flambeau/archive/pickle/tree.h"
#include "flambeau/archive/record_archive.h"

namespace flambeau {

// The JSON texts of an archive, whose cost is the file's together: what one of them becomes stays.
class RecordJsonReader {
 public:
  explicit RecordJsonReader(const zip::Reader& zip);

  // Calls read(text, limits) with the record's text. Throws Error(kCorrupt, kLimit), and what it throws.
  template <typename Read>
  auto read(const zip::Entry& entry, Read&& read) {
    const std::vector<uint8_t> text = read_modest_record(zip_, entry);
    return std::forward<Read>(read)(as_text(text), take(text.size()));
  }

 private:
  json::Limits take(uint64_t text_size);

  const zip::Reader& zip_;
  uint64_t left_;
};

// The pickle in a record's bytes, which the tree keeps. Throws Error(kCorrupt, kUnsupported, kLimit).
pickle::Tree parse_record_pickle(const zip::Reader& zip, std::vector<uint8_t> bytes);
// Both; errors are located at the record, as `name` calls it.
pickle::Tree read_record_pickle(const zip::Reader& zip, const zip::Entry& entry, std::string_view name);

}  // namespace flambeau
