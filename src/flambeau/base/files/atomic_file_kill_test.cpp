// A process killed at any moment of a save leaves the old file or the new one.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <iostream>
#include <random>
#include <string>
#include <thread>

#include "flambeau/base/files/atomic_file.h"
#include "support/temporary_folder.h"

namespace flambeau {
namespace {

using testing::read_file;
using testing::TemporaryFolder;

// Versions differ in length and in every byte.
std::string content_of(int version) {
  return std::string(400'000 + static_cast<size_t>(version % 7) * 10'007,
                     static_cast<char>('A' + version % 26));
}

void save(const std::string& path, int version, FileApi& api) {
  AtomicFile file(path, api);
  file.write_text(content_of(version));
  file.commit();
}

// Says how far the child came, in memory that parent and child share.
struct Shared {
  std::atomic<int> finished;
};

// A child that mostly waits for the disk is seldom killed anywhere else.
struct NoFsync final : FileApi {
  int fsync(int) override { return 0; }
};

TEST(AtomicFileKill, LeavesTheOldFileOrTheNewOne) {
  constexpr int kKills = 200;
  const TemporaryFolder folder;
  const std::string target = folder / "model.pt";
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* shared = new (memory) Shared{};
  NoFsync quick;
  save(target, 0, quick);

  std::mt19937 random(20240607);
  int moved_on = 0;
  size_t strays = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    const int before = shared->finished;
    FileApi& api = kill % 8 == 0 ? FileApi::system() : quick;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int version = before + 1;; ++version) {
        save(target, version, api);
        shared->finished = version;
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 12'000));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";

    const int finished = shared->finished;
    const std::string found = read_file(target);
    const bool is_new = found == content_of(finished + 1);
    ASSERT_TRUE(is_new || found == content_of(finished)) << "kill " << kill << ": neither old nor new";
    if (is_new) shared->finished = finished + 1;
    if (shared->finished != before) ++moved_on;
    for (const std::string& name : folder.names()) {
      if (name == "model.pt") continue;
      ASSERT_TRUE(name.starts_with(".flambeau-") && name.ends_with(".tmp")) << name;
      std::filesystem::remove(folder / name);
      ++strays;
    }
  }
  // Between getting its name and the rename a file can be left behind; the kernel offers no way to
  // replace a file by an unnamed one in a single step.
  std::cout << kKills << " kills, " << shared->finished << " saves, " << strays << " temporaries left\n";
  RecordProperty("temporaries_left", static_cast<int>(strays));
  EXPECT_GT(moved_on, 0);
  EXPECT_LT(strays, static_cast<size_t>(kKills) / 4);
  ::munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace flambeau
