#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "flambeau/base/error.h"
#include "flambeau/base/work.h"
#include "flambeau/formats/checkpoint_builder.h"
#include "flambeau/formats/distributed/distributed.h"
#include "flambeau/formats/shards/shards.h"
#include "flambeau/formats/tensor_pieces.h"

namespace flambeau {
namespace {

using Entry = DistributedIndex::Entry;
using Piece = DistributedIndex::Piece;

std::string sizes_text(const Dims& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }

// The tensor that torch.save wrote there.
Tensor open_piece(const std::shared_ptr<Mapping>& file, const Entry& entry, const Piece& piece) {
  if (piece.offset > file->size() || piece.length > file->size() - piece.offset) {
    throw Error(ErrorCode::kCorrupt,
                fmt::format("a piece ends behind the end of the file ({} bytes)", file->size()),
                "the copy is not complete: copy or download the file again");
  }
  const std::shared_ptr<Mapping> inner =
      Mapping::part(file, file->mutable_bytes().subspan(piece.offset, piece.length));
  // Of no other kind: an index could lead back here.
  const RecognizedFile recognized = recognize_file(inner);
  if (recognized.kind != FileKind::kTorchSave) corrupt("a piece is not a file of torch.save");
  const Checkpoint saved = load_checkpoint(recognized, inner);
  if (saved.tensors().size() != 1) corrupt("a piece is not one tensor");
  Tensor tensor = saved.tensors()[0].tensor;
  if (tensor.layout() != Layout::kStrided || tensor.dtype() != entry.dtype || tensor.sizes() != piece.sizes) {
    corrupt(fmt::format("the index says {}{}, the piece is {}", dtype_name(entry.dtype),
                        sizes_text(piece.sizes), tensor.summary()));
  }
  if (tensor.is_meta() || tensor.storage()->size() < tensor.byte_count())
    corrupt("a piece has fewer bytes than elements");
  tensor.set_requires_grad(false);
  return tensor;
}

// Copies a piece, whose bytes are row-major, to its place in the whole.
void put_piece(const Entry& entry, const Piece& piece, ByteSpan from, std::vector<uint8_t>& whole) {
  const size_t dims = entry.sizes.size();
  // What lies in one run: the dimensions that the piece has whole, and the one before them.
  size_t outer = dims;
  auto run = static_cast<int64_t>(dtype_size(entry.dtype));
  while (outer > 0) {
    --outer;
    run *= piece.sizes[outer];
    if (piece.sizes[outer] != entry.sizes[outer]) break;
  }
  const Dims strides = contiguous_strides(entry.sizes);
  Dims at(outer, 0);
  for (size_t taken = 0; taken < from.size(); taken += static_cast<size_t>(run)) {
    int64_t place = 0;
    for (size_t d = 0; d < dims; ++d) place += (piece.offsets[d] + (d < outer ? at[d] : 0)) * strides[d];
    std::memcpy(whole.data() + static_cast<size_t>(place) * dtype_size(entry.dtype), from.data() + taken,
                static_cast<size_t>(run));
    for (size_t d = outer; d-- > 0;) {
      if (++at[d] < piece.sizes[d]) break;
      at[d] = 0;
    }
    poll_work();
  }
}

Tensor join(const Entry& entry, std::vector<Tensor> parts) {
  if (parts.size() == 1) return std::move(parts[0]);
  size_t bytes = 0;  // those of the pieces, which cover the tensor
  for (const Tensor& part : parts) bytes += part.byte_count();
  return Tensor::contiguous(
      entry.dtype, entry.sizes, Storage::lazy(bytes, [entry, parts, bytes] {
        std::vector<uint8_t> whole(bytes);
        for (size_t i = 0; i < parts.size(); ++i) {
          std::vector<uint8_t> packed;
          packed.reserve(parts[i].byte_count());
          emit_pieces(
              parts[i], [&](ByteSpan piece) { packed.insert(packed.end(), piece.begin(), piece.end()); },
              Progress::silent());
          put_piece(entry, entry.pieces[i], packed, whole);
        }
        return whole;
      }));
}

}  // namespace

Checkpoint read_distributed(const std::shared_ptr<Mapping>& index) {
  need_folder(*index);
  const DistributedIndex found = read_distributed_index(index);
  const std::filesystem::path folder = std::filesystem::path(index->path()).parent_path();
  std::vector<std::shared_ptr<Mapping>> files;
  for (const std::string& name : found.files) files.push_back(open_beside((folder / name).string()));
  NamedTensors tensors;
  tensors.reserve(found.tensors.size());
  for (const Entry& entry : found.tensors) {
    with_location("tensor", entry.name, [&] {
      std::vector<Tensor> parts;
      for (const Piece& piece : entry.pieces) {
        parts.push_back(with_location("file", found.files[piece.file], [&] {
          return files[piece.file]->reading([&] { return open_piece(files[piece.file], entry, piece); });
        }));
      }
      tensors.push_back({entry.name, join(entry, std::move(parts))});
    });
  }
  CheckpointExtras extras;
  if (!found.values.empty()) {
    extras.notes.push_back(fmt::format("{} values that are no tensors are left out, the first is '{}'",
                                       found.values.size(), printable(found.values.front())));
  }
  return CheckpointBuilder::from_named(std::move(tensors), std::move(extras));
}

}  // namespace flambeau
