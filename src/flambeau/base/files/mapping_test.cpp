#include "flambeau/base/files/mapping.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "flambeau/base/error.h"
#include "flambeau/base/files/faulty_file_api.h"
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

std::string change_error(const Mapping& mapping) {
  try {
    mapping.check_unchanged();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo) << error.what();
    return error.what();
  }
  return "no error";
}

const std::string kRemedy =
    " (read it again when it is complete; replace files by renaming, not by writing into them)";

TEST(Mapping, GivesZerosForWhatIsCutOff) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  write_file(path, std::string(100'000, 'x'));
  const auto mapping = Mapping::open(path);
  EXPECT_EQ(change_error(*mapping), "no error");
  std::filesystem::resize_file(path, 10'000);
  EXPECT_EQ(mapping->bytes()[9'999], 'x');
  EXPECT_EQ(mapping->bytes()[50'000], 0);
  EXPECT_EQ(mapping->bytes()[99'999], 0);
  EXPECT_EQ(mapping->bytes()[20'000], 0);  // before what was touched first
  mapping->mutable_bytes()[60'000] = 7;
  EXPECT_EQ(mapping->bytes()[60'000], 7);
  const std::string error =
      path + ": was changed while it was in use: it had 100000 bytes and has 10000" + kRemedy;
  EXPECT_EQ(change_error(*mapping), error);
  // Even when it is long again.
  std::filesystem::resize_file(path, 100'000);
  EXPECT_EQ(change_error(*mapping), path + ": was changed while it was in use" + kRemedy);
}

TEST(Mapping, ThreadsMayMeetAtTheHole) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  constexpr size_t kSize = 4'000'000;
  write_file(path, std::string(kSize, 'x'));
  const auto mapping = Mapping::open(path);
  std::filesystem::resize_file(path, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < kSize; i += 4096)
        EXPECT_EQ(mapping->bytes()[kSize - 1 - (i + t * 777'777) % kSize], 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(change_error(*mapping), "no error");
}

TEST(Mapping, SeesThatAFileGrewOrWasWritten) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  write_file(path, "some bytes");
  const auto grown = Mapping::open(path);
  const auto part = Mapping::part(grown, grown->mutable_bytes().first(4));
  std::filesystem::resize_file(path, 20);
  const std::string error = path + ": was changed while it was in use: it had 10 bytes and has 20" + kRemedy;
  EXPECT_EQ(change_error(*grown), error);
  EXPECT_EQ(change_error(*part), error);
  const auto written = Mapping::open(path);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the resolution of the time of a change
  write_file(path, "twenty other bytes..");
  EXPECT_EQ(change_error(*written), path + ": was changed while it was in use" + kRemedy);
}

TEST(Mapping, IsUnchangedWhenTheNameBecomesAnother) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  write_file(path, "some bytes");
  const auto mapping = Mapping::open(path);
  write_file(folder / "b", "others");
  std::filesystem::rename(folder / "b", path);
  EXPECT_EQ(change_error(*mapping), "no error");
  std::filesystem::remove(path);
  EXPECT_EQ(change_error(*mapping), "no error");
  EXPECT_EQ(change_error(*Mapping::from_text("abc")), "no error");
}

TEST(Mapping, ReadingSaysThatTheFileChangedWhateverElseIsWrong) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  write_file(path, "some bytes");
  const auto mapping = Mapping::open(path);
  const auto error_of = [&](auto&& body) -> std::string {
    try {
      mapping->reading(body);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(mapping->reading([] { return 3; }), 3);
  EXPECT_EQ(error_of([] { corrupt("bad"); }), path + ": bad");
  std::filesystem::resize_file(path, 5);
  const std::string changed = path + ": was changed while it was in use: it had 10 bytes and has 5" + kRemedy;
  EXPECT_EQ(error_of([] { corrupt("bad"); }), changed);
  EXPECT_EQ(error_of([] { return 3; }), changed);
}

volatile sig_atomic_t foreign_faults = 0;

// Run by the next test, in a process of its own: the handler is installed once in each.
TEST(MappingGuard, DISABLED_HandsOnOtherFaultsInAFreshProcess) {
  struct sigaction action{};
  action.sa_sigaction = [](int, siginfo_t* info, void*) {
    foreign_faults = foreign_faults + 1;
    const auto page = reinterpret_cast<uintptr_t>(info->si_addr) & ~uintptr_t{4095};
    mmap(reinterpret_cast<void*>(page), 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  };
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
  const TemporaryFolder folder;
  write_file(folder / "a", std::string(8192, 'x'));
  write_file(folder / "b", std::string(8192, 'x'));
  const auto ours = Mapping::open(folder / "a");
  const int fd = open((folder / "b").c_str(), O_RDONLY);
  const auto* const theirs =
      static_cast<const volatile uint8_t*>(mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE, fd, 0));
  std::filesystem::resize_file(folder / "a", 0);
  std::filesystem::resize_file(folder / "b", 0);
  EXPECT_EQ(ours->bytes()[5000], 0);
  EXPECT_EQ(foreign_faults, 0);
  EXPECT_EQ(theirs[5000], 0);
  EXPECT_EQ(foreign_faults, 1);
}

// A fault that is nobody's here goes to the handler that was there before.
TEST(MappingGuard, HandsOnOtherFaults) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "test", "--gtest_also_run_disabled_tests", "--gtest_brief=1",
          "--gtest_filter=MappingGuard.DISABLED_HandsOnOtherFaultsInAFreshProcess", nullptr);
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Mapping, StopsReadingWhatNobodyWants) {
  const auto look = [](ByteSpan first) {
    EXPECT_GE(first.size(), 65'536U);
    throw Error(ErrorCode::kUnsupported, "nothing but zeros");
  };
  try {
    Mapping::open("/dev/zero", FileApi::system(), look);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "/dev/zero: nothing but zeros");
  }
  // A file is mapped, and what is short is there already.
  const TemporaryFolder folder;
  write_file(folder / "a", std::string(100'000, 'x'));
  EXPECT_EQ(Mapping::open(folder / "a", FileApi::system(), look)->size(), 100'000U);
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { write_file(path, "some bytes"); });
  EXPECT_EQ(Mapping::open(path, FileApi::system(), look)->size(), 10U);
  writer.join();
}

TEST(Mapping, SaysWhyItCannot) {
  const TemporaryFolder folder;
  EXPECT_EQ(open_error(folder / "none.pt", ErrorCode::kNotFound),
            (folder / "none.pt") + ": cannot be opened: No such file or directory (check the path)");
  EXPECT_EQ(open_error(folder.path(), ErrorCode::kInvalidArgument),
            folder.path() + ": is a folder, a file is needed");
  struct sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string name = folder / "socket";
  ASSERT_LT(name.size(), sizeof address.sun_path);
  name.copy(address.sun_path, name.size());
  const int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(open_error(name, ErrorCode::kInvalidArgument), name + ": is a socket, a file is needed");
  close(socket_fd);
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
