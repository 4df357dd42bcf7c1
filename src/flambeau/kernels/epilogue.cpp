#include "flambeau/kernels/epilogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/kernels/math/vector_math.h"
#include "flambeau/tensor/elements/compute.h"

namespace flambeau::kernels {
namespace {

using Kind = Epilogue::Kind;

void apply_one(const Epilogue& epilogue, float* values, const float* before, size_t count) {
  static const EpilogueLoops& loops = FLAMBEAU_PICK(epilogue_loops)();
  switch (epilogue.kind) {
    case Kind::kRelu:
      return loops.relu(values, count, epilogue.alpha);
    case Kind::kClip:
      return loops.clip(values, count, epilogue.alpha, epilogue.beta);
    case Kind::kGeluErf:
      return vector_math::gelu(values, values, count);
    case Kind::kGeluTanh:
      return vector_math::gelu_tanh(values, values, count);
    case Kind::kSilu:
      return vector_math::silu(values, values, count);
    case Kind::kTanh:
      return vector_math::tanh(values, values, count);
    case Kind::kSigmoid:
      return vector_math::sigmoid(values, values, count);
    case Kind::kHardSwish:
      return loops.hard_swish(values, count);
    case Kind::kSum:
      return loops.add(values, before, count, epilogue.alpha);
  }
}

}  // namespace

bool has_sum(Epilogues epilogues) {
  return std::ranges::any_of(epilogues, [](const Epilogue& one) { return one.kind == Kind::kSum; });
}

void require_float(DType dtype, Epilogues epilogues) {
  if (epilogues.empty() || compute_type(dtype) == Compute::kFloat) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("an epilogue behind a layer of {} elements; expected sums in float32", dtype_name(dtype)));
}

void apply(Epilogues epilogues, float* values, const float* before, size_t count) {
  for (const Epilogue& epilogue : epilogues) apply_one(epilogue, values, before, count);
}

}  // namespace flambeau::kernels
