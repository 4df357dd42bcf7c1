#include "flambeau/base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string>
#include <thread>

#include "flambeau/base/error.h"
#include "flambeau/base/faulty_file_api.h"
#include "flambeau/base/mapping.h"
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

std::string error_of(const std::string& path, ErrorCode code, FileApi& api = FileApi::system()) {
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
  for (const size_t size : {0, 1, 100, 262'143, 1, 262'144, 262'145, 5, 1'000'000, 262'143, 2}) {
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
  EXPECT_EQ(error_of(folder.path(), ErrorCode::kInvalidArgument),
            folder.path() + ": is not a regular file and cannot be replaced (choose another output path)");
  EXPECT_EQ(error_of("/dev/null", ErrorCode::kInvalidArgument),
            "/dev/null: is not a regular file and cannot be replaced (choose another output path)");
  EXPECT_EQ(error_of(folder / "no/a", ErrorCode::kNotFound),
            (folder / "no/a") + ": the folder '" + (folder / "no") +
                "' cannot be opened: No such file or directory (check the path)");
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_EQ(error_of(folder / "loop", ErrorCode::kIo),
            (folder / "loop") + ": cannot be examined: Too many levels of symbolic links");
  write_file(folder / "a", "old");
  EXPECT_EQ(error_of(folder / "a/b", ErrorCode::kIo),
            (folder / "a/b") + ": cannot be examined: Not a directory");
  EXPECT_EQ(error_of("", ErrorCode::kInvalidArgument), "the path is empty");
  EXPECT_EQ(error_of(std::string("a\0b", 3), ErrorCode::kInvalidArgument),
            "a\\x00b: the path has a NUL byte in it");
}

TEST(AtomicFile, SaysThatTheDiskIsFull) {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  FaultyFileApi api;
  api.fail_all("write", ENOSPC);
  EXPECT_EQ(error_of(folder / "a", ErrorCode::kIo, api),
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
  const std::string piece(300'000, 'x');
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
