// Bytes that stay in place while somebody holds them: a mapped file, a buffer, or memory of the caller.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "flambeau/base/bytes.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/file_api.h"

namespace flambeau {

class Mapping {
 public:
  // Maps a regular file; reads a pipe or device into memory, at most 1 GiB. Writes to the bytes stay private
  // to this process and never reach the file. `look` is shown the first bytes of a pipe or device that has
  // more, and throws when those are of no use. Throws Error(kNotFound, kIo, kInvalidArgument, kLimit) located
  // at the file. `api` must outlive the mapping.
  // While it is mapped a file may be replaced or removed. When somebody cuts it short in place, zeros take
  // the place of what is gone (see mapping_guard.h); when somebody writes to it, that may show. Whoever read
  // the bytes asks check_unchanged() before believing in them.
  using Look = std::function<void(ByteSpan first)>;
  static std::shared_ptr<Mapping> open(const std::string& path, FileApi& api = FileApi::system(),
                                       const Look& look = {});
  static std::shared_ptr<Mapping> from_buffer(std::vector<uint8_t> buffer);
  static std::shared_ptr<Mapping> from_text(std::string_view text);
  // Memory of the caller; `keep_alive` is held as long as the mapping is.
  static std::shared_ptr<Mapping> borrow(MutableByteSpan bytes, std::shared_ptr<const void> keep_alive);
  // Some bytes of another mapping, which change when that does. They must lie inside of it.
  static std::shared_ptr<Mapping> part(std::shared_ptr<Mapping> whole, MutableByteSpan bytes);

  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  ByteSpan bytes() const { return bytes_; }
  MutableByteSpan mutable_bytes() { return bytes_; }
  size_t size() const { return bytes_.size(); }
  // For a look at a few places far apart: touching a mapped page costs several times a small read. Copies the
  // bytes at `offset` to `to`, reading the file where there is one. Throws Error(kIo) when they cannot be
  // had, e.g. because the file was cut short.
  void read_at(uint64_t offset, MutableByteSpan to) const;
  // Throws Error(kIo) located at the file when that is no longer the one that was opened: it was cut short,
  // or its size or the time of its last change differ. A write within the resolution of that time (some
  // milliseconds) that keeps the size is not seen.
  void check_unchanged() const;
  // Runs `body`, which reads the bytes. Gives its result; or, when the file changed meanwhile, the error of
  // check_unchanged(), whatever `body` made of what it saw. Locates errors at the file.
  template <typename Body>
  auto reading(Body&& body) const {
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
        std::forward<Body>(body)();
        check_unchanged();
      } else {
        auto result = std::forward<Body>(body)();
        check_unchanged();
        return result;
      }
    } catch (Error& error) {
      check_unchanged();
      if (!path_.empty()) error.add_location("file", path_);
      throw;
    }
  }
  // Whether read_at reads a file.
  bool has_file() const { return file_ != nullptr; }
  // Where the bytes came from, for messages; empty for memory.
  const std::string& path() const { return path_; }

 private:
  Mapping();
  struct MappedFile;

  MutableByteSpan bytes_;
  std::string path_;
  std::vector<uint8_t> buffer_;
  std::shared_ptr<const void> keep_alive_;
  std::shared_ptr<const Mapping> whole_;  // of a part
  std::unique_ptr<MappedFile> file_;      // where there is one
};

}  // namespace flambeau
