#include "flambeau/formats/state_dict/resolve_bits.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

// Flips the sign bit of every `step`-th word of `word` bytes, starting at the `first`.
void flip_signs(std::vector<uint8_t>& bytes, size_t word, size_t first, size_t step) {
  for (size_t at = first * word; at + word <= bytes.size(); at += step * word) bytes[at + word - 1] ^= 0x80;
}

}  // namespace

Tensor BitResolver::resolve(const Tensor& tensor, bool conjugate, bool negate) {
  if (!conjugate && !negate) return tensor;
  const DTypeInfo& info = dtype_info(tensor.dtype());
  if ((conjugate && !info.is_complex) || (negate && !info.is_complex && !info.is_floating) ||
      info.per_byte > 1) {
    throw Error(ErrorCode::kCorrupt, fmt::format("a {} tensor cannot be marked as {}", info.name,
                                                 conjugate ? "conjugate" : "negative"));
  }
  if (tensor.is_meta()) return tensor;  // no values, no signs
  Resolved& entry = resolved_[{tensor.storage().get(), tensor.dtype(), conjugate, negate}];
  if (!entry.storage) {
    entry.original = tensor.storage();
    entry.storage = Storage::lazy(tensor.storage()->size(),
                                  [original = tensor.storage(), word = size_t{info.word}, conjugate, negate] {
                                    const ByteSpan stored = original->bytes();
                                    std::vector<uint8_t> bytes(stored.begin(), stored.end());
                                    if (conjugate) flip_signs(bytes, word, 1, 2);
                                    if (negate) flip_signs(bytes, word, 0, 1);
                                    return bytes;
                                  });
  }
  Tensor result = Tensor::strided(tensor.dtype(), tensor.geometry(), entry.storage, tensor.device());
  result.set_requires_grad(tensor.requires_grad());
  return result;
}

}  // namespace flambeau
