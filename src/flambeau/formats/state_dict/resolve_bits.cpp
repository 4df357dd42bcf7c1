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

Tensor resolve_bits(const Tensor& tensor, bool conjugate, bool negate) {
  if (!conjugate && !negate) return tensor;
  const DTypeInfo& info = dtype_info(tensor.dtype());
  if ((conjugate && !info.is_complex) || (negate && !info.is_complex && !info.is_floating)) {
    throw Error(ErrorCode::kCorrupt, fmt::format("a {} tensor cannot be marked as {}", info.name,
                                                 conjugate ? "conjugate" : "negative"));
  }
  std::shared_ptr<Storage> resolved =
      Storage::lazy(tensor.byte_count(), [tensor, word = size_t{info.word}, conjugate, negate] {
        const Tensor contiguous = tensor.to_contiguous();
        const ByteSpan packed = contiguous.contiguous_bytes();
        std::vector<uint8_t> bytes(packed.begin(), packed.end());
        if (conjugate) flip_signs(bytes, word, 1, 2);
        if (negate) flip_signs(bytes, word, 0, 1);
        return bytes;
      });
  Tensor result = Tensor::contiguous(tensor.dtype(), tensor.sizes(), std::move(resolved));
  result.set_device(tensor.device());
  result.set_requires_grad(tensor.requires_grad());
  return result;
}

}  // namespace flambeau
