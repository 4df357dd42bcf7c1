#include "flambeau/runtime/layers/post_ops.h"

namespace flambeau::runtime {

using kernels::onednn::PostOp;

std::vector<PostOp> to_post_ops(std::span<const ops::Epilogue> epilogues) {
  using K = PostOp::Kind;
  // In the order of the epilogues' kinds.
  static constexpr K kKinds[] = {K::kRelu, K::kClip,    K::kGeluErf,   K::kGeluTanh, K::kSilu,
                                 K::kTanh, K::kSigmoid, K::kHardSwish, K::kSum};
  static_assert(std::size(kKinds) == static_cast<size_t>(ops::Epilogue::Kind::kSum) + 1);
  std::vector<PostOp> made;
  for (const ops::Epilogue& epilogue : epilogues) {
    made.push_back(
        {.kind = kKinds[static_cast<size_t>(epilogue.kind)], .alpha = epilogue.alpha, .beta = epilogue.beta});
  }
  return made;
}

}  // namespace flambeau::runtime
