// The folders of torch.distributed.checkpoint as a kind of file: the index stands for all of it.
#include "flambeau/formats/distributed/distributed.h"
#include "flambeau/formats/format.h"
#include "flambeau/formats/safety/safety_checker.h"

namespace flambeau {
namespace {

Checkpoint open_distributed(const RecognizedFile& /*file*/, const std::shared_ptr<Mapping>& mapping) {
  return read_distributed(mapping);
}

std::vector<std::string> files_of_pieces(const std::shared_ptr<Mapping>& mapping) {
  return read_distributed_index(mapping).files;
}

// PyTorch unpickles the index without weights_only: it is a bare pickle like any other.
void check_distributed(safety::Checker& checker) {
  safety::check_bare_pickle(checker);
  checker.check_files_beside(files_of_pieces(checker.mapping()));
}

}  // namespace

constinit const Format kDistributedFormat = {
    .name = "distributed",
    .description = "a distributed checkpoint (torch.distributed.checkpoint)",
    .fits = looks_like_distributed_index,
    .open = open_distributed,
    .model_file = ".metadata",
    .files_beside = files_of_pieces,
    .check = check_distributed,
};

}  // namespace flambeau
