#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "flambeau/archive/pickle/reader.h"
#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/base/work.h"
#include "flambeau/formats/description_budget.h"
#include "flambeau/formats/distributed/distributed.h"
#include "flambeau/formats/shards/shard_index.h"
#include "flambeau/tensor/dtype_words.h"

namespace flambeau {
namespace {

using pickle::Kind;
using pickle::Node;

constexpr std::string_view kModule = "torch.distributed.checkpoint.metadata";

bool is_object_of(const Node& node, std::string_view class_name) {
  return node.is(Kind::kCall) && node.as_call().callee->is(Kind::kGlobal) &&
         node.as_call().callee->as_global().name == class_name;
}

const Node* state_of(const Node& node, std::string_view class_name) {
  if (!is_object_of(node, class_name) || node.as_call().state == nullptr)
    corrupt(fmt::format("expected a {}, found {}", class_name, a_kind(node.kind())));
  return node.as_call().state;
}

// Null for a field that is not there: the class gives it a value.
const Node* find_field(const Node& object, std::string_view class_name, std::string_view name) {
  const Node* const found = state_of(object, class_name)->find(name);
  return found == nullptr || found->is(Kind::kNone) ? nullptr : found;
}

const Node& field(const Node& object, std::string_view class_name, std::string_view name) {
  if (const Node* const found = find_field(object, class_name, name)) return *found;
  corrupt(fmt::format("a {} has no '{}'", class_name, name));
}

// torch.Size([2, 3]).
Dims read_size(const Node& node) {
  if (!is_object_of(node, "Size") || !node.as_call().args->is(Kind::kTuple) ||
      node.as_call().args->items().size() != 1)
    corrupt(fmt::format("expected a torch.Size, found {}", a_kind(node.kind())));
  Dims dims;
  for (const Node* const item : node.as_call().args->items()[0]->items()) {
    const int64_t size = item->as_int();
    if (size < 0) corrupt(fmt::format("a size is {}", size));
    dims.push_back(size);
  }
  if (dims.size() > kMostDimensions)
    throw Error(ErrorCode::kLimit, fmt::format("it has {} dimensions", dims.size()));
  return dims;
}

uint64_t read_count(const Node& node) {
  const int64_t count = node.as_int();
  if (count < 0) corrupt(fmt::format("a number of bytes is {}", count));
  return static_cast<uint64_t>(count);
}

DType read_dtype(const Node& properties) {
  const Node* const state = state_of(properties, "TensorProperties");
  const Node* type = state->is(Kind::kTuple) && !state->items().empty() ? state->items()[0] : nullptr;
  if (state->is(Kind::kDict)) type = state->find("dtype");
  if (type == nullptr || !type->is(Kind::kGlobal)) corrupt("it has no element type");
  const std::string name = type->as_global().dotted();
  if (const std::optional<DType> dtype = parse_dtype(name)) return *dtype;
  throw Error(ErrorCode::kUnsupported, fmt::format("'{}' is not an element type", printable(name)));
}

int64_t elements_of(const Dims& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count = checked_mul<int64_t>(count, size, "the number of elements");
  return count;
}

bool overlap(const DistributedIndex::Piece& a, const DistributedIndex::Piece& b) {
  for (size_t d = 0; d < a.sizes.size(); ++d) {
    if (a.offsets[d] + a.sizes[d] <= b.offsets[d] || b.offsets[d] + b.sizes[d] <= a.offsets[d]) return false;
  }
  return true;
}

// Each inside of the tensor, as many elements in all, and no two with one in common.
void need_cover(const DistributedIndex::Entry& entry) {
  int64_t covered = 0;
  for (size_t i = 0; i < entry.pieces.size(); ++i) {
    const DistributedIndex::Piece& piece = entry.pieces[i];
    if (piece.offsets.size() != entry.sizes.size() || piece.sizes.size() != entry.sizes.size())
      corrupt("a piece has another number of dimensions");
    for (size_t d = 0; d < entry.sizes.size(); ++d) {
      if (piece.offsets[d] > entry.sizes[d] || piece.sizes[d] > entry.sizes[d] - piece.offsets[d])
        corrupt("a piece lies outside of the tensor");
    }
    covered = checked_add<int64_t>(covered, elements_of(piece.sizes), "the number of elements");
    for (size_t j = 0; j < i; ++j) {
      if (elements_of(piece.sizes) > 0 && overlap(piece, entry.pieces[j])) corrupt("two pieces overlap");
    }
    poll_work();
  }
  const int64_t wanted = elements_of(entry.sizes);
  if (covered != wanted)
    corrupt(fmt::format("the pieces have {} elements, the tensor has {}", covered, wanted));
}

class DistributedIndexReader {
 public:
  explicit DistributedIndexReader(const std::shared_ptr<Mapping>& index)
      : budget_(index->size()), parsed_(pickle::parse(index->bytes(), index)) {}

