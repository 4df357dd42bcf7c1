#include "flambeau/base/files/mapping.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <optional>

#include "flambeau/base/files/file_error.h"
#include "flambeau/base/files/mapping_guard.h"

namespace flambeau {
namespace {

// What has no end, like /dev/zero, must not take all memory.
constexpr size_t kMostStreamedGiB = 1;
constexpr size_t kMostStreamed = kMostStreamedGiB << 30;
// What is needed to tell what kind of file it is.
constexpr size_t kFirstLook = size_t{1} << 16;

// Memory of realloc's, which moves large blocks without copying or touching them.
class Growing {
 public:
  Growing() = default;
  ~Growing() { std::free(memory_); }
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;

  void resize(size_t size) {
    void* const moved = std::realloc(memory_, std::max<size_t>(size, 1));
    if (moved == nullptr) throw std::bad_alloc();
    memory_ = static_cast<uint8_t*>(moved);
    size_ = size;
  }
  uint8_t* data() { return memory_; }
  size_t size() const { return size_; }

 private:
  uint8_t* memory_ = nullptr;
  size_t size_ = 0;
};

// Fills `buffer` from `filled` on, as far as a call of read goes; 0 at the end.
size_t read_some(int fd, Growing& buffer, size_t filled, const std::string& path, FileApi& api) {
  for (;;) {
    const ssize_t got = api.read(fd, buffer.data() + filled, buffer.size() - filled);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) throw file_error(errno, "cannot be read", path);
  }
}

std::shared_ptr<Growing> read_to_end(int fd, const std::string& path, FileApi& api,
                                     const Mapping::Look& look) {
  auto buffer = std::make_shared<Growing>();
  size_t filled = 0;
  bool was_shown = !look;
  buffer->resize(2 * kFirstLook);
  while (const size_t got = read_some(fd, *buffer, filled, path, api)) {
    filled += got;
    if (filled > kMostStreamed) {
      throw Error(
          ErrorCode::kLimit,
          fmt::format("is no regular file and gives more than {} GiB, which is the limit", kMostStreamedGiB),
          "save it as a file first: that is mapped, not read into memory");
    }
    if (!was_shown && filled >= kFirstLook) {
      was_shown = true;
      look({buffer->data(), filled});
    }
    if (buffer->size() - filled < kFirstLook) buffer->resize(buffer->size() * 2);
  }
  buffer->resize(filled);
  return buffer;
}

void refuse_what_is_no_file(const struct stat& info) {
  const auto refuse = [](const char* what) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("is a {}, a file is needed", what));
  };
  if (S_ISDIR(info.st_mode)) refuse("folder");
  if (S_ISSOCK(info.st_mode)) refuse("socket");
}

int open_file(const std::string& path, FileApi& api) {
  const int fd = api.open(path.c_str(), O_RDONLY, 0);
  if (fd >= 0) return fd;
  const int error_number = errno;
  struct stat info{};
  if (error_number == ENXIO && api.stat(path.c_str(), &info) == 0) refuse_what_is_no_file(info);
  throw file_error(error_number, "cannot be opened", path);
}

bool is_same_time(const struct timespec& a, const struct timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

struct Mapping::MappedFile {
  MappedFile(MutableByteSpan mapped, int opened, const struct stat& info, FileApi& calls)
      : bytes(mapped),
        fd(opened),
        opened_as(info),
        api(calls),
        guard(std::in_place, mapped.data(), mapped.size()) {}
  ~MappedFile() {
    guard.reset();
    api.unmap(bytes.data(), bytes.size());
    api.close(fd);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  MutableByteSpan bytes;
  int fd;
  struct stat opened_as;
  FileApi& api;
  std::optional<MappingGuard> guard;
};

Mapping::Mapping() = default;
Mapping::~Mapping() = default;

std::shared_ptr<Mapping> Mapping::open(const std::string& path, FileApi& api, const Look& look) {
  check_path(path);
  std::shared_ptr<Mapping> mapping(new Mapping);
  mapping->path_ = path;
  with_location("file", path, [&] {
    FileCloser closer(open_file(path, api), api);
    struct stat info{};
    if (api.fstat(closer.get(), &info) != 0) throw file_error(errno, "cannot be examined", path);
    refuse_what_is_no_file(info);
    const auto size = static_cast<size_t>(info.st_size);
    // A regular file without a size is empty, or one of those that /proc makes up while they are read; those
    // of /sys have a size, and cannot be mapped.
    void* const at = S_ISREG(info.st_mode) && size > 0 ? api.map_private(closer.get(), size) : nullptr;
    if (at == nullptr || (at == MAP_FAILED && errno == ENODEV)) {
      const std::shared_ptr<Growing> buffer = read_to_end(closer.get(), path, api, look);
      mapping->bytes_ = {buffer->data(), buffer->size()};
      mapping->keep_alive_ = buffer;
      return;
    }
    if (at == MAP_FAILED) throw file_error(errno, "cannot be mapped", path);
    mapping->bytes_ = {static_cast<uint8_t*>(at), size};
    mapping->file_ = std::make_unique<MappedFile>(mapping->bytes_, closer.release(), info, api);
  });
  return mapping;
}

std::shared_ptr<Mapping> Mapping::from_buffer(std::vector<uint8_t> buffer) {
  std::shared_ptr<Mapping> mapping(new Mapping);
  mapping->buffer_ = std::move(buffer);
  mapping->bytes_ = mapping->buffer_;
  return mapping;
}

std::shared_ptr<Mapping> Mapping::from_text(std::string_view text) {
  return from_buffer(std::vector<uint8_t>(text.begin(), text.end()));
}

std::shared_ptr<Mapping> Mapping::borrow(MutableByteSpan bytes, std::shared_ptr<const void> keep_alive) {
  std::shared_ptr<Mapping> mapping(new Mapping);
  mapping->bytes_ = bytes;
  mapping->keep_alive_ = std::move(keep_alive);
  return mapping;
}

std::shared_ptr<Mapping> Mapping::part(std::shared_ptr<Mapping> whole, MutableByteSpan bytes) {
  std::shared_ptr<Mapping> mapping = borrow(bytes, nullptr);
  mapping->whole_ = std::move(whole);
  return mapping;
}

void Mapping::read_at(uint64_t offset, MutableByteSpan to) const {
  if (offset > bytes_.size() || to.size() > bytes_.size() - offset) {
    throw Error(ErrorCode::kInvalidArgument, "a read past the end of the bytes");
  }
  if (!file_) {
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), to.size(), to.begin());
    return;
  }
  while (!to.empty()) {
    const ssize_t got = file_->api.read_at(file_->fd, to.data(), to.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw file_error(got < 0 ? errno : EIO, "cannot be read", path_);
    to = to.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
}

void Mapping::check_unchanged() const {
  if (whole_) return whole_->check_unchanged();
  if (!file_) return;
  struct stat now{};
  if (file_->api.fstat(file_->fd, &now) != 0) throw file_error(errno, "cannot be examined", path_);
  const struct stat& then = file_->opened_as;
  if (!file_->guard->was_hit() && now.st_size == then.st_size && is_same_time(now.st_mtim, then.st_mtim))
    return;
  const std::string how = now.st_size == then.st_size
                              ? std::string()
                              : fmt::format(": it had {} bytes and has {}", then.st_size, now.st_size);
  throw Error(ErrorCode::kIo, fmt::format("was changed while it was in use{}", how),
              "read it again when it is complete; replace files by renaming, not by writing into them")
      .add_location("file", path_);
}

}  // namespace flambeau
