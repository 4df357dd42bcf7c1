// Files of every age, against what PyTorch reads from them; and written again, byte for byte.
#include <gtest/gtest.h>

#include <fstream>

#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/convert.h"
#include "support/torch_files.h"

namespace flambeau {
namespace {

using testing::golden_file;
using testing::read_file;
using testing::TemporaryFolder;
using testing::TensorLines;

// Those that torch.save of PyTorch 2.13 made, which is what write_torch_zip writes.
bool is_todays(const std::string& name) {
  return name.find("_2.13.pt") != std::string::npos && !name.starts_with("legacy") &&
         !name.starts_with("script") && !name.starts_with("mobile") && !name.starts_with("marks");
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  std::ifstream manifest(golden_file("MANIFEST"));
  for (std::string line; std::getline(manifest, line);) names.push_back(line.substr(0, line.find('\t')));
  return names;
}

std::vector<std::string> expected_lines(const std::string& name) {
  std::vector<std::string> lines;
  std::ifstream file(golden_file(name.substr(0, name.rfind('.')) + ".txt"));
  EXPECT_TRUE(file.good()) << name;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

class GoldenStateDict : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenStateDict, HoldsWhatPyTorchReads) {
  const Checkpoint checkpoint = load_checkpoint(golden_file(GetParam()));
  EXPECT_EQ(TensorLines::of(checkpoint), expected_lines(GetParam()));
}

TEST_P(GoldenStateDict, LoadsFromMemoryAsFromAFile) {
  const std::string bytes = read_file(golden_file(GetParam()));
  EXPECT_EQ(TensorLines::of(load_checkpoint(Mapping::from_text(bytes))), expected_lines(GetParam()));
}

TEST_P(GoldenStateDict, KeepsItsTensorsWhenWrittenAgain) {
  const TemporaryFolder folder;
  const std::string path = folder / (GetParam() + ".pt");
  const Checkpoint original = load_checkpoint(golden_file(GetParam()));
  save_checkpoint(original, path, FileKind::kTorchSave);
  EXPECT_EQ(TensorLines::of(load_checkpoint(path)), expected_lines(GetParam()));
}

class TodaysStateDict : public ::testing::TestWithParam<std::string> {};

TEST_P(TodaysStateDict, ComesBackByteForByte) {
  const TemporaryFolder folder;
  const std::string path = folder / GetParam();
  save_checkpoint(load_checkpoint(golden_file(GetParam())), path, FileKind::kTorchSave);
  EXPECT_TRUE(read_file(path) == read_file(golden_file(GetParam())));
}

TEST_P(GoldenStateDict, IsWrittenTheSameWayEveryTime) {
  const TemporaryFolder folder;
  (void)std::filesystem::create_directory(folder / "other");
  const std::string first = folder / "a.pt", second = folder / "other/a.pt";
  save_checkpoint(load_checkpoint(golden_file(GetParam())), first, FileKind::kTorchSave);
  save_checkpoint(load_checkpoint(first), second, FileKind::kTorchSave);
  EXPECT_TRUE(read_file(first) == read_file(second));
}

// Any beginning of a file is an error, never a crash; what is cut off is weights or description.
TEST_P(GoldenStateDict, CutShortIsAnError) {
  const std::string bytes = read_file(golden_file(GetParam()));
  const size_t step = bytes.size() / 200 + 1;
  for (size_t size = 0; size < bytes.size(); size += step) {
    try {
      load_checkpoint(Mapping::from_text(std::string_view(bytes).substr(0, size)));
      // A tar ends with blocks of zeros that are not needed.
      EXPECT_TRUE(GetParam().ends_with(".tar") && size > bytes.size() / 2) << size;
    } catch (const Error& error) {
      EXPECT_FALSE(error.message().empty());
    }
  }
}

std::vector<std::string> todays_names() {
  std::vector<std::string> names = golden_names();
  std::erase_if(names, [](const std::string& name) { return !is_todays(name); });
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& test) {
  std::string name = test.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenStateDict, ::testing::ValuesIn(golden_names()), test_name);
INSTANTIATE_TEST_SUITE_P(Files, TodaysStateDict, ::testing::ValuesIn(todays_names()), test_name);

}  // namespace
}  // namespace flambeau
