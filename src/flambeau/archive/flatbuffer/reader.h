// Flatbuffers as bytes: tables, vectors, strings and structs at offsets, read in place. Nothing is believed
// before it was compared with the buffer: each step to a table, its list of fields, a vector or a string is
// checked for place, alignment and length when it is made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "flambeau/base/bytes.h"

namespace flambeau::flatbuffer {

// Bytes of numbers that lie in a row; elements may be read from any index below size().
template <typename T>
class Numbers {
 public:
  Numbers() = default;
  explicit Numbers(ByteSpan bytes) : bytes_(bytes) {}
  size_t size() const { return bytes_.size() / sizeof(T); }
  bool empty() const { return bytes_.empty(); }
  T operator[](size_t index) const { return load_le<T>(bytes_.data() + index * sizeof(T)); }
  ByteSpan bytes() const { return bytes_; }

 private:
  ByteSpan bytes_;
};

class Tables;
class Strings;

// A buffer, and how much of it was gone through: what refers to the same bytes again and again is refused
// when that adds up to far more than the buffer has.
class Buffer {
 public:
  // Throws Error(kCorrupt) for bytes that are too short to be one, kLimit for 2 GiB and more, which offsets
  // do not reach.
  explicit Buffer(ByteSpan bytes);
  ByteSpan bytes() const { return bytes_; }
  // The four bytes that say what it holds.
  std::string_view identifier() const { return as_text(bytes_).substr(4, 4); }

 private:
  friend class Table;
  friend class Tables;
  friend class Strings;
  // `count` bytes at `at`, aligned. Throws Error(kCorrupt) located at the byte.
  const uint8_t* need(uint64_t at, uint64_t count, uint32_t alignment, std::string_view what) const;
  // Where the offset at `at` leads.
  uint64_t follow(uint64_t at, std::string_view what) const;
  // The elements of the vector at `at`.
  ByteSpan elements(uint64_t at, uint32_t element_size, uint32_t alignment, std::string_view what) const;
  std::string_view text(uint64_t at, std::string_view what) const;
  void charge(uint64_t bytes) const;
  [[noreturn]] void fail(uint64_t at, std::string message) const;

  ByteSpan bytes_;
  mutable uint64_t left_;
};

// A table of a buffer, which must outlive it. Fields go by their number in the schema; one that is absent has
// its default. `what` names a field in errors.
class Table {
 public:
  // The root. Throws Error(kCorrupt) located at the byte, as everything below.
  static Table root(const Buffer& buffer);

  bool has(uint32_t field) const { return place(field, 0, 1, {}).has_value(); }
  template <typename T>
  T number(uint32_t field, std::string_view what, T absent = {}) const {
    const std::optional<uint64_t> at = place(field, sizeof(T), alignof(T), what);
    return at ? load_le<T>(buffer_->bytes().data() + *at) : absent;
  }
  // The bytes of a struct that an offset leads to, as unions hold them.
  ByteSpan structure(uint32_t field, uint32_t size, uint32_t alignment, std::string_view what) const;
  std::optional<Table> find_table(uint32_t field, std::string_view what) const;
  // Throw for one that is absent.
  Table table(uint32_t field, std::string_view what) const;
  std::string_view text(uint32_t field, std::string_view what) const;
  // Empty ones for one that is absent.
  template <typename T>
  Numbers<T> numbers(uint32_t field, std::string_view what) const {
    return Numbers<T>(vector(field, sizeof(T), sizeof(T), what));
  }
  // Structs of that size.
  ByteSpan structures(uint32_t field, uint32_t size, uint32_t alignment, std::string_view what) const {
    return vector(field, size, alignment, what);
  }
  Tables tables(uint32_t field, std::string_view what) const;
  Strings texts(uint32_t field, std::string_view what) const;
  // Where a vector of bytes lies in the buffer.
  ByteSpan blob(uint32_t field, std::string_view what) const { return vector(field, 1, 1, what); }

 private:
  friend class Tables;
  Table(const Buffer& buffer, uint64_t at);
  std::optional<uint64_t> place(uint32_t field, uint32_t size, uint32_t alignment,
                                std::string_view what) const;
  ByteSpan vector(uint32_t field, uint32_t element_size, uint32_t alignment, std::string_view what) const;
  uint64_t required(uint32_t field, std::string_view what) const;

  const Buffer* buffer_;
  uint64_t at_;
  uint64_t fields_ = 0;  // of the list that says where each field is
  uint32_t fields_size_ = 0;
  uint32_t size_ = 0;
};

class Tables {
 public:
  size_t size() const { return offsets_.size(); }
  // `index` below size().
  Table operator[](size_t index) const;

 private:
  friend class Table;
  Tables(const Buffer& buffer, ByteSpan offsets, std::string_view what)
      : buffer_(&buffer), offsets_(offsets), what_(what) {}
  const Buffer* buffer_;
  Numbers<uint32_t> offsets_;
  std::string_view what_;
};

class Strings {
 public:
  size_t size() const { return offsets_.size(); }
  std::string_view operator[](size_t index) const;

 private:
  friend class Table;
  Strings(const Buffer& buffer, ByteSpan offsets, std::string_view what)
      : buffer_(&buffer), offsets_(offsets), what_(what) {}
  const Buffer* buffer_;
  Numbers<uint32_t> offsets_;
  std::string_view what_;
};

}  // namespace flambeau::flatbuffer
