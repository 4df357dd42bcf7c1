#include "flambeau/archive/record_archive.h"

#include <gtest/gtest.h>

#include "flambeau/archive/zip/writer.h"
#include "support/zip_test_files.h"

namespace flambeau {
namespace {

using zip::error_text;

RecordArchive archive_of(std::vector<std::pair<std::string, std::string>> records, std::string top = "top") {
  MemorySink sink;
  zip::Writer writer(sink, {.top_folder = std::move(top)});
  for (const auto& [name, text] : records) writer.add_text(name, text);
  writer.finish();
  return RecordArchive::open(Mapping::from_buffer(sink.take()));
}

TEST(RecordArchive, NamesRecordsInsideTheTopFolder) {
  const RecordArchive archive = RecordArchive::open(Mapping::open(zip::golden_path("tensors.pt")));
  EXPECT_EQ(archive.top_folder(), "tensors");
  EXPECT_TRUE(archive.has("data.pkl"));
  EXPECT_FALSE(archive.has("tensors/data.pkl"));
  EXPECT_FALSE(archive.has("Data.pkl"));
  EXPECT_EQ(archive.names().front(), "data.pkl");
  EXPECT_EQ(archive.names().size(), 9U);
  EXPECT_TRUE(archive.outside().empty());
  EXPECT_EQ(archive.version(), 3);
  EXPECT_EQ(archive.byteorder(), ByteOrder::kLittle);
  EXPECT_EQ(archive.read_text(".storage_alignment"), "64");
  EXPECT_EQ(archive.view("data/1").size(), 3U);
  EXPECT_EQ(error_text([&] { archive.read("data/7"); }),
            "not_found: " + zip::golden_path("tensors.pt") + ": record 'data/7': is not in the archive");
}

TEST(RecordArchive, PrefersDataVersion) {
  EXPECT_EQ(RecordArchive::open(Mapping::open(zip::golden_path("program.pt2"))).version(), 6);
  EXPECT_EQ(archive_of({{"version", "3\n"}, {".data/version", "10\n"}}).version(), 10);
  EXPECT_EQ(archive_of({{"version", "2"}}).version(), 2);
  EXPECT_EQ(archive_of({{"x", "2"}}).version(), std::nullopt);
  for (const char* text : {"", "x", "-1", "3 4", "99999999999999999999"}) {
    EXPECT_EQ(error_text([&] { archive_of({{"version", text}}).version(); }),
              "corrupt: record 'version': expected a version number, found '" + std::string(text) + "'");
  }
}

TEST(RecordArchive, ReadsTheByteOrder) {
  EXPECT_EQ(archive_of({{"x", ""}}).byteorder(), ByteOrder::kLittle);
  EXPECT_EQ(archive_of({{"byteorder", "big"}}).byteorder(), ByteOrder::kBig);
  EXPECT_EQ(error_text([&] { archive_of({{"byteorder", "middle"}}).byteorder(); }),
            "corrupt: record 'byteorder': expected 'little' or 'big', found 'middle'");
}

TEST(RecordArchive, ListsWhatIsOutsideTheTopFolder) {
  const RecordArchive archive =
      archive_of({{"top/x", "1"}, {"topper/x", "2"}, {"top", "3"}, {"top/y", "4"}}, "");
  EXPECT_EQ(archive.top_folder(), "top");
  EXPECT_EQ(archive.names(), (std::vector<std::string_view>{"x", "y"}));
  EXPECT_EQ(archive.outside(), (std::vector<std::string_view>{"topper/x", "top"}));
}

TEST(RecordArchive, WorksWithoutTopFolder) {
  const RecordArchive archive = archive_of({{"version", "1"}, {"a/b", "2"}}, "");
  EXPECT_EQ(archive.top_folder(), "");
  EXPECT_EQ(archive.names(), (std::vector<std::string_view>{"version", "a/b"}));
  EXPECT_EQ(archive.read_text("a/b"), "2");
  EXPECT_TRUE(archive.outside().empty());
}

TEST(RecordArchive, SkipsFoldersAndRefusesEmptyArchives) {
  const RecordArchive archive = RecordArchive::open(Mapping::open(zip::golden_path("python.zip")));
  EXPECT_EQ(archive.names(), (std::vector<std::string_view>{"version", "zeros"}));
  EXPECT_EQ(error_text([] { RecordArchive::open(Mapping::open(zip::golden_path("empty.zip"))); }),
            "corrupt: " + zip::golden_path("empty.zip") + ": the archive has no records");
}

TEST(RecordArchive, OpensEveryFixture) {
  const std::vector<std::string> paths = zip::fixture_archives();
  if (paths.empty()) GTEST_SKIP() << "no fixtures here";
  for (const std::string& path : paths) {
    const RecordArchive archive = RecordArchive::open(Mapping::open(path));
    EXPECT_TRUE(archive.outside().empty()) << path;
    EXPECT_EQ(archive.byteorder(), ByteOrder::kLittle) << path;
    EXPECT_TRUE(archive.version().has_value()) << path;
  }
}

}  // namespace
}  // namespace flambeau
