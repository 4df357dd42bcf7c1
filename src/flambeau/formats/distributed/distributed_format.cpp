// The folders of torch.distributed.checkpoint as a kind of file: the index stands for all of it.
#include <fmt/format.h>

#include "flambeau/archive/pickle/reader.h"
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

std::vector<FilePart> parts_of_pieces(const std::shared_ptr<Mapping>& mapping) {
  const DistributedIndex index = read_distributed_index(mapping);
  std::vector<FilePart> parts;
  for (const DistributedIndex::Saved& saved : index.saved)
    parts.push_back({index.files[saved.file], saved.offset, saved.length});
  return parts;
}

// PyTorch unpickles the index without weights_only: it is a bare pickle, of classes of its own.
void check_distributed(safety::Checker& checker) {
  checker.set_own_names(names_of_distributed_index());
  safety::check_bare_pickle(checker);
  checker.guarded("pickle", "", [&] {
    const ByteSpan bytes = checker.bytes();
    for (std::string& misuse :
         find_misuses_in_index(pickle::parse(bytes, nullptr, checker.limits_for(bytes)).tree))
      checker.find(Severity::kDanger, "pickle", "", fmt::format("unpickling {}", misuse));
  });
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
    .parts_beside = parts_of_pieces,
    .check = check_distributed,
};

}  // namespace flambeau
