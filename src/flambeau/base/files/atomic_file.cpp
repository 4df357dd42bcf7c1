#include "flambeau/base/files/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "flambeau/base/files/file_error.h"

namespace flambeau {
namespace {

constexpr size_t kBufferSize = size_t{4} * 1024 * 1024;
// What direct writing asks of memory, offsets and lengths.
constexpr size_t kBlock = 4096;
// A larger save goes past the kernel's cache from here on: filling the cache with it costs more than the
// writing, and would push out what others need.
constexpr uint64_t kCachedSize = 128ULL * 1024 * 1024;
constexpr uint64_t kReserveStep = 256ULL * 1024 * 1024;
// Writing back while we still produce makes the final fsync short.
constexpr uint64_t kWritebackStep = 32ULL * 1024 * 1024;
// As many as the kernel follows.
constexpr int kMostLinks = 40;

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Where the last part of the path leads. Also through a link to a file that does not exist yet, which the
// save then makes. Links among the folders are the kernel's business.
std::string resolve_links(const std::string& path, FileApi& api) {
  std::string target = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    char buffer[4096];
    const ssize_t length = api.readlink(target.c_str(), buffer, sizeof buffer);
    if (length < 0 && (errno == EINVAL || errno == ENOENT)) return target;  // no link; no file yet
    if (length < 0) throw file_error(errno, "cannot be examined", path);
    const std::string next(buffer, static_cast<size_t>(length));
    target = next.starts_with('/') ? next : fmt::format("{}/{}", folder_of(target), next);
  }
  throw file_error(ELOOP, "cannot be examined", path);
}

std::string temporary_name(const std::string& folder) {
  std::random_device device;
  const uint64_t number = (static_cast<uint64_t>(device()) << 32) | device();
  return fmt::format("{}/.flambeau-{:016x}.tmp", folder, number);
}

// A signal may interrupt it; nothing is lost by asking again. After any other failure asking again would
// be a lie: the kernel forgets the pages it could not write.
int fsync_through_signals(int fd, FileApi& api) {
  int result;
  do {
    result = api.fsync(fd);
  } while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace

AtomicFile::AtomicFile(std::string path, FileApi& api, Durability durability)
    : path_(std::move(path)), api_(api), durability_(durability) {
  check_path(path_);
  target_ = resolve_links(path_, api_);
  folder_ = folder_of(target_);
  if (api_.stat(target_.c_str(), &old_) == 0) {
    replaces_ = true;
    if (!S_ISREG(old_.st_mode)) {
      throw Error(ErrorCode::kInvalidArgument, "is not a regular file and cannot be replaced",
                  "choose another output path")
          .add_location("file", path_);
    }
  } else if (errno != ENOENT) {
    throw file_error(errno, "cannot be examined", path_);
  }
  try {
    folder_fd_ = api_.open(folder_.c_str(), O_RDONLY | O_DIRECTORY, 0);
    if (folder_fd_ < 0) {
      throw file_error(errno, fmt::format("the folder '{}' cannot be opened", printable(folder_)), path_);
    }
    open_temporary();
    buffer_.reset(static_cast<uint8_t*>(std::aligned_alloc(kBlock, kBufferSize)));
    if (!buffer_)
      throw Error(ErrorCode::kLimit, "there is no memory to save with").add_location("file", path_);
  } catch (...) {
    discard();
    throw;
  }
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::open_temporary() {
  // Until it has the old file's mode and owner, nobody else may look into its replacement.
  const mode_t mode = replaces_ ? 0600 : 0666;
#ifdef O_TMPFILE
  // An unnamed file vanishes by itself when the process is killed. It gets its name through /proc.
  struct stat proc{};
  if (api_.stat("/proc/self/fd", &proc) == 0) {
    fd_ = api_.open(folder_.c_str(), O_TMPFILE | O_WRONLY, mode);
    if (fd_ >= 0) return;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL) {
      throw file_error(errno, "cannot be written", path_);
    }
  }
#endif
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string name = temporary_name(folder_);
    fd_ = api_.open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode);
    if (fd_ >= 0) {
      temporary_ = name;
      return;
    }
    if (errno != EEXIST) break;
  }
  throw file_error(errno, "cannot be written", path_);
}

void AtomicFile::check_open() const {
  if (fd_ < 0) {
    throw Error(ErrorCode::kInvalidArgument, "the save is over: it was committed, or it failed")
        .add_location("file", path_);
  }
}

void AtomicFile::Free::operator()(uint8_t* memory) const { std::free(memory); }

void AtomicFile::write(ByteSpan bytes) {
  check_open();
  if (!buffer_) throw Error(ErrorCode::kInvalidArgument, "the save is finished").add_location("file", path_);
  while (!bytes.empty()) {
    if (buffered_ == kBufferSize) {
      try {
        flush();
      } catch (...) {
        discard();  // a file with a hole in it must not be committed
        throw;
      }
    }
    const size_t count = std::min(bytes.size(), kBufferSize - buffered_);
    std::memcpy(buffer_.get() + buffered_, bytes.data(), count);
    buffered_ += count;
    bytes = bytes.subspan(count);
  }
}

