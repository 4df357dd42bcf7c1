// What a stranger's torch.save file can get wrong, and what is said about it.
#include <gtest/gtest.h>

#include "flambeau/archive/pickle/tree.h"
#include "flambeau/archive/record_archive.h"
#include "support/torch_files.h"

namespace flambeau {
namespace {

using pickle::Node;
using testing::error_text;
using testing::TorchFileBuilder;

constexpr size_t kBytes = 24;

class TorchZipError : public ::testing::Test {
 protected:
  TorchZipError() { file.record("data/0", std::string(kBytes, '\1')); }

  std::string error_of(Node* x) {
    return error_text([&] { load_checkpoint(file.with_x(x)); });
  }
  // The reason why the file's only tensor is not shown.
  std::string skip_reason(Node* x) {
    const Checkpoint checkpoint = load_checkpoint(file.with_x(x));
    for (const auto& [name, reason] : checkpoint.skipped()) return name + ": " + reason;
    return "nothing is skipped";
  }
  Node* id(std::initializer_list<Node*> parts) { return file.tree.persistent(file.tree.tuple(parts)); }
  Node* over(Node* storage) { return file.tensor_v2(storage, 0, {6}, {1}); }
  Node* text(std::string_view value) { return file.tree.string(value); }

  TorchFileBuilder file;
};

TEST_F(TorchZipError, TheGoodOneOpens) {
  const Checkpoint checkpoint = load_checkpoint(file.with_x(file.plain_tensor()));
  ASSERT_NE(checkpoint.find("x"), nullptr);
  EXPECT_EQ(checkpoint.find("x")->summary(), "float32[2, 3]");
  EXPECT_EQ(checkpoint.find("y"), nullptr);
}

// Row 24: persistent ids and storage keys.
TEST_F(TorchZipError, BadPersistentIds) {
  pickle::Tree& tree = file.tree;
  EXPECT_EQ(error_of(over(tree.persistent(text("0")))),
            "corrupt: tensor 'x': a persistent id should be a tuple, found a string");
  EXPECT_EQ(error_of(over(id({}))), "corrupt: tensor 'x': a persistent id should start with 'storage'");
  EXPECT_EQ(error_of(over(id({text("model"), text("0")}))),
            "corrupt: tensor 'x': a persistent id should start with 'storage'");
  EXPECT_EQ(error_of(over(id({text("storage"), tree.global("torch", "FloatStorage")}))),
            "corrupt: tensor 'x': a storage's persistent id has 5 or 6 parts, found 2");
  EXPECT_EQ(
      error_of(over(id({text("storage"), text("FloatStorage"), text("0"), text("cpu"), tree.integer(6)}))),
      "corrupt: tensor 'x': expected global, found string");
  EXPECT_EQ(error_of(over(id({text("storage"), tree.global("torch", "FloatStorage"), tree.integer(0),
                              text("cpu"), tree.integer(6)}))),
            "corrupt: tensor 'x': expected string, found int");
  EXPECT_EQ(error_of(over(file.storage_id("FloatStorage", "0", -6))),
            "corrupt: tensor 'x': a storage of -6 elements");
  EXPECT_EQ(error_of(over(file.storage_id("FloatStorage", "0", INT64_MAX / 2))),
            "corrupt: tensor 'x': the size of a storage does not fit in a 64-bit number");
  EXPECT_EQ(error_of(tree.persistent(tree.integer(5))),
            "corrupt: tensor 'x': a persistent id should be a tuple, found an int");
}

TEST_F(TorchZipError, MissingStorage) {
  for (const std::string_view key : {"7", "", "../0", "0/", "00", "/0", "a/../0"}) {
    EXPECT_EQ(error_of(over(file.storage_id("FloatStorage", key, 6))),
              "corrupt: tensor 'x': the record 'data/" + std::string(key) +
                  "' of a storage is missing (the file is incomplete: get it again)");
  }
}

// Row 46: negative sizes, strides, offsets.
TEST_F(TorchZipError, NegativeGeometry) {
  Node* storage = file.storage_id("FloatStorage", "0", 6);
  EXPECT_EQ(error_of(file.tensor_v2(storage, 0, {-1}, {1})),
            "corrupt: tensor 'x': a tensor has the negative size -1");
  EXPECT_EQ(error_of(file.tensor_v2(storage, 5, {6}, {-1})),
            "corrupt: tensor 'x': a tensor has the negative stride -1");
  EXPECT_EQ(error_of(file.tensor_v2(storage, -1, {2}, {1})),
            "corrupt: tensor 'x': a tensor has the negative storage offset -1");
}

// Row 47: products that wrap, also where a size is zero.
TEST_F(TorchZipError, WrappingSizes) {
  Node* storage = file.storage_id("FloatStorage", "0", 6);
  constexpr int64_t kBig = int64_t{1} << 33;
  for (Node* x : {file.tensor_v2(storage, 0, {kBig, kBig}, {0, 0}),
                  file.tensor_v2(storage, 0, {kBig, kBig, 0}, {0, 0, 0}),
                  file.tensor_v2(storage, 0, {kBig, 2}, {INT64_MAX / 2, 1}),
                  file.tensor_v2(storage, INT64_MAX, {2}, {1})}) {
    const std::string text = error_of(x);
    EXPECT_TRUE(text.starts_with("corrupt: tensor 'x': ")) << text;
    EXPECT_NE(text.find("does not fit in a 64-bit number"), std::string::npos) << text;
  }
}

// Row 48: an extent beyond the storage, on every way to rebuild a tensor.
TEST_F(TorchZipError, ExtentBeyondTheStorage) {
  pickle::Tree& tree = file.tree;
  Node* storage = file.storage_id("FloatStorage", "0", 6);
  Node* untyped = tree.persistent(tree.tuple({text("storage"), tree.global("torch.storage", "UntypedStorage"),
                                              text("0"), text("cpu"), tree.integer(kBytes)}));
  Node* quantized = file.storage_id("QInt8Storage", "0", kBytes);
  Node* no = tree.boolean(false);
  Node* sizes = file.ints({7});
  Node* strides = file.ints({1});
  Node* zero = tree.integer(0);
  Node* scheme = tree.tuple({tree.global("torch", "per_tensor_affine"), tree.real(1), zero});
  Node* v2 = file.utils("_rebuild_tensor_v2", {storage, zero, sizes, strides, no, file.hooks()});
  Node* legacy = tree.call(tree.global("torch", "FloatTensor"), tree.tuple(), pickle::CallKind::kNewObject);
  tree.set_state(legacy, tree.tuple({storage, zero, sizes, strides}));
  Node* long_sizes = file.ints({25});
  const std::vector<Node*> bad = {
      v2,
      legacy,
      file.utils("_rebuild_tensor", {storage, zero, sizes, strides}),
      file.utils("_rebuild_tensor_v3",
                 {untyped, zero, sizes, strides, no, file.hooks(), tree.global("torch", "float32")}),
      file.utils("_rebuild_qtensor", {quantized, zero, long_sizes, strides, scheme, no, file.hooks()}),
      file.utils("_rebuild_parameter", {v2, tree.boolean(true), file.hooks()}),
      tree.call(tree.global("torch._tensor", "_rebuild_from_type_v2"),
                tree.tuple({tree.global("torch._utils", "_rebuild_tensor_v2"), tree.global("torch", "Tensor"),
                            v2->as_call().args, tree.dict()})),
      file.utils("_rebuild_sparse_tensor", {tree.call(tree.global("torch.serialization", "_get_layout"),
                                                      tree.tuple({text("torch.sparse_coo")})),
                                            tree.tuple({v2, v2, tree.tuple({file.ints({3, 3})})})}),
  };
  for (Node* x : bad) {
    const std::string text_of_error = error_of(x);
    EXPECT_TRUE(text_of_error.starts_with("corrupt: tensor 'x': ")) << text_of_error;
    EXPECT_NE(text_of_error.find("storage has"), std::string::npos) << text_of_error;
  }
}

// Row 49: a record's size differs from what its id says.
TEST_F(TorchZipError, RecordOfAnotherSize) {
  EXPECT_EQ(error_of(over(file.storage_id("FloatStorage", "0", 5))),
            "corrupt: tensor 'x': record 'data/0': the storage should have 20 bytes, its record has 24");
  EXPECT_EQ(error_of(over(file.storage_id("FloatStorage", "0", 7))),
            "corrupt: tensor 'x': record 'data/0': the storage should have 28 bytes, its record has 24");
  pickle::Tree& tree = file.tree;
  Node* both = tree.list({file.plain_tensor(), over(file.storage_id("DoubleStorage", "0", 6))});
  EXPECT_EQ(error_of(both), "corrupt: tensor 'x.1': storage '0' is said to have 24 bytes and 48 bytes");
}

// Row 50: unknown types, devices, byte orders.
TEST_F(TorchZipError, UnknownTypesAreShownAsSuch) {
  pickle::Tree& tree = file.tree;
  EXPECT_EQ(skip_reason(over(file.storage_id("WideStorage", "0", 6))),
            "x: 'torch.WideStorage' is not a known storage class (a newer Flambeau may know it)");
  Node* untyped = tree.persistent(tree.tuple({text("storage"), tree.global("torch.storage", "UntypedStorage"),
                                              text("0"), text("cpu"), tree.integer(kBytes)}));
  Node* v3 =
      file.utils("_rebuild_tensor_v3", {untyped, tree.integer(0), file.ints({6}), file.ints({1}),
                                        tree.boolean(false), file.hooks(), tree.global("torch", "float31")});
  EXPECT_EQ(skip_reason(v3), "x: 'torch.float31' is not a known element type (a newer Flambeau may know it)");
}

TEST_F(TorchZipError, UnknownDevices) {
  for (const std::string_view name : {"cuda:x", "", "cpu:-1", "toaster oven"}) {
    EXPECT_EQ(error_of(over(file.storage_id("FloatStorage", "0", 6, name))),
              "corrupt: tensor 'x': '" + std::string(name) + "' is not a device");
  }
}

TEST_F(TorchZipError, UnknownByteOrder) {
  file.record("byteorder", "middle");
  EXPECT_EQ(error_of(file.plain_tensor()),
            "corrupt: record 'byteorder': expected 'little' or 'big', found 'middle'");
}

TEST_F(TorchZipError, WrongNumberOfArguments) {
  EXPECT_EQ(error_of(file.utils("_rebuild_tensor_v2", {file.storage_id("FloatStorage", "0", 6)})),
            "corrupt: tensor 'x': _rebuild_tensor_v2 takes 6 to 7 arguments, 1 are given");
  EXPECT_EQ(error_of(file.utils("_rebuild_qtensor", {})),
            "corrupt: tensor 'x': _rebuild_qtensor takes 7 arguments, 0 are given");
  EXPECT_EQ(error_of(file.utils("_rebuild_meta_tensor_no_storage", {})),
            "corrupt: tensor 'x': _rebuild_meta_tensor_no_storage takes 4 arguments, 0 are given");
}

TEST_F(TorchZipError, WrappedTooDeep) {
  Node* x = file.plain_tensor();
  for (int i = 0; i < 40; ++i)
    x = file.utils("_rebuild_parameter", {x, file.tree.boolean(true), file.hooks()});
  EXPECT_EQ(error_of(x), "corrupt: tensor 'x': tensors are wrapped in each other more than 16 deep");
}

TEST_F(TorchZipError, ManyDimensions) {
  std::vector<Node*> ones(5000, file.tree.integer(1));
  Node* sizes = file.tree.tuple(ones);
  Node* x = file.utils("_rebuild_tensor_v2", {file.storage_id("FloatStorage", "0", 6), file.tree.integer(0),
                                              sizes, sizes, file.tree.boolean(false), file.hooks()});
  EXPECT_EQ(error_of(x), "corrupt: tensor 'x': a tensor of 5000 dimensions");
}

TEST_F(TorchZipError, BrokenPickleIsLocated) {
  const std::string text = error_text([&] { load_checkpoint(file.with_pickle("\x80\x02}q")); });
  EXPECT_EQ(text, "corrupt: record 'data.pkl': byte 3: opcode BINPUT: 1 bytes expected, 0 left");
}

TEST_F(TorchZipError, TheFileIsNamed) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder / "a.pt",
                      as_text(file.with_x(over(file.storage_id("FloatStorage", "9", 6)))->bytes()));
  EXPECT_EQ(error_text([&] { load_checkpoint(folder / "a.pt"); }),
            "corrupt: " + (folder / "a.pt") +
                ": tensor 'x': the record 'data/9' of a storage is missing (the file is "
                "incomplete: get it again)");
}

// Row 15: names outside of any list are data like all else; nothing is imported or called.
TEST_F(TorchZipError, ForeignNamesAreInert) {
  pickle::Tree& tree = file.tree;
  Node* evil = tree.call(tree.global("os", "system"), tree.tuple({text("touch /tmp/flambeau-canary")}));
  tree.set_root(tree.dict({{text("evil"), evil}, {text("x"), file.plain_tensor()}}));
  const Checkpoint checkpoint = load_checkpoint(file.finish());
  ASSERT_EQ(checkpoint.tensors().size(), 1U);
  EXPECT_EQ(checkpoint.tensors()[0].name, "x");
  EXPECT_FALSE(std::filesystem::exists("/tmp/flambeau-canary"));
}

}  // namespace
}  // namespace flambeau
