// The pickles inside of archives, with what they may cost measured by the file and not by what a record says
// it inflates to: a kilobyte can inflate to a megabyte, which can describe sixteen megabytes of nodes.
#pragma once

#include <string_view>
#include <vector>

#include "flambeau/archive/pickle_tree.h"
#include "flambeau/archive/record_archive.h"

namespace flambeau {

// How much a record may inflate to when it is read only to see what is in it: 24 MB, or 4 times the file.
uint64_t most_inflated_bytes(uint64_t file_size);
bool inflates_too_much(const zip::Reader& zip, const zip::Entry& entry);

// The record's bytes. Throws Error(kCorrupt, kLimit).
std::vector<uint8_t> read_modest_record(const zip::Reader& zip, const zip::Entry& entry);

// The pickle in a record's bytes, which the tree keeps. Throws Error(kCorrupt, kUnsupported, kLimit).
pickle::Tree parse_record_pickle(const zip::Reader& zip, std::vector<uint8_t> bytes);
// Both; errors are located at the record, as `name` calls it.
pickle::Tree read_record_pickle(const zip::Reader& zip, const zip::Entry& entry, std::string_view name);

}  // namespace flambeau
