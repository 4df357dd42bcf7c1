// Tensors: element types, strided views over shared storage, conversions, statistics, comparison.
#pragma once

#include "flambeau/tensor/dtype_words.h"
#include "flambeau/tensor/elements/compare.h"
#include "flambeau/tensor/elements/convert.h"
#include "flambeau/tensor/elements/statistics.h"
#include "flambeau/tensor/tensor.h"
