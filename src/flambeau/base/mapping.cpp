#include "flambeau/base/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

#include "flambeau/base/error.h"
#include "flambeau/base/file_error.h"

namespace flambeau {
namespace {

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
  const FileCloser closer(fd, api);

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
  mapping->unmap_with_ = &api;
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

Mapping::~Mapping() {
  if (unmap_with_ != nullptr) unmap_with_->unmap(bytes_.data(), bytes_.size());
}

}  // namespace flambeau
