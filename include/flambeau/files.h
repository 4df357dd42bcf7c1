// Mapped files, atomic saving, threads and progress: what other calls take, and what programs of your own can
// use.
//
//   const std::shared_ptr<Mapping> file = Mapping::open("model.pt");
//   ThreadPool pool(4);
//   const Tensor half = convert(*load_checkpoint(file).find("fc.weight"), DType::kFloat16, &pool);
#pragma once

#include "flambeau/base/files/atomic_file.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/base/parallel.h"
#include "flambeau/base/progress.h"
#include "flambeau/base/sha256.h"
