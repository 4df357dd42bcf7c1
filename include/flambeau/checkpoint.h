// Open, change and save files of weights: torch.save, TorchScript, safetensors, GGUF, npy and npz, and
// folders of them.
//
//   Checkpoint checkpoint = load_checkpoint("model.pt");  // mapped: nothing is copied
//   if (const Tensor* weight = checkpoint.find("fc.weight")) std::puts(weight->summary().c_str());
//   save_checkpoint(checkpoint, "model.safetensors", FileKind::kSafetensors);
//
// Whole files at once: convert_file(), diff_files().
#pragma once

#include "flambeau/formats/checkpoint.h"
#include "flambeau/formats/convert.h"
#include "flambeau/formats/convert_file.h"
#include "flambeau/formats/diff.h"
#include "flambeau/formats/expansion.h"
#include "flambeau/formats/npy/npy.h"
#include "flambeau/formats/shards/shard_index.h"
#include "flambeau/formats/shards/shards.h"
