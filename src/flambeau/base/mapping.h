// Bytes that stay in place while somebody holds them: a mapped file, a buffer, or memory of the caller.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "flambeau/base/bytes.h"
#include "flambeau/base/file_api.h"

namespace flambeau {

class Mapping {
 public:
  // Maps a regular file; reads a pipe or device into memory. Writes to the bytes stay private to this
  // process and never reach the file. Throws Error(kNotFound, kIo, kInvalidArgument) located at the file.
  // `api` must outlive the mapping. While it is mapped a file may be replaced or removed, but must not be
  // cut short in place: touching what is gone ends the process, and no check of ours can prevent that.
  static std::shared_ptr<Mapping> open(const std::string& path, FileApi& api = FileApi::system());
  static std::shared_ptr<Mapping> from_buffer(std::vector<uint8_t> buffer);
  static std::shared_ptr<Mapping> from_text(std::string_view text);
  // Memory of the caller; `keep_alive` is held as long as the mapping is.
  static std::shared_ptr<Mapping> borrow(MutableByteSpan bytes, std::shared_ptr<const void> keep_alive);

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
  // Whether read_at reads a file.
  bool has_file() const { return fd_ >= 0; }
  // Where the bytes came from, for messages; empty for memory.
  const std::string& path() const { return path_; }

 private:
  Mapping() = default;

  MutableByteSpan bytes_;
  std::string path_;
  std::vector<uint8_t> buffer_;
  std::shared_ptr<const void> keep_alive_;
  FileApi* api_ = nullptr;  // of a mapped file
  int fd_ = -1;
};

}  // namespace flambeau
