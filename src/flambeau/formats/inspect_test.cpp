#include "flambeau/formats/inspect.h"
#include "flambeau/base/files/mapping.h"

#include <gtest/gtest.h>

#include "support/torch_files.h"

namespace flambeau {
namespace {

using testing::error_text;
using testing::golden_file;
using testing::TemporaryFolder;
using testing::write_file;

std::shared_ptr<Mapping> archive_of(std::initializer_list<std::pair<const char*, const char*>> records,
                                    std::string top = "archive") {
  MemorySink sink;
  zip::Writer writer(sink, {.top_folder = std::move(top)});
  for (const auto& [name, data] : records) writer.add_text(name, data);
  writer.finish();
  return Mapping::from_buffer(sink.take());
}

TEST(Inspect, ATorchSaveFile) {
  const Inspection found = inspect_file(golden_file("views_2.13.pt"));
  EXPECT_EQ(found.kind, FileKind::kTorchSave);
  EXPECT_EQ(found.producer, "PyTorch 2.7 or newer");
  EXPECT_EQ(found.format_version, 3);
  EXPECT_EQ(found.byte_order, "little");
  EXPECT_EQ(found.file_size, std::filesystem::file_size(golden_file("views_2.13.pt")));
  EXPECT_EQ(found.checkpoint->tensors().size(), 11U);
  EXPECT_EQ(found.globals,
            (std::vector<std::string>{"collections.OrderedDict", "torch.FloatStorage", "torch.LongStorage",
                                      "torch._utils._rebuild_tensor_v2"}));
  EXPECT_EQ(found.structure.front().description, "OrderedDict of 10");
  EXPECT_TRUE(found.notes.empty());
  EXPECT_EQ(found.records.front().name, "views_2.13/data.pkl");
  EXPECT_EQ(found.records.front().role, RecordRole::kPickle);
}

TEST(Inspect, WhoWroteIt) {
  EXPECT_EQ(inspect_file(golden_file("views_1.13.pt")).producer, "PyTorch 1.6 to 2.0");
  EXPECT_EQ(inspect_file(golden_file("script_1.13.pt")).producer, "PyTorch 1.4 to 2.0");
  EXPECT_EQ(inspect_file(golden_file("script_2.13.pt")).producer, "PyTorch 2.1 or newer");
  EXPECT_EQ(inspect_file(golden_file("mobile_2.13.pt")).producer, "PyTorch 2.1 or newer");
  EXPECT_EQ(inspect_file(golden_file("legacy_views_2.13.pt")).producer,
            "PyTorch 0.1.10 to 1.5, or a later one told so");
  EXPECT_EQ(inspect_file(golden_file("tensors.tar")).producer, "PyTorch before 0.1.10");
  EXPECT_EQ(inspect_file(archive_of({{"data.pkl", "\x80\x02N."}, {".data/serialization_id", "1"}})).producer,
            "PyTorch 2.1 to 2.6");
  EXPECT_EQ(inspect_file(archive_of({{"archive_format", "pt2"}})).producer, "PyTorch 2.8 or newer");
  EXPECT_EQ(inspect_file(archive_of({{"archive_format", "pt2"}}, "")).producer, "PyTorch 2.5 to 2.7");
  EXPECT_EQ(inspect_file(archive_of({{"readme", "x"}})).producer, "");
}

// Only archives of PyTorch's writer tell their version in that record.
TEST(Inspect, RecordsNamedVersion) {
  EXPECT_EQ(inspect_file(archive_of({{"data.pkl", "\x80\x02N."}, {"version", "3\n"}})).format_version, 3);
  const std::string program = testing::read_file(FLAMBEAU_GOLDEN_DIR "/pt2/weights.tied.canonical.json");
  const Inspection old = inspect_file(
      archive_of({{"serialized_exported_program.json", program.c_str()}, {"version", "5.3"}}, ""));
  EXPECT_EQ(old.kind, FileKind::kPt2OldLayout);
  EXPECT_EQ(old.format_version, std::nullopt);
  EXPECT_EQ(inspect_file(archive_of({{"version", "later"}}, "")).kind, FileKind::kZip);
}

TEST(Inspect, BigEndian) { EXPECT_EQ(inspect_file(golden_file("big_endian.pt")).byte_order, "big"); }

TEST(Inspect, UnknownFilesAreShown) {
  const Inspection text = inspect_file(Mapping::from_text("abc"));
  EXPECT_EQ(text.kind, FileKind::kUnknown);
  EXPECT_EQ(text.notes, std::vector<std::string>{"the bytes fit no kind of file that Flambeau knows"});
  const Inspection gzip = inspect_file(Mapping::from_text("\x1f\x8b\x08"));
  EXPECT_EQ(gzip.notes.front(), "it seems to be a gzip file (decompress it first)");
}

TEST(Inspect, BarePickles) {
  const Inspection found = inspect_file(Mapping::from_text("cos\nsystem\n(S'true'\ntR."));
  EXPECT_EQ(found.kind, FileKind::kPickle);
  EXPECT_EQ(found.globals, std::vector<std::string>{"os.system"});
  EXPECT_EQ(found.structure.front().description, "object os.system");
}

TEST(Inspect, SkippedTensorsAreNotes) {
  testing::TorchFileBuilder file;
  file.record("data/0", std::string(24, '\1'));
  const Inspection found =
      inspect_file(file.with_x(file.tensor_v2(file.storage_id("OddStorage", "0", 6), 0, {6}, {1})));
  ASSERT_FALSE(found.notes.empty());
  EXPECT_EQ(found.notes.front(),
            "tensor 'x' is not shown: 'torch.OddStorage' is not a known storage class (a newer Flambeau may "
            "know it)");
}

TEST(ListRecords, Roles) {
  const auto role = [](const char* name) {
    return std::string(record_role_name(list_records(archive_of({{name, "x"}})).front().role));
  };
  EXPECT_EQ(role("data.pkl"), "pickle");
  EXPECT_EQ(role("data/0"), "storage");
  EXPECT_EQ(role("constants/0"), "storage");
  EXPECT_EQ(role("code/__torch__.py"), "code");
  EXPECT_EQ(role("code/__torch__.py.debug_pkl"), "debug");
  EXPECT_EQ(role("data/aotinductor/model/a.cpp"), "code");
  EXPECT_EQ(role("data/aotinductor/model/a.so"), "library");
  EXPECT_EQ(role("lib/libfoo.so.1"), "library");
  EXPECT_EQ(role("models/model.json"), "program");
  EXPECT_EQ(role("extra/notes.txt"), "extra file");
  EXPECT_EQ(role("version"), "marker");
  EXPECT_EQ(role("byteorder"), "marker");
  EXPECT_EQ(role("config.json"), "config");
  EXPECT_EQ(role("a.npy"), "array");
  EXPECT_EQ(role("readme"), "other");
}

TEST(ListRecords, OfATar) {
  const std::vector<RecordInfo> records = list_records(Mapping::open(golden_file("tensors.tar")));
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[0].name, "sys_info");
  EXPECT_EQ(records[3].role, RecordRole::kStorage);
  EXPECT_TRUE(list_records(Mapping::open(golden_file("legacy_views_2.13.pt"))).empty());
}

TEST(ExtractRecord, WithOrWithoutTheTopFolder) {
  const std::shared_ptr<Mapping> mapping = Mapping::open(golden_file("views_2.13.pt"));
  EXPECT_EQ(as_text(extract_record(mapping, "version")), "3\n");
  EXPECT_EQ(as_text(extract_record(mapping, "views_2.13/version")), "3\n");
  EXPECT_EQ(extract_record(Mapping::open(golden_file("deflated.pt")), "data/0").size(), 96U);
  EXPECT_FALSE(extract_record(Mapping::open(golden_file("tensors.tar")), "pickle").empty());
}

TEST(ExtractRecord, NamesTheNearest) {
  const std::shared_ptr<Mapping> mapping = Mapping::open(golden_file("views_2.13.pt"));
  EXPECT_EQ(error_text([&] { extract_record(mapping, "other/version"); }),
            "not_found: has no record 'other/version' (did you mean 'views_2.13/version'? 'flambeau list' "
            "shows all records)");
  EXPECT_EQ(error_text([&] { extract_record(mapping, "zzz"); }),
            "not_found: has no record 'zzz' ('flambeau list' shows all records)");
  EXPECT_EQ(error_text([&] { extract_record(Mapping::from_text("abc"), "x"); }),
            "invalid_argument: is not an archive: it has no records");
}

}  // namespace
}  // namespace flambeau
