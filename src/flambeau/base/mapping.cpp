#include "flambeau/base/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "flambeau/base/error.h"
#include "flambeau/base/file_error.h"

namespace flambeau {
namespace {

// What has no end, like /dev/zero, must not take all memory.
constexpr size_t kMostStreamed = size_t{2} << 30;

std::vector<uint8_t> read_to_end(int fd, const std::string& path, FileApi& api) {
  std::vector<uint8_t> buffer;
  size_t filled = 0;
  for (;;) {
    if (buffer.size() - filled < (1U << 16)) buffer.resize(buffer.size() * 2 + (1U << 18));
    const ssize_t got = api.read(fd, buffer.data() + filled, buffer.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw file_error(errno, "cannot be read", path);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
    if (filled > kMostStreamed) {
      throw Error(ErrorCode::kLimit, "is no regular file and gives more than 2 GiB",
                  "save it as a file first: that is mapped, not read into memory")
          .add_location("file", path);
    }
  }
  buffer.resize(filled);
  return buffer;
}

}  // namespace

std::shared_ptr<Mapping> Mapping::open(const std::string& path, FileApi& api) {
  check_path(path);
  std::shared_ptr<Mapping> mapping(new Mapping);
  mapping->path_ = path;
  const int fd = api.open(path.c_str(), O_RDONLY, 0);
  if (fd < 0) throw file_error(errno, "cannot be opened", path);
  FileCloser closer(fd, api);

  struct stat info{};
  if (api.fstat(fd, &info) != 0) throw file_error(errno, "cannot be examined", path);
  if (S_ISDIR(info.st_mode)) {
    throw Error(ErrorCode::kInvalidArgument, "is a folder, a file is needed").add_location("file", path);
  }
  const auto size = static_cast<size_t>(info.st_size);
  // A regular file without a size is empty, or one of those that /proc makes up while they are read.
  if (!S_ISREG(info.st_mode) || size == 0) {
    mapping->buffer_ = read_to_end(fd, path, api);
    mapping->bytes_ = mapping->buffer_;
    return mapping;
  }
  void* at = api.map_private(fd, size);
  if (at == MAP_FAILED) throw file_error(errno, "cannot be mapped", path);
  mapping->bytes_ = {static_cast<uint8_t*>(at), size};
  mapping->api_ = &api;
  mapping->fd_ = closer.release();
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

void Mapping::read_at(uint64_t offset, MutableByteSpan to) const {
  if (offset > bytes_.size() || to.size() > bytes_.size() - offset) {
    throw Error(ErrorCode::kInvalidArgument, "a read past the end of the bytes");
  }
  if (fd_ < 0) {
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), to.size(), to.begin());
    return;
  }
  while (!to.empty()) {
    const ssize_t got = api_->read_at(fd_, to.data(), to.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw file_error(got < 0 ? errno : EIO, "cannot be read", path_);
    to = to.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
}

Mapping::~Mapping() {
  if (api_ == nullptr) return;
  api_->unmap(bytes_.data(), bytes_.size());
  api_->close(fd_);
}

}  // namespace flambeau
