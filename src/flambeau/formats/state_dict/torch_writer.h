// Writes what torch.save writes: a zip of data.pkl and one record per storage.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/progress.h"
#include "flambeau/formats/checkpoint.h"

namespace flambeau {

struct TorchSaveOptions {
  // The folder inside the archive; torch.save uses the file's name without its ending.
  std::string top_folder = "archive";
};

// The whole structure with its tensors. Tensors that share a storage still do; each storage is written
// once and whole, from where it lies. Of a TorchScript module the state dict is written. The same checkpoint
// gives the same bytes as torch.save of PyTorch 2.13 gives. Throws Error(kUnsupported) for what a torch.save
// file cannot hold.
void write_torch_zip(ByteSink& sink, const Checkpoint& checkpoint, const TorchSaveOptions& options,
                     Progress& progress = Progress::silent());

// The archive itself: a pickle, and the storages it refers to by their place in the list.
void write_torch_records(ByteSink& sink, std::string_view data,
                         const std::vector<std::shared_ptr<Storage>>& storages,
                         const TorchSaveOptions& options, Progress& progress = Progress::silent());

}  // namespace flambeau
