#include "flambeau/tensor/storage.h"
#include "flambeau/base/files/mapping.h"

#include <atomic>
#include <thread>

#include "flambeau/tensor/test_support.h"

namespace flambeau {
namespace {

using testing::error_code;
using testing::error_text;

TEST(Storage, ViewsAMappingInPlace) {
  const auto mapping = Mapping::from_text("abcdef");
  const auto storage = Storage::view(mapping, 2, 3);
  EXPECT_EQ(as_text(storage->bytes()), "cde");
  EXPECT_EQ(storage->bytes().data(), mapping->bytes().data() + 2);
  EXPECT_TRUE(storage->is_ready());
  storage->mutable_bytes()[0] = 'X';
  EXPECT_EQ(as_text(mapping->bytes()), "abXdef");
  EXPECT_EQ(Storage::view(mapping, 6, 0)->size(), 0U);
}

TEST(Storage, KeepsTheMappingAlive) {
  auto mapping = Mapping::from_text("abcdef");
  const auto storage = Storage::view(mapping, 0, 6);
  mapping.reset();
  EXPECT_EQ(as_text(storage->bytes()), "abcdef");
}

TEST(Storage, RefusesAViewThatLeavesItsFile) {
  const auto mapping = Mapping::from_text("abcdef");
  EXPECT_EQ(error_text([&] { Storage::view(mapping, 4, 3); }),
            "a storage of 3 bytes at byte 4 leaves its file of 6 bytes");
  EXPECT_EQ(error_code([&] { Storage::view(mapping, 7, 0); }), ErrorCode::kCorrupt);
  EXPECT_EQ(error_code([&] { Storage::view(mapping, 4, SIZE_MAX); }), ErrorCode::kCorrupt);
  EXPECT_EQ(error_code([&] { Storage::view(mapping, SIZE_MAX, 8); }), ErrorCode::kCorrupt);
}

TEST(Storage, AllocatesZeros) {
  const auto storage = Storage::allocate(100);
  for (const uint8_t byte : storage->bytes()) EXPECT_EQ(byte, 0);
}

TEST(Storage, SaysWhenThereIsNotEnoughMemory) {
  const std::string text = error_text([] { Storage::allocate(size_t{1} << 62); });
  EXPECT_TRUE(text.starts_with("there is no memory for 4611686018427387904 bytes: ")) << text;
  EXPECT_TRUE(text.ends_with(" are left (free some memory, or give smaller sizes)")) << text;
}

TEST(Storage, MetaHasASizeAndNoBytes) {
  const auto storage = Storage::meta(size_t{1} << 60);
  EXPECT_TRUE(storage->is_meta());
  EXPECT_EQ(storage->size(), size_t{1} << 60);
  EXPECT_EQ(error_text([&] { storage->bytes(); }),
            "a tensor on the meta device has no data (load the weights from the file that holds them)");
  EXPECT_EQ(error_code([&] { storage->mutable_bytes(); }), ErrorCode::kInvalidArgument);
}

TEST(Storage, KnowsItsDevice) {
  EXPECT_EQ(Storage::allocate(1)->device(), Device());
  EXPECT_EQ(Storage::meta(1)->device().to_string(), "meta");
  const auto memory = std::make_shared<int>(7);
  const auto storage = Storage::on_device({DeviceType::kCuda, 1}, 16, memory);
  EXPECT_EQ(storage->device().to_string(), "cuda:1");
  EXPECT_EQ(storage->device_memory(), memory);
  EXPECT_EQ(storage->size(), 16U);
}

TEST(Storage, TheHostCannotReachADevicesMemory) {
  const auto storage = Storage::on_device({DeviceType::kCuda, 0}, 4, nullptr);
  EXPECT_EQ(error_text([&] { storage->bytes(); }),
            "the host cannot reach memory of the device cuda:0 (copy the tensor to the host first)");
  EXPECT_EQ(error_code([&] { storage->mutable_bytes(); }), ErrorCode::kInvalidArgument);
}

TEST(Storage, PartsAreThePlaceItself) {
  const auto whole = Storage::own({1, 2, 3, 4});
  const auto part = Storage::part(whole, 1, 2);
  part->mutable_bytes()[0] = 9;
  EXPECT_EQ(whole->bytes()[1], 9);
  EXPECT_EQ(part->size(), 2U);
  EXPECT_EQ(error_text([&] { Storage::part(whole, 3, 2); }), "2 bytes at byte 3 of a storage of 4");
  const auto device = Storage::on_device({DeviceType::kCuda, 0}, 8, std::make_shared<int>(7));
  const auto end = Storage::part(Storage::part(device, 2, 6), 4, 2);
  EXPECT_EQ(end->device_offset(), 6U);
  EXPECT_EQ(end->device_memory(), device->device_memory());
}

TEST(Storage, LoadsLazilyAndOnce) {
  std::atomic<int> loads = 0;
  const auto storage = Storage::lazy(4, [&] {
    ++loads;
    return std::vector<uint8_t>{1, 2, 3, 4};
  });
  EXPECT_FALSE(storage->is_ready());
  EXPECT_EQ(storage->size(), 4U);
  EXPECT_EQ(loads, 0);
  std::vector<std::thread> threads;
  std::atomic<int> sum = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (const uint8_t byte : storage->bytes()) sum += byte;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(loads, 1);
  EXPECT_TRUE(storage->is_ready());
  EXPECT_EQ(sum, 80);
}

TEST(Storage, ALazyLoadMustGiveWhatWasAnnounced) {
  const auto storage = Storage::lazy(4, [] { return std::vector<uint8_t>(3); });
  EXPECT_EQ(error_text([&] { storage->bytes(); }), "a storage of 4 bytes was announced, 3 were found");
}

TEST(Storage, ALazyLoadThatFailsCanBeTriedAgain) {
  int loads = 0;
  const auto storage = Storage::lazy(1, [&] {
    if (++loads == 1) throw Error(ErrorCode::kIo, "the disk was away");
    return std::vector<uint8_t>{7};
  });
  EXPECT_EQ(error_text([&] { storage->bytes(); }), "the disk was away");
  EXPECT_EQ(storage->bytes()[0], 7);
}

}  // namespace
}  // namespace flambeau
