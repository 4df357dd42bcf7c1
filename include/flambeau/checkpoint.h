// Open, change and save files of weights: torch.save, TorchScript, safetensors, GGUF, npy and npz, and
// folders of them.
#pragma once

#include "flambeau/formats/checkpoint.h"
#include "flambeau/formats/convert.h"
#include "flambeau/formats/convert_file.h"
#include "flambeau/formats/diff.h"
#include "flambeau/formats/expansion.h"
#include "flambeau/formats/npy/npy.h"
#include "flambeau/formats/shards/shard_index.h"
#include "flambeau/formats/shards/shards.h"
