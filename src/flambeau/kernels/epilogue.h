// What a layer does to each number of its result (its epilogue): as blocks of it are finished, while they are
// still in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "flambeau/base/isa.h"
#include "flambeau/tensor/dtype.h"

namespace flambeau::kernels {

struct Epilogue {
  enum class Kind : uint8_t {
    kRelu,  // alpha * x below 0
    kClip,  // to [alpha, beta]
    kGeluErf,
    kGeluTanh,
    kSilu,
    kTanh,
    kSigmoid,
    kHardSwish,
    kSum,  // x + alpha times what the result's memory held before
  };
  Kind kind = Kind::kRelu;
  float alpha = 0;
  float beta = 0;
};

using Epilogues = std::span<const Epilogue>;

bool has_sum(Epilogues epilogues);
// Throws Error(kInvalidArgument) for epilogues behind sums that are not taken in float32.
void require_float(DType dtype, Epilogues epilogues);
// Each number of `values` in turn by all of them; `before` is what a sum adds.
void apply(Epilogues epilogues, float* values, const float* before, size_t count);

// The loops that are no function of vector_math's.
struct EpilogueLoops {
  void (*relu)(float* values, size_t count, float slope);
  void (*clip)(float* values, size_t count, float low, float high);
  void (*hard_swish)(float* values, size_t count);
  void (*add)(float* values, const float* before, size_t count, float factor);
};

#define FLAMBEAU_DECLARE_EPILOGUE(isa)   \
  namespace isa {                        \
  const EpilogueLoops& epilogue_loops(); \
  }
FLAMBEAU_FOR_EACH_ISA(FLAMBEAU_DECLARE_EPILOGUE)
#undef FLAMBEAU_DECLARE_EPILOGUE

}  // namespace flambeau::kernels
