// The legacy and the tar form: what PyTorch wrote before 1.6, and what can be wrong with it.
#include <gtest/gtest.h>

#include "flambeau/formats/convert.h"
#include "flambeau/formats/state_dict/torch_readers.h"
#include "support/torch_files.h"

namespace flambeau {
namespace {

using pickle::Node;
using testing::error_text;
using testing::golden_file;
using testing::read_file;
using testing::TorchFileBuilder;
using testing::values_of;

constexpr std::string_view kLegacyMagic("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 15);
constexpr std::string_view kVersion("\x80\x02M\xe9\x03.", 6);
constexpr std::string_view kSystem("\x80\x02}.", 4);

std::string little_endian(int64_t value) {
  ByteWriter writer;
  writer.le(value);
  return writer.take();
}

class Legacy : public ::testing::Test {
 protected:
  std::string bytes(Node* x, const std::string& behind) {
    pickle::Tree& tree = file.tree;
    tree.set_root(tree.dict({{tree.string("x"), x}}));
    pickle::Tree keys;
    keys.set_root(keys.list({keys.string("0")}));
    return std::string(kLegacyMagic) + std::string(kVersion) + std::string(kSystem) +
           pickle::write_python(*tree.root()) + pickle::write_python(*keys.root()) + behind;
  }
  std::string error_of(Node* x, const std::string& behind) {
    return error_text([&] { load_checkpoint(Mapping::from_text(bytes(x, behind))); });
  }
  std::string error_of(const std::string& whole) {
    return error_text([&] { load_checkpoint(Mapping::from_text(whole)); });
  }
  const std::string storage = little_endian(6) + std::string(24, '\0');
  TorchFileBuilder file;
};

TEST_F(Legacy, Opens) {
  const Checkpoint checkpoint = load_checkpoint(Mapping::from_text(bytes(file.plain_tensor(), storage)));
  EXPECT_EQ(checkpoint.kind(), FileKind::kTorchSaveLegacy);
  EXPECT_EQ(checkpoint.find("x")->summary(), "float32[2, 3]");
}

TEST_F(Legacy, StoragesMustBeThere) {
  Node* x = file.plain_tensor();
  const std::string description = bytes(x, "");
  const std::string at = std::to_string(description.size());
  EXPECT_EQ(error_of(x, ""), "corrupt: byte " + at + ": the length of a storage needs 8 bytes, 0 are left");
  EXPECT_EQ(error_of(x, little_endian(6)).substr(0, 14), "corrupt: byte ");
  EXPECT_NE(error_of(x, little_endian(6) + "abc").find("a storage needs 24 bytes, 3 are left"),
            std::string::npos);
  EXPECT_NE(error_of(x, little_endian(-6)).find("a storage of -6 elements"), std::string::npos);
  EXPECT_NE(error_of(x, little_endian(INT64_MAX)).find("does not fit in a 64-bit number"), std::string::npos);
  EXPECT_EQ(error_of(x, little_endian(5) + std::string(24, '\0')),
            "corrupt: tensor 'x': the storage '0' should have 24 bytes, the file has 20");
  const std::string no_tensor =
      error_of(file.tensor_v2(file.storage_id("FloatStorage", "1", 6), 0, {6}, {1}), storage);
  EXPECT_TRUE(no_tensor.ends_with("the storage '0' belongs to no tensor")) << no_tensor;
}

TEST_F(Legacy, KeysWithoutStorages) {
  pickle::Tree& tree = file.tree;
  Node* both =
      tree.list({file.plain_tensor(), file.tensor_v2(file.storage_id("FloatStorage", "1", 6), 0, {6}, {1})});
  EXPECT_EQ(
      error_of(both, storage),
      "corrupt: tensor 'x.1': the storage '1' is not in the file (the file is incomplete: get it again)");
}

TEST_F(Legacy, ViewsMustFit) {
  pickle::Tree& tree = file.tree;
  const auto over_view = [&](int64_t offset, int64_t size) {
    Node* view = tree.tuple({tree.string("v"), tree.integer(offset), tree.integer(size)});
    Node* id = tree.tuple({tree.string("storage"), tree.global("torch", "FloatStorage"), tree.string("0"),
                           tree.string("cpu"), tree.integer(6), view});
    return file.tensor_v2(tree.persistent(id), 0, {2}, {1});
  };
  EXPECT_EQ(load_checkpoint(Mapping::from_text(bytes(over_view(4, 2), storage))).find("x")->storage()->size(),
            8U);
  EXPECT_EQ(error_of(over_view(5, 2), storage),
            "corrupt: tensor 'x': a view of 8 bytes at 20 leaves its storage of 24 bytes");
  EXPECT_EQ(error_of(over_view(7, 0), storage),
            "corrupt: tensor 'x': a view of 0 bytes at 28 leaves its storage of 24 bytes");
  EXPECT_EQ(error_of(over_view(INT64_MAX / 2, 2), storage),
            "corrupt: tensor 'x': the offset of a storage's view does not fit in a 64-bit number");
}

TEST_F(Legacy, TheFrontMatters) {
  EXPECT_EQ(error_of(std::string(kLegacyMagic)),
            "corrupt: protocol version 'at byte 15': byte 0: the pickle ends without the opcode STOP");
  EXPECT_EQ(error_of(std::string(kLegacyMagic) + "\x80\x02K\x05."),
            "unsupported: an unknown version of torch.save's legacy form (1001 is expected)");
  const std::string other =
      "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19"
      "0N.";  // the magic number, dropped
  EXPECT_EQ(error_of(other), "corrupt: byte 0: the magic number of torch.save is missing");
}

TEST_F(Legacy, EveryPickleIsVisited) {
  std::vector<std::string> places;
  read_torch_legacy(Mapping::from_text(bytes(file.plain_tensor(), storage)),
                    [&](const pickle::Tree&, std::string_view place) { places.emplace_back(place); });
  EXPECT_EQ(places, (std::vector<std::string>{"magic number", "protocol version", "system information",
                                              "object pickle", "storage keys"}));
}

TEST_F(Legacy, ClassesWithSourceBecomeClasses) {
  const testing::TemporaryFolder folder;
  save_checkpoint(load_checkpoint(golden_file("legacy_module_2.13.pt")), folder / "a.pt",
                  FileKind::kTorchSave);
  const Checkpoint checkpoint = load_checkpoint(folder / "a.pt");
  EXPECT_TRUE(checkpoint.tree().root()->as_call().callee->is_global("net.Net"));
}

TEST(Tar, StoragesAndViewsOfThem) {
  const Checkpoint checkpoint = load_checkpoint(golden_file("tensors.tar"));
  EXPECT_EQ(checkpoint.kind(), FileKind::kTorchSaveTar);
  EXPECT_EQ(checkpoint.find("weight")->storage(), checkpoint.find("turned")->storage());
  EXPECT_EQ(values_of<float>(*checkpoint.find("part")), (std::vector<float>{2, 3, 4}));
}

TEST(Tar, EveryPickleIsVisited) {
  std::vector<std::string> places;
  read_torch_tar(Mapping::open(golden_file("tensors.tar")),
                 [&](const pickle::Tree&, std::string_view place) { places.emplace_back(place); });
  // The count, two storages, the views; the count, four tensors; the object.
  EXPECT_EQ(places, (std::vector<std::string>{"storages", "storages", "storages", "storages", "tensors",
                                              "tensors", "tensors", "tensors", "tensors", "pickle"}));
}

std::string changed(std::string_view from, std::string_view to) {
  std::string bytes = read_file(golden_file("tensors.tar"));
  const size_t at = bytes.find(from);
  EXPECT_NE(at, std::string::npos);
  bytes.replace(at, from.size(), to);
  return error_text([&] { load_checkpoint(Mapping::from_text(bytes)); });
}

TEST(Tar, SaysWhatIsWrong) {
  EXPECT_EQ(changed("torch\nFloatStorage", "torch\nFlootStorage"),
            "unsupported: record 'storages': 'torch.FlootStorage' is not a known storage class (a newer "
            "Flambeau may know "
            "it)");
  // The view (13, 11, 2, 3) with an offset of 4.
  EXPECT_NE(changed("K\x02K\x03tq", "K\x04K\x03tq").find("record 'storages': "), std::string::npos);
  EXPECT_NE(changed("K\x02K\x03tq", "K\x04K\x03tq").find("a view leaves its storage"), std::string::npos);
  EXPECT_NE(changed("K\x0dK\x0bK\x02", "K\x0dK\x63K\x02").find("nothing is stored under the key '99'"),
            std::string::npos);
  constexpr std::string_view kKey("X\x02\0\0\0\x32\x31", 7), kNoKey("X\x02\0\0\0\x39\x39", 7);  // '21', '99'
  EXPECT_EQ(changed(kKey, kNoKey),
            "corrupt: tensor 'weight': nothing is stored under the key '99' (the file is incomplete: get it "
            "again)");
}

TEST(Tar, MembersMustBeThere) {
  std::string bytes = read_file(golden_file("ids.tar"));
  bytes.resize(2 * 1536);
  EXPECT_EQ(error_text([&] { load_checkpoint(Mapping::from_text(bytes)); }),
            "corrupt: a tar archive without the members 'pickle' and 'storages'");
}

}  // namespace
}  // namespace flambeau
