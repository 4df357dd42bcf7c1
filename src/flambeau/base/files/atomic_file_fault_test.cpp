// Every call of a save made to fail in turn: the old file or the new one is there, and nothing else.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>

#include "flambeau/base/error.h"
#include "flambeau/base/files/atomic_file.h"
#include "flambeau/base/files/faulty_file_api.h"
#include "support/temporary_folder.h"

namespace flambeau {
namespace {

using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;

struct Case {
  const char* name;
  bool named;   // the file system has no unnamed files
  bool exists;  // there is a file to be replaced
  int error_number;
};

class EveryFault : public ::testing::TestWithParam<Case> {
 protected:
  // Saves about 10 MB in uneven pieces. Gives the error, if there was one.
  std::optional<std::string> save(FaultyFileApi& api) {
    try {
      AtomicFile file(target_, api);
      for (std::string_view rest = new_; !rest.empty();) {
        const std::string_view piece = rest.substr(0, 700'001);
        file.write_text(piece);
        rest.remove_prefix(piece.size());
      }
      file.commit();
    } catch (const Error& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with(target_ + ": ")) << error.what();
      return error.what();
    }
    return std::nullopt;
  }

  void prepare() {
    std::filesystem::remove(target_);
    if (!GetParam().exists) return;
    write_file(target_, old_);
    ::chmod(target_.c_str(), 0640);
  }

  // What stands at the target: "old", "new", "none", or "broken".
  std::string state() const {
    if (!std::filesystem::exists(target_)) return "none";
    const std::string content = read_file(target_);
    if (content == new_) return "new";
    return content == old_ ? "old" : "broken";
  }

  FaultyFileApi make_api() const {
    FaultyFileApi api;
    if (GetParam().named) api.refuse_unnamed();
    return api;
  }

  TemporaryFolder folder_;
  const std::string target_ = folder_ / "model.pt";
  const std::string old_ = std::string(300'000, 'o');
  const std::string new_ = std::string(5'000'000, 'n') + std::string(5'234'567, 'N');
};

TEST_P(EveryFault, LeavesTheOldFileOrTheNewOne) {
  const std::string before = GetParam().exists ? "old" : "none";
  int failures = 0;
  for (int at = 1;; ++at) {
    prepare();
    FaultyFileApi api = make_api();
    api.fail_call(at, GetParam().error_number);
    const std::optional<std::string> error = save(api);
    SCOPED_TRACE("call " + std::to_string(at) + " (" + api.failed() + "): " + error.value_or("no error"));

    const auto& log = api.log();
    const bool renamed = std::find(log.begin(), log.end(), "rename") != log.end() && api.failed() != "rename";
    ASSERT_EQ(state(), error && !renamed ? before : "new");
    EXPECT_EQ(renamed && error, error.value_or("").find("is in place and complete") != std::string::npos);
    ASSERT_EQ(folder_.names().size(), state() == "none" ? 0U : 1U);
    if (GetParam().exists) {
      struct stat info{};
      ASSERT_EQ(::stat(target_.c_str(), &info), 0);
      EXPECT_EQ(info.st_mode & 07777, 0640U);
    }
    if (api.failed().empty()) break;  // past the last call: a save without a fault
    if (error) ++failures;
  }
  EXPECT_GE(failures, 10);
}

TEST_P(EveryFault, LeavesATemporaryOnlyWhereRemovingItFails) {
  prepare();
  FaultyFileApi api = make_api();
  api.fail_all("rename", GetParam().error_number);
  ASSERT_TRUE(save(api).has_value());
  EXPECT_EQ(api.log().back(), "unlink");
  EXPECT_EQ(folder_.names().size(), GetParam().exists ? 1U : 0U);

  struct NoRenameNoUnlink : FaultyFileApi {
    int unlink(const char*) override { return errno = EIO, -1; }
  } stubborn;
  stubborn.fail_all("rename", GetParam().error_number);
  ASSERT_TRUE(save(stubborn).has_value());
  EXPECT_EQ(folder_.names().size(), GetParam().exists ? 2U : 1U);
  EXPECT_EQ(state(), GetParam().exists ? "old" : "none");
}

TEST_P(EveryFault, SurvivesShortWritesAndSignals) {
  for (const bool sticky : {false, true}) {
    for (int at = 1;; ++at) {
      prepare();
      FaultyFileApi api = make_api();
      api.shorten_call(at, sticky);
      EXPECT_EQ(save(api), std::nullopt);
      ASSERT_EQ(state(), "new") << at;
      if (at > api.calls()) break;
      if (sticky) at += 4;
    }
  }
  for (int at = 1;; ++at) {
    prepare();
    FaultyFileApi api = make_api();
    api.fail_call(at, EINTR);
    const bool failed = save(api).has_value();
    const bool goes_on = api.failed() == "write" || api.failed() == "fsync" || api.failed() == "close";
    EXPECT_FALSE(goes_on && failed) << api.failed();
    if (api.failed().empty()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(
    AtomicFile, EveryFault,
    ::testing::Values(Case{"UnnamedOverOldIo", false, true, EIO},
                      Case{"UnnamedOverOldFull", false, true, ENOSPC},
                      Case{"UnnamedNewIo", false, false, EIO}, Case{"UnnamedNewQuota", false, false, EDQUOT},
                      Case{"NamedOverOldIo", true, true, EIO}, Case{"NamedOverOldFull", true, true, ENOSPC},
                      Case{"NamedNewIo", true, false, EIO}, Case{"NamedNewDenied", true, false, EACCES}),
    [](const auto& instance) { return std::string(instance.param.name); });

// The end of a large save, which goes past the cache: from the call that begins it to the last.
TEST(AtomicFileFaults, LargeSavesLeaveTheOldFileOrTheNewOne) {
  const TemporaryFolder folder;
  const std::string target = folder / "model.pt";
  const std::string text(136'000'001, 'n');
  const auto save = [&](FaultyFileApi& api) {
    AtomicFile file(target, api);
    file.write_text(text);
    file.commit();
  };
  FaultyFileApi whole;
  save(whole);
  const auto& log = whole.log();
  const auto direct = std::find(log.begin(), log.end(), "set_direct");
  ASSERT_NE(direct, log.end());
  for (int at = static_cast<int>(direct - log.begin()) + 1; at <= whole.calls(); ++at) {
    write_file(target, "old");
    FaultyFileApi api;
    api.fail_call(at, EIO);
    bool failed = false;
    try {
      save(api);
    } catch (const Error&) {
      failed = true;
    }
    const std::string content = read_file(target);
    EXPECT_TRUE(content == "old" || content == text) << "call " << at << ": " << api.failed();
    EXPECT_TRUE(failed || content == text) << "call " << at << ": " << api.failed();
    EXPECT_EQ(folder.names().size(), 1U);
  }
}

}  // namespace
}  // namespace flambeau
