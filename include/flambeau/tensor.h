// Tensors: element types, strided views over shared storage, conversions, statistics, comparison.
//
//   Tensor x = Tensor::zeros(DType::kFloat32, Dims{2, 3});
//   x.mutable_data<float>()[0] = 1;
//   std::puts(x.summary().c_str());  // float32[2, 3]
#pragma once

#include "flambeau/tensor/dtype_words.h"
#include "flambeau/tensor/elements/compare.h"
#include "flambeau/tensor/elements/convert.h"
#include "flambeau/tensor/elements/statistics.h"
#include "flambeau/tensor/tensor.h"
