// The bytes that tensors are views of. Shared: two tensors with the same Storage alias each other, and
// stay aliased when saved.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "flambeau/base/bytes.h"
#include "flambeau/base/work.h"
#include "flambeau/tensor/device.h"

namespace flambeau {

class Mapping;

class Storage {
 public:
  // A view into a mapping; writes stay private to the process.
  static std::shared_ptr<Storage> view(std::shared_ptr<Mapping> mapping, size_t offset, size_t size);
  // Zeroed memory of its own. Throws Error(kLimit) when there is not enough, or not enough is allowed.
  static std::shared_ptr<Storage> allocate(size_t size);
  // Memory of its own with anything in it, aligned to 64 bytes: for results that are about to be written.
  static std::shared_ptr<Storage> uninitialized(size_t size);
  static std::shared_ptr<Storage> own(std::vector<uint8_t> bytes);
  // Bytes of somebody else's, who is kept alive by `owner`. They are written to where a tensor is.
  static std::shared_ptr<Storage> borrow(uint8_t* data, size_t size, std::shared_ptr<const void> owner);
  // No bytes at all, only a size: the meta device.
  static std::shared_ptr<Storage> meta(size_t size);
  // Bytes in a device's memory, which whoever made it can reach and `memory` keeps alive. The host has none.
  static std::shared_ptr<Storage> on_device(Device device, size_t size, std::shared_ptr<void> memory);
  // Some bytes of another storage, which it keeps alive.
  static std::shared_ptr<Storage> part(const std::shared_ptr<Storage>& whole, size_t offset, size_t size);
  // Bytes that `load` produces when somebody first asks, e.g. by inflating or swapping. `load` must give
  // exactly `size` bytes; its Error reaches whoever asked.
  static std::shared_ptr<Storage> lazy(size_t size, std::function<std::vector<uint8_t>()> load);
  // The same with bytes that are a storage already.
  static std::shared_ptr<Storage> lazy_storage(size_t size, std::function<std::shared_ptr<Storage>()> load);

  size_t size() const { return size_; }
  Device device() const { return device_; }
  bool is_meta() const { return kind_ == Kind::kMeta; }
  // What on_device() was given, and where in it the storage begins.
  const std::shared_ptr<void>& device_memory() const { return device_memory_; }
  size_t device_offset() const { return device_offset_; }
  // True when the bytes are in place in a mapping or in memory, so that asking costs nothing.
  bool is_ready() const { return kind_ != Kind::kLazy || is_loaded_.load(std::memory_order_acquire); }
  // Throws Error(kInvalidArgument) for storage that is not the host's, and what the loader throws.
  // Thread-safe.
  ByteSpan bytes() const;
  MutableByteSpan mutable_bytes();
  // Throws Error(kIo) when the bytes are those of a file that changed since it was opened. Whoever made
  // something of the bytes asks before giving it away; a loader asks the storage it reads.
  void check_unchanged() const;
  // Where a view's bytes are; null for others.
  const std::shared_ptr<Mapping>& mapping() const { return mapping_; }
  // The same bytes as a mapping, which keeps the storage.
  static std::shared_ptr<Mapping> as_mapping(const std::shared_ptr<Storage>& storage);

  // A storage that is ready and has these bytes: this one, or what the loader gives, which is then not kept.
  // For writers that pass over each storage once, and should not fill the memory with what they loaded.
  static std::shared_ptr<const Storage> ready(const std::shared_ptr<Storage>& storage);

 private:
  enum class Kind : uint8_t { kView, kOwned, kMeta, kLazy, kDevice };
  Storage(Kind kind, size_t size) : kind_(kind), size_(size) {}
  uint8_t* data() const;
  // Memory of malloc's family, which `take` gives; throws when it gives null.
  static std::shared_ptr<Storage> allocated(size_t size, uint8_t* (*take)(size_t size));
  std::shared_ptr<Storage> load_checked() const;

  Kind kind_;
  size_t size_;
  Device device_;
  std::shared_ptr<void> device_memory_;
  size_t device_offset_ = 0;
  mutable uint8_t* data_ = nullptr;
  std::vector<uint8_t> owned_;
  mutable std::shared_ptr<Storage> loaded_;
  MemoryCharge charge_;
  std::unique_ptr<uint8_t[], void (*)(void*)> allocated_{nullptr, nullptr};
  std::shared_ptr<Mapping> mapping_;
  std::shared_ptr<const void> owner_;
  std::function<std::shared_ptr<Storage>()> load_;
  // Not std::call_once: its standard implementations may hang after a loader has thrown.
  mutable std::mutex load_mutex_;
  mutable std::atomic<bool> is_loaded_ = false;
};

}  // namespace flambeau
