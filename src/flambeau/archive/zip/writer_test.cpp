#include "flambeau/archive/zip/writer.h"

#include <gtest/gtest.h>

#include "flambeau/archive/record_archive.h"
#include "support/zip_test_files.h"

namespace flambeau::zip {
namespace {

enum class SerializationId { kCompute, kCopy };

// Reads every record and writes it again.
std::vector<uint8_t> rewrite(const RecordArchive& archive, WriterOptions options, SerializationId id) {
  options.top_folder = archive.top_folder();
  MemorySink sink;
  Writer writer(sink, options);
  for (const std::string_view name : archive.names()) {
    const Entry& entry = archive.get(name);
    if (name == ".data/serialization_id" && id == SerializationId::kCompute) {
      writer.add_serialization_id();
    } else if (entry.method == Method::kDeflated) {
      writer.add_deflated(name, archive.read(name));
    } else {
      writer.add(name, archive.read(name));
    }
  }
  writer.finish();
  return sink.take();
}

void expect_same(const std::string& path, const WriterOptions& options = {},
                 SerializationId id = SerializationId::kCompute) {
  const std::vector<uint8_t> original = read_whole_file(path);
  const std::vector<uint8_t> again =
      rewrite(RecordArchive::open(Mapping::from_buffer(original)), options, id);
  const size_t common = std::min(original.size(), again.size());
  const auto different =
      std::mismatch(original.begin(), original.begin() + static_cast<ptrdiff_t>(common), again.begin());
  EXPECT_EQ(different.first - original.begin(), static_cast<ptrdiff_t>(original.size())) << path;
  EXPECT_EQ(original.size(), again.size()) << path;
}

TEST(ZipWriter, WritesPyTorchsBytes) {
  for (const char* name :
       {"tensors.pt", "buffer.pt", "many.pt", "not_ascii.pt", "script.pt", "script_extra.pt",
        "script_long.pt", "script.ptl", "program.pt2", "descriptor_data.pt", "package.pt"}) {
    expect_same(golden_path(name));
  }
}

// Some of these come from systems whose standard library hashes names in another way.
TEST(ZipWriter, WritesPyTorchsBytesForEveryFixture) {
  const std::vector<std::string> paths = fixture_archives();
  if (paths.empty()) GTEST_SKIP() << "no fixtures here";
  for (const std::string& path : paths) {
    if (path.find("pt2-old-layout") != std::string::npos) continue;  // written by Python's zipfile
    expect_same(path, {}, SerializationId::kCopy);
  }
}

TEST(ZipWriter, WritesPyTorchsBytesWithoutCrc) {
  WriterOptions options;
  options.compute_crc32 = false;
  expect_same(golden_path("no_crc.pt"), options);
}

TEST(ZipWriter, WritesPyTorchsBytesForEveryAlignment) {
  for (const uint64_t alignment : {1, 48, 4096}) {
    WriterOptions options;
    options.alignment = alignment;
    expect_same(golden_path("aligned_" + std::to_string(alignment) + ".pt"), options);
  }
}

// Compares the stream with the golden segments as it passes, and keeps nothing.
class ComparingSink final : public ByteSink {
 public:
  explicit ComparingSink(ByteSpan golden) : golden_(golden) { next_segment(); }
  void write(ByteSpan bytes) override {
    for (size_t i = 0; i < bytes.size();) {
      const uint64_t at = position_ + i;
      if (segment_.empty() || at < segment_at_) {
        const uint64_t skip = segment_.empty() ? bytes.size() : segment_at_ - at;
        i += std::min<uint64_t>(skip, bytes.size() - i);
        continue;
      }
      ++compared_;
      if (bytes[i] != segment_[at - segment_at_] && first_difference_ == 0) first_difference_ = at;
      if (at + 1 == segment_at_ + segment_.size()) next_segment();
      ++i;
    }
    position_ += bytes.size();
  }
  uint64_t position() const override { return position_; }
  uint64_t first_difference() const { return first_difference_; }
  uint64_t compared() const { return compared_; }
  uint64_t golden_end() const { return segment_at_; }

