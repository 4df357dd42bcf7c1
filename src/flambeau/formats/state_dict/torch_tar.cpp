#include <fmt/format.h>

#include <unordered_map>

#include "flambeau/archive/pickle/reader.h"
#include "flambeau/archive/tar_reader.h"
#include "flambeau/base/checked.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/description_budget.h"
#include "flambeau/formats/state_dict/persistent_ids.h"
#include "flambeau/formats/state_dict/torch_readers.h"

namespace flambeau {
namespace {

using pickle::Kind;
using pickle::Node;

// Keys were memory addresses: whole numbers, or texts of them.
std::string key_of(const Node& node) {
  return node.is(Kind::kInt) ? std::to_string(node.as_int()) : std::string(node.as_string());
}

class TarContents final : public PersistentSource {
 public:
  std::unordered_map<std::string, TypedStorage> storages;
  std::unordered_map<std::string, Tensor> tensors;

  std::variant<TypedStorage, Tensor> load(const Node& id, size_t) override {
    // A tensor's key; or the whole id of a storage, as in the later forms.
    const std::string key = id.is(Kind::kTuple) ? std::string(parse_storage_id(id).key) : key_of(id);
    if (const auto tensor = tensors.find(key); tensor != tensors.end()) return tensor->second;
    return storage(key);
  }

  const TypedStorage& storage(const std::string& key) const {
    const auto found = storages.find(key);
    if (found == storages.end()) {
      throw Error(ErrorCode::kCorrupt, fmt::format("nothing is stored under the key '{}'", printable(key)),
                  "the file is incomplete: get it again");
    }
    return found->second;
  }
};

class TarReader {
 public:
  TarReader(std::shared_ptr<Mapping> mapping, const PickleVisitor& visit)
      : mapping_(std::move(mapping)), visit_(visit) {}

  TorchFile read() {
    for (const tar::Member& member : tar::read_members(mapping_->bytes())) {
      if (member.name == "storages") storages_ = member;
      if (member.name == "tensors") tensors_ = member;
      if (member.name == "pickle") pickle_ = member;
    }
    if (pickle_.name.empty() || storages_.name.empty()) {
      throw Error(ErrorCode::kCorrupt, "a tar archive without the members 'pickle' and 'storages'");
    }
    with_location("record", "storages", [&] { read_storages(); });
    with_location("record", "tensors", [&] { read_tensors(); });
    pickle::Tree tree = with_location("record", "pickle", [&] {
      ByteReader reader(pickle_.data, pickle_.offset);
      return next_pickle(reader, "pickle");
    });
    return {std::move(tree), std::move(contents_)};
  }

 private:
  pickle::Tree next_pickle(ByteReader& reader, std::string_view place) {
    pickle::Parsed parsed = pickle::parse(reader.whole().subspan(reader.offset()), mapping_);
    reader.skip(parsed.consumed, "a pickle");
    if (visit_) visit_(parsed.tree, place);
    return std::move(parsed.tree);
  }

  void read_storages() {
    ByteReader reader(storages_.data, storages_.offset);
    const int64_t count = next_pickle(reader, "storages").root()->as_int();
    for (int64_t i = 0; i < count; ++i) {
      const pickle::Tree tree = next_pickle(reader, "storages");  // (key, location, class)
      const std::span<Node* const> parts = tree.root()->items();
      if (parts.size() != 3) reader.fail("the description of a storage has 3 parts");
      const DType dtype = storage_class_from_node(*parts[2]).dtype;
      const std::optional<Device> device = parse_device(parts[1]->as_string());
      if (!device) reader.fail(fmt::format("'{}' is not a device", printable(parts[1]->as_string())));
      const auto elements = reader.le<int64_t>("the length of a storage");
      if (elements < 0) reader.fail(fmt::format("a storage of {} elements", elements));
      const int64_t bytes =
          checked_mul(elements, static_cast<int64_t>(dtype_size(dtype)), "the size of a storage");
      const size_t offset = storages_.offset + reader.offset();
      reader.skip(static_cast<uint64_t>(bytes), "a storage");
      contents_->storages[key_of(*parts[0])] =
          TypedStorage{Storage::view(mapping_, offset, static_cast<size_t>(bytes)), dtype, *device, false};
    }
    if (!reader.at_end()) read_storage_views(reader);
  }

  // [(key, key of the whole, offset, elements), ...]
  void read_storage_views(ByteReader& reader) {
    const pickle::Tree tree = next_pickle(reader, "storages");
    ViewBudget view_bytes(mapping_->size());
    for (const Node* node : tree.root()->items()) {
      const std::span<Node* const> parts = node->items();
      if (parts.size() != 4) reader.fail("the description of a storage's view has 4 parts");
      const TypedStorage& whole = contents_->storage(key_of(*parts[1]));
      const auto size = static_cast<int64_t>(dtype_size(whole.dtype));
      const int64_t begin = checked_mul(parts[2]->as_int(), size, "the offset of a storage's view");
      const int64_t bytes = checked_mul(parts[3]->as_int(), size, "the size of a storage's view");
      if (begin < 0 || bytes < 0 || static_cast<uint64_t>(begin) > whole.storage->size() ||
          static_cast<uint64_t>(bytes) > whole.storage->size() - static_cast<uint64_t>(begin)) {
        reader.fail("a view leaves its storage");
      }
      view_bytes.charge(static_cast<uint64_t>(bytes));
      const auto offset =
          static_cast<size_t>(whole.storage->bytes().data() - mapping_->bytes().data() + begin);
      contents_->storages[key_of(*parts[0])] = TypedStorage{
          Storage::view(mapping_, offset, static_cast<size_t>(bytes)), whole.dtype, whole.device, false};
    }
  }

  void read_tensors() {
    if (tensors_.name.empty()) return;  // the pickle describes its tensors itself
    ByteReader reader(tensors_.data, tensors_.offset);
    const int64_t count = next_pickle(reader, "tensors").root()->as_int();
    for (int64_t i = 0; i < count; ++i) {
      const pickle::Tree tree = next_pickle(reader, "tensors");  // (key, key of the storage, class)
      const std::span<Node* const> parts = tree.root()->items();
      if (parts.size() != 3) reader.fail("the description of a tensor has 3 parts");
      const auto rank = reader.le<int32_t>("the rank of a tensor");
      reader.skip(4, "the rank of a tensor");
      if (rank < 0 || static_cast<size_t>(rank) > kMostDimensions)
        reader.fail(fmt::format("a tensor of {} dimensions", rank));
      Geometry geometry;
      for (Dims* dims : {&geometry.sizes, &geometry.strides}) {
        dims->resize(static_cast<size_t>(rank));
        for (int64_t& value : *dims) value = reader.le<int64_t>("the shape of a tensor");
      }
      geometry.offset = reader.le<int64_t>("the offset of a tensor");
      const TypedStorage& typed = contents_->storage(key_of(*parts[1]));
      contents_->tensors[key_of(*parts[0])] =
          Tensor::strided(typed.dtype, std::move(geometry), typed.storage, typed.device);
    }
  }

  std::shared_ptr<Mapping> mapping_;
  const PickleVisitor& visit_;
  tar::Member storages_, tensors_, pickle_;
  std::unique_ptr<TarContents> contents_ = std::make_unique<TarContents>();
};

}  // namespace

bool looks_like_torch_tar(ByteSpan bytes) { return tar::looks_like_tar(bytes); }

TorchFile read_torch_tar(std::shared_ptr<Mapping> mapping, const PickleVisitor& visit) {
  return TarReader(std::move(mapping), visit).read();
}

}  // namespace flambeau
