// Open, change and save files of weights: torch.save, TorchScript, safetensors, npy and npz.
#pragma once

#include "flambeau/formats/checkpoint.h"
#include "flambeau/formats/convert.h"
#include "flambeau/formats/expansion.h"
#include "flambeau/formats/npy/npy.h"
