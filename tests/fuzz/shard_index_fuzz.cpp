// Any text is an index or an Error; an index names plain files, and survives being written and read again.
#include <cstdlib>

#include "flambeau/base/error.h"
#include "flambeau/formats/shards/shard_index.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flambeau;
  ShardIndex index;
  try {
    index = read_shard_index(as_text({data, size}));
  } catch (const Error&) {
    return 0;
  }
  for (const std::string& file : index.files) {
    if (file.empty() || file == ".." || file.find('/') != std::string::npos) std::abort();
  }
  const ShardIndex again = read_shard_index(write_shard_index(index, 0));
  if (again.entries.size() != index.entries.size() || again.files.size() != index.files.size()) std::abort();
  return 0;
}
