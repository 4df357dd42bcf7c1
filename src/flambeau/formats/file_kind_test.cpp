#include "flambeau/formats/file_kind.h"
#include "flambeau/base/files/mapping.h"

#include <gtest/gtest.h>

#include "support/torch_files.h"

namespace flambeau {
namespace {

using testing::golden_file;
using testing::read_file;

FileKind kind_of(std::string_view bytes) { return recognize(Mapping::from_text(bytes)); }
FileKind kind_of_file(const std::string& path) { return recognize(Mapping::open(path)); }

FileKind kind_with(std::initializer_list<const char*> records, std::string top = "archive") {
  MemorySink sink;
  zip::Writer writer(sink, {.top_folder = std::move(top)});
  for (const char* record : records) writer.add_text(record, "x");
  writer.finish();
  return recognize(Mapping::from_buffer(sink.take()));
}

TEST(FileKind, GoldenFiles) {
  EXPECT_EQ(kind_of_file(golden_file("views_2.13.pt")), FileKind::kTorchSave);
  EXPECT_EQ(kind_of_file(golden_file("legacy_views_1.13.pt")), FileKind::kTorchSaveLegacy);
  EXPECT_EQ(kind_of_file(golden_file("tensors.tar")), FileKind::kTorchSaveTar);
  EXPECT_EQ(kind_of_file(golden_file("script_2.13.pt")), FileKind::kTorchScript);
  EXPECT_EQ(kind_of_file(golden_file("mobile_2.13.pt")), FileKind::kTorchScriptMobile);
  const std::string root = FLAMBEAU_GOLDEN_DIR;
  EXPECT_EQ(kind_of_file(root + "/zip/program.pt2"), FileKind::kPt2);
  EXPECT_EQ(kind_of_file(root + "/zip/package.pt"), FileKind::kTorchPackage);
  EXPECT_EQ(kind_of_file(root + "/zip/numpy_compressed.npz"), FileKind::kNpz);
  EXPECT_EQ(kind_of_file(root + "/npy/matrix.npy"), FileKind::kNpy);
  EXPECT_EQ(kind_of_file(root + "/safetensors/types.safetensors"), FileKind::kSafetensors);
  EXPECT_EQ(kind_of_file(root + "/zip/python.zip"), FileKind::kZip);
}

TEST(FileKind, ArchivesByTheirRecords) {
  EXPECT_EQ(kind_with({"data.pkl"}), FileKind::kTorchSave);
  EXPECT_EQ(kind_with({"data.pkl", "constants.pkl"}), FileKind::kTorchScript);
  EXPECT_EQ(kind_with({"data.pkl", "constants.pkl", "bytecode.pkl"}), FileKind::kTorchScriptMobile);
  EXPECT_EQ(kind_with({"model.json"}), FileKind::kTorchScriptLegacy);
  EXPECT_EQ(kind_with({"serialized_exported_program.json"}, ""), FileKind::kPt2OldLayout);
  EXPECT_EQ(kind_with({"archive_format"}), FileKind::kPt2);
  EXPECT_EQ(kind_with({".data/extern_modules"}), FileKind::kTorchPackage);
  EXPECT_EQ(kind_with({"a.npy", "b.npy"}, ""), FileKind::kNpz);
  EXPECT_EQ(kind_with({"a.npy", "b.txt"}, ""), FileKind::kZip);
}

TEST(FileKind, PlainFiles) {
  EXPECT_EQ(kind_of(std::string_view("\0\0\0\0PTMF", 8)), FileKind::kMobileFlatBuffer);
  EXPECT_EQ(kind_of("\x80\x02N."), FileKind::kPickle);
  EXPECT_EQ(kind_of("(lp0\n."), FileKind::kPickle);
  EXPECT_EQ(kind_of("cos\nsystem\n."), FileKind::kPickle);
  EXPECT_EQ(kind_of("\x80\x02N"), FileKind::kUnknown);
  EXPECT_EQ(kind_of(""), FileKind::kUnknown);
  EXPECT_EQ(kind_of("abc"), FileKind::kUnknown);
}

// torch.load tries tar before anything but zip: a file that is also something else is a tar.
TEST(FileKind, TarComesFirst) {
  std::string tar = read_file(golden_file("ids.tar"));
  std::string name = tar.substr(0, 100);
  constexpr std::string_view kMagic("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 15);
  tar.replace(0, kMagic.size(), kMagic);
  tar.replace(148, 8, "        ");
  unsigned sum = 0;
  for (size_t i = 0; i < 512; ++i) sum += static_cast<uint8_t>(tar[i]);
  char octal[8];
  std::snprintf(octal, sizeof octal, "%06o", sum);
  tar.replace(148, 7, std::string(octal, 7));
  EXPECT_EQ(kind_of(tar), FileKind::kTorchSaveTar);
}

TEST(FileKind, ABrokenArchiveIsAnError) {
  const std::string bytes = read_file(golden_file("views_2.13.pt"));
  EXPECT_THROW(kind_of(std::string_view(bytes).substr(0, bytes.size() / 2)), Error);
}

TEST(FileKind, InfoIsInOrder) {
  for (int i = 0; i <= static_cast<int>(FileKind::kZip); ++i) {
    EXPECT_EQ(static_cast<int>(file_kind_info(static_cast<FileKind>(i)).kind), i);
    EXPECT_FALSE(file_kind_info(static_cast<FileKind>(i)).name.empty());
  }
}

TEST(ForeignKind, NamesWhatPeopleMixUp) {
  EXPECT_EQ(foreign_kind(as_bytes("")), "an empty file");
  EXPECT_EQ(foreign_kind(as_bytes("\x1f\x8b\x08")), "a gzip file (decompress it first)");
  EXPECT_EQ(foreign_kind(as_bytes("<!DOCTYPE html>")), "a web page (the download went wrong)");
  EXPECT_EQ(foreign_kind(as_bytes("version https://git-lfs.github.com/spec/v1\n")),
            "a Git LFS pointer (fetch the real file with 'git lfs pull')");
  EXPECT_EQ(foreign_kind(as_bytes("\x7f"
                                  "ELF")),
            "a program or shared library");
  EXPECT_EQ(foreign_kind(as_bytes("abc")), "");
}

}  // namespace
}  // namespace flambeau
