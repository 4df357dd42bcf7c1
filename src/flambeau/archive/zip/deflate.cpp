#include "flambeau/archive/zip/deflate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "flambeau/archive/zip/huffman.h"

namespace flambeau::zip {
namespace {

constexpr uint32_t kShortestMatch = 3;
constexpr uint32_t kLongestMatch = 258;
constexpr uint32_t kWindow = 32768;
constexpr uint32_t kWindowMask = kWindow - 1;
constexpr uint32_t kHashMask = (1U << 15) - 1;
constexpr size_t kEndOfBlock = 256;

struct Symbol {
  uint16_t code;
  uint8_t extra_bits;
  uint16_t extra;
};

Symbol length_symbol(uint32_t length) {
  if (length == kLongestMatch) return {285, 0, 0};
  const uint32_t value = length - kShortestMatch;
  if (value < 8) return {static_cast<uint16_t>(257 + value), 0, 0};
  const int extra_bits = std::bit_width(value) - 3;
  return {static_cast<uint16_t>(257 + 4 * extra_bits + (value >> extra_bits)),
          static_cast<uint8_t>(extra_bits), static_cast<uint16_t>(value & ((1U << extra_bits) - 1))};
}

Symbol distance_symbol(uint32_t distance) {
  const uint32_t value = distance - 1;
  if (value < 4) return {static_cast<uint16_t>(value), 0, 0};
  const int extra_bits = std::bit_width(value) - 2;
  return {static_cast<uint16_t>(2 * extra_bits + (value >> extra_bits)), static_cast<uint8_t>(extra_bits),
          static_cast<uint16_t>(value & ((1U << extra_bits) - 1))};
}

class BitWriter {
 public:
  void put(uint32_t bits, int count) {
    buffer_ |= uint64_t{bits} << filled_;
    for (filled_ += count; filled_ >= 8; filled_ -= 8, buffer_ >>= 8)
      out_.push_back(static_cast<char>(buffer_));
  }
  void put(const HuffmanCode& code, size_t symbol) { put(code.bits(symbol), code.length(symbol)); }
  void align() {
    if (filled_ != 0) put(0, 8 - filled_);
  }
  size_t whole_bytes() const { return out_.size(); }
  std::string take() { return std::move(out_); }

  struct Mark {
    size_t size;
    uint64_t buffer;
    int filled;
  };
  Mark mark() const { return {out_.size(), buffer_, filled_}; }
  void rewind(const Mark& mark) {
    out_.resize(mark.size);
    buffer_ = mark.buffer;
    filled_ = mark.filled;
  }

 private:
  std::string out_;
  uint64_t buffer_ = 0;
  int filled_ = 0;
};

// The literals and matches of one block, and what is decided by their number.
class Block {
 public:
  void add_literal(uint8_t byte) {
    items_.push_back({0, byte});
    ++literal_counts_[byte];
    ++input_bytes_;
    count_item(1);
  }
  void add_match(uint32_t length, uint32_t distance) {
    items_.push_back({static_cast<uint16_t>(distance), static_cast<uint16_t>(length)});
    ++literal_counts_[length_symbol(length).code];
    ++distance_counts_[distance_symbol(distance).code];
    input_bytes_ += length;
    count_item(3);
  }
  uint32_t input_bytes() const { return input_bytes_; }
  // The original packs items into a buffer of 64 KiB, eight flags before eight items. It ends a block when
  // that is full, or early when the data does not compress.
  bool is_full() const {
    constexpr uint32_t kBufferBytes = 64 * 1024;
    return packed_bytes_ > kBufferBytes - 8 ||
           (input_bytes_ > 31 * 1024 && ((packed_bytes_ * 115) >> 7) >= input_bytes_);
  }
  void write_static(BitWriter& out) const;
  void write_dynamic(BitWriter& out);

 private:
  struct Item {
    uint16_t distance;  // 0 for a literal; 32768 does not occur, the window is shorter by the lookahead
    uint16_t value;     // the byte, or the match's length
  };
  void count_item(uint32_t bytes) {
    packed_bytes_ += bytes;
    if (items_.size() % 8 == 0) ++packed_bytes_;
  }
  void write_items(BitWriter& out, const HuffmanCode& literals, const HuffmanCode& distances) const;

