#include "flambeau/archive/zip/reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "flambeau/archive/zip/writer.h"
#include "support/zip_test_files.h"

namespace flambeau::zip {
namespace {

std::string text_of(const Reader& reader, std::string_view name) {
  const Entry* entry = reader.find(name);
  if (entry == nullptr) return "absent";
  const std::vector<uint8_t> bytes = reader.read(*entry);
  return std::string(as_text(bytes));
}

TEST(ZipReader, ReadsWhatTorchSaveWrites) {
  const Reader reader = open_golden("tensors.pt");
  std::vector<std::string> names;
  for (const Entry& entry : reader.entries()) names.emplace_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"tensors/data.pkl", "tensors/.format_version",
                                             "tensors/.storage_alignment", "tensors/byteorder",
                                             "tensors/data/0", "tensors/data/1", "tensors/data/2",
                                             "tensors/version", "tensors/.data/serialization_id"}));
  EXPECT_EQ(text_of(reader, "tensors/byteorder"), "little");
  EXPECT_EQ(text_of(reader, "tensors/version"), "3\n");
  const Entry* data = reader.find("tensors/data/0");
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(data->size, 40U);
  EXPECT_EQ(data->compressed_size, 40U);
  EXPECT_EQ(data->data_offset % 64, 0U);
  EXPECT_EQ(data->method, Method::kStored);
  const ByteSpan view = reader.view(*data);
  EXPECT_EQ(load_le<float>(&view[36]), 9.0F);
  EXPECT_EQ(view.data(), reader.mapping()->bytes().data() + data->data_offset);
}

TEST(ZipReader, FindsExactNamesOnly) {
  const Reader reader = open_golden("stream.zip");
  EXPECT_NE(reader.find("archive/data.pkl"), nullptr);
  EXPECT_NE(reader.find("archive/Data.pkl"), nullptr);
  EXPECT_NE(reader.find("archive/data.pkl"), reader.find("archive/Data.pkl"));
  EXPECT_EQ(reader.find("archive/DATA.pkl"), nullptr);
  EXPECT_EQ(reader.find("data.pkl"), nullptr);
  EXPECT_EQ(reader.find(""), nullptr);
  EXPECT_EQ(text_of(reader, "archive/Data.pkl"), "");
  EXPECT_EQ(text_of(reader, "archive/data.pkl").substr(0, 12), "hello hello ");
}

TEST(ZipReader, InflatesAndRefusesAViewOfDeflatedBytes) {
  const Reader reader = open_golden("script.pt");
  const Entry* code = reader.find("script/code/__torch__.py");
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->method, Method::kDeflated);
  EXPECT_EQ(text_of(reader, code->name).substr(0, 20), "class Model(Module):");
  EXPECT_EQ(
      error_text([&] { reader.view(*code); }),
      "invalid_argument: record 'script/code/__torch__.py': is deflated, and cannot be viewed in place");
}

TEST(ZipReader, ReadsTheStartOfARecord) {
  MemorySink sink;
  Writer writer(sink, {});
  std::string text;
  for (int i = 0; text.size() < 1'000'000; ++i) text += std::to_string(i * 7919) + " ";
  writer.add_text("stored", text);
  writer.add_deflated("deflated", as_bytes(text));
  writer.add_deflated("zeros", std::vector<uint8_t>(1'000'000));
  writer.finish();
  const Reader reader = open_bytes(sink.take());
  const auto start = [&](std::string_view name, size_t count) {
    return std::string(as_text(reader.read_start(*reader.find(name), count)));
  };
  for (const size_t count : {0U, 1U, 100U, 70'000U, 999'999U, 2'000'000U}) {
    EXPECT_EQ(start("archive/stored", count), text.substr(0, count));
    EXPECT_EQ(start("archive/deflated", count), text.substr(0, count));
    EXPECT_EQ(start("archive/zeros", count), std::string(std::min(count, size_t{1'000'000}), '\0'));
  }
}

TEST(ZipReader, AcceptsRecordsWithoutCrc) {
  for (const char* name : {"no_crc.pt", "skip_data.pt"}) {
    const Reader reader = open_golden(name);
    size_t without = 0;
    for (const Entry& entry : reader.entries()) {
      reader.verify(entry);
      if (!entry.has_crc()) ++without;
    }
    EXPECT_GE(without, 2U) << name;
  }
}

