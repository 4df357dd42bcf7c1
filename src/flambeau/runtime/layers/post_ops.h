// What a layer does to each number of its result, as oneDNN knows it.
#pragma once

#include <span>
#include <vector>

#include "flambeau/kernels/onednn/onednn.h"
#include "flambeau/ops/mechanism/facts.h"

namespace flambeau::runtime {

std::vector<kernels::onednn::PostOp> to_post_ops(std::span<const ops::Epilogue> epilogues);

}  // namespace flambeau::runtime
