#include "flambeau/base/mapping.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>

#include "flambeau/base/error.h"
#include "flambeau/base/faulty_file_api.h"
#include "support/temporary_folder.h"

namespace flambeau {
namespace {

using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;

std::string open_error(const std::string& path, ErrorCode code, FileApi& api = FileApi::system()) {
  try {
    Mapping::open(path, api);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(Mapping, ShowsAFileInPlace) {
  const TemporaryFolder folder;
  write_file(folder / "a", "some bytes");
  const auto mapping = Mapping::open(folder / "a");
  EXPECT_EQ(as_text(mapping->bytes()), "some bytes");
  EXPECT_EQ(mapping->size(), 10U);
  EXPECT_EQ(mapping->path(), folder / "a");
}

TEST(Mapping, KeepsWritesPrivate) {
  const TemporaryFolder folder;
  write_file(folder / "a", "some bytes");
  const auto one = Mapping::open(folder / "a");
  const auto two = Mapping::open(folder / "a");
  one->mutable_bytes()[0] = 'S';
  EXPECT_EQ(as_text(one->bytes()), "Some bytes");
  EXPECT_EQ(as_text(two->bytes()), "some bytes");
  EXPECT_EQ(read_file(folder / "a"), "some bytes");
}

TEST(Mapping, MapsAFileThatMayNotBeWritten) {
  const TemporaryFolder folder;
  write_file(folder / "a", "x");
  ::chmod((folder / "a").c_str(), 0400);
  const auto mapping = Mapping::open(folder / "a");
  mapping->mutable_bytes()[0] = 'y';
  EXPECT_EQ(read_file(folder / "a"), "x");
}

TEST(Mapping, OutlivesTheFilesName) {
  const TemporaryFolder folder;
  write_file(folder / "a", "some bytes");
  const auto mapping = Mapping::open(folder / "a");
  std::filesystem::remove(folder / "a");
  EXPECT_EQ(as_text(mapping->bytes()), "some bytes");
}

TEST(Mapping, TakesAnEmptyFile) {
  const TemporaryFolder folder;
  write_file(folder / "a", "");
  EXPECT_EQ(Mapping::open(folder / "a")->size(), 0U);
}

TEST(Mapping, ReadsFilesThatHaveNoSize) {
  if (!std::filesystem::exists("/proc/self/status")) GTEST_SKIP() << "no /proc";
  EXPECT_TRUE(as_text(Mapping::open("/proc/self/status")->bytes()).starts_with("Name:"));
}

TEST(Mapping, ReadsAPipeToItsEnd) {
  const TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string sent(700'000, '\0');
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 31 >> 3);
  std::thread writer([&] { write_file(path, sent); });
  const auto mapping = Mapping::open(path);
  writer.join();
  EXPECT_TRUE(as_text(mapping->bytes()) == sent);
  mapping->mutable_bytes()[0] = 1;
}

TEST(Mapping, SaysWhyItCannot) {
  const TemporaryFolder folder;
  EXPECT_EQ(open_error(folder / "none.pt", ErrorCode::kNotFound),
            (folder / "none.pt") + ": cannot be opened: No such file or directory (check the path)");
  EXPECT_EQ(open_error(folder.path(), ErrorCode::kInvalidArgument),
            folder.path() + ": is a folder, a file is needed");
  write_file(folder / "a", "x");
  EXPECT_EQ(open_error(folder / "a/b", ErrorCode::kIo),
            (folder / "a/b") + ": cannot be opened: Not a directory");
  EXPECT_EQ(open_error("", ErrorCode::kInvalidArgument), "the path is empty");
  EXPECT_EQ(open_error(std::string("a\0b", 3), ErrorCode::kInvalidArgument),
            "a\\x00b: the path has a NUL byte in it");
}

TEST(Mapping, SaysWhichCallFailed) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  write_file(path, "x");
  const auto with = [&](const char* call, int error_number) {
    FaultyFileApi api;
    api.fail_all(call, error_number);
    return open_error(path, ErrorCode::kIo, api);
  };
  EXPECT_EQ(with("open", EMFILE),
            path +
                ": cannot be opened: Too many open files (too many files are open: raise the limit with "
                "'ulimit -n')");
  EXPECT_EQ(with("open", EACCES), path +
                                      ": cannot be opened: Permission denied (check the permissions of "
                                      "the file and its folder)");
  EXPECT_EQ(with("fstat", EIO), path + ": cannot be examined: Input/output error");
  EXPECT_EQ(with("map_private", ENOMEM),
            path + ": cannot be mapped: Cannot allocate memory (not enough memory or address space)");
  write_file(path, "");
  EXPECT_EQ(with("read", EIO), path + ": cannot be read: Input/output error");
}

TEST(Mapping, ReadsThroughSignalsAndShortReads) {
  const TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { write_file(path, "some bytes"); });
  FaultyFileApi api;
  api.fail_call(3, EINTR);  // open, fstat, read
  api.shorten_call(3, true);
  const auto mapping = Mapping::open(path, api);
  writer.join();
  EXPECT_EQ(api.failed(), "read");
  EXPECT_EQ(as_text(mapping->bytes()), "some bytes");
}

TEST(Mapping, HoldsMemory) {
  EXPECT_EQ(as_text(Mapping::from_text("abc")->bytes()), "abc");
  EXPECT_EQ(Mapping::from_buffer({1, 2})->size(), 2U);
  EXPECT_EQ(Mapping::from_buffer({})->size(), 0U);
  EXPECT_EQ(Mapping::from_text("abc")->path(), "");
}

TEST(Mapping, KeepsTheOwnerOfBorrowedMemory) {
  auto owner = std::make_shared<std::vector<uint8_t>>(4, uint8_t{7});
  const std::weak_ptr<std::vector<uint8_t>> watch = owner;
  auto mapping = Mapping::borrow(*owner, owner);
  owner.reset();
  ASSERT_FALSE(watch.expired());
  EXPECT_EQ(mapping->bytes()[3], 7);
  mapping.reset();
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace flambeau
