#include "flambeau/base/files/file_api.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

namespace flambeau {

int FileApi::open(const char* path, int flags, mode_t mode) { return ::open(path, flags | O_CLOEXEC, mode); }
int FileApi::close(int fd) { return ::close(fd); }
ssize_t FileApi::read(int fd, void* to, size_t count) { return ::read(fd, to, count); }
ssize_t FileApi::read_at(int fd, void* to, size_t count, uint64_t offset) {
  return ::pread(fd, to, count, static_cast<off_t>(offset));
}
ssize_t FileApi::write(int fd, const void* from, size_t count) { return ::write(fd, from, count); }
int FileApi::fsync(int fd) { return ::fsync(fd); }
int FileApi::stat(const char* path, struct stat* to) { return ::stat(path, to); }
ssize_t FileApi::readlink(const char* path, char* to, size_t count) { return ::readlink(path, to, count); }
int FileApi::fstat(int fd, struct stat* to) { return ::fstat(fd, to); }
int FileApi::fchmod(int fd, mode_t mode) { return ::fchmod(fd, mode); }
int FileApi::fchown(int fd, uid_t owner, gid_t group) { return ::fchown(fd, owner, group); }

int FileApi::link_unnamed(int fd, const char* path) {
  const std::string self = "/proc/self/fd/" + std::to_string(fd);
  return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

int FileApi::rename(const char* from, const char* to) { return ::rename(from, to); }
int FileApi::unlink(const char* path) { return ::unlink(path); }

void FileApi::start_writeback([[maybe_unused]] int fd, [[maybe_unused]] uint64_t offset,
                              [[maybe_unused]] uint64_t count) {
#ifdef __linux__
  ::sync_file_range(fd, static_cast<off64_t>(offset), static_cast<off64_t>(count), SYNC_FILE_RANGE_WRITE);
#endif
}

int FileApi::set_direct([[maybe_unused]] int fd, [[maybe_unused]] bool on) {
#ifdef O_DIRECT
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return -1;
  return ::fcntl(fd, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT);
#else
  errno = EINVAL;
  return -1;
#endif
}

void FileApi::reserve([[maybe_unused]] int fd, [[maybe_unused]] uint64_t offset,
                      [[maybe_unused]] uint64_t count) {
#ifdef __linux__
  ::fallocate(fd, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(count));
#endif
}

void FileApi::release_beyond(int fd, uint64_t size) {
  [[maybe_unused]] const int ignored = ::ftruncate(fd, static_cast<off_t>(size));
}

void* FileApi::map_private(int fd, size_t count) {
  return ::mmap(nullptr, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
}

int FileApi::unmap(void* at, size_t count) { return ::munmap(at, count); }

FileApi& FileApi::system() {
  static FileApi api;
  return api;
}

}  // namespace flambeau
