// What the file classes share: errors from errno, and a descriptor that closes itself.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "flambeau/base/error.h"
#include "flambeau/base/files/file_api.h"

namespace flambeau {

// An Error(kIo or kNotFound) located at the file: "model.pt: cannot be opened: Permission denied", with
// a remedy where errno suggests one.
Error file_error(int error_number, std::string_view what, const std::string& path);

// The operating system would cut such a path short or take it for another one. Throws
// Error(kInvalidArgument).
void check_path(const std::string& path);

class FileCloser {
 public:
  FileCloser(int fd, FileApi& api) : fd_(fd), api_(api) {}
  ~FileCloser() {
    if (fd_ >= 0) api_.close(fd_);
  }
  FileCloser(const FileCloser&) = delete;
  FileCloser& operator=(const FileCloser&) = delete;
  int get() const { return fd_; }
  // The caller closes it from now on.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
  FileApi& api_;
};

}  // namespace flambeau
