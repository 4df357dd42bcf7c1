#include "flambeau/formats/shards/shards.h"
#include "flambeau/base/files/mapping.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "flambeau/archive/json/json.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/faulty_file_api.h"
#include "flambeau/formats/inspect.h"
#include "flambeau/formats/shards/shard_index.h"
#include "support/temporary_folder.h"

namespace flambeau {
namespace {

using testing::TemporaryFolder;

// Five tensors of 16 bytes.
Checkpoint five_tensors() {
  NamedTensors tensors;
  for (int i = 0; i < 5; ++i) {
    Tensor tensor = Tensor::zeros(DType::kFloat32, Dims{4});
    tensor.mutable_data<float>()[0] = static_cast<float>(i);
    tensors.push_back({"layer." + std::to_string(i), tensor});
  }
  return Checkpoint::from_tensors(std::move(tensors));
}

void put(const std::string& path, std::string_view text) { std::ofstream(path) << text; }

template <typename Body>
std::string message_from(Body&& body, ErrorCode code) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

class Formats : public ::testing::TestWithParam<FileKind> {};

TEST_P(Formats, ComeBackFromTheFolderAndTheIndex) {
  const TemporaryFolder folder;
  const std::string path = folder / "model/";
  const ShardedFiles written = save_shards(five_tensors(), path, GetParam(), 40);
  const bool is_safe = GetParam() == FileKind::kSafetensors;
  const std::string stem = is_safe ? "model" : "pytorch_model", ending = is_safe ? ".safetensors" : ".bin";
  EXPECT_EQ(written.main, path + stem + ending + ".index.json");
  ASSERT_EQ(written.shards.size(), 3U);
  EXPECT_EQ(written.shards[2], path + stem + "-00003-of-00003" + ending);
  EXPECT_EQ(written.bytes, 80U);
  for (const std::string& given : {path, written.main}) {
    const Checkpoint read = load_checkpoint(given);
    EXPECT_EQ(read.kind(), FileKind::kShardIndex);
    ASSERT_EQ(read.tensors().size(), 5U);
    EXPECT_EQ(read.find("layer.4")->data<float>()[0], 4.0F);
  }
  const Inspection inspection = inspect_file(path);
  EXPECT_EQ(inspection.records.size(), 3U);
  EXPECT_GT(inspection.file_size, 80U);
}
INSTANTIATE_TEST_SUITE_P(Shards, Formats, ::testing::Values(FileKind::kSafetensors, FileKind::kTorchSave));

TEST(Shards, TheIndexIsAsHuggingFaceWritesIt) {
  const TemporaryFolder folder;
  const ShardedFiles written =
      save_shards(five_tensors(), folder / "x.safetensors", FileKind::kSafetensors, 64);
  const json::Value index = json::parse(as_text(Mapping::open(written.main)->bytes()));
  EXPECT_EQ(index.find("metadata")->find("total_size")->as_int(), 80);
  EXPECT_EQ(index.find("weight_map")->find("layer.0")->as_string(), "x-00001-of-00002.safetensors");
  EXPECT_EQ(index.find("weight_map")->find("layer.4")->as_string(), "x-00002-of-00002.safetensors");
  EXPECT_EQ(load_checkpoint(written.shards[0]).metadata(),
            (std::vector<std::pair<std::string, std::string>>{{"format", "pt"}}));
}

TEST(Shards, WhatFitsIsOneFile) {
  const TemporaryFolder folder;
  const ShardedFiles written = save_shards(five_tensors(), folder / "", FileKind::kSafetensors, 80);
  EXPECT_EQ(written.main, folder / "model.safetensors");
  EXPECT_FALSE(std::filesystem::exists(folder / "model.safetensors.index.json"));
  EXPECT_EQ(load_checkpoint(folder / "").tensors().size(), 5U);
}

TEST(Shards, ASharedStorageIsNotCarriedAlong) {
  const TemporaryFolder folder;
  const Tensor whole = Tensor::zeros(DType::kFloat32, Dims{100'000});
  NamedTensors tensors;
  for (int i = 0; i < 4; ++i)
    tensors.push_back(
        {std::to_string(i), Tensor::strided(DType::kFloat32, {{10}, {1}, i * 10}, whole.storage())});
  const ShardedFiles written =
      save_shards(Checkpoint::from_tensors(std::move(tensors)), folder / "", FileKind::kTorchSave, 40);
  ASSERT_EQ(written.shards.size(), 4U);
  EXPECT_LT(std::filesystem::file_size(written.shards[0]), 10'000U);
}

TEST(Shards, AFileThatWouldBeTakenForTheModelIsInTheWay) {
  const TemporaryFolder folder;
  save_shards(five_tensors(), folder / "", FileKind::kSafetensors, 1000);
  EXPECT_NE(message_from([&] { save_shards(five_tensors(), folder / "", FileKind::kSafetensors, 40); },
                         ErrorCode::kInvalidArgument)
                .find("is there already, and would be taken for the model instead of the shards"),
            std::string::npos);
}

// Every call of a save fails in turn: afterwards there is the old model, or none, or the new one.
TEST(Shards, AFailedSaveLeavesNothingThatLooksComplete) {
  for (int failing = 1;; ++failing) {
    const TemporaryFolder folder;
    save_shards(five_tensors(), folder / "", FileKind::kSafetensors, 40);
    FaultyFileApi api;
    api.fail_call(failing, EIO);
    bool is_done = false;
    try {
      save_shards(five_tensors(), folder / "", FileKind::kSafetensors, 20, Progress::silent(), api);
      is_done = true;
    } catch (const Error&) {
    }
    if (std::filesystem::exists(folder / "model.safetensors.index.json")) {
      EXPECT_EQ(load_checkpoint(folder / "").tensors().size(), 5U) << failing;
    }
    if (is_done && api.failed().empty()) break;
    ASSERT_LT(failing, 1000);
  }
}

TEST(ShardErrors, MissingShard) {
  const TemporaryFolder folder;
  const ShardedFiles written = save_shards(five_tensors(), folder / "", FileKind::kSafetensors, 40);
  std::filesystem::remove(written.shards[1]);
  EXPECT_EQ(message_from([&] { load_checkpoint(folder / ""); }, ErrorCode::kNotFound),
            written.main + ": " + written.shards[1] +
                ": cannot be opened: No such file or directory (the index needs this file beside it: copy or "
                "download "
                "it too)");
}

TEST(ShardErrors, TensorNotInItsShard) {
  const TemporaryFolder folder;
  const ShardedFiles written = save_shards(five_tensors(), folder / "", FileKind::kSafetensors, 40);
  put(written.main, R"({"weight_map": {"layer.9": "model-00001-of-00003.safetensors"}})");
  const std::string text = message_from([&] { load_checkpoint(written.main); }, ErrorCode::kCorrupt);
  EXPECT_NE(
      text.find(
          "tensor 'layer.9': the index says it is in 'model-00001-of-00003.safetensors', which has no such "
          "tensor (did you mean 'layer.0' or 'layer.1'?"),
      std::string::npos)
      << text;
}

TEST(ShardErrors, TensorsThatTheIndexDoesNotMentionAreNoted) {
  const TemporaryFolder folder;
  const ShardedFiles written = save_shards(five_tensors(), folder / "", FileKind::kSafetensors, 40);
  put(written.main, R"({"weight_map": {"layer.0": "model-00001-of-00003.safetensors"}})");
  const Checkpoint read = load_checkpoint(written.main);
  EXPECT_EQ(read.tensors().size(), 1U);
  ASSERT_EQ(read.notes().size(), 1U);
  EXPECT_EQ(read.notes()[0],
            "the index does not mention 1 of the tensors in 'model-00001-of-00003.safetensors', which are "
            "left out");
}

TEST(ShardErrors, NamesNeverLeaveTheFolder) {
  for (const std::string name : {"../x", "/etc/passwd", "a/b", "..", ".", "", "a\\\\b", "a\\u0000b"}) {
    const std::string text = message_from(
        [&] { read_shard_index(R"({"weight_map": {"t": ")" + name + "\"}}"); }, ErrorCode::kUnsafe);
    EXPECT_NE(text.find("is not the name of a file beside the index"), std::string::npos)
        << name << ": " << text;
  }
}

TEST(ShardErrors, BrokenIndexes) {
  const auto refused = [](std::string_view text) {
    return message_from([&] { read_shard_index(text); }, ErrorCode::kCorrupt);
  };
  EXPECT_EQ(refused("[]"), "the index is not an object");
  EXPECT_EQ(refused("{}"), "the index has no \"weight_map\"");
  EXPECT_EQ(refused(R"({"weight_map": []})"), "the index's \"weight_map\" is not an object");
  EXPECT_TRUE(refused(R"({"weight_map": {"t": 3}})").starts_with("tensor 't': expected"));
  EXPECT_NE(refused(R"({"weight_map": {"t": "a", "t": "a"}})"), "no error");
  EXPECT_NE(refused(R"({"weight_map": {"t": "a"})"), "no error");
}

TEST(ShardErrors, AnIndexOfItselfAndAnIndexInMemory) {
  const TemporaryFolder folder;
  put(folder / "a.index.json", R"({"weight_map": {"t": "a.index.json"}})");
  EXPECT_NE(message_from([&] { load_checkpoint(folder / "a.index.json"); }, ErrorCode::kCorrupt)
                .find("a shard is an index itself"),
            std::string::npos);
  EXPECT_EQ(message_from([&] { load_checkpoint(Mapping::from_text(R"({"weight_map": {}})")); },
                         ErrorCode::kUnsupported),
            "is an index of weights in other files, which are looked for beside it (give the index as a "
            "file, or the "
            "folder it is in)");
  EXPECT_NE(message_from([&] { load_checkpoint(folder / ""); }, ErrorCode::kNotFound)
                .find("the folder holds no weights"),
            std::string::npos);
}

TEST(Shards, SizesAsPeopleWriteThem) {
  EXPECT_EQ(parse_byte_count("5GB"), 5'000'000'000U);
  EXPECT_EQ(parse_byte_count("2 GiB"), 2147483648U);
  EXPECT_EQ(parse_byte_count("500mb"), 500'000'000U);
  EXPECT_EQ(parse_byte_count("1000"), 1000U);
  for (const char* text : {"", "0", "GB", "-1", "5 parsecs", "99999999999TB", "1.5GB"})
    EXPECT_EQ(parse_byte_count(text), std::nullopt) << text;
}

}  // namespace
}  // namespace flambeau
