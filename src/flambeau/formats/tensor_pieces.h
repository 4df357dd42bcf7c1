// A tensor's elements in packed order, delivered in pieces: contiguous ones from where they lie, others
// gathered block by block, so that no weight is copied whole.
#pragma once

#include <functional>

#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/progress.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau {

constexpr size_t kPieceBytes = 8U << 20;

// Calls `emit` with pieces of at most `piece` bytes, then advances `progress` by their size. The tensor has
// passed require_dense(). Throws what `emit` throws, Error(kCancelled), and what a lazy storage throws. What
// went out of a file that changed meanwhile ends in Error(kIo).
void emit_pieces(const Tensor& tensor, const std::function<void(ByteSpan)>& emit, Progress& progress,
                 size_t piece = kPieceBytes);
// The same for all of a storage.
void emit_pieces(const std::shared_ptr<Storage>& storage, const std::function<void(ByteSpan)>& emit,
                 Progress& progress, size_t piece = kPieceBytes);
void write_pieces(ByteSink& sink, const Tensor& tensor, Progress& progress);

// The same tensor for one pass over its values: what a lazy storage loads is then not kept in it, so that
// going through a model does not fill the memory with it.
Tensor for_one_pass(const Tensor& tensor);

// Throws Error(kUnsupported) with a remedy for a sparse, quantized or meta tensor, which a plain weights
// format ("safetensors", "npy") cannot hold, and Error(kInvalidArgument) for an undefined one.
void require_dense(const Tensor& tensor, std::string_view format);

}  // namespace flambeau
