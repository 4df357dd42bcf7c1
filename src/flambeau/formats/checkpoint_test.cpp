#include "flambeau/formats/checkpoint.h"
#include "flambeau/archive/pickle/tree.h"
#include "flambeau/base/files/mapping.h"

#include <gtest/gtest.h>

#include "support/torch_files.h"

namespace flambeau {
namespace {

using testing::error_text;
using testing::golden_file;
using testing::TemporaryFolder;
using testing::write_file;

TEST(Checkpoint, TensorsLieInTheMapping) {
  const std::shared_ptr<Mapping> mapping = Mapping::open(golden_file("views_2.13.pt"));
  const Checkpoint checkpoint = load_checkpoint(mapping);
  for (const CheckpointTensor& entry : checkpoint.tensors()) {
    const ByteSpan bytes = entry.tensor.storage()->bytes();
    EXPECT_TRUE(entry.tensor.storage()->is_ready());
    EXPECT_GE(bytes.data(), mapping->bytes().data());
    EXPECT_LE(bytes.data() + bytes.size(), mapping->bytes().data() + mapping->size());
  }
}

TEST(Checkpoint, OutlivesTheMappingsOwner) {
  Checkpoint checkpoint;
  {
    std::shared_ptr<Mapping> mapping = Mapping::open(golden_file("views_2.13.pt"));
    checkpoint = load_checkpoint(std::move(mapping));
  }
  EXPECT_EQ(testing::values_of<float>(*checkpoint.find("row")).front(), 12.0F);
}

TEST(Checkpoint, OpeningReadsNoWeights) {
  for (const char* name : {"deflated.pt", "big_endian.pt", "marks_2.13.pt"}) {
    const Checkpoint checkpoint = load_checkpoint(golden_file(name));
    size_t waiting = 0;
    for (const CheckpointTensor& entry : checkpoint.tensors())
      waiting += entry.tensor.storage()->is_ready() ? 0 : 1;
    EXPECT_GT(waiting, 0U) << name;
  }
}

TEST(Checkpoint, NodesLeadToTensors) {
  const Checkpoint checkpoint = load_checkpoint(golden_file("extras_2.13.pt"));
  const pickle::Node* leaf = checkpoint.tree().root()->find("leaf");
  ASSERT_NE(checkpoint.tensor_at(leaf), nullptr);
  EXPECT_EQ(checkpoint.tensor_at(leaf)->storage(), checkpoint.find("leaf")->storage());
  EXPECT_EQ(checkpoint.tensor_at(checkpoint.tree().root()), nullptr);
  size_t count = 0;
  checkpoint.for_each_node([&](const pickle::Node*, const Tensor&, TensorRole) { ++count; });
  EXPECT_EQ(count, checkpoint.tensors().size());
  EXPECT_EQ(checkpoint.named().size(), count);
}

TEST(Checkpoint, ReplacesEachTensorOnceAndInOrder) {
  Checkpoint checkpoint = load_checkpoint(golden_file("views_2.13.pt"));
  std::vector<std::string> seen;
  checkpoint.replace_tensors([&](const Tensor& tensor) {
    seen.push_back(tensor.summary());
    return Tensor::zeros(DType::kInt8, Dims{static_cast<int64_t>(seen.size())});
  });
  // "base" and "again" are one object, and so is one of the tied.
  EXPECT_EQ(seen.size(), checkpoint.tensors().size() - 1);
  EXPECT_EQ(seen.front(), "float32[2, 3, 4]");
  EXPECT_EQ(checkpoint.find("base")->storage(), checkpoint.find("again")->storage());
  EXPECT_EQ(checkpoint.find("transposed")->summary(), "int8[2]");
}

TEST(Checkpoint, SaysWhatItCannotOpen) {
  const TemporaryFolder folder;
  const auto error = [&](std::string_view content) {
    write_file(folder / "x", content);
    const std::string text = error_text([&] { load_checkpoint(folder / "x"); });
    const size_t at = text.find(folder / "x");
    return text.substr(0, at) + "FILE" + text.substr(at + (folder / "x").size());
  };
  EXPECT_EQ(error("abc"),
            "unsupported: FILE: is not a file of a known kind (Flambeau reads torch.save, TorchScript, "
            "safetensors, GGUF, npy and npz files)");
  EXPECT_EQ(error(""), "unsupported: FILE: is an empty file, not a file of PyTorch");
  EXPECT_EQ(error("\x80\x02N."),
            "unsupported: FILE: holds no state dict: it is a bare Python pickle ('flambeau inspect' and "
            "'flambeau list' show what is inside)");
  EXPECT_EQ(error_text([&] { load_checkpoint(folder / "none"); }).substr(0, 10), "not_found:");
}

TEST(Checkpoint, ProgramsHaveWeightsToo) {
  const Checkpoint checkpoint = load_checkpoint(std::string(FLAMBEAU_GOLDEN_DIR "/pt2/weights.tied.pt2"));
  ASSERT_FALSE(checkpoint.tensors().empty());
  EXPECT_EQ(checkpoint.tensors()[0].role, TensorRole::kParameter);
}

TEST(Checkpoint, OtherFormatsAreCheckpointsToo) {
  const std::string root = FLAMBEAU_GOLDEN_DIR;
  EXPECT_EQ(load_checkpoint(root + "/npy/matrix.npy").tensors()[0].name, "array");
  EXPECT_EQ(load_checkpoint(root + "/zip/numpy.npz").kind(), FileKind::kNpz);
  EXPECT_FALSE(load_checkpoint(root + "/safetensors/metadata.safetensors").metadata().empty());
}

}  // namespace
}  // namespace flambeau
