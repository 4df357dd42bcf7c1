// Reads the members of a tar archive in place: as much of tar as torch.save once wrote.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "flambeau/base/bytes.h"

namespace flambeau::tar {

struct Member {
  std::string_view name;  // exactly as stored; never used as a path
  uint64_t offset = 0;    // of the data
  ByteSpan data;
};

// True when the first block is a tar header with a right checksum.
bool looks_like_tar(ByteSpan bytes);

// The regular files, in order; other members (folders, links, extended headers, files whose name is in two
// parts) are passed over. Throws Error(kCorrupt) located at the byte, also for two members of one name, and
// Error(kLimit).
std::vector<Member> read_members(ByteSpan bytes);
// Those others, except for extended headers with nothing but times and owners. torch.save wrote none, and
// they can give a file another name or content than it seems to have.
std::vector<Member> read_other_members(ByteSpan bytes);

}  // namespace flambeau::tar
