#include "flambeau/formats/digest.h"

#include <algorithm>

#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/tensor_pieces.h"

namespace flambeau {

std::optional<Sha256::Digest> digest_of(const Tensor& tensor, Progress& progress) {
  if (tensor.layout() != Layout::kStrided || tensor.is_meta() || tensor.quantizer() != nullptr)
    return std::nullopt;
  Sha256 hash;
  emit_pieces(tensor, [&](ByteSpan piece) { hash.add(piece); }, progress);
  return hash.finish();
}

Sha256::Digest digest_of(const Mapping& mapping, Progress& progress) {
  Sha256 hash;
  mapping.reading([&] {
    for (ByteSpan rest = mapping.bytes(); !rest.empty();) {
      const ByteSpan piece = rest.first(std::min(rest.size(), kPieceBytes));
      hash.add(piece);
      advance_or_cancel(progress, piece.size());
      rest = rest.subspan(piece.size());
    }
  });
  return hash.finish();
}

}  // namespace flambeau