  DistributedIndex read() {
    const Node& root = *parsed_.tree.root();
    read_places(field(root, "Metadata", "storage_data"));
    std::set<std::string_view> names;
    for (const auto& [key, value] : field(root, "Metadata", "state_dict_metadata").pairs()) {
      const std::string name(key->as_string());
      if (!names.insert(key->as_string()).second) corrupt("two tensors have one name");
      budget_.charge(4 * name.size() + 512);
      with_location("tensor", name, [&] { read_entry(name, *value); });
    }
    need_disjoint();
    return std::move(index_);
  }

 private:
  using Place = DistributedIndex::Saved;
  using Key = std::pair<std::string, std::vector<int64_t>>;  // a tensor and where in it

  void read_places(const Node& storage) {
    for (const auto& [key, value] : storage.pairs()) {
      const std::string name(field(*key, "MetadataIndex", "fqn").as_string());
      with_location("tensor", name, [&] {
        const Node* const offset = find_field(*key, "MetadataIndex", "offset");
        const Dims at = offset == nullptr ? Dims() : read_size(*offset);
        budget_.charge(2 * name.size() + 512);
        if (find_field(*value, "_StorageInfo", "transform_descriptors") != nullptr) {
          throw Error(ErrorCode::kUnsupported, "its bytes were transformed when they were written",
                      "write the checkpoint without extensions such as compression");
        }
        const Place place = {file_number(field(*value, "_StorageInfo", "relative_path")),
                             read_count(field(*value, "_StorageInfo", "offset")),
                             read_count(field(*value, "_StorageInfo", "length"))};
        if (!places_.emplace(Key{name, {at.begin(), at.end()}}, place).second)
          corrupt("a piece is named twice");
      });
    }
  }

  void read_entry(const std::string& name, const Node& description) {
    if (is_object_of(description, "BytesStorageMetadata")) {
      index_.values.push_back(name);
      return;
    }
    DistributedIndex::Entry entry;
    entry.name = name;
    entry.dtype = read_dtype(field(description, "TensorStorageMetadata", "properties"));
    entry.sizes = read_size(field(description, "TensorStorageMetadata", "size"));
    for (const Node* const chunk : field(description, "TensorStorageMetadata", "chunks").items()) {
      budget_.charge(512);
      DistributedIndex::Piece piece;
      piece.offsets = read_size(field(*chunk, "ChunkStorageMetadata", "offsets"));
      piece.sizes = read_size(field(*chunk, "ChunkStorageMetadata", "sizes"));
      const auto found = places_.find({name, {piece.offsets.begin(), piece.offsets.end()}});
      if (found == places_.end()) corrupt("the index does not say where a piece is");
      piece.file = found->second.file;
      piece.offset = found->second.offset;
      piece.length = found->second.length;
      entry.pieces.push_back(std::move(piece));
    }
    need_cover(entry);
    index_.tensors.push_back(std::move(entry));
  }

  size_t file_number(const Node& path) {
    const std::string name(path.as_string());
    const auto [found, is_new] = files_.try_emplace(name, index_.files.size());
    if (is_new) {
      need_plain_name(name);
      budget_.charge(4 * name.size() + 256);
      index_.files.push_back(name);
    }
    return found->second;
  }

  // A few bytes must not become many tensors.
  void need_disjoint() {
    std::vector<Place>& places = index_.saved;
    for (const auto& [key, place] : places_) places.push_back(place);
    std::ranges::sort(places, {}, [](const Place& place) { return std::pair(place.file, place.offset); });
    for (size_t i = 1; i < places.size(); ++i) {
      const Place& before = places[i - 1];
      if (before.file == places[i].file && before.length > places[i].offset - before.offset) {
        throw Error(ErrorCode::kCorrupt, "two pieces lie in the same bytes")
            .add_location("file", index_.files[before.file]);
      }
    }
  }

  DescriptionBudget budget_;
  pickle::Parsed parsed_;
  DistributedIndex index_;
  std::map<Key, Place> places_;
  std::unordered_map<std::string, size_t> files_;
};

}  // namespace

// PROTO, perhaps FRAME, and the name of the module as a text.
bool looks_like_distributed_index(ByteSpan bytes) {
  if (bytes.size() < 64 || bytes[0] != 0x80 || bytes.back() != '.') return false;
  const std::string_view start = as_text(bytes.first(std::min<size_t>(bytes.size(), 128)));
  const size_t at = start.find(kModule);
  if (at == std::string_view::npos || at > 20) return false;
  const std::string_view behind = start.substr(at + kModule.size());
  return behind.substr(0, 16).find("Metadata") != std::string_view::npos;
}

DistributedIndex read_distributed_index(const std::shared_ptr<Mapping>& index) {
  return DistributedIndexReader(index).read();
}

}  // namespace flambeau
