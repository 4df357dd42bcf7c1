// Tensors: element types, strided views over shared storage, conversions, statistics, comparison.
#pragma once

#include "flambeau/tensor/compare.h"
#include "flambeau/tensor/convert.h"
#include "flambeau/tensor/dtype_words.h"
#include "flambeau/tensor/statistics.h"
#include "flambeau/tensor/tensor.h"
