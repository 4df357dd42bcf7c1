#include "flambeau/script/printer/tensor_key.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "flambeau/base/sha256.h"

namespace flambeau::script {

namespace {

// Adds numbers of one floating type, given by the bits of its exponent and by its sign. False for a NaN.
template <typename Bits>
bool add_floats(Sha256& sum, ByteSpan bytes, Bits exponent, Bits sign) {
  std::array<Bits, 256> piece;
  size_t count = 0;
  for (size_t at = 0; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + at, sizeof(Bits));
    const auto magnitude = static_cast<Bits>(bits & static_cast<Bits>(~sign));
    if (magnitude > exponent) return false;
    piece[count++] = magnitude == 0 ? Bits{0} : bits;
    if (count == piece.size() || at + 2 * sizeof(Bits) > bytes.size()) {
      sum.add({reinterpret_cast<const uint8_t*>(piece.data()), count * sizeof(Bits)});
      count = 0;
    }
  }
  return true;
}

bool add_values(Sha256& sum, const DTypeInfo& info, ByteSpan bytes) {
  if (!info.is_floating && !info.is_complex) {
    sum.add(bytes);
    return true;
  }
  if (info.dtype == DType::kBFloat16) return add_floats<uint16_t>(sum, bytes, 0x7f80, 0x8000);
  switch (info.word) {
    case 2:
      return add_floats<uint16_t>(sum, bytes, 0x7c00, 0x8000);
    case 4:
      return add_floats<uint32_t>(sum, bytes, 0x7f800000, 0x80000000);
    case 8:
      return add_floats<uint64_t>(sum, bytes, uint64_t{0x7ff} << 52, uint64_t{1} << 63);
    default:
      return false;
  }
}

}  // namespace

std::optional<std::string> tensor_key(const Tensor& tensor) {
  if (!tensor.defined() || tensor.layout() != Layout::kStrided || tensor.is_meta() || tensor.is_traced()) {
    return {};
  }
  std::string key = fmt::format("{} {}", static_cast<int>(tensor.dtype()), tensor.device().to_string());
  if (const Quantizer* quantizer = tensor.quantizer()) {
    if (quantizer->is_per_channel()) return {};
    key += fmt::format(" {} {} {}", static_cast<int>(quantizer->scheme), quantizer->scale,
                       quantizer->zero_point);
  }
  for (const int64_t size : tensor.sizes()) key += fmt::format(" {}", size);
  Sha256 sum;
  const Tensor contiguous = tensor.to_contiguous();
  if (!add_values(sum, dtype_info(tensor.dtype()), contiguous.contiguous_bytes())) return {};
  return key + " " + to_hex(sum.finish());
}

}  // namespace flambeau::script