TEST(ZipReader, ReadsEmptyArchivesCommentsFoldersAndNumpy) {
  EXPECT_TRUE(open_golden("empty.zip").entries().empty());
  const Reader python = open_golden("python.zip");
  EXPECT_EQ(python.entries()[0].name, "archive/");
  EXPECT_EQ(text_of(python, "archive/zeros"), std::string(100000, '\0'));
  for (const char* name : {"numpy.npz", "numpy_compressed.npz", "numpy_stream.npz"}) {
    const Reader reader = open_golden(name);
    EXPECT_EQ(text_of(reader, "a.npy").substr(1, 5), "NUMPY") << name;
    EXPECT_EQ(reader.find("b.npy")->size, 2128U) << name;
  }
}

TEST(ZipReader, KeepsTheBytesAliveThroughItsMapping) {
  Reader reader = open_bytes(read_whole_file(golden_path("buffer.pt")));
  const Reader moved = std::move(reader);
  EXPECT_EQ(text_of(moved, "archive/version"), "3\n");
}

// The real layout of an archive over 4 GiB, with holes where the data is.
TEST(ZipReader, OpensAnArchiveOver4GiB) {
  const std::vector<uint8_t> segments = read_whole_file(golden_path("huge.segments"));
  std::string path = testing::TempDir() + "flambeau_huge_XXXXXX";
  const int fd = ::mkstemp(path.data());
  ASSERT_GE(fd, 0);
  ByteReader golden(segments);
  for (;;) {
    const auto at = golden.le<uint64_t>("offset");
    const auto size = golden.le<uint64_t>("size");
    if (size == 0) {
      EXPECT_EQ(::ftruncate(fd, static_cast<off_t>(at)), 0);
      break;
    }
    const ByteSpan bytes = golden.bytes(size, "bytes");
    EXPECT_EQ(::pwrite(fd, bytes.data(), size, static_cast<off_t>(at)), static_cast<ssize_t>(size));
  }
  ::close(fd);
  const Reader reader = Reader::open(Mapping::open(path));
  ::unlink(path.c_str());
  EXPECT_EQ(text_of(reader, "archive/before"), "before");
  EXPECT_EQ(reader.find("archive/huge")->size, 0xffffffffU);
  EXPECT_GT(reader.find("archive/after")->header_offset, 0xffffffffU);
  EXPECT_EQ(reader.find("archive/after")->data_offset % 64, 0U);
  EXPECT_EQ(text_of(reader, "archive/after"), "after");
  EXPECT_EQ(text_of(reader, "archive/empty"), "");
}

TEST(ZipReader, OpensAndVerifiesEveryGoldenArchive) {
  size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(FLAMBEAU_GOLDEN_DIR "/zip")) {
    const auto mapping = Mapping::open(file.path().string());
    if (!looks_like_zip(mapping->bytes())) continue;
    const Reader reader = Reader::open(mapping);
    for (const Entry& entry : reader.entries()) reader.verify(entry);
    ++count;
  }
  EXPECT_GE(count, 20U);
}

TEST(ZipReader, OpensAndVerifiesEveryFixture) {
  const std::vector<std::string> paths = fixture_archives();
  if (paths.empty()) GTEST_SKIP() << "no fixtures here";
  for (const std::string& path : paths) {
    const Reader reader = Reader::open(Mapping::open(path));
    for (const Entry& entry : reader.entries()) {
      reader.verify(entry);
      EXPECT_EQ(reader.read(entry).size(), entry.size);
      EXPECT_EQ(reader.find(entry.name), &entry);
    }
  }
  EXPECT_GE(paths.size(), 100U);
}

TEST(ZipReader, LooksLikeZip) {
  EXPECT_TRUE(looks_like_zip(as_bytes("PK\x03\x04")));
  EXPECT_TRUE(looks_like_zip(as_bytes("PK\x05\x06 and more")));
  EXPECT_FALSE(looks_like_zip(as_bytes("PK\x03")));
  EXPECT_FALSE(looks_like_zip(as_bytes("\x80\x02}q")));
}

}  // namespace
}  // namespace flambeau::zip
