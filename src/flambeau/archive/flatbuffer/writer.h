// Builds flatbuffers from their end to their beginning, as the format wants it: what is referred to is there
// before whoever refers to it. The same calls give the bytes that the builder of the flatbuffers library
// gives.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flambeau/base/bytes.h"
#include "flambeau/base/files/byte_sink.h"

namespace flambeau::flatbuffer {

// Where something was built: how far from the end of the buffer it begins.
struct Built {
  uint32_t from_end = 0;  // 0 for nothing
  explicit operator bool() const { return from_end != 0; }
};

// Throws Error(kLimit) for more than 2 GiB, which offsets do not reach.
class Builder {
 public:
  Built text(std::string_view text);
  // The same for the same text.
  Built shared_text(std::string_view text);
  template <typename T>
  Built numbers(std::span<const T> values) {
    begin_vector(values.size(), sizeof(T));
    for (size_t i = values.size(); i > 0; --i) push(values[i - 1]);
    return end_vector(values.size());
  }
  Built offsets(std::span<const Built> to);
  // Structs in a row, in their bytes.
  Built structures(ByteSpan bytes, uint32_t size, uint32_t alignment);
  // Bytes that stay where they are until finish(), aligned by that.
  Built blob(ByteSpan bytes, uint32_t alignment);
  // A struct of its own, as unions refer to it.
  Built structure(ByteSpan bytes, uint32_t alignment);

  // ---- tables: one at a time, field by field; a number that is its field's default is left out
  void begin_table();
  template <std::integral T>
  void field(uint32_t number, T value, T absent = {}) {
    if (value == absent) return;
    align(sizeof(T));
    push(value);
    note_field(number);
  }
  void field(uint32_t number, double value);
  void field(uint32_t number, Built to);
  Built end_table();

  // Writes the buffer. `identifier` has four bytes.
  void finish(Built root, std::string_view identifier, ByteSink& sink);

 private:
  // The end of the buffer up to a blob, last byte first; then the blob.
  struct Part {
    std::vector<uint8_t> reversed;
    ByteSpan blob;
  };
  template <typename T>
  void push(T value) {
    uint8_t raw[sizeof(T)];
    store_le(raw, value);
    push_bytes({raw, sizeof(T)});
  }
  void push_bytes(ByteSpan bytes);
  void fill(size_t count);
  void grow(size_t count);
  // So that what has `size` bytes and is pushed next lies at a multiple of `alignment`.
  void align_before(size_t size, size_t alignment);
  void align(size_t alignment) { align_before(0, alignment); }
  void begin_vector(size_t count, size_t element_size);
  Built end_vector(size_t count);
  uint32_t offset_to(Built to);
  void note_field(uint32_t number);

  std::vector<Part> parts_{1};
  size_t size_ = 0;
  size_t largest_alignment_ = 1;
  std::unordered_map<std::string, Built> texts_;
  std::map<std::vector<uint16_t>, size_t> field_lists_;  // where they are
  std::vector<std::pair<uint32_t, size_t>> fields_;      // of the table that is built, and where they are
  size_t table_begin_ = 0;
};

}  // namespace flambeau::flatbuffer
