#include "flambeau/base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <random>
#include <utility>

#include "flambeau/base/file_error.h"

namespace flambeau {
namespace {

constexpr size_t kBufferSize = 256 * 1024;
// Writing back while we still produce makes the final fsync short.
constexpr uint64_t kWritebackStep = 32ULL * 1024 * 1024;
// One write call takes at most 0x7ffff000 bytes on Linux; smaller steps keep cancellation responsive.
constexpr size_t kLargestWrite = 16 * 1024 * 1024;

std::string resolve_links(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;  // does not exist yet
  std::string result = resolved;
  std::free(resolved);
  return result;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string temporary_name(const std::string& folder) {
  std::random_device device;
  const uint64_t number = (static_cast<uint64_t>(device()) << 32) | device();
  return fmt::format("{}/.flambeau-{:016x}.tmp", folder, number);
}

}  // namespace

AtomicFile::AtomicFile(std::string path, FileApi& api)
    : path_(std::move(path)), target_(resolve_links(path_)), folder_(folder_of(target_)), api_(api) {
  struct stat info{};
  if (api_.stat(target_.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode)) {
      throw Error(ErrorCode::kInvalidArgument, "is not a regular file and cannot be replaced",
                  "choose another output path")
          .add_location("file", path_);
    }
  } else if (errno != ENOENT) {
    throw file_error(errno, "cannot be examined", path_);
  }
  try {
    folder_fd_ = api_.open(folder_.c_str(), O_RDONLY | O_DIRECTORY, 0);
    if (folder_fd_ < 0)
      throw file_error(errno, fmt::format("the folder '{}' cannot be opened", folder_), path_);
    open_temporary();
    buffer_.reserve(kBufferSize);
  } catch (...) {
    discard();
    throw;
  }
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::open_temporary() {
#ifdef O_TMPFILE
  // An unnamed file vanishes by itself when the process is killed.
  fd_ = api_.open(folder_.c_str(), O_TMPFILE | O_WRONLY, 0666);
  if (fd_ >= 0) return;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL) {
    throw file_error(errno, "cannot be written", path_);
  }
#endif
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string name = temporary_name(folder_);
    fd_ = api_.open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd_ >= 0) {
      temporary_ = name;
      return;
    }
    if (errno != EEXIST) break;
  }
  throw file_error(errno, "cannot be written", path_);
}

void AtomicFile::write(ByteSpan bytes) {
  position_ += bytes.size();
  if (buffer_.size() + bytes.size() <= kBufferSize) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return;
  }
  flush();
  if (bytes.size() >= kBufferSize) {
    write_through(bytes);
  } else {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
}

void AtomicFile::flush() {
  write_through(buffer_);
  buffer_.clear();
}

void AtomicFile::write_through(ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = api_.write(fd_, bytes.data(), std::min(bytes.size(), kLargestWrite));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) throw file_error(errno, "cannot be written", path_);
    if (wrote == 0) throw file_error(EIO, "cannot be written", path_);
    bytes = bytes.subspan(static_cast<size_t>(wrote));
    const uint64_t on_file = position_ - buffer_.size() - bytes.size();
    if (on_file > writeback_started_ + kWritebackStep) {
      api_.start_writeback(fd_, writeback_started_, on_file - writeback_started_);
      writeback_started_ = on_file;
    }
  }
}

void AtomicFile::keep_mode_and_owner() {
  struct stat old{};
  if (api_.stat(target_.c_str(), &old) != 0) {
    if (errno == ENOENT) return;
    throw file_error(errno, "cannot be examined", path_);
  }
  struct stat now{};
  if (api_.fstat(fd_, &now) != 0) throw file_error(errno, "cannot be examined", path_);
  // Only root may give a file away; another user's save still succeeds, under their own name.
  if ((old.st_uid != now.st_uid || old.st_gid != now.st_gid) &&
      api_.fchown(fd_, old.st_uid, old.st_gid) != 0 && errno != EPERM) {
    throw file_error(errno, "cannot keep its owner", path_);
  }
  if (api_.fchmod(fd_, old.st_mode & 07777) != 0) throw file_error(errno, "cannot keep its mode", path_);
}

void AtomicFile::commit() {
  flush();
  keep_mode_and_owner();
  if (api_.fsync(fd_) != 0) throw file_error(errno, "cannot be written to the disk", path_);
  if (temporary_.empty()) {
    const std::string name = temporary_name(folder_);
    if (api_.link_unnamed(fd_, name.c_str()) != 0) throw file_error(errno, "cannot be named", path_);
    temporary_ = name;
  }
  const int fd = std::exchange(fd_, -1);
  if (api_.close(fd) != 0) throw file_error(errno, "cannot be closed", path_);
  if (api_.rename(temporary_.c_str(), target_.c_str()) != 0) {
    throw file_error(errno, "cannot be put in place", path_);
  }
  temporary_.clear();
  if (api_.fsync(folder_fd_) != 0) {
    throw file_error(errno, "is in place and complete, but its folder could not be flushed to the disk",
                     path_);
  }
  discard();
}

void AtomicFile::discard() noexcept {
  if (fd_ >= 0) api_.close(std::exchange(fd_, -1));
  if (folder_fd_ >= 0) api_.close(std::exchange(folder_fd_, -1));
  if (!temporary_.empty()) api_.unlink(temporary_.c_str());
  temporary_.clear();
}

}  // namespace flambeau
