#include "flambeau/archive/zip/huffman.h"

#include <algorithm>
#include <vector>

namespace flambeau::zip {
namespace {

constexpr int kDeepest = 32;
using LengthCounts = std::array<uint32_t, kDeepest + 1>;  // how many codes have each length

// Huffman's algorithm with two queues: `weights` is sorted, and the joined nodes come out sorted too. On a
// tie the single symbol is taken before the joined node.
LengthCounts count_lengths(std::span<const uint32_t> weights) {
  LengthCounts lengths{};
  const size_t symbols = weights.size();
  if (symbols == 1) lengths[1] = 1;
  if (symbols <= 1) return lengths;
  struct Joined {
    uint32_t weight = 0;
    size_t parent = 0;
    int depth = 0;
  };
  std::vector<Joined> joined;
  joined.reserve(symbols - 1);
  std::vector<size_t> leaf_parents(symbols);
  size_t leaf = 0;
  size_t root = 0;
  while (joined.size() < symbols - 1) {
    const size_t parent = joined.size();
    uint32_t weight = 0;
    for (int child = 0; child < 2; ++child) {
      if (leaf == symbols || (root < parent && joined[root].weight < weights[leaf])) {
        joined[root].parent = parent;
        weight += joined[root++].weight;
      } else {
        leaf_parents[leaf] = parent;
        weight += weights[leaf++];
      }
    }
    joined.push_back({weight});
  }
  for (size_t i = joined.size() - 1; i-- > 0;) joined[i].depth = joined[joined[i].parent].depth + 1;
  for (const size_t parent : leaf_parents) ++lengths[std::min(joined[parent].depth + 1, kDeepest)];
  return lengths;
}

// Shortens the codes that are too long, then lengthens others until the code is complete again.
void limit_lengths(LengthCounts& lengths, int most_bits) {
  uint64_t total = 0;  // of the code space, in units of the longest code
  for (int i = most_bits + 1; i <= kDeepest; ++i) lengths[most_bits] += lengths[i];
  for (int i = 1; i <= most_bits; ++i) total += uint64_t{lengths[i]} << (most_bits - i);
  for (; total > (uint64_t{1} << most_bits); --total) {
    --lengths[most_bits];
    int shorter = most_bits - 1;
    while (lengths[shorter] == 0) --shorter;
    --lengths[shorter];
    lengths[shorter + 1] += 2;
  }
}

}  // namespace

HuffmanCode HuffmanCode::from_counts(std::span<const uint32_t> counts, int most_bits) {
  std::vector<size_t> symbols;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) symbols.push_back(i);
  }
  std::sort(symbols.begin(), symbols.end(),
            [&](size_t a, size_t b) { return counts[a] != counts[b] ? counts[a] < counts[b] : a < b; });
  std::vector<uint32_t> weights;
  weights.reserve(symbols.size());
  for (const size_t symbol : symbols) weights.push_back(counts[symbol]);
  LengthCounts lengths = count_lengths(weights);
  if (symbols.size() > 1) limit_lengths(lengths, most_bits);

  HuffmanCode code;
  size_t next = symbols.size();  // the most frequent symbols get the shortest codes
  for (int bits = 1; bits <= most_bits; ++bits) {
    for (uint32_t i = 0; i < lengths[bits]; ++i) code.lengths_[symbols[--next]] = static_cast<uint8_t>(bits);
  }
  code.assign_bits();
  return code;
}

HuffmanCode HuffmanCode::from_lengths(std::span<const uint8_t> lengths) {
  HuffmanCode code;
  std::copy(lengths.begin(), lengths.end(), code.lengths_.begin());
  code.assign_bits();
  return code;
}

void HuffmanCode::assign_bits() {
  constexpr int kMost = 15;
  std::array<uint32_t, kMost + 1> counts{};
  for (const uint8_t length : lengths_) ++counts[length];
  std::array<uint32_t, kMost + 2> next{};
  for (int bits = 1; bits <= kMost; ++bits) {
    next[bits] = bits == 1 ? 0 : (next[bits - 1] + counts[bits - 1]) << 1;
  }
  for (size_t symbol = 0; symbol < lengths_.size(); ++symbol) {
    if (lengths_[symbol] == 0) continue;
    uint32_t code = next[lengths_[symbol]]++;
    uint32_t reversed = 0;
    for (int i = 0; i < lengths_[symbol]; ++i, code >>= 1) reversed = (reversed << 1) | (code & 1);
    bits_[symbol] = static_cast<uint16_t>(reversed);
  }
}

}  // namespace flambeau::zip
