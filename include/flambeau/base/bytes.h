// Bounds-checked reading of a byte span, and appending to a buffer.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace flambeau {

using ByteSpan = std::span<const uint8_t>;
using MutableByteSpan = std::span<uint8_t>;

inline ByteSpan as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <typename T>
T byte_swapped(T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  uint8_t raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  for (size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(raw[i], raw[sizeof(T) - 1 - i]);
  std::memcpy(&value, raw, sizeof(T));
  return value;
}

// Unchecked loads and stores of little-endian numbers at any alignment.
template <typename T>
T load_le(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return std::endian::native == std::endian::little ? value : byte_swapped(value);
}
template <typename T>
void store_le(uint8_t* to, T value) {
  if (std::endian::native != std::endian::little) value = byte_swapped(value);
  std::memcpy(to, &value, sizeof(T));
}

// A cursor over bytes from a stranger: every step is checked against what is left, and the error
// carries the offset as a "byte" location. Throws Error(kCorrupt).
class ByteReader {
 public:
  // `base` is added to offsets in errors, for a reader over a part of a larger file.
  explicit ByteReader(ByteSpan bytes, uint64_t base = 0) : bytes_(bytes), base_(base) {}

  size_t offset() const { return at_; }
  size_t remaining() const { return bytes_.size() - at_; }
  bool at_end() const { return at_ == bytes_.size(); }
  ByteSpan whole() const { return bytes_; }

  uint8_t u8(std::string_view what) { return *need(1, what); }
  // A little-endian number: le<uint32_t>("record count").
  template <typename T>
  T le(std::string_view what) {
    return load_le<T>(need(sizeof(T), what));
  }
  template <typename T>
  T be(std::string_view what) {
    return byte_swapped(load_le<T>(need(sizeof(T), what)));
  }
  // `count` comes from the file; compared with what is left before anything else happens.
  ByteSpan bytes(uint64_t count, std::string_view what);
  std::string_view text(uint64_t count, std::string_view what) { return as_text(bytes(count, what)); }
  // Up to and without the next '\n', which is consumed.
  std::string_view line(std::string_view what);
  void skip(uint64_t count, std::string_view what) { bytes(count, what); }
  void seek(uint64_t offset, std::string_view what);

  // An Error(kCorrupt) located at the given offset (the current one by default).
  [[noreturn]] void fail(std::string message) const { fail_at(at_, std::move(message)); }
  [[noreturn]] void fail_at(size_t offset, std::string message) const;

 private:
  const uint8_t* need(size_t count, std::string_view what) {
    if (remaining() < count) fail_short(count, what);
    const uint8_t* from = bytes_.data() + at_;
    at_ += count;
    return from;
  }
  [[noreturn]] void fail_short(uint64_t count, std::string_view what) const;

  ByteSpan bytes_;
  uint64_t base_;
  size_t at_ = 0;
};

// Appends numbers and bytes to a growing buffer.
class ByteWriter {
 public:
  template <typename T>
  void le(T value) {
    uint8_t raw[sizeof(T)];
    store_le(raw, value);
    buffer_.append(reinterpret_cast<const char*>(raw), sizeof(T));
  }
  template <typename T>
  void be(T value) {
    le(byte_swapped(value));
  }
  void u8(uint8_t value) { buffer_.push_back(static_cast<char>(value)); }
  void bytes(ByteSpan data) { buffer_.append(as_text(data)); }
  void text(std::string_view data) { buffer_.append(data); }
  void fill(size_t count, char value) { buffer_.append(count, value); }

  size_t size() const { return buffer_.size(); }
  ByteSpan view() const { return as_bytes(buffer_); }
  const std::string& str() const { return buffer_; }
  std::string take() { return std::move(buffer_); }

 private:
  std::string buffer_;
};

}  // namespace flambeau
