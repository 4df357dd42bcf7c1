// The index of weights in several files as a kind of file.
#include "flambeau/formats/format.h"
#include "flambeau/formats/safety/safety_checker.h"
#include "flambeau/formats/shards/shard_index.h"
#include "flambeau/formats/shards/shards.h"

namespace flambeau {
namespace {

Checkpoint open_shards(const RecognizedFile& /*file*/, const std::shared_ptr<Mapping>& mapping) {
  return read_shards(mapping);
}

std::vector<std::string> files_of_shards(const std::shared_ptr<Mapping>& mapping) {
  return read_shard_index(as_text(mapping->bytes())).files;
}

void check_index(safety::Checker& checker) { checker.check_files_beside(files_of_shards(checker.mapping())); }

}  // namespace

constinit const Format kShardIndexFormat = {
    .name = "shard_index",
    .description = "weights in several files (an index of shards)",
    .fits = looks_like_shard_index,
    .open = open_shards,
    .files_beside = files_of_shards,
    .check = check_index,
};

}  // namespace flambeau