 private:
  void next_segment() {
    segment_at_ = golden_.le<uint64_t>("offset");
    segment_ = golden_.bytes(golden_.le<uint64_t>("size"), "bytes");
  }
  ByteReader golden_;
  uint64_t segment_at_ = 0;
  ByteSpan segment_;
  uint64_t position_ = 0;
  uint64_t first_difference_ = 0;
  uint64_t compared_ = 0;
};

TEST(ZipWriter, WritesPyTorchsZip64Layout) {
  const std::vector<uint8_t> golden = read_whole_file(golden_path("huge.segments"));
  ComparingSink sink(golden);
  Writer writer(sink, {});
  writer.add_text("before", "before");
  writer.add_stream("huge", 0xffffffffU, [](const std::function<void(ByteSpan)>& emit) {
    const std::vector<uint8_t> zeros(1U << 18);
    for (uint64_t left = 0xffffffffU; left != 0;) {
      const uint64_t count = std::min<uint64_t>(left, zeros.size());
      emit({zeros.data(), count});
      left -= count;
    }
  });
  writer.add_text("after", "after");
  writer.add_text("empty", "");
  writer.add_text("version", "3\n");
  writer.add_text("byteorder", "little");
  writer.add_serialization_id();
  writer.finish();
  EXPECT_EQ(sink.first_difference(), 0U);
  EXPECT_GT(sink.compared(), 1000U);
  EXPECT_EQ(sink.position(), sink.golden_end());
}

TEST(ZipWriter, StreamsLikeItAdds) {
  const std::string text = std::string("PK\x07\x08", 4) + "abcdefgh";
  MemorySink whole;
  MemorySink pieces;
  for (MemorySink* sink : {&whole, &pieces}) {
    sink->write_text("something before");
    Writer writer(*sink, {.top_folder = "top"});
    if (sink == &whole) {
      writer.add_text("x", text);
    } else {
      writer.add_stream("x", text.size(), [&](const std::function<void(ByteSpan)>& emit) {
        for (const char c : text) emit(as_bytes({&c, 1}));
      });
    }
    writer.add_serialization_id();
    writer.finish();
  }
  EXPECT_EQ(whole.buffer(), pieces.buffer());
  // Offsets count from where the archive began.
  const Reader reader = open_bytes({whole.buffer().begin() + 16, whole.buffer().end()});
  EXPECT_EQ(as_text(reader.view(*reader.find("top/x"))), text);
}

TEST(ZipWriter, DeflatesQuickly) {
  MemorySink sink;
  Writer writer(sink, {});
  const std::string text(100000, 'x');
  writer.add_deflated_quickly("text", as_bytes(text));
  writer.add_deflated_quickly("nothing", {});
  writer.finish();
  const std::vector<uint8_t> bytes = sink.take();
  EXPECT_LT(bytes.size(), 2000U);
  const RecordArchive archive = RecordArchive::open(Mapping::from_buffer(bytes));
  EXPECT_EQ(archive.get("text").method, Method::kDeflated);
  EXPECT_EQ(as_text(archive.read("text")), text);
  EXPECT_TRUE(archive.read("nothing").empty());
}

TEST(ZipWriter, WorksWithoutTopFolderAndWithoutRecords) {
  MemorySink sink;
  Writer writer(sink, {.top_folder = ""});
  writer.add_text("a", "1");
  writer.finish();
  EXPECT_EQ(open_bytes(sink.take()).entries()[0].name, "a");
  MemorySink empty;
  Writer(empty, {}).finish();
  EXPECT_TRUE(looks_like_zip(empty.buffer()));
  EXPECT_TRUE(open_bytes(empty.take()).entries().empty());
}

TEST(ZipWriter, RefusesBadCalls) {
  MemorySink sink;
  Writer writer(sink, {});
  writer.add_text("a", "1");
  EXPECT_EQ(error_text([&] { writer.add_text("a", "2"); }),
            "invalid_argument: record 'a': a record of this name was already written");
  EXPECT_EQ(error_text([&] { writer.add_text("../a", "2"); }),
            "invalid_argument: record '../a': the name has a '..' component");
  EXPECT_EQ(error_text([&] { writer.add_text("", "2"); }),
            "invalid_argument: record '': the name does not end in a file's name");
  EXPECT_EQ(error_text([&] { writer.add_text("a\\b", "2"); }),
            "invalid_argument: record 'a\\b': the name contains a backslash");
  writer.finish();
  EXPECT_EQ(error_text([&] { writer.add_text("d", "2"); }),
            "invalid_argument: record 'd': the archive is already finished");
  EXPECT_EQ(error_text([&] { writer.finish(); }), "invalid_argument: the archive is already finished");
  EXPECT_EQ(error_text([&] { Writer(sink, {.alignment = 0}); }),
            "invalid_argument: alignment 0 is not between 1 and 32768");
  EXPECT_EQ(error_text([&] { Writer(sink, {.alignment = 65536}); }),
            "invalid_argument: alignment 65536 is not between 1 and 32768");
}

TEST(ZipWriter, StopsAfterARecordThatFailed) {
  const auto give_three = [](const std::function<void(ByteSpan)>& emit) { emit(as_bytes("abc")); };
  MemorySink sink;
  Writer more(sink, {});
  EXPECT_EQ(error_text([&] { more.add_stream("b", 2, give_three); }),
            "invalid_argument: record 'b': the source gave more than the announced 2 bytes");
  Writer fewer(sink, {});
  EXPECT_EQ(error_text([&] { fewer.add_stream("c", 4, give_three); }),
            "invalid_argument: record 'c': the source gave 3 bytes, 4 were announced");
  EXPECT_EQ(error_text([&] { fewer.add_text("d", "x"); }),
            "invalid_argument: record 'd': an earlier record failed, the archive cannot be continued");
  EXPECT_EQ(error_text([&] { fewer.finish(); }),
            "invalid_argument: record 'archive/c': an earlier record failed, the archive cannot be finished");
}

}  // namespace
}  // namespace flambeau::zip
