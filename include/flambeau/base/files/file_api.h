// The operating system's file calls behind an interface, so that a test can make any one of them fail
// or stop short. Same contracts as the calls themselves: -1 and errno.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace flambeau {

class FileApi {
 public:
  virtual ~FileApi() = default;

  virtual int open(const char* path, int flags, mode_t mode);
  virtual int close(int fd);
  virtual ssize_t read(int fd, void* to, size_t count);
  virtual ssize_t read_at(int fd, void* to, size_t count, uint64_t offset);
  virtual ssize_t write(int fd, const void* from, size_t count);
  virtual int fsync(int fd);
  virtual int stat(const char* path, struct stat* to);
  // What a symbolic link says; EINVAL when `path` is none.
  virtual ssize_t readlink(const char* path, char* to, size_t count);
  virtual int fstat(int fd, struct stat* to);
  virtual int fchmod(int fd, mode_t mode);
  virtual int fchown(int fd, uid_t owner, gid_t group);
  // Gives an unnamed file (O_TMPFILE) a name.
  virtual int link_unnamed(int fd, const char* path);
  virtual int rename(const char* from, const char* to);
  virtual int unlink(const char* path);
  // Asks the kernel to start writing back a range; only a hint, never an error.
  virtual void start_writeback(int fd, uint64_t offset, uint64_t count);
  // Writing past the kernel's cache (O_DIRECT), on or off. -1 where the file system does not have it.
  virtual int set_direct(int fd, bool on);
  // Asks for disk space beyond what is written; and gives back what is beyond `size`. Hints likewise.
  virtual void reserve(int fd, uint64_t offset, uint64_t count);
  virtual void release_beyond(int fd, uint64_t size);
  // A private, copy-on-write mapping of a whole file. MAP_FAILED on failure.
  virtual void* map_private(int fd, size_t count);
  virtual int unmap(void* at, size_t count);

  // The real calls. It holds no state.
  static FileApi& system();
};

}  // namespace flambeau