  std::vector<Item> items_;
  std::array<uint32_t, 288> literal_counts_{};
  std::array<uint32_t, 32> distance_counts_{};
  uint32_t input_bytes_ = 0;
  uint32_t packed_bytes_ = 1;
};

void Block::write_items(BitWriter& out, const HuffmanCode& literals, const HuffmanCode& distances) const {
  for (const Item& item : items_) {
    if (item.distance == 0) {
      out.put(literals, item.value);
      continue;
    }
    const Symbol length = length_symbol(item.value);
    out.put(literals, length.code);
    out.put(length.extra, length.extra_bits);
    const Symbol distance = distance_symbol(item.distance);
    out.put(distances, distance.code);
    out.put(distance.extra, distance.extra_bits);
  }
  out.put(literals, kEndOfBlock);
}

void Block::write_static(BitWriter& out) const {
  std::array<uint8_t, 288> literals{};
  for (size_t i = 0; i < literals.size(); ++i) literals[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  std::array<uint8_t, 32> distances{};
  distances.fill(5);
  out.put(1, 2);
  write_items(out, HuffmanCode::from_lengths(literals), HuffmanCode::from_lengths(distances));
}

// The code lengths of a dynamic block, run-length coded: 16 repeats the last one, 17 and 18 are zeros.
struct RunLengths {
  struct Run {
    uint8_t symbol;
    uint8_t extra;
  };
  std::vector<Run> runs;
  std::array<uint32_t, 19> counts{};

  void add(uint8_t symbol, uint32_t extra = 0) {
    runs.push_back({symbol, static_cast<uint8_t>(extra)});
    ++counts[symbol];
  }
  void add_zeros(uint32_t count) {
    if (count < 3) {
      while (count-- > 0) add(0);
    } else {
      count <= 10 ? add(17, count - 3) : add(18, count - 11);
    }
  }
  void add_repeats(uint8_t length, uint32_t count) {
    if (count < 3) {
      while (count-- > 0) add(length);
    } else {
      add(16, count - 3);
    }
  }
};

RunLengths run_length_code(const std::vector<uint8_t>& lengths) {
  RunLengths coded;
  for (size_t at = 0; at < lengths.size();) {
    size_t end = at + 1;
    while (end < lengths.size() && lengths[end] == lengths[at]) ++end;
    auto left = static_cast<uint32_t>(end - at);
    if (lengths[at] == 0) {
      for (; left >= 138; left -= 138) coded.add_zeros(138);
      coded.add_zeros(left);
    } else {
      coded.add(lengths[at]);
      for (--left; left >= 6; left -= 6) coded.add_repeats(lengths[at], 6);
      coded.add_repeats(lengths[at], left);
    }
    at = end;
  }
  return coded;
}

void Block::write_dynamic(BitWriter& out) {
  literal_counts_[kEndOfBlock] = 1;
  const HuffmanCode literals = HuffmanCode::from_counts(literal_counts_, 15);
  const HuffmanCode distances = HuffmanCode::from_counts(distance_counts_, 15);
  size_t literal_codes = 286;
  while (literal_codes > 257 && literals.length(literal_codes - 1) == 0) --literal_codes;
  size_t distance_codes = 30;
  while (distance_codes > 1 && distances.length(distance_codes - 1) == 0) --distance_codes;
  std::vector<uint8_t> lengths;
  lengths.reserve(literal_codes + distance_codes);
  for (size_t i = 0; i < literal_codes; ++i) lengths.push_back(literals.length(i));
  for (size_t i = 0; i < distance_codes; ++i) lengths.push_back(distances.length(i));
  const RunLengths coded = run_length_code(lengths);
  const HuffmanCode code = HuffmanCode::from_counts(coded.counts, 7);

  constexpr std::array<uint8_t, 19> kOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                              11, 4,  12, 3, 13, 2, 14, 1, 15};
  size_t code_codes = kOrder.size();
  while (code_codes > 4 && code.length(kOrder[code_codes - 1]) == 0) --code_codes;
  out.put(2, 2);
  out.put(static_cast<uint32_t>(literal_codes - 257), 5);
  out.put(static_cast<uint32_t>(distance_codes - 1), 5);
  out.put(static_cast<uint32_t>(code_codes - 4), 4);
  for (size_t i = 0; i < code_codes; ++i) out.put(code.length(kOrder[i]), 3);
  for (const RunLengths::Run& run : coded.runs) {
    out.put(code, run.symbol);
    if (run.symbol >= 16) out.put(run.extra, run.symbol == 16 ? 2 : run.symbol == 17 ? 3 : 7);
  }
  write_items(out, literals, distances);
}

struct Match {
  uint32_t length = 0;
  uint32_t distance = 0;
};

// Finds earlier occurrences through chains of positions with the same hash of three bytes. Positions are
// kept in 16 bits and 0 ends a chain, so the first byte (and every 65536th) is never found: the choices
// of the original depend on this.
class MatchFinder {
 public:
  explicit MatchFinder(ByteSpan data) : data_(data), heads_(kHashMask + 1), next_(kWindow) {}

  // Enters the positions whose three bytes lie before `end`.
  void enter_until(size_t end) {
    for (; entered_ + 2 < end; ++entered_) {
      const uint32_t hash =
          ((data_[entered_] << 10U) ^ (data_[entered_ + 1] << 5U) ^ data_[entered_ + 2]) & kHashMask;
      next_[entered_ & kWindowMask] = heads_[hash];
      heads_[hash] = static_cast<uint16_t>(entered_);
    }
  }

