// What Python and PyTorch wrote comes back byte for byte after reading.
#include <filesystem>

#include "flambeau/archive/pickle/test_util.h"
#include "flambeau/archive/pickle/writer.h"

namespace flambeau::pickle {
namespace {

struct Record {
  std::string name;
  std::string data;
};

// The stored records of a small zip archive, by its central directory; none for another file.
std::vector<Record> zip_records(const std::string& zip) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(zip.data());
  const size_t end = zip.rfind("PK\x05\x06");
  std::vector<Record> records;
  if (end == std::string::npos || !zip.starts_with("PK\x03\x04")) return records;
  size_t at = load_le<uint32_t>(bytes + end + 16);
  for (int left = load_le<uint16_t>(bytes + end + 10); left > 0 && at + 46 <= zip.size(); --left) {
    const size_t size = load_le<uint32_t>(bytes + at + 24);
    const size_t name_size = load_le<uint16_t>(bytes + at + 28);
    const size_t header = load_le<uint32_t>(bytes + at + 42);
    const size_t data =
        header + 30 + load_le<uint16_t>(bytes + header + 26) + load_le<uint16_t>(bytes + header + 28);
    const bool stored = load_le<uint16_t>(bytes + at + 10) == 0;
    if (stored && data + size <= zip.size())
      records.push_back({zip.substr(at + 46, name_size), zip.substr(data, size)});
    at += 46 + name_size + load_le<uint16_t>(bytes + at + 30) + load_le<uint16_t>(bytes + at + 32);
  }
  return records;
}

TEST(PickleRoundTrip, PythonObjects) {
  for (int protocol = 2; protocol <= 5; ++protocol) {
    for (const char* group : {"plain", "bytes", "classes"}) {
      const std::string file = fmt::format("{}-protocol{}.pickles", group, protocol);
      const std::vector<std::string> pickles = golden_pickles(file);
      for (size_t i = 0; i < pickles.size(); ++i) {
        const Parsed parsed = parse_text(pickles[i]);
        EXPECT_EQ(parsed.tree.protocol(), protocol);
        EXPECT_TRUE(write_python(*parsed.tree.root(), protocol) == pickles[i])
            << file << " #" << i << ": " << show(parsed.tree.root()).substr(0, 200);
      }
    }
  }
}

TEST(PickleRoundTrip, FromOneProtocolToAnother) {
  for (const char* group : {"plain", "bytes"}) {
    for (int to = 2; to <= 5; ++to) {
      const std::vector<std::string> expected =
          golden_pickles(fmt::format("{}-protocol{}.pickles", group, to));
      for (const int from : {0, 1, 5}) {
        if (from < 2 && group == std::string("bytes")) continue;
        const std::vector<std::string> given =
            golden_pickles(fmt::format("{}-protocol{}.pickles", group, from));
        ASSERT_EQ(given.size(), expected.size());
        for (size_t i = 0; i < given.size(); ++i) {
          const Parsed parsed = parse_text(given[i]);
          EXPECT_TRUE(write_python(*parsed.tree.root(), to) == expected[i])
              << group << " #" << i << " from " << from << " to " << to << ": "
              << show(parsed.tree.root()).substr(0, 200);
        }
      }
    }
  }
}

TEST(PickleRoundTrip, TorchSave) {
  for (const char* file : {"save-torch1.13.pickles", "save-torch2.13.pickles"}) {
    for (const std::string& pickle : golden_pickles(file)) {
      const Parsed parsed = parse_text(pickle);
      EXPECT_TRUE(write_python(*parsed.tree.root(), 2) == pickle) << show(parsed.tree.root()).substr(0, 200);
    }
  }
}

TEST(PickleRoundTrip, TorchScript) {
  for (const char* file : {"script-torch1.13.pickles", "script-torch2.13.pickles"}) {
    for (const std::string& pickle : golden_pickles(file)) {
      const Parsed parsed = parse_text(pickle);
      EXPECT_TRUE(write_torch(*parsed.tree.root()) == pickle) << show(parsed.tree.root()).substr(0, 200);
    }
  }
}

TEST(PickleRoundTrip, RealFiles) {
  const std::filesystem::path folder = FLAMBEAU_FIXTURE_DIR "/real";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no fixtures";
  size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::vector<Record> records = zip_records(read_whole_file(entry.path()));
    const bool package = entry.path().string().find("package") != std::string::npos;
    const auto is_script = [](const Record& record) { return record.name.ends_with("constants.pkl"); };
    const bool script = std::any_of(records.begin(), records.end(), is_script) && !package;
    for (const Record& record : records) {
      if (!record.name.ends_with(".pkl")) continue;
      const bool torch = script || (package && record.name.find("/.data/ts_code/") != std::string::npos);
      const Parsed parsed = parse_text(record.data);
      const Node& root = *parsed.tree.root();
      const std::string written = torch ? write_torch(root) : write_python(root, parsed.tree.protocol());
      EXPECT_EQ(parsed.consumed, record.data.size());
      EXPECT_TRUE(written == record.data) << entry.path() << " " << record.name;
      ++count;
    }
  }
  EXPECT_GT(count, 200u);
}

// Before 1.6, torch.save wrote five pickles in a row: magic number, version, platform, object, storage keys.
TEST(PickleRoundTrip, LegacyFiles) {
  const std::filesystem::path folder = FLAMBEAU_FIXTURE_DIR "/real/state-dict";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no fixtures";
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = read_whole_file(entry.path());
    if (!file.starts_with("\x80\x02\x8a\x0a")) continue;
    size_t at = 0;
    for (int i = 0; i < 5; ++i) {
      const Parsed parsed = parse_text(std::string_view(file).substr(at));
      if (i == 0) {
        EXPECT_EQ(show(parsed.tree.root()), "0x1950a86a20f9469cfc6c");
      }
      EXPECT_TRUE(write_python(*parsed.tree.root(), 2) == file.substr(at, parsed.consumed))
          << entry.path() << " #" << i;
      at += parsed.consumed;
    }
    ++count;
  }
  EXPECT_GE(count, 3u);
}

}  // namespace
}  // namespace flambeau::pickle
