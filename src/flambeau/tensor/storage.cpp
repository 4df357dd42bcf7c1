#include "flambeau/tensor/storage.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"

namespace flambeau {
namespace {

// First touches of fresh memory cost more than filling it; pages of 2 MiB make them rare. Only a hint.
void ask_for_huge_pages([[maybe_unused]] uint8_t* memory, [[maybe_unused]] size_t size) {
#if defined(MADV_HUGEPAGE)
  constexpr size_t kPage = size_t{1} << 21;
  if (size < 2 * kPage) return;
  const size_t skip = (kPage - reinterpret_cast<uintptr_t>(memory) % kPage) % kPage;
  madvise(memory + skip, (size - skip) / kPage * kPage, MADV_HUGEPAGE);
#endif
}

}  // namespace

std::shared_ptr<Storage> Storage::view(std::shared_ptr<Mapping> mapping, size_t offset, size_t size) {
  if (offset > mapping->size() || size > mapping->size() - offset) {
    throw Error(ErrorCode::kCorrupt,
                fmt::format("a storage of {} bytes at byte {} leaves its file of {} bytes", size, offset,
                            mapping->size()));
  }
  std::shared_ptr<Storage> storage(new Storage(Kind::kView, size));
  storage->data_ = mapping->mutable_bytes().data() + offset;
  storage->mapping_ = std::move(mapping);
  return storage;
}

std::shared_ptr<Storage> Storage::allocated(size_t size, uint8_t* (*take)(size_t size)) {
  require_memory(size);
  std::shared_ptr<Storage> storage(new Storage(Kind::kOwned, size));
  storage->charge_ = MemoryCharge(size);
  uint8_t* const memory = take(std::max<size_t>(size, 1));
  if (memory == nullptr) {
    throw Error(ErrorCode::kLimit, fmt::format("there is no memory for a tensor of {} bytes", size),
                "free some memory, or take a smaller part of the model");
  }
  storage->allocated_ = {memory, std::free};
  ask_for_huge_pages(memory, size);
  storage->data_ = memory;
  return storage;
}

std::shared_ptr<Storage> Storage::allocate(size_t size) {
  // Large blocks come from the system already zeroed, and are not touched until somebody writes to them.
  return allocated(size, [](size_t bytes) { return static_cast<uint8_t*>(std::calloc(bytes, 1)); });
}

std::shared_ptr<Storage> Storage::uninitialized(size_t size) {
  constexpr size_t kAlignment = 64;
  // Allocators are several times slower when asked for more than their usual alignment.
  constexpr size_t kSmall = 1024;
  if (size <= kSmall) {
    std::shared_ptr<Storage> storage = allocated(
        size, [](size_t bytes) { return static_cast<uint8_t*>(std::malloc(bytes + kAlignment - 1)); });
    const auto skipped = (kAlignment - reinterpret_cast<uintptr_t>(storage->data_) % kAlignment) % kAlignment;
    storage->data_ += skipped;
    return storage;
  }
  return allocated(size, [](size_t bytes) {
    const size_t padded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return static_cast<uint8_t*>(std::aligned_alloc(kAlignment, padded));
  });
}

std::shared_ptr<Storage> Storage::borrow(uint8_t* data, size_t size, std::shared_ptr<const void> owner) {
  std::shared_ptr<Storage> storage(new Storage(Kind::kOwned, size));
  storage->data_ = data;
  storage->owner_ = std::move(owner);
  return storage;
}

std::shared_ptr<Storage> Storage::own(std::vector<uint8_t> bytes) {
  std::shared_ptr<Storage> storage(new Storage(Kind::kOwned, bytes.size()));
  storage->owned_ = std::move(bytes);
  storage->data_ = storage->owned_.data();
  return storage;
}

std::shared_ptr<Storage> Storage::meta(size_t size) {
  std::shared_ptr<Storage> storage(new Storage(Kind::kMeta, size));
  storage->device_.type = DeviceType::kMeta;
  return storage;
}

std::shared_ptr<Storage> Storage::on_device(Device device, size_t size, std::shared_ptr<void> memory) {
  std::shared_ptr<Storage> storage(new Storage(Kind::kDevice, size));
  storage->device_ = device;
  storage->device_memory_ = std::move(memory);
  return storage;
}

std::shared_ptr<Storage> Storage::part(const std::shared_ptr<Storage>& whole, size_t offset, size_t size) {
  if (offset > whole->size_ || size > whole->size_ - offset) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} bytes at byte {} of a storage of {}", size, offset, whole->size_));
  }
  if (whole->kind_ != Kind::kDevice) return borrow(whole->mutable_bytes().data() + offset, size, whole);
  std::shared_ptr<Storage> storage = on_device(whole->device_, size, whole->device_memory_);
  storage->device_offset_ = whole->device_offset_ + offset;
  return storage;
}

std::shared_ptr<Storage> Storage::lazy(size_t size, std::function<std::vector<uint8_t>()> load) {
  return lazy_storage(size, [load = std::move(load)] { return own(load()); });
}

std::shared_ptr<Storage> Storage::lazy_storage(size_t size, std::function<std::shared_ptr<Storage>()> load) {
  std::shared_ptr<Storage> storage(new Storage(Kind::kLazy, size));
  storage->load_ = std::move(load);
  return storage;
}

std::shared_ptr<Storage> Storage::load_checked() const {
  std::shared_ptr<Storage> loaded = load_();
  if (loaded->size() != size_) {
    throw Error(ErrorCode::kCorrupt,
                fmt::format("a storage of {} bytes was announced, {} were found", size_, loaded->size()));
  }
  return loaded;
}

uint8_t* Storage::data() const {
  if (kind_ == Kind::kMeta) {
    throw Error(ErrorCode::kInvalidArgument, "a tensor on the meta device has no data",
                "load the weights from the file that holds them");
  }
  if (kind_ == Kind::kDevice) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the host cannot reach memory of the device {}", device_.to_string()),
                "copy the tensor to the host first");
  }
  if (!is_ready()) {
    const std::lock_guard lock(load_mutex_);
    if (!is_ready()) {
      loaded_ = load_checked();
      data_ = loaded_->data();
      is_loaded_.store(true, std::memory_order_release);
    }
  }
  return data_;
}

std::shared_ptr<const Storage> Storage::ready(const std::shared_ptr<Storage>& storage) {
  if (storage->is_ready()) return storage;
  std::shared_ptr<Storage> loaded = storage->load_checked();
  loaded->data();  // a loader may give another lazy storage
  return loaded;
}

void Storage::check_unchanged() const {
  if (mapping_) return mapping_->check_unchanged();
  if (kind_ == Kind::kLazy && is_ready()) loaded_->check_unchanged();
}

std::shared_ptr<Mapping> Storage::as_mapping(const std::shared_ptr<Storage>& storage) {
  const MutableByteSpan bytes = storage->mutable_bytes();
  return storage->mapping_ ? Mapping::part(storage->mapping_, bytes) : Mapping::borrow(bytes, storage);
}

ByteSpan Storage::bytes() const { return {data(), size_}; }
MutableByteSpan Storage::mutable_bytes() { return {data(), size_}; }

}  // namespace flambeau