  // The first longest match that is longer than `longer_than`; distance 0 when there is none.
  Match find(size_t at, uint32_t most_distance, uint32_t most_length, uint32_t longer_than) const {
    Match best{longer_than, 0};
    if (most_length <= best.length) return best;
    // 768 probes at level 9, a quarter of them when the match is already good, counted in threes.
    uint32_t rounds = longer_than >= 32 ? 65 : 257;
    uint32_t probe = at & kWindowMask;
    for (;;) {
      if (--rounds == 0) return best;
      uint32_t distance = 0;
      bool found = false;
      for (int i = 0; i < 3 && !found; ++i) {
        const uint16_t next = next_[probe];
        distance = static_cast<uint16_t>(at - next);
        if (next == 0 || distance > most_distance) return best;
        probe = next & kWindowMask;
        const uint8_t* there = data_.data() + at - distance;
        found = there[best.length] == data_[at + best.length] &&
                there[best.length - 1] == data_[at + best.length - 1];
      }
      if (!found) continue;
      if (distance == 0) return best;
      uint32_t length = 0;
      while (length < most_length && data_[at - distance + length] == data_[at + length]) ++length;
      if (length <= best.length) continue;
      best = {length, distance};
      if (length == most_length) return best;
    }
  }

 private:
  ByteSpan data_;
  std::vector<uint16_t> heads_;
  std::vector<uint16_t> next_;
  size_t entered_ = 0;
};

class Compressor {
 public:
  explicit Compressor(ByteSpan data) : data_(data), finder_(data) {}

  std::string run() {
    while (at_ < data_.size()) {
      const auto lookahead = static_cast<uint32_t>(std::min<size_t>(kLongestMatch, data_.size() - at_));
      finder_.enter_until(at_ + lookahead);
      history_ = std::min(history_, kWindow - lookahead);
      const uint32_t step = advance(lookahead);
      at_ += step;
      history_ = std::min(history_ + step, kWindow);
      if (block_.is_full()) end_block(false);
    }
    end_block(true);
    return out_.take();
  }

 private:
  // Lazy matching: a match waits one byte for a longer one. Returns how far to move.
  uint32_t advance(uint32_t lookahead) {
    Match match = finder_.find(at_, history_, lookahead, waiting_.length != 0 ? waiting_.length : 2);
    const bool far = match.length == kShortestMatch && match.distance >= 8 * 1024;
    // A match that begins exactly at the window's start is not taken either, a quirk of the original.
    if (far || match.distance == (at_ & kWindowMask)) match = {};
    if (waiting_.length != 0) {
      if (match.length <= waiting_.length) {
        block_.add_match(waiting_.length, waiting_.distance);
        const uint32_t step = waiting_.length - 1;
        waiting_ = {};
        return step;
      }
      block_.add_literal(data_[at_ - 1]);
      return take_or_wait(match);
    }
    if (match.distance == 0) {
      block_.add_literal(data_[at_]);
      return 1;
    }
    return take_or_wait(match);
  }

  uint32_t take_or_wait(const Match& match) {
    if (match.length < 128) {
      waiting_ = match;
      return 1;
    }
    block_.add_match(match.length, match.distance);
    waiting_ = {};
    return match.length;
  }

  void end_block(bool last) {
    constexpr size_t kMostBytes = 64 * 1024 * 13 / 10 - 16;  // the original's output buffer
    const uint32_t bytes = block_.input_bytes();
    out_.put(last ? 1 : 0, 1);
    const BitWriter::Mark mark = out_.mark();
    bytes < 48 ? block_.write_static(out_) : block_.write_dynamic(out_);
    const size_t written = out_.whole_bytes() - mark.size;
    if (bytes != 0 && written + 1 >= bytes && at_ - block_start_ <= history_) {
      out_.rewind(mark);
      write_raw(bytes);
    } else if (written >= kMostBytes) {
      out_.rewind(mark);
      block_.write_static(out_);
    }
    if (last) out_.align();
    block_start_ += bytes;
    block_ = {};
  }

  void write_raw(uint32_t bytes) {
    out_.put(0, 2);
    out_.align();
    out_.put(bytes, 16);
    out_.put(bytes ^ 0xffff, 16);
    for (uint32_t i = 0; i < bytes; ++i) out_.put(data_[block_start_ + i], 8);
  }

  ByteSpan data_;
  MatchFinder finder_;
  Block block_;
  BitWriter out_;
  Match waiting_;
  size_t at_ = 0;
  size_t block_start_ = 0;
  uint32_t history_ = 0;  // how far back matches may reach
};

}  // namespace

std::string deflate_like_pytorch(ByteSpan data) { return Compressor(data).run(); }

}  // namespace flambeau::zip
