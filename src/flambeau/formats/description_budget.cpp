#include "flambeau/formats/description_budget.h"

#include <algorithm>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

constexpr uint64_t kFree = 24ULL << 20;
constexpr uint64_t kTensor = 1024;

}  // namespace

DescriptionBudget::DescriptionBudget(uint64_t file_size, uint64_t factor)
    : left_(kFree + factor * std::min<uint64_t>(file_size, 1ULL << 48)) {}

void DescriptionBudget::charge(const Tensor& tensor, std::string_view name) {
  uint64_t bytes = kTensor + 2 * name.size();
  // Long shapes live outside of the tensor, in every copy of it.
  if (tensor.dim() > 6) bytes += 48 * tensor.dim();
  if (tensor.quantizer() != nullptr) bytes += kTensor;
  if (tensor.sparse_parts() != nullptr) bytes += 2 * kTensor;
  charge(bytes);
}

void DescriptionBudget::charge(uint64_t bytes) {
  if (bytes > left_) {
    throw Error(ErrorCode::kLimit, "describes too many tensors for its size",
                "a file that PyTorch wrote has at least 100 bytes for each tensor");
  }
  left_ -= bytes;
}

}  // namespace flambeau
