// For tests: the operating system's file calls, one of which goes wrong. Trying every call in turn shows
// what is left behind after each possible failure.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/base/files/file_api.h"

namespace flambeau {

class FaultyFileApi : public FileApi {
 public:
  // The calls are counted from 1; the call numbered `at` fails with `error_number`. 0: none fails.
  void fail_call(int at, int error_number) { fail_at_ = at, error_number_ = error_number; }
  // The call numbered `at`, and with `sticky` all after it, moves half of its bytes if it is a read or write.
  void shorten_call(int at, bool sticky = false) { short_at_ = at, sticky_short_ = sticky; }
  // Every call of that name fails, as on a full disk: fail_all("write", ENOSPC).
  void fail_all(std::string name, int error_number) {
    failing_name_ = std::move(name), failing_error_ = error_number;
  }
  // As on a file system without O_TMPFILE.
  void refuse_unnamed() { refuse_unnamed_ = true; }

  int calls() const { return static_cast<int>(log_.size()); }
  // The names of the calls, in order.
  const std::vector<std::string>& log() const { return log_; }
  // The call that was made to fail; empty when none was.
  const std::string& failed() const { return failed_; }

  int open(const char* path, int flags, mode_t mode) override {
#ifdef O_TMPFILE
    if (refuse_unnamed_ && (flags & O_TMPFILE) == O_TMPFILE) return errno = EOPNOTSUPP, -1;
#endif
    return goes_wrong("open") ? -1 : FileApi::open(path, flags, mode);
  }
  // Linux closes a descriptor even when it reports an error.
  int close(int fd) override {
    const bool wrong = goes_wrong("close");
    const int error_number = errno;
    const int result = FileApi::close(fd);
    return wrong ? (errno = error_number, -1) : result;
  }
  ssize_t read(int fd, void* to, size_t count) override {
    return goes_wrong("read") ? -1 : FileApi::read(fd, to, shortened(count));
  }
  ssize_t write(int fd, const void* from, size_t count) override {
    return goes_wrong("write") ? -1 : FileApi::write(fd, from, shortened(count));
  }
  int set_direct(int fd, bool on) override {
    return goes_wrong("set_direct") ? -1 : FileApi::set_direct(fd, on);
  }
  int fsync(int fd) override { return goes_wrong("fsync") ? -1 : FileApi::fsync(fd); }
  int stat(const char* path, struct stat* to) override {
    return goes_wrong("stat") ? -1 : FileApi::stat(path, to);
  }
  ssize_t readlink(const char* path, char* to, size_t count) override {
    return goes_wrong("readlink") ? -1 : FileApi::readlink(path, to, count);
  }
  int fstat(int fd, struct stat* to) override { return goes_wrong("fstat") ? -1 : FileApi::fstat(fd, to); }
  int fchmod(int fd, mode_t mode) override { return goes_wrong("fchmod") ? -1 : FileApi::fchmod(fd, mode); }
  int fchown(int fd, uid_t owner, gid_t group) override {
    return goes_wrong("fchown") ? -1 : FileApi::fchown(fd, owner, group);
  }
  int link_unnamed(int fd, const char* path) override {
    return goes_wrong("link_unnamed") ? -1 : FileApi::link_unnamed(fd, path);
  }
  int rename(const char* from, const char* to) override {
    return goes_wrong("rename") ? -1 : FileApi::rename(from, to);
  }
  int unlink(const char* path) override { return goes_wrong("unlink") ? -1 : FileApi::unlink(path); }
  void* map_private(int fd, size_t count) override {
    return goes_wrong("map_private") ? MAP_FAILED : FileApi::map_private(fd, count);
  }

 private:
  bool goes_wrong(const char* name) {
    log_.emplace_back(name);
    if (failing_name_ == name) return errno = failing_error_, failed_ = name, true;
    if (calls() != fail_at_) return false;
    errno = error_number_;
    failed_ = name;
    return true;
  }
  size_t shortened(size_t count) const {
    const bool is_short = short_at_ != 0 && (sticky_short_ ? calls() >= short_at_ : calls() == short_at_);
    return is_short ? std::max<size_t>(count / 2, 1) : count;
  }

  int fail_at_ = 0;
  int error_number_ = 0;
  int short_at_ = 0;
  bool sticky_short_ = false;
  bool refuse_unnamed_ = false;
  std::string failing_name_;
  int failing_error_ = 0;
  std::string failed_;
  std::vector<std::string> log_;
};

}  // namespace flambeau
