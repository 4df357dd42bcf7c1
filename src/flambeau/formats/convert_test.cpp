#include "flambeau/formats/convert.h"

#include <gtest/gtest.h>

#include "flambeau/archive/record_archive.h"
#include "support/torch_files.h"

namespace flambeau {
namespace {

using testing::error_text;
using testing::golden_file;
using testing::read_file;
using testing::TemporaryFolder;
using testing::TensorLines;
using testing::values_of;
using Patterns = std::vector<std::string>;

Tensor floats(const std::vector<float>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return Tensor::contiguous(DType::kFloat32, Dims{static_cast<int64_t>(values.size())},
                            Storage::own(std::move(bytes)));
}

std::vector<std::string> names_of(const Checkpoint& checkpoint) {
  std::vector<std::string> names;
  for (const CheckpointTensor& entry : checkpoint.tensors()) names.push_back(entry.name);
  return names;
}

TEST(WeightFormatFor, GoesByTheEnding) {
  for (const char* path : {"a.pt", "a.pth", "x/a.bin", "a.ckpt", ".pt"}) {
    EXPECT_EQ(weight_format_for(path), FileKind::kTorchSave) << path;
  }
  EXPECT_EQ(weight_format_for("a.safetensors"), FileKind::kSafetensors);
  EXPECT_EQ(weight_format_for("a.npz"), FileKind::kNpz);
  for (const char* path : {"a", "a.npy", "a.txt", "pt", "a.PT", "safetensors"}) {
    EXPECT_EQ(weight_format_for(path), std::nullopt) << path;
  }
}

TEST(NameMatches, LikeAShell) {
  EXPECT_TRUE(name_matches("a", {}));
  EXPECT_TRUE(name_matches("encoder.weight", {"encoder.*"}));
  EXPECT_FALSE(name_matches("decoder.encoder.weight", {"encoder.*"}));
  EXPECT_TRUE(name_matches("a.b", {"a?b"}));
  EXPECT_FALSE(name_matches("a..b", {"a?b"}));
  EXPECT_TRUE(name_matches("", {"*"}));
  EXPECT_TRUE(name_matches("", {""}));
  EXPECT_FALSE(name_matches("", {"?"}));
  EXPECT_TRUE(name_matches("abcabc", {"*abc"}));
  EXPECT_TRUE(name_matches("x", {"a", "x"}));
  EXPECT_FALSE(name_matches("[x]", {"[a-z]"})) << "no classes of letters";
}

TEST(NameMatches, TakesAway) {
  EXPECT_TRUE(name_matches("a.weight", {"!*.bias"}));
  EXPECT_FALSE(name_matches("a.bias", {"!*.bias"}));
  EXPECT_FALSE(name_matches("a.bias", {"a.*", "!*.bias"}));
  EXPECT_FALSE(name_matches("a.bias", {"!*.bias", "a.*"})) << "in any order";
  EXPECT_FALSE(name_matches("b.weight", {"a.*", "!*.bias"}));
}

TEST(NameMatches, ManyStarsTakeNoTime) {
  const std::string name(10'000, 'a');
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "*a";
  EXPECT_FALSE(name_matches(name, {pattern + "b"}));
  EXPECT_TRUE(name_matches(name, {pattern}));
}

TEST(Transform, KeepsTheStructureWithoutAFilter) {
  ConvertOptions options;
  const Checkpoint checkpoint = transform(load_checkpoint(golden_file("extras_2.13.pt")), options);
  EXPECT_NE(checkpoint.tree().root()->find("keyed"), nullptr);
}

TEST(Transform, FiltersToAFlatStateDict) {
  ConvertOptions options;
  options.patterns = {"first.*", "bias", "!*.count"};
  const Checkpoint checkpoint = transform(load_checkpoint(golden_file("module_2.13.pt")), options);
  EXPECT_EQ(names_of(checkpoint), (std::vector<std::string>{"bias", "first.weight"}));
  EXPECT_TRUE(checkpoint.tree().root()->as_call().callee->is_global("collections.OrderedDict"));
  options.patterns = {"nothing*"};
  EXPECT_EQ(error_text([&] { transform(load_checkpoint(golden_file("module_2.13.pt")), options); }),
            "not_found: none of the 5 tensors is kept by the filter ('flambeau inspect' shows the names)");
}

TEST(Transform, FilterKeepsTheMetadata) {
  const TemporaryFolder folder;
  save_checkpoint(Checkpoint::from_tensors({{"a", floats({1})}, {"b", floats({2})}}, {{"format", "pt"}}),
                  folder / "a.safetensors", FileKind::kSafetensors);
  ConvertOptions options;
  options.patterns = {"a"};
  const Checkpoint checkpoint = transform(load_checkpoint(folder / "a.safetensors"), options);
  EXPECT_EQ(checkpoint.metadata(), (std::vector<std::pair<std::string, std::string>>{{"format", "pt"}}));
}

TEST(Transform, ConvertsFloatingPointAlone) {
  const std::shared_ptr<Storage> storage = floats({1, 2, 3, 4}).storage();
  Tensor turned = Tensor::strided(DType::kFloat32, {Dims{2, 2}, Dims{1, 2}, 0}, storage);
  turned.set_requires_grad(true);
  const Tensor part = Tensor::strided(DType::kFloat32, {Dims{1}, Dims{1}, 3}, storage);
  const Tensor count = Tensor::zeros(DType::kInt64, Dims{2});
  ConvertOptions options;
  options.dtype = DType::kFloat64;
  const Checkpoint checkpoint =
      transform(Checkpoint::from_tensors({{"turned", turned}, {"part", part}, {"count", count}}), options);
  EXPECT_EQ(values_of<double>(*checkpoint.find("turned")), (std::vector<double>{1, 3, 2, 4}));
  EXPECT_EQ(checkpoint.find("turned")->strides(), (Dims{1, 2})) << "still a view";
  EXPECT_EQ(checkpoint.find("turned")->storage(), checkpoint.find("part")->storage()) << "of one storage";
  EXPECT_TRUE(checkpoint.find("turned")->requires_grad());
  EXPECT_EQ(checkpoint.find("count")->dtype(), DType::kInt64);
}

TEST(Transform, ConvertsTheValuesOfSparseTensors) {
  ConvertOptions options;
  options.dtype = DType::kFloat16;
  const Checkpoint checkpoint = transform(load_checkpoint(golden_file("sparse_2.13.pt")), options);
  for (const CheckpointTensor& entry : checkpoint.tensors()) {
    EXPECT_EQ(entry.tensor.dtype(), DType::kFloat16) << entry.name;
    EXPECT_NE(entry.tensor.layout(), Layout::kStrided);
  }
}

TEST(Transform, LeavesWhatHasNoPlainNumbers) {
  ConvertOptions options;
  options.dtype = DType::kFloat16;
  for (const char* name : {"quantized_2.13.pt", "extras_2.13.pt"}) {
    const Checkpoint before = load_checkpoint(golden_file(name));
    const Checkpoint after = transform(load_checkpoint(golden_file(name)), options);
    for (size_t i = 0; i < before.tensors().size(); ++i) {
      const Tensor& old = before.tensors()[i].tensor;
      const bool converts = dtype_info(old.dtype()).is_floating;  // of meta tensors the type alone
      EXPECT_EQ(after.tensors()[i].tensor.dtype(), converts ? DType::kFloat16 : old.dtype())
          << before.tensors()[i].name;
    }
  }
}

TEST(Transform, RefusesOtherTypes) {
  for (const DType dtype : {DType::kInt8, DType::kBool, DType::kComplex64, DType::kQInt8}) {
    ConvertOptions options;
    options.dtype = dtype;
    EXPECT_EQ(error_text([&] { transform(Checkpoint::from_tensors({{"a", floats({1})}}), options); }),
              "invalid_argument: weights cannot be converted to " + std::string(dtype_name(dtype)) +
                  " (choose a floating-point type: float32, float16, bfloat16, float64 or one of the float8 "
                  "types)");
  }
}

TEST(SaveCheckpoint, NamesTheTopFolderAsTorchSaveDoes) {
  const TemporaryFolder folder;
  const std::pair<const char*, const char*> kNames[] = {
      {"model.pt", "model"}, {"model.v1.pt", "model.v1"}, {"model", "model"},      {".pt", "archive"},
      {"..pt", "archive"},   {"...pt", "archive"},        {"mödel.pt", "archive"}, {"a b.pt", "a b"},
  };
  for (const auto& [file, top] : kNames) {
    save_checkpoint(Checkpoint::from_tensors({{"a", floats({1})}}), folder / file, FileKind::kTorchSave);
    EXPECT_EQ(RecordArchive::open(Mapping::open(folder / file)).top_folder(), top) << file;
  }
}

TEST(SaveCheckpoint, EveryFormatBackAndForth) {
  const TemporaryFolder folder;
  const Checkpoint first =
      Checkpoint::from_tensors({{"a.b", floats({1, 2})}, {"c", Tensor::zeros(DType::kInt64, Dims{})}});
  const std::vector<std::string> expected = TensorLines::of(first);
  const std::pair<const char*, FileKind> kFormats[] = {
      {"a.pt", FileKind::kTorchSave}, {"a.safetensors", FileKind::kSafetensors}, {"a.npz", FileKind::kNpz}};
  for (const auto& [name, format] : kFormats) {
    save_checkpoint(first, folder / name, format);
    const Checkpoint read = load_checkpoint(folder / name);
    EXPECT_EQ(names_of(read).size(), 2U);
    for (const auto& [other, other_format] : kFormats) {
      save_checkpoint(read, folder / std::string("again_") + other, other_format);
      const Checkpoint again = load_checkpoint(folder / std::string("again_") + other);
      EXPECT_EQ(values_of<float>(*again.find("a.b")), (std::vector<float>{1, 2})) << name << " to " << other;
      EXPECT_EQ(again.find("c")->summary(), "int64[]");
    }
  }
}

TEST(SaveCheckpoint, SaysWhatAFormatCannotHold) {
  const TemporaryFolder folder;
  const auto error = [&](const char* golden, const char* name, FileKind format) {
    return error_text([&] { save_checkpoint(load_checkpoint(golden_file(golden)), folder / name, format); });
  };
  EXPECT_EQ(error("quantized_2.13.pt", "a.safetensors", FileKind::kSafetensors),
            "unsupported: tensor 'signed': qint8[3, 4] is quantized, safetensors has no place for its scales "
            "(dequantize it "
            "first, or save a .pt file)");
  EXPECT_EQ(error("sparse_2.13.pt", "a.npz", FileKind::kNpz),
            "unsupported: tensor 'coo': float32[3, 3] (sparse_coo) is sparse, npy holds dense tensors only "
            "(make it dense "
            "first, or save a .pt file)");
  EXPECT_EQ(folder.names(), std::vector<std::string>{}) << "nothing is left behind";
}

}  // namespace
}  // namespace flambeau