// Full buffers, and a rest at the end.
void AtomicFile::flush() {
  if (mode_ == Mode::kCached && on_file_ >= kCachedSize) {
    mode_ = api_.set_direct(fd_, true) == 0 ? Mode::kDirect : Mode::kOnlyCached;
  }
  if (mode_ == Mode::kDirect) write_direct();
  write_through({buffer_.get(), buffered_});
  buffered_ = 0;
}

// Writes the buffer's whole blocks; leaves in it what could not be written this way.
void AtomicFile::write_direct() {
  if (on_file_ + buffered_ > reserved_) {
    api_.reserve(fd_, on_file_, kReserveStep);
    reserved_ = on_file_ + kReserveStep;
  }
  size_t done = 0;
  while (buffered_ - done >= kBlock) {
    const ssize_t wrote = api_.write(fd_, buffer_.get() + done, (buffered_ - done) / kBlock * kBlock);
    if (wrote < 0 && errno == EINTR) continue;
    // Some file systems accept the flag and then refuse the write.
    if (wrote < 0 && errno != EINVAL) throw file_error(errno, "cannot be written", path_);
    if (wrote > 0) {
      on_file_ += static_cast<uint64_t>(wrote);
      done += static_cast<size_t>(wrote);
    }
    if (wrote <= 0 || static_cast<size_t>(wrote) % kBlock != 0) break;
  }
  std::memmove(buffer_.get(), buffer_.get() + done, buffered_ - done);
  buffered_ -= done;
  if (buffered_ != 0) leave_direct();
}

void AtomicFile::leave_direct() {
  if (api_.set_direct(fd_, false) != 0) throw file_error(errno, "cannot be written", path_);
  mode_ = Mode::kOnlyCached;
}

void AtomicFile::write_through(ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = api_.write(fd_, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) throw file_error(errno, "cannot be written", path_);
    if (wrote == 0) throw file_error(EIO, "cannot be written", path_);
    bytes = bytes.subspan(static_cast<size_t>(wrote));
    on_file_ += static_cast<uint64_t>(wrote);
    if (on_file_ > writeback_started_ + kWritebackStep) {
      api_.start_writeback(fd_, writeback_started_, on_file_ - writeback_started_);
      writeback_started_ = on_file_;
    }
  }
}

void AtomicFile::keep_mode_and_owner() {
  // Somebody may have changed, made or removed the file while we wrote.
  struct stat latest{};
  if (api_.stat(target_.c_str(), &latest) == 0) {
    old_ = latest;
    replaces_ = true;
  } else if (errno != ENOENT) {
    throw file_error(errno, "cannot be examined", path_);
  }
  if (!replaces_) return;

  struct stat now{};
  if (api_.fstat(fd_, &now) != 0) throw file_error(errno, "cannot be examined", path_);
  mode_t mode = old_.st_mode & 07777;
  if (old_.st_uid != now.st_uid || old_.st_gid != now.st_gid) {
    if (api_.fchown(fd_, old_.st_uid, old_.st_gid) != 0) {
      if (errno != EPERM) throw file_error(errno, "cannot keep its owner", path_);
      // Only root may give a file away; another user's save still succeeds, under their own name, and
      // without the bits that would now lend their rights instead of the old owner's.
      mode &= 0777;
      if (api_.fchown(fd_, static_cast<uid_t>(-1), old_.st_gid) != 0 && errno != EPERM) {
        throw file_error(errno, "cannot keep its group", path_);
      }
    }
  }
  if (api_.fchmod(fd_, mode) != 0) throw file_error(errno, "cannot keep its mode", path_);
}

void AtomicFile::finish() {
  check_open();
  try {
    flush();
    if (reserved_ > on_file_) api_.release_beyond(fd_, on_file_);
    if (durability_ == Durability::kSynced && fsync_through_signals(fd_, api_) != 0)
      throw file_error(errno, "cannot be written to the disk", path_);
  } catch (...) {
    discard();
    throw;
  }
  buffer_.reset();
}

void AtomicFile::put_in_place() {
  if (buffer_) {
    flush();
    if (reserved_ > on_file_) api_.release_beyond(fd_, on_file_);
  }
  keep_mode_and_owner();
  const bool is_synced = durability_ == Durability::kSynced;
  if (is_synced && fsync_through_signals(fd_, api_) != 0) {
    throw file_error(errno, "cannot be written to the disk", path_);
  }
  if (temporary_.empty()) {
    const std::string name = temporary_name(folder_);
    if (api_.link_unnamed(fd_, name.c_str()) != 0) throw file_error(errno, "cannot be named", path_);
    temporary_ = name;
  }
  // Nothing stands between the two, as a kill here leaves the temporary name behind. The file is closed
  // afterwards; what close could report, fsync did.
  if (api_.rename(temporary_.c_str(), target_.c_str()) != 0) {
    throw file_error(errno, "cannot be put in place", path_);
  }
  temporary_.clear();
  // Some file systems have no fsync for folders and say EINVAL.
  if (is_synced && fsync_through_signals(folder_fd_, api_) != 0 && errno != EINVAL) {
    throw file_error(errno, "is in place and complete, but its folder could not be flushed to the disk",
                     path_);
  }
}

void AtomicFile::commit() {
  check_open();
  try {
    put_in_place();
  } catch (...) {
    discard();
    throw;
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
