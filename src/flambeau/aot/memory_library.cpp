#include "flambeau/aot/memory_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "flambeau/base/error.h"

namespace flambeau::aot {

MemoryLibrary::MemoryLibrary(const char* name, ByteSpan bytes, Binding binding) {
  fd_ = memfd_create(name, MFD_CLOEXEC);
  if (fd_ < 0)
    throw Error(ErrorCode::kIo, fmt::format("no file in memory can be made: {}", std::strerror(errno)));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = write(fd_, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int reason = errno;
      close(fd_);
      throw Error(ErrorCode::kIo,
                  fmt::format("the library cannot be put into memory: {}", std::strerror(reason)));
    }
    done += static_cast<size_t>(written);
  }
  const int flags = RTLD_NOW | RTLD_LOCAL | (binding == Binding::kOwnFirst ? RTLD_DEEPBIND : 0);
  handle_ = dlopen(fmt::format("/proc/self/fd/{}", fd_).c_str(), flags);
  if (handle_ != nullptr) return;
  const char* const text = dlerror();
  const std::string reason = text == nullptr ? "" : text;
  close(fd_);
  throw Error(ErrorCode::kUnsupported,
              fmt::format("the library cannot be loaded: {}", printable(reason, 400)),
              reason.find("libgomp") != std::string::npos ? "install GCC's OpenMP runtime: libgomp1" : "");
}

MemoryLibrary::~MemoryLibrary() {
  dlclose(handle_);
  close(fd_);
}

void* MemoryLibrary::find(const std::string& name) const { return dlsym(handle_, name.c_str()); }

}  // namespace flambeau::aot
