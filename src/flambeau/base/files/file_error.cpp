#include "flambeau/base/files/file_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace flambeau {
namespace {

std::string_view remedy_for(int error_number) {
  switch (error_number) {
    case ENOENT:
      return "check the path";
    case EACCES:
    case EPERM:
      return "check the permissions of the file and its folder";
    case ENOSPC:
      return "free some space on the disk and try again";
    case EDQUOT:
      return "the disk quota is used up: free some space and try again";
    case EFBIG:
      return "the file system or a limit ('ulimit -f') does not allow a file this large";
    case EROFS:
      return "the file system is read-only: choose another folder";
    case EMFILE:
    case ENFILE:
      return "too many files are open: raise the limit with 'ulimit -n'";
    case ENOMEM:
      return "not enough memory or address space";
    default:
      return "";
  }
}

}  // namespace

Error file_error(int error_number, std::string_view what, const std::string& path) {
  char buffer[128] = "";
  const char* reason = strerror_r(error_number, buffer, sizeof buffer);
  const ErrorCode code = error_number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  Error error(code, fmt::format("{}: {}", what, reason), std::string(remedy_for(error_number)));
  error.add_location("file", path);
  return error;
}

void check_path(const std::string& path) {
  if (path.empty()) throw Error(ErrorCode::kInvalidArgument, "the path is empty");
  if (path.find('\0') != std::string::npos) {
    throw Error(ErrorCode::kInvalidArgument, "the path has a NUL byte in it").add_location("file", path);
  }
}

}  // namespace flambeau
