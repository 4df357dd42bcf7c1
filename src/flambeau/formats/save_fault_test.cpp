// Saving a checkpoint while the disk fails, over its own source, and by two at once.
#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

#include "flambeau/base/error.h"
#include "flambeau/base/files/faulty_file_api.h"
#include "flambeau/formats/convert.h"
#include "support/torch_files.h"

namespace flambeau {
namespace {

using testing::golden_file;
using testing::read_file;
using testing::TemporaryFolder;
using testing::TensorLines;
using testing::write_file;

const char* const kGolden = "views_2.13.pt";

struct Format {
  const char* name;
  FileKind format;
};

class SaveFault : public ::testing::TestWithParam<Format> {
 protected:
  SaveFault() : checkpoint_(load_checkpoint(golden_file(kGolden))) {
    save_checkpoint(checkpoint_, folder_ / GetParam().name, GetParam().format);
    new_ = read_file(folder_ / GetParam().name);
  }
  // Row 57: what stands at the target after a save of which one call fails.
  void expect_old_or_new(FaultyFileApi& api) {
    const std::string target = folder_ / GetParam().name;
    write_file(target, old_);
    bool threw = false;
    try {
      save_checkpoint(checkpoint_, target, GetParam().format, Progress::silent(), api);
    } catch (const Error& error) {
      threw = true;
      EXPECT_EQ(error.code(), ErrorCode::kIo) << error.what();
      EXPECT_TRUE(std::string_view(error.what()).starts_with(target + ": ")) << error.what();
    }
    const std::string now = read_file(target);
    EXPECT_TRUE(now == new_ || (threw && now == old_)) << "after " << api.failed();
    EXPECT_EQ(folder_.names(), std::vector<std::string>{GetParam().name}) << "after " << api.failed();
  }

  TemporaryFolder folder_;
  const Checkpoint checkpoint_;
  const std::string old_ = std::string(5000, 'o');
  std::string new_;
};

TEST_P(SaveFault, EveryCallThatFails) {
  for (const int error_number : {EIO, ENOSPC, EINTR}) {
    int at = 1;
    for (;; ++at) {
      FaultyFileApi api;
      api.fail_call(at, error_number);
      expect_old_or_new(api);
      if (api.failed().empty()) break;
    }
    EXPECT_GT(at, 8);
  }
}

TEST_P(SaveFault, EveryCallThatFailsWithoutUnnamedFiles) {
  for (int at = 1;; ++at) {
    FaultyFileApi api;
    api.refuse_unnamed();
    api.fail_call(at, EIO);
    expect_old_or_new(api);
    if (api.failed().empty()) break;
  }
}

TEST_P(SaveFault, ShortWritesAreFinished) {
  FaultyFileApi api;
  api.shorten_call(1, true);
  expect_old_or_new(api);
  EXPECT_TRUE(read_file(folder_ / GetParam().name) == new_);
}

TEST_P(SaveFault, AFullDisk) {
  FaultyFileApi api;
  api.fail_all("write", ENOSPC);
  expect_old_or_new(api);
  EXPECT_TRUE(read_file(folder_ / GetParam().name) == old_);
}

INSTANTIATE_TEST_SUITE_P(Formats, SaveFault,
                         ::testing::Values(Format{"a.pt", FileKind::kTorchSave},
                                           Format{"a.safetensors", FileKind::kSafetensors},
                                           Format{"a.npz", FileKind::kNpz}),
                         [](const auto& test) { return std::string(test.param.name).substr(2); });

// Row 58: the mapping of the old file outlives its name.
TEST(SaveOverItself, LaterReadsStayValid) {
  const TemporaryFolder folder;
  const std::string path = folder / "views_2.13.pt";
  write_file(path, read_file(golden_file(kGolden)));
  const std::vector<std::string> expected = TensorLines::of(load_checkpoint(golden_file(kGolden)));
  const Checkpoint checkpoint = load_checkpoint(path);
  save_checkpoint(checkpoint, path, FileKind::kTorchSave);
  EXPECT_TRUE(read_file(path) == read_file(golden_file(kGolden)));
  ConvertOptions options;
  options.dtype = DType::kFloat16;
  save_checkpoint(transform(load_checkpoint(path), options), path, FileKind::kTorchSave);
  EXPECT_EQ(TensorLines::of(checkpoint), expected) << "the first mapping";
  EXPECT_EQ(load_checkpoint(path).find("base")->dtype(), DType::kFloat16);
}

TEST(SaveOverItself, AlsoWhatIsReadLate) {
  for (const char* name : {"deflated.pt", "big_endian.pt", "marks_2.13.pt"}) {
    const TemporaryFolder folder;
    const std::string path = folder / name;
    write_file(path, read_file(golden_file(name)));
    const Checkpoint checkpoint = load_checkpoint(path);
    write_file(folder / "other", "something else");
    std::filesystem::rename(folder / "other", path);
    EXPECT_EQ(TensorLines::of(checkpoint), TensorLines::of(load_checkpoint(golden_file(name))));
    save_checkpoint(checkpoint, path, FileKind::kTorchSave);
    EXPECT_EQ(TensorLines::of(load_checkpoint(path)), TensorLines::of(checkpoint));
  }
}

// Row 59: one complete file, of the one or the other.
TEST(TwoWriters, LeaveOneCompleteFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.pt";
  const auto make = [](float value) {
    std::vector<uint8_t> bytes(200'000 * sizeof(float));
    for (size_t i = 0; i < bytes.size(); i += sizeof value)
      std::memcpy(bytes.data() + i, &value, sizeof value);
    return Checkpoint::from_tensors(
        {{"x", Tensor::contiguous(DType::kFloat32, Dims{200'000}, Storage::own(std::move(bytes)))}});
  };
  const Checkpoint ones = make(1), twos = make(2);
  for (int round = 0; round < 20; ++round) {
    std::thread other([&] { save_checkpoint(ones, path, FileKind::kTorchSave); });
    save_checkpoint(twos, path, FileKind::kTorchSave);
    other.join();
    const Checkpoint found = load_checkpoint(path);
    const std::vector<float> values = testing::values_of<float>(*found.find("x"));
    ASSERT_EQ(values.size(), 200'000U);
    EXPECT_TRUE(values.front() == 1 || values.front() == 2);
    EXPECT_EQ(std::count(values.begin(), values.end(), values.front()), 200'000);
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.pt"});
}

TEST(SaveCheckpointMode, KeepsTheModeOfTheOldFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.pt";
  write_file(path, "old");
  std::filesystem::permissions(path, std::filesystem::perms(0640));
  save_checkpoint(load_checkpoint(golden_file(kGolden)), path, FileKind::kTorchSave);
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0640));
}

}  // namespace
}  // namespace flambeau
