#include "flambeau/formats/state_dict/torch_writer.h"
#include "flambeau/archive/pickle/tree.h"

#include <gtest/gtest.h>

#include "flambeau/archive/record_archive.h"
#include "support/torch_files.h"

namespace flambeau {
namespace {

using pickle::Node;
using testing::error_text;
using testing::golden_file;
using testing::TensorLines;
using testing::TorchFileBuilder;
using testing::values_of;

std::shared_ptr<Mapping> written(const Checkpoint& checkpoint) {
  MemorySink sink;
  write_torch_zip(sink, checkpoint, {});
  return Mapping::from_buffer(sink.take());
}

Tensor floats(std::vector<float> values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return Tensor::contiguous(DType::kFloat32, Dims{static_cast<int64_t>(values.size())},
                            Storage::own(std::move(bytes)));
}

TEST(TorchWriter, WritesTheRecordsOfTorchSave) {
  const std::shared_ptr<Mapping> file =
      written(Checkpoint::from_tensors({{"a", floats({1, 2})}, {"b", floats({3})}}));
  const RecordArchive archive = RecordArchive::open(file);
  EXPECT_EQ(archive.names(),
            (std::vector<std::string_view>{"data.pkl", ".format_version", ".storage_alignment", "byteorder",
                                           "data/0", "data/1", "version", ".data/serialization_id"}));
  EXPECT_EQ(archive.get("data/1").data_offset % 64, 0U);
  EXPECT_EQ(archive.read_text("version"), "3\n");
  EXPECT_EQ(archive.read_text("byteorder"), "little");
  const Checkpoint again = load_checkpoint(file);
  EXPECT_EQ(values_of<float>(*again.find("a")), (std::vector<float>{1, 2}));
  EXPECT_EQ(again.tree().root()->as_call().callee->as_global().dotted(), "collections.OrderedDict");
}

// Row 51: aliased storages stay aliased, and each is written once and whole.
TEST(TorchWriter, AliasesStayAliases) {
  const Tensor whole = floats({0, 1, 2, 3, 4, 5});
  const Tensor part = Tensor::strided(DType::kFloat32, {Dims{2}, Dims{2}, 1}, whole.storage());
  const Checkpoint again =
      load_checkpoint(written(Checkpoint::from_tensors({{"whole", whole}, {"part", part}, {"same", whole}})));
  ASSERT_EQ(again.tensors().size(), 3U);
  EXPECT_EQ(again.find("whole")->storage(), again.find("part")->storage());
  EXPECT_EQ(again.find("whole")->storage(), again.find("same")->storage());
  EXPECT_EQ(values_of<float>(*again.find("part")), (std::vector<float>{1, 3}));
  EXPECT_EQ(again.find("part")->strides(), (Dims{2}));
}

TEST(TorchWriter, OneStorageSeenThroughTwoTypes) {
  const Tensor whole = floats({1, 2});
  const Tensor bits = Tensor::strided(DType::kInt32, {Dims{2}, Dims{1}, 0}, whole.storage());
  const Checkpoint again =
      load_checkpoint(written(Checkpoint::from_tensors({{"float", whole}, {"bits", bits}})));
  EXPECT_EQ(again.find("float")->storage(), again.find("bits")->storage());
  EXPECT_EQ(values_of<float>(*again.find("float")), (std::vector<float>{1, 2}));
  EXPECT_EQ(values_of<int32_t>(*again.find("bits")), (std::vector<int32_t>{0x3f800000, 0x40000000}));
}

TEST(TorchWriter, AStorageThatIsNoWholeNumberOfElements) {
  const auto storage = Storage::own(std::vector<uint8_t>(10));
  const Tensor x = Tensor::strided(DType::kFloat32, {Dims{2}, Dims{1}, 0}, storage);
  const Checkpoint again = load_checkpoint(written(Checkpoint::from_tensors({{"x", x}})));
  EXPECT_EQ(again.find("x")->storage()->size(), 10U);
}

TEST(TorchWriter, EveryTypeComesBack) {
  NamedTensors tensors;
  for (const DTypeInfo& info : all_dtypes()) {
    if (!info.is_quantized) tensors.push_back({std::string(info.name), Tensor::zeros(info.dtype, Dims{3})});
  }
  const Checkpoint checkpoint = Checkpoint::from_tensors(std::move(tensors));
  EXPECT_EQ(TensorLines::of(load_checkpoint(written(checkpoint))), TensorLines::of(checkpoint));
}

TEST(TorchWriter, RefusesTwoTensorsOfOneName) {
  EXPECT_EQ(error_text([] { Checkpoint::from_tensors({{"a", floats({1})}, {"a", floats({2})}}); }),
            "unsupported: two tensors have the name 'a' (convert to .pt without a filter, which keeps the "
            "structure they are "
            "in)");
}

TEST(TorchWriter, OfTorchScriptTheStateDict) {
  const std::shared_ptr<Mapping> file = written(load_checkpoint(golden_file("script_2.13.pt")));
  const Checkpoint again = load_checkpoint(file);
  EXPECT_EQ(again.kind(), FileKind::kTorchSave);
  EXPECT_EQ(TensorLines::of(again), TensorLines::of(load_checkpoint(golden_file("script_2.13.pt"))));
  for (const Node* global : again.tree().globals())
    EXPECT_FALSE(global->as_global().module.starts_with("__torch__"));
}

// The key of a storage that nobody looked at would mean another storage, or none, in the new file.
TEST(TorchWriter, NothingOfTheOldFileSlipsThrough) {
  TorchFileBuilder file;
  pickle::Tree& tree = file.tree;
  file.record("data/0", std::string(24, '\1'));
  Node* strange = file.tensor_v2(file.storage_id("StrangeStorage", "5", 6), 0, {6}, {1});
  tree.set_root(tree.dict({{tree.string("x"), file.plain_tensor()}, {tree.string("strange"), strange}}));
  const Checkpoint checkpoint = load_checkpoint(file.finish());
  EXPECT_EQ(error_text([&] { written(checkpoint); }),
            "unsupported: the pickle refers to an object outside of it that is not known (leave it out with "
            "a filter; "
            "'strange': 'torch.StrangeStorage' is not a known storage class (a newer Flambeau may know it))");
}

TEST(TorchWriter, UnknownTypesKeepTheirBytes) {
  TorchFileBuilder file;
  pickle::Tree& tree = file.tree;
  file.record("data/a", std::string(24, '\1'));
  file.record("data/b", "abcdef");
  Node* untyped =
      tree.persistent(tree.tuple({tree.string("storage"), tree.global("torch.storage", "UntypedStorage"),
                                  tree.string("b"), tree.string("cpu"), tree.integer(6)}));
  Node* v3 =
      file.utils("_rebuild_tensor_v3", {untyped, tree.integer(0), file.ints({6}), file.ints({1}),
                                        tree.boolean(false), file.hooks(), tree.global("torch", "int3")});
  Node* plain = file.tensor_v2(file.storage_id("FloatStorage", "a", 6), 0, {6}, {1});
  tree.set_root(tree.dict({{tree.string("known"), plain}, {tree.string("new"), v3}}));
  const std::shared_ptr<Mapping> again = written(load_checkpoint(file.finish()));
  EXPECT_EQ(RecordArchive::open(again).read_text("data/1"), "abcdef");
  EXPECT_EQ(load_checkpoint(again).skipped()[0].second,
            "'torch.int3' is not a known element type (a newer Flambeau may know it)");
}

// A wrapper for another backend stays one: only the tensor inside is written anew, in host memory.
TEST(TorchWriter, DeviceWrappersStay) {
  TorchFileBuilder file;
  file.record("data/0", std::string(24, '\1'));
  Node* x = file.utils("_rebuild_device_tensor_from_cpu_tensor",
                       {file.plain_tensor(), file.tree.global("torch", "float32"), file.tree.string("xla:1"),
                        file.tree.boolean(true)});
  const std::shared_ptr<Mapping> first = file.with_x(x);
  const Checkpoint again = load_checkpoint(written(load_checkpoint(first)));
  EXPECT_EQ(TensorLines::of(again), TensorLines::of(load_checkpoint(first)));
  const Node* call = again.tree().root()->find("x");
  EXPECT_TRUE(call->as_call().callee->is_global("torch._utils._rebuild_device_tensor_from_cpu_tensor"));
  const Tensor* inner = again.tensor_at(call->as_call().args->items()[0]);
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->device().to_string(), "cpu");
}

class CancelTheWriter final : public Progress {
 public:
  void begin(std::string_view stage, uint64_t total) override { stage_ = stage, total_ = total; }
  void advance(uint64_t) override {}
  bool cancelled() const override { return true; }
  std::string stage_;
  uint64_t total_ = 0;
};

TEST(TorchWriter, ReportsAndStops) {
  CancelTheWriter progress;
  MemorySink sink;
  EXPECT_EQ(error_text([&] {
              write_torch_zip(sink, Checkpoint::from_tensors({{"a", floats({1, 2})}}), {}, progress);
            }).substr(0, 10),
            "cancelled:");
  EXPECT_EQ(progress.stage_, "writing tensors");
  EXPECT_EQ(progress.total_, 8U);
}

}  // namespace
}  // namespace flambeau
