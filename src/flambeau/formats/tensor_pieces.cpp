#include "flambeau/formats/tensor_pieces.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/tensor/elements/strided_copy.h"

namespace flambeau {
namespace {

using Emit = std::function<void(ByteSpan)>;

class Gatherer {
 public:
  Gatherer(ByteSpan from, size_t element_size, const Emit& emit, Progress& progress, size_t piece)
      : from_(from), element_size_(element_size), emit_(emit), progress_(progress), piece_(piece) {}

  // Cuts along the first dimension that has more than one index. Each level has at least two, so the depth
  // stays below 64 whatever the rank.
  void gather(Geometry geometry) {
    size_t first = 0;
    while (first < geometry.sizes.size() && geometry.sizes[first] == 1) ++first;
    const std::span<const int64_t> sizes = geometry.sizes;
    const std::span<const int64_t> strides = geometry.strides;
    const Dims inner_sizes = sizes.subspan(std::min(first + 1, sizes.size()));
    const Dims inner_strides = strides.subspan(std::min(first + 1, sizes.size()));
    const size_t row = static_cast<size_t>(element_count(inner_sizes)) * element_size_;
    if (first == sizes.size() || row * static_cast<size_t>(sizes[first]) <= piece_) {
      return copy({sizes.subspan(first), strides.subspan(first), geometry.offset});
    }
    Geometry block{sizes.subspan(first), strides.subspan(first), geometry.offset};
    const int64_t rows = static_cast<int64_t>(std::max<size_t>(piece_ / row, 1));
    for (int64_t at = 0; at < sizes[first]; at += rows) {
      const int64_t offset = geometry.offset + at * strides[first];
      if (row > piece_) {
        gather({inner_sizes, inner_strides, offset});
        continue;
      }
      block.sizes[0] = std::min(rows, sizes[first] - at);
      block.offset = offset;
      copy(block);
    }
  }

 private:
  void copy(const Geometry& geometry) {
    buffer_.resize(static_cast<size_t>(element_count(geometry.sizes)) * element_size_);
    copy_strided(from_, geometry, element_size_, buffer_);
    emit_(buffer_);
    advance_or_cancel(progress_, buffer_.size());
  }

  ByteSpan from_;
  size_t element_size_;
  const Emit& emit_;
  Progress& progress_;
  size_t piece_;
  std::vector<uint8_t> buffer_;
};

// Writing from a hole in a file fails as if the target were at fault: the source is asked in any case.
template <typename Body>
void while_unchanged(const Storage& source, Body&& body) {
  try {
    body();
  } catch (const Error&) {
    source.check_unchanged();
    throw;
  }
  source.check_unchanged();
}

void emit_bytes(ByteSpan bytes, const Emit& emit, Progress& progress, size_t piece) {
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const ByteSpan part = bytes.subspan(at, std::min(piece, bytes.size() - at));
    emit(part);
    advance_or_cancel(progress, part.size());
  }
}

}  // namespace

void emit_pieces(const std::shared_ptr<Storage>& storage, const Emit& emit, Progress& progress,
                 size_t piece) {
  const std::shared_ptr<const Storage> source = Storage::ready(storage);
  while_unchanged(*source, [&] { emit_bytes(source->bytes(), emit, progress, piece); });
}

void emit_pieces(const Tensor& tensor, const Emit& emit, Progress& progress, size_t piece) {
  if (tensor.element_count() == 0) return;
  const std::shared_ptr<const Storage> source = Storage::ready(tensor.storage());
  while_unchanged(*source, [&] {
    if (!tensor.is_contiguous()) {
      Gatherer(source->bytes(), tensor.element_size(), emit, progress, piece).gather(tensor.geometry());
      return;
    }
    const size_t begin = static_cast<size_t>(tensor.offset()) * tensor.element_size();
    emit_bytes(source->bytes().subspan(begin, tensor.byte_count()), emit, progress, piece);
  });
}

void write_pieces(ByteSink& sink, const Tensor& tensor, Progress& progress) {
  emit_pieces(tensor, [&](ByteSpan part) { sink.write(part); }, progress);
}

Tensor for_one_pass(const Tensor& tensor) {
  if (tensor.layout() != Layout::kStrided || tensor.is_meta() || tensor.storage()->is_ready()) return tensor;
  Tensor passing = tensor;
  passing.set_storage(std::const_pointer_cast<Storage>(Storage::ready(tensor.storage())), tensor.offset());
  return passing;
}

void require_dense(const Tensor& tensor, std::string_view format) {
  if (!tensor.defined()) {
    throw Error(ErrorCode::kInvalidArgument, "an undefined tensor cannot be saved");
  }
  if (tensor.layout() != Layout::kStrided) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} is sparse, {} holds dense tensors only", tensor.summary(), format),
                "make it dense first, or save a .pt file");
  }
  if (dtype_info(tensor.dtype()).is_quantized) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} is quantized, {} has no place for its scales", tensor.summary(), format),
                "dequantize it first, or save a .pt file");
  }
  if (tensor.is_meta() || tensor.storage()->is_meta()) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} is on the meta device and has no data to save", tensor.summary()),
                "load its weights first");
  }
}

}  // namespace flambeau
