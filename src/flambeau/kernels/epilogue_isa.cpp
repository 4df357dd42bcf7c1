// Loops of epilogues. Comparisons are such that NaN stays NaN.
#include "flambeau/kernels/epilogue.h"

namespace flambeau::kernels::FLAMBEAU_ISA {
namespace {

void relu(float* values, size_t count, float slope) {
  if (slope == 0) {  // infinity times 0 would be no number
    for (size_t i = 0; i < count; ++i) values[i] = values[i] < 0 ? 0 : values[i];
  } else {
    for (size_t i = 0; i < count; ++i) values[i] = values[i] < 0 ? values[i] * slope : values[i];
  }
}

void clip(float* values, size_t count, float low, float high) {
  for (size_t i = 0; i < count; ++i) {
    const float least = values[i] < low ? low : values[i];
    values[i] = least > high ? high : least;
  }
}

void hard_swish(float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const float shifted = values[i] + 3;
    const float least = shifted < 0 ? 0 : shifted;
    values[i] = values[i] * (least > 6 ? 6 : least) / 6;
  }
}

void add(float* values, const float* before, size_t count, float factor) {
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) values[i] += factor * before[i];
}

constexpr EpilogueLoops kLoops = {.relu = &relu, .clip = &clip, .hard_swish = &hard_swish, .add = &add};

}  // namespace

const EpilogueLoops& epilogue_loops() { return kLoops; }

}  // namespace flambeau::kernels::FLAMBEAU_ISA
