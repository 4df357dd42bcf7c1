#include "flambeau/base/files/atomic_file.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string>
#include <thread>

#include "flambeau/base/error.h"
#include "flambeau/base/files/faulty_file_api.h"
#include "flambeau/base/files/mapping.h"
#include "support/temporary_folder.h"

namespace flambeau {
namespace {

using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;
using Names = std::vector<std::string>;

void save(const std::string& path, std::string_view content, FileApi& api = FileApi::system()) {
  AtomicFile file(path, api);
  file.write_text(content);
  file.commit();
}

std::string save_error(const std::string& path, ErrorCode code, FileApi& api = FileApi::system()) {
  try {
    save(path, "new", api);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

struct stat stat_of(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info;
}

TEST(AtomicFile, WritesANewFile) {
  const TemporaryFolder folder;
  const mode_t mask = ::umask(027);
  save(folder / "a", "new");
  ::umask(mask);
  EXPECT_EQ(read_file(folder / "a"), "new");
  EXPECT_EQ(stat_of(folder / "a").st_mode & 07777, 0640U);
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, ShowsNothingBeforeTheCommit) {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  {
    AtomicFile file(folder / "a");
    file.write_text(std::string(1 << 20, 'x'));
    EXPECT_EQ(read_file(folder / "a"), "old");
  }
  EXPECT_EQ(read_file(folder / "a"), "old");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, CountsWhatWasWrittenInPiecesOfAnySize) {
  const TemporaryFolder folder;
  std::string all;
  AtomicFile file(folder / "a");
  for (const size_t size : {0, 1, 100, 4'194'303, 1, 4'194'304, 4'194'305, 5, 10'000'000, 4'194'303, 2}) {
    std::string piece(size, '\0');
    for (size_t i = 0; i < size; ++i) piece[i] = static_cast<char>(all.size() + i * 7);
    file.write_text(piece);
    all += piece;
    EXPECT_EQ(file.position(), all.size());
  }
  file.commit();
  EXPECT_TRUE(read_file(folder / "a") == all);
}

TEST(AtomicFile, AsksForEarlyWritebackOfWhatIsOnFile) {
  struct Recorder final : FileApi {
    void start_writeback(int, uint64_t offset, uint64_t count) override {
      EXPECT_EQ(offset, next);
      next = offset + count;
    }
    ssize_t write(int, const void*, size_t count) override {
      on_file += count;
      EXPECT_LE(next, on_file);
      return static_cast<ssize_t>(count);
    }
    uint64_t next = 0;
    uint64_t on_file = 0;
  } api;
  const TemporaryFolder folder;
  AtomicFile file(folder / "a", api);
  const std::string piece(200'000, 'x');
  for (int i = 0; i < 400; ++i) file.write_text(piece);
  EXPECT_GT(api.next, 60'000'000U);
  EXPECT_EQ(file.position(), 80'000'000U);
}

// 140 MB: the end is written past the cache where the file system allows it.
std::string large_text() {
  std::string text(140'000'123, '\0');
  for (size_t i = 0; i < text.size(); i += 64) text[i] = static_cast<char>(i / 64 * 7);
  return text;
}

TEST(AtomicFile, LargeSavesAreWhole) {
  const TemporaryFolder folder;
  const std::string text = large_text();
  save(folder / "a", text);
  EXPECT_TRUE(read_file(folder / "a") == text);
  // Nothing of the reserve beyond the end is kept.
  EXPECT_LT(static_cast<size_t>(stat_of(folder / "a").st_blocks) * 512, text.size() + 1'000'000);
}

TEST(AtomicFile, LargeSavesSurviveEveryRefusalOfDirectWriting) {
  // The file system says no at once, at the first direct write, or writes an odd part of a block.
  struct Awkward final : FileApi {
    int set_direct(int, bool on) override {
      if (refuses_flag) return errno = EINVAL, -1;
      is_direct = on;
      return 0;
    }
    ssize_t write(int fd, const void* from, size_t count) override {
      if (is_direct && refuses_write) return errno = EINVAL, -1;
      if (is_direct) count = std::min<size_t>(count, 1'000'001);
      return FileApi::write(fd, from, count);
    }
    bool refuses_flag = false;
    bool refuses_write = false;
    bool is_direct = false;
  };
  const TemporaryFolder folder;
  const std::string text = large_text();
  for (int kind = 0; kind < 3; ++kind) {
    Awkward api;
    api.refuses_flag = kind == 0;
    api.refuses_write = kind == 1;
    AtomicFile file(folder / "a", api);
    file.write_text(text);
    file.commit();
    EXPECT_TRUE(read_file(folder / "a") == text) << kind;
  }
}

TEST(AtomicFile, KeepsTheModeOfTheOldFile) {
  const TemporaryFolder folder;
  for (const mode_t mode : {0600U, 0644U, 0444U, 0755U, 0000U}) {
    write_file(folder / "a", "old");
    ::chmod((folder / "a").c_str(), mode);
    save(folder / "a", "new");
    EXPECT_EQ(stat_of(folder / "a").st_mode & 07777, mode);
    std::filesystem::remove(folder / "a");
  }
}

TEST(AtomicFile, KeepsTheOwnerOfTheOldFile) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  ASSERT_EQ(::chown((folder / "a").c_str(), 12345, 54321), 0);
  ASSERT_EQ(::chmod((folder / "a").c_str(), 04750), 0);
  save(folder / "a", "new");
  EXPECT_EQ(stat_of(folder / "a").st_uid, 12345U);
  EXPECT_EQ(stat_of(folder / "a").st_gid, 54321U);
  EXPECT_EQ(stat_of(folder / "a").st_mode & 07777, 04750U);
}

TEST(AtomicFile, LendsNobodysRightsWhenTheOwnerCannotBeKept) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  ASSERT_EQ(::chown((folder / "a").c_str(), 12345, 54321), 0);
  ASSERT_EQ(::chmod((folder / "a").c_str(), 06755), 0);
  FaultyFileApi api;
  api.fail_all("fchown", EPERM);
  save(folder / "a", "new", api);
  EXPECT_EQ(read_file(folder / "a"), "new");
  EXPECT_EQ(stat_of(folder / "a").st_uid, 0U);
  EXPECT_EQ(stat_of(folder / "a").st_mode & 07777, 0755U);
}

TEST(AtomicFile, HidesTheReplacementOfAPrivateFile) {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  ::chmod((folder / "a").c_str(), 0600);
  FaultyFileApi api;
  api.refuse_unnamed();
  AtomicFile file(folder / "a", api);
  ASSERT_EQ(folder.names().size(), 2U);
  EXPECT_EQ(stat_of(folder / folder.names()[0]).st_mode & 07777, 0600U);
}

TEST(AtomicFile, LeavesALinkALink) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  write_file(folder / "sub/real", "old");
  std::filesystem::create_symlink("sub/hop", folder / "link");
  std::filesystem::create_symlink("real", folder / "sub/hop");
  save(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "sub/hop"));
  EXPECT_EQ(read_file(folder / "sub/real"), "new");
  EXPECT_EQ(folder.names(), (Names{"link", "sub"}));
}

TEST(AtomicFile, MakesTheFileThatALinkPromises) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink(folder / "later", folder / "link");
  save(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_FALSE(std::filesystem::is_symlink(folder / "later"));
  EXPECT_EQ(read_file(folder / "later"), "new");
}

TEST(AtomicFile, SavesIntoTheCurrentFolder) {
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  save("plain", "new");
  std::filesystem::current_path(before);
  EXPECT_EQ(read_file(folder / "plain"), "new");
}

TEST(AtomicFile, KeepsAMappingOfTheOldFileValid) {
  const TemporaryFolder folder;
  const std::string old(1 << 20, 'o');
  write_file(folder / "a", old);
  const auto source = Mapping::open(folder / "a");
  AtomicFile file(folder / "a");
  file.write_text("header");
  file.write(source->bytes());
  file.commit();
  EXPECT_TRUE(as_text(source->bytes()) == old);
  EXPECT_TRUE(read_file(folder / "a") == "header" + old);
}

TEST(AtomicFile, SaysWhyItCannot) {
  const TemporaryFolder folder;
  EXPECT_EQ(save_error(folder.path(), ErrorCode::kInvalidArgument),
            folder.path() + ": is not a regular file and cannot be replaced (choose another output path)");
  EXPECT_EQ(save_error("/dev/null", ErrorCode::kInvalidArgument),
            "/dev/null: is not a regular file and cannot be replaced (choose another output path)");
  EXPECT_EQ(save_error(folder / "no/a", ErrorCode::kNotFound),
            (folder / "no/a") + ": the folder '" + (folder / "no") +
                "' cannot be opened: No such file or directory (check the path)");
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_EQ(save_error(folder / "loop", ErrorCode::kIo),
            (folder / "loop") + ": cannot be examined: Too many levels of symbolic links");
  write_file(folder / "a", "old");
  EXPECT_EQ(save_error(folder / "a/b", ErrorCode::kIo),
            (folder / "a/b") + ": cannot be examined: Not a directory");
  EXPECT_EQ(save_error("", ErrorCode::kInvalidArgument), "the path is empty");
  EXPECT_EQ(save_error(std::string("a\0b", 3), ErrorCode::kInvalidArgument),
            "a\\x00b: the path has a NUL byte in it");
}

TEST(AtomicFile, SaysThatTheDiskIsFull) {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  FaultyFileApi api;
  api.fail_all("write", ENOSPC);
  EXPECT_EQ(save_error(folder / "a", ErrorCode::kIo, api),
            (folder / "a") +
                ": cannot be written: No space left on device (free some space on the disk and try again)");
  EXPECT_EQ(read_file(folder / "a"), "old");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, CommitsNothingAfterAFailedWrite) {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  FaultyFileApi api;
  AtomicFile file(folder / "a", api);
  const std::string piece(5'000'000, 'x');
  api.fail_call(api.calls() + 1, EIO);
  EXPECT_THROW(file.write_text(piece), Error);
  for (const bool committing : {false, true}) {
    try {
      if (committing) {
        file.commit();
      } else {
        file.write_text("more");
      }
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(),
                   ((folder / "a") + ": the save is over: it was committed, or it failed").c_str());
    }
  }
  EXPECT_EQ(read_file(folder / "a"), "old");
}

TEST(AtomicFile, CommitsOnce) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "a");
  file.commit();
  EXPECT_THROW(file.commit(), Error);
  EXPECT_THROW(file.write_text("x"), Error);
  EXPECT_EQ(read_file(folder / "a"), "");
}

TEST(AtomicFile, LetsTwoWritersEachWriteAWholeFile) {
  const TemporaryFolder folder;
  const std::string one(600'000, '1');
  const std::string two(700'000, '2');
  std::atomic<bool> running{true};
  std::atomic<int> broken{0};
  std::thread reader([&] {
    while (running) {
      if (!std::filesystem::exists(folder / "a")) continue;
      const std::string seen = read_file(folder / "a");
      if (seen != one && seen != two) ++broken;
    }
  });
  const auto writer = [&](const std::string& content) {
    for (int i = 0; i < 20; ++i) save(folder / "a", content);
  };
  std::thread other([&] { writer(one); });
  writer(two);
  other.join();
  running = false;
  reader.join();
  EXPECT_EQ(broken, 0);
  EXPECT_EQ(folder.names(), Names{"a"});
}

}  // namespace
}  // namespace flambeau
