#include <fmt/format.h>

#include <unordered_map>

#include "flambeau/base/error.h"
#include "flambeau/formats/record_pickle.h"
#include "flambeau/formats/state_dict/persistent_ids.h"
#include "flambeau/formats/state_dict/torch_readers.h"
#include "flambeau/tensor/elements/byte_order.h"

namespace flambeau {
namespace {

class ZipStorages final : public PersistentSource {
 public:
  ZipStorages(std::shared_ptr<const RecordArchive> archive, std::string_view folder,
              std::shared_ptr<SharedZipStorages> shared)
      : archive_(std::move(archive)),
        folder_(folder),
        loaded_(shared != nullptr ? std::move(shared) : std::make_shared<SharedZipStorages>()),
        is_big_endian_(archive_->byteorder() == ByteOrder::kBig) {}

  std::variant<TypedStorage, Tensor> load(const pickle::Node& id, size_t word) override {
    const StorageId parsed = parse_storage_id(id);
    if (word == 0) word = dtype_info(parsed.dtype).word;
    auto found = loaded_->by_key.find(std::string(parsed.key));
    if (found == loaded_->by_key.end()) {
      found = loaded_->by_key.emplace(parsed.key, open(parsed, word)).first;
    } else if (found->second->size() != parsed.byte_count) {
      throw Error(ErrorCode::kCorrupt,
                  fmt::format("storage '{}' is said to have {} bytes and {} bytes", printable(parsed.key),
                              found->second->size(), parsed.byte_count));
    }
    return TypedStorage{found->second, parsed.dtype, parsed.device, parsed.is_untyped};
  }

 private:
  std::shared_ptr<Storage> open(const StorageId& id, size_t word) const {
    const std::string name = fmt::format("{}/{}", folder_, id.key);
    const zip::Entry* entry = archive_->find(name);
    // The first mobile modules of version 5 have whole names for keys: "constants/0".
    if (entry == nullptr && id.key.starts_with(folder_ + "/")) entry = archive_->find(id.key);
    // TorchScript writes an empty record for what has no bytes, torch.save none.
    if (id.device.is_meta() && (entry == nullptr || entry->size == 0)) return Storage::meta(id.byte_count);
    if (entry == nullptr) {
      if (id.byte_count == 0) return Storage::allocate(0);
      throw Error(ErrorCode::kCorrupt,
                  fmt::format("the record '{}' of a storage is missing", printable(name)),
                  "the file is incomplete: get it again");
    }
    if (entry->size != id.byte_count) {
      throw Error(ErrorCode::kCorrupt, fmt::format("the storage should have {} bytes, its record has {}",
                                                   id.byte_count, entry->size))
          .add_location("record", name);
    }
    const bool is_stored = entry->method == zip::Method::kStored;
    if (is_stored && !(is_big_endian_ && word > 1)) {
      return Storage::view(archive_->zip().mapping(), entry->data_offset, entry->size);
    }
    return Storage::lazy(entry->size, [archive = archive_, entry, word, is_big_endian = is_big_endian_] {
      std::vector<uint8_t> bytes = archive->zip().read(*entry);
      if (is_big_endian) swap_byte_order(bytes, word);
      return bytes;
    });
  }

  std::shared_ptr<const RecordArchive> archive_;
  std::string folder_;
  std::shared_ptr<SharedZipStorages> loaded_;
  bool is_big_endian_;
};

}  // namespace

TorchFile read_torch_zip(std::shared_ptr<const RecordArchive> archive, std::string_view pickle,
                         std::string_view storages, std::shared_ptr<SharedZipStorages> shared) {
  pickle::Tree tree = read_record_pickle(archive->zip(), archive->get(pickle), pickle);
  auto source = std::make_unique<ZipStorages>(std::move(archive), storages, std::move(shared));
  return {std::move(tree), std::move(source)};
}

}  // namespace flambeau
