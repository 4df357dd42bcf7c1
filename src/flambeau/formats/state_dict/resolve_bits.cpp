#include "flambeau/formats/state_dict/resolve_bits.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

// Flips the sign bit of every `step`-th word of `word` bytes, starting at the `first`.
void flip_signs(std::vector<uint8_t>& bytes, size_t word, size_t first, size_t step) {
  for (size_t at = first * word; at + word <= bytes.size(); at += step * word) bytes[at + word - 1] ^= 0x80;
}

// Two's complement: the numbers wrap, as in PyTorch.
void negate_integers(std::vector<uint8_t>& bytes, size_t word) {
  for (size_t at = 0; at + word <= bytes.size(); at += word) {
    unsigned carry = 1;
    for (size_t i = at; i < at + word; ++i) {
      carry += static_cast<uint8_t>(~bytes[i]);
      bytes[i] = static_cast<uint8_t>(carry);
      carry >>= 8;
    }
  }
}

// The kinds of numbers whose sign is a bit: not the 8-bit floats, of which some have no zero below zero.
bool has_sign_bit(const DTypeInfo& info) { return info.is_complex || (info.is_floating && info.size > 1); }
bool is_integer(const DTypeInfo& info) {
  return info.name.starts_with("int") || info.name.starts_with("uint");
}

}  // namespace

Tensor BitResolver::resolve(const Tensor& tensor, bool conjugate, bool negate) {
  if (!conjugate && !negate) return tensor;
  const DTypeInfo& info = dtype_info(tensor.dtype());
  if ((conjugate && !info.is_complex) || (negate && !has_sign_bit(info) && !is_integer(info))) {
    throw Error(ErrorCode::kCorrupt, fmt::format("a tensor of {} cannot be marked as {}", info.name,
                                                 conjugate ? "conjugate" : "negative"));
  }
  if (tensor.is_meta()) return tensor;  // no values, no signs
  Resolved& entry = resolved_[{tensor.storage().get(), tensor.dtype(), conjugate, negate}];
  if (!entry.storage) {
    entry.original = tensor.storage();
    entry.storage =
        Storage::lazy(tensor.storage()->size(), [original = tensor.storage(), &info, conjugate, negate] {
          const ByteSpan stored = original->bytes();
          std::vector<uint8_t> bytes(stored.begin(), stored.end());
          original->check_unchanged();
          if (conjugate) flip_signs(bytes, info.word, 1, 2);
          if (negate && has_sign_bit(info)) flip_signs(bytes, info.word, 0, 1);
          if (negate && is_integer(info)) negate_integers(bytes, info.word);
          return bytes;
        });
  }
  Tensor result = Tensor::strided(tensor.dtype(), tensor.geometry(), entry.storage, tensor.device());
  result.set_requires_grad(tensor.requires_grad());
  return result;
}

}  // namespace flambeau
