// Breaks files in ways that get past the first checks: blindly, and knowing what they are made of. The same
// seed, file and number always give the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flambeau/base/bytes.h"

namespace flambeau::hostile {

using Bytes = std::vector<uint8_t>;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();  // SplitMix64
  // Of [0, count); 0 when there is nothing to choose from.
  size_t below(size_t count) { return count == 0 ? 0 : static_cast<size_t>(next() % count); }
  bool one_in(size_t count) { return below(count) == 0; }
  template <typename List>
  const auto& pick(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  uint64_t state_;
};

struct Input {
  std::string name;
  Bytes bytes;
};

class Mutator {
 public:
  Mutator(std::vector<Input> inputs, uint64_t seed) : inputs_(std::move(inputs)), seed_(seed) {}

  const std::vector<Input>& inputs() const { return inputs_; }
  Bytes mutate(size_t input, uint64_t number) const;

 private:
  Bytes mutate_bytes(const Bytes& bytes, Random& random, int depth) const;
  Bytes mutate_zip(const Bytes& bytes, Random& random, int depth) const;
  void splice(Bytes& bytes, Random& random) const;

  std::vector<Input> inputs_;
  uint64_t seed_;
};

// The blind kinds: flipped bits, odd numbers, cuts, insertions, moves.
void mutate_blindly(Bytes& bytes, Random& random);
// Odd integers, other globals and stray opcodes at places that look like a pickle's.
void mutate_pickle(Bytes& bytes, Random& random);
// Odd numbers and stray words in JSON, or in the header of a .npy file.
void mutate_text(Bytes& bytes, Random& random);
// JSON that stays JSON: values exchanged, repeated, left out or of another kind. Other bytes as mutate_text.
void mutate_json(Bytes& bytes, Random& random);
// Odd numbers in the fields of zip headers.
void mutate_zip_headers(Bytes& bytes, Random& random);
// As mutate_text, in the header only and with its length set right.
void mutate_safetensors(Bytes& bytes, Random& random);
void mutate_npy(Bytes& bytes, Random& random);
// Any of the above, then with the checksums of the headers set right.
void mutate_tar(Bytes& bytes, Random& random);

}  // namespace flambeau::hostile
