#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "flambeau/archive/pickle/reader.h"
#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/state_dict/persistent_ids.h"
#include "flambeau/formats/state_dict/torch_readers.h"

namespace flambeau {
namespace {

using pickle::Kind;
using pickle::Node;

// The number 0x1950a86a20f9469cfc6c as LONG1 stores it.
constexpr uint8_t kMagic[] = {0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};
constexpr int64_t kProtocolVersion = 1001;

struct Place {
  size_t offset = 0;
  size_t size = 0;
};

class LegacyStorages final : public PersistentSource {
 public:
  LegacyStorages(std::shared_ptr<Mapping> mapping, std::unordered_map<std::string_view, Place> places)
      : mapping_(std::move(mapping)), view_bytes_(mapping_->size()), places_(std::move(places)) {}

  std::variant<TypedStorage, Tensor> load(const Node& id, size_t) override {
    const StorageId parsed = parse_storage_id(id);
    const auto place = places_.find(parsed.key);
    if (place == places_.end()) {
      throw Error(ErrorCode::kCorrupt,
                  fmt::format("the storage '{}' is not in the file", printable(parsed.key)),
                  "the file is incomplete: get it again");
    }
    if (parsed.byte_count != place->second.size) {
      throw Error(ErrorCode::kCorrupt,
                  fmt::format("the storage '{}' should have {} bytes, the file has {}", printable(parsed.key),
                              parsed.byte_count, place->second.size));
    }
    std::shared_ptr<Storage> storage = root(parsed.key, place->second);
    if (parsed.view) storage = view(*parsed.view, place->second, dtype_size(parsed.dtype));
    return TypedStorage{std::move(storage), parsed.dtype, parsed.device, parsed.is_untyped};
  }

 private:
  std::shared_ptr<Storage> root(std::string_view key, const Place& place) {
    std::shared_ptr<Storage>& storage = loaded_[key];
    if (!storage) storage = Storage::view(mapping_, place.offset, place.size);
    return storage;
  }

  std::shared_ptr<Storage> view(const StorageId::View& part, const Place& place, size_t element_size) {
    std::shared_ptr<Storage>& storage = views_[part.key];
    if (storage) return storage;
    const auto size = static_cast<int64_t>(element_size);
    const int64_t begin = checked_mul(part.offset, size, "the offset of a storage's view");
    const int64_t bytes = checked_mul(part.size, size, "the size of a storage's view");
    if (static_cast<uint64_t>(begin) > place.size ||
        static_cast<uint64_t>(bytes) > place.size - static_cast<uint64_t>(begin)) {
      throw Error(ErrorCode::kCorrupt, fmt::format("a view of {} bytes at {} leaves its storage of {} bytes",
                                                   bytes, begin, place.size));
    }
    view_bytes_.charge(static_cast<uint64_t>(bytes));
    storage = Storage::view(mapping_, place.offset + static_cast<size_t>(begin), static_cast<size_t>(bytes));
    return storage;
  }

  std::shared_ptr<Mapping> mapping_;
  ViewBudget view_bytes_;
  // Keys are views into the tree's text, which lies in the mapping.
  std::unordered_map<std::string_view, Place> places_;
  std::unordered_map<std::string_view, std::shared_ptr<Storage>> loaded_;
  std::unordered_map<std::string_view, std::shared_ptr<Storage>> views_;
};

// The element sizes by key: the storages themselves say only how many elements they have.
std::unordered_map<std::string_view, size_t> element_sizes(const pickle::Tree& tree) {
  std::unordered_map<std::string_view, size_t> sizes;
  for (const Node* node : tree.persistents()) {
    const Node& id = *node->persistent_id();
    const bool is_storage = id.is(Kind::kTuple) && !id.items().empty() && id.items()[0]->is(Kind::kString) &&
                            id.items()[0]->as_string() == "storage";
    if (!is_storage) continue;  // ('module', class, ...): the source text of a class
    const StorageId parsed = parse_storage_id(id);
    sizes.emplace(parsed.key, dtype_size(parsed.dtype));
  }
  return sizes;
}

}  // namespace

bool looks_like_torch_legacy(ByteSpan bytes) {
  // PROTO 2, LONG1 of ten bytes, STOP; a later protocol puts a frame in between.
  const std::string_view magic(reinterpret_cast<const char*>(kMagic), sizeof kMagic);
  return bytes.size() > 14 && bytes[0] == 0x80 &&
         as_text(bytes.first(std::min<size_t>(bytes.size(), 32))).find(magic) != std::string_view::npos;
}

TorchFile read_torch_legacy(std::shared_ptr<Mapping> mapping, const PickleVisitor& visit) {
  ByteReader reader(mapping->bytes());
  const auto next_pickle = [&](std::string_view what) {
    const size_t start = reader.offset();
    try {
      pickle::Parsed parsed = pickle::parse(reader.whole().subspan(start), mapping);
      reader.skip(parsed.consumed, what);
      if (visit) visit(parsed.tree, what);
      return std::move(parsed.tree);
    } catch (Error& error) {
      error.add_location(std::string(what), fmt::format("at byte {}", start));
      throw;
    }
  };
  // Each of these trees may be large, so none is kept longer than needed.
  pickle::Tree head = next_pickle("magic number");
  if (!head.root()->is(Kind::kBigInt) || as_text(head.root()->as_big_int()) != as_text(kMagic)) {
    reader.fail_at(0, "the magic number of torch.save is missing");
  }
  head = {};
  head = next_pickle("protocol version");
  if (!head.root()->is(Kind::kInt) || head.root()->as_int() != kProtocolVersion) {
    throw Error(ErrorCode::kUnsupported, "an unknown version of torch.save's legacy form (1001 is expected)");
  }
  head = {};
  next_pickle("system information");
  pickle::Tree tree = next_pickle("object pickle");
  const pickle::Tree keys = next_pickle("storage keys");
  const std::unordered_map<std::string_view, size_t> sizes = element_sizes(tree);

  std::unordered_map<std::string_view, Place> places;
  for (const Node* key : keys.root()->items()) {
    const auto size = sizes.find(key->as_string());
    if (size == sizes.end()) {
      reader.fail(fmt::format("the storage '{}' belongs to no tensor", printable(key->as_string())));
    }
    const auto count = reader.le<int64_t>("the length of a storage");
    if (count < 0) reader.fail(fmt::format("a storage of {} elements", count));
    const int64_t bytes = checked_mul(count, static_cast<int64_t>(size->second), "the size of a storage");
    const size_t offset = reader.offset();
    reader.skip(static_cast<uint64_t>(bytes), "a storage");
    places[size->first] = {offset, static_cast<size_t>(bytes)};
  }
  const size_t end = reader.offset();
  return {std::move(tree), std::make_unique<LegacyStorages>(std::move(mapping), std::move(places)), end};
}

}  // namespace flambeau
