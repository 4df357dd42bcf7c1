// Where writers put their bytes, in order: a file that is saved atomically, or memory.
#pragma once

#include <cstdint>
#include <vector>

#include "flambeau/base/bytes.h"

namespace flambeau {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // Appends; all of it, or an Error.
  virtual void write(ByteSpan bytes) = 0;
  // Bytes written so far.
  virtual uint64_t position() const = 0;

  void write_text(std::string_view text) { write(as_bytes(text)); }
};

class MemorySink final : public ByteSink {
 public:
  void write(ByteSpan bytes) override { buffer_.insert(buffer_.end(), bytes.begin(), bytes.end()); }
  uint64_t position() const override { return buffer_.size(); }
  const std::vector<uint8_t>& buffer() const { return buffer_; }
  std::vector<uint8_t> take() { return std::move(buffer_); }

 private:
  std::vector<uint8_t> buffer_;
};

}  // namespace flambeau
