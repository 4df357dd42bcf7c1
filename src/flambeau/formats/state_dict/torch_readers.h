// The three ages of torch.save files, each as a pickle tree and a source for what the pickle keeps outside.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "flambeau/archive/record_archive.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/state_dict/rebuild.h"

namespace flambeau {

struct TorchFile {
  pickle::Tree tree;
  std::unique_ptr<PersistentSource> source;
  // Behind the last byte that belongs to it, in the form of a row of pickles.
  size_t end = 0;
};

// In the older forms a part of a storage is a storage of its own to whoever converts it. Parts may overlap;
// in all they may not take much more than the file. charge() throws Error(kLimit).
class ViewBudget {
 public:
  explicit ViewBudget(uint64_t file_size);
  void charge(uint64_t bytes);

 private:
  uint64_t left_;
};

// Storages that were read, by their keys: pickles that share one have the same storages.
struct SharedZipStorages {
  std::unordered_map<std::string, std::shared_ptr<Storage>> by_key = {};
};

// The zip form since 1.6, and the pickles of TorchScript archives: `pickle` is the record ("data.pkl"),
// `storages` the folder of its storages ("data"), `shared` those of other pickles in that folder.
TorchFile read_torch_zip(std::shared_ptr<const RecordArchive> archive, std::string_view pickle = "data.pkl",
                         std::string_view storages = "data",
                         std::shared_ptr<SharedZipStorages> shared = nullptr);

// Told of every pickle that PyTorch would read on its way through the file, as soon as it is read: also those
// that hold no object of the user. `place` says which it is.
using PickleVisitor = std::function<void(const pickle::Tree& tree, std::string_view place)>;

// The row of pickles that 0.1.10 to 1.5 wrote: magic number, version, system, object, keys, storages.
bool looks_like_torch_legacy(ByteSpan bytes);
TorchFile read_torch_legacy(std::shared_ptr<Mapping> mapping, const PickleVisitor& visit = {});

// The tar that came before: members sys_info, pickle, storages, tensors.
bool looks_like_torch_tar(ByteSpan bytes);
TorchFile read_torch_tar(std::shared_ptr<Mapping> mapping, const PickleVisitor& visit = {});

}  // namespace flambeau
