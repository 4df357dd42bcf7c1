// How single kinds of bytes are broken; see mutator.h.
#include <algorithm>
#include <array>

#include "flambeau/archive/tar_reader.h"
#include "hostile/mutator.h"

namespace flambeau::hostile {
namespace {

constexpr uint64_t kOddNumbers[] = {0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    16,
                                    63,
                                    64,
                                    0x7f,
                                    0x80,
                                    0xff,
                                    0x100,
                                    0x3ff,
                                    0x7fff,
                                    0x8000,
                                    0xffff,
                                    0x10000,
                                    0xfffff,
                                    0x1000000,
                                    0x7fffffff,
                                    0x80000000,
                                    0xfffffffe,
                                    0xffffffff,
                                    0x100000000,
                                    0x10000000000,
                                    0x3fffffffffffffff,
                                    0x4000000000000000,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    0xfffffffffffffffe,
                                    0xffffffffffffffff};

using namespace std::string_view_literals;

constexpr std::string_view kGlobals[] = {
    "ctorch._utils\n_rebuild_tensor_v2\n"sv,
    "ctorch._utils\n_rebuild_tensor_v3\n"sv,
    "ctorch._utils\n_rebuild_tensor\n"sv,
    "ctorch._utils\n_rebuild_parameter\n"sv,
    "ctorch._utils\n_rebuild_qtensor\n"sv,
    "ctorch._utils\n_rebuild_sparse_tensor\n"sv,
    "ctorch._utils\n_rebuild_sparse_csr_tensor\n"sv,
    "ctorch._utils\n_rebuild_meta_tensor_no_storage\n"sv,
    "ctorch._utils\n_rebuild_device_tensor_from_numpy\n"sv,
    "ctorch._tensor\n_rebuild_from_type_v2\n"sv,
    "ctorch.nn.parameter\nParameter\n"sv,
    "ctorch.nn.modules.linear\nLinear\n"sv,
    "ctorch\nFloatStorage\n"sv,
    "ctorch\nDoubleStorage\n"sv,
    "ctorch\nQInt8Storage\n"sv,
    "ctorch\nComplexFloatStorage\n"sv,
    "ctorch\nBoolStorage\n"sv,
    "ctorch.storage\nUntypedStorage\n"sv,
    "ctorch\nSize\n"sv,
    "ctorch\nint64\n"sv,
    "ctorch\nfloat8_e4m3fn\n"sv,
    "ctorch\nper_channel_affine\n"sv,
    "ctorch.serialization\n_get_layout\n"sv,
    "ccollections\nOrderedDict\n"sv,
    "cnumpy.core.multiarray\n_reconstruct\n"sv,
    "cnumpy.core.multiarray\nscalar\n"sv,
    "cnumpy\ndtype\n"sv,
    "c_codecs\nencode\n"sv,
    "cbuiltins\neval\n"sv,
};

constexpr std::string_view kPickleWords[] = {
    "("sv,
    "."sv,
    "0"sv,
    "1"sv,
    "2"sv,
    "N"sv,
    "Q"sv,
    "R"sv,
    "]"sv,
    "}"sv,
    ")"sv,
    "a"sv,
    "b"sv,
    "d"sv,
    "e"sv,
    "l"sv,
    "o"sv,
    "s"sv,
    "t"sv,
    "u"sv,
    "\x81"sv,
    "\x85"sv,
    "\x86"sv,
    "\x87"sv,
    "\x88"sv,
    "\x89"sv,
    "\x8f"sv,
    "\x90"sv,
    "\x91"sv,
    "\x92"sv,
    "\x93"sv,
    "\x94"sv,
    "\x97"sv,
    "\x98"sv,
    "h\x00"sv,
    "h\x01"sv,
    "h\x05"sv,
    "q\x00"sv,
    "q\xff"sv,
    "K\x00"sv,
    "U\x01x"sv,
    "B\xff\xff\xff\x7f"sv,
    "(t"sv,
    "(d"sv,
    "(l"sv,
    ")R"sv,
    "}b"sv,
    "(K\x00K\x00t"sv,
    "(dtQ"sv,
    "2a"sv,
    "2es"sv,
    "\x80\x05"sv,
    "\x95\xff\xff\xff\xff\xff\xff\xff\xff"sv,
    "X\x04\x00\x00\x00meta"sv,
    "X\x04\x00\x00\x00"
    "conj"sv,
    "X\x00\x00\x00\x80"sv,
    "\x8d\xff\xff\xff\xff\xff\xff\xff\x7f"sv,
    "\x8b\xff\xff\xff\x7f"sv,
};

constexpr std::string_view kTextWords[] = {
    "{"sv,
    "}"sv,
    "["sv,
    "]"sv,
    "\""sv,
    ","sv,
    ":"sv,
    "null"sv,
    "true"sv,
    "NaN"sv,
    "-1"sv,
    "1e999"sv,
    "0.5"sv,
    "\\u0000"sv,
    "\\ud800"sv,
    "("sv,
    ")"sv,
    "'"sv,
    "<f8"sv,
    ">f4"sv,
    "|O"sv,
    "True"sv,
    "\"F64\""sv,
    "\"BOOL\""sv,
    "\"F4\""sv,
    "\"shape\":[0,9223372036854775807]"sv,
    "\"__metadata__\":{}"sv,
    "[[[[[[[["sv,
    "{\"a\":"sv,
};

uint64_t odd_number(Random& random) {
  const uint64_t number = random.pick(kOddNumbers);
  return random.one_in(4) ? number + random.next() % 64 - 32 : number;
}

// Anywhere, but more often near the ends, where headers and directories are.
size_t pick_place(const Bytes& bytes, Random& random) {
  const size_t end = std::min<size_t>(bytes.size(), 256);
  switch (random.below(4)) {
    case 0:
      return random.below(end);
    case 1:
      return bytes.size() - end + random.below(end);
    default:
      return random.below(bytes.size());
  }
}

void set_number(Bytes& bytes, size_t at, size_t width, uint64_t number, bool big_endian = false) {
  for (size_t i = 0; i < width && at + i < bytes.size(); ++i) {
    const size_t shift = 8 * (big_endian ? width - 1 - i : i);
    bytes[at + i] = static_cast<uint8_t>(number >> shift);
  }
}

void insert(Bytes& bytes, size_t at, std::string_view text) {
  bytes.insert(bytes.begin() + static_cast<long>(at), text.begin(), text.end());
}
void erase(Bytes& bytes, size_t at, size_t count) {
  at = std::min(at, bytes.size());
  count = std::min(count, bytes.size() - at);
  bytes.erase(bytes.begin() + static_cast<long>(at), bytes.begin() + static_cast<long>(at + count));
}
void replace(Bytes& bytes, size_t at, size_t count, std::string_view text) {
  erase(bytes, at, count);
  insert(bytes, at, text);
}

void put_word(Bytes& bytes, Random& random, std::string_view word) {
  const size_t at = random.below(bytes.size() + 1);
  replace(bytes, at, random.one_in(2) ? word.size() : 0, word);
}

size_t short_length(Random& random) { return 1 + random.below(size_t{1} << random.below(12)); }

void mutate_bytes_once(Bytes& bytes, Random& random) {
  if (bytes.empty()) return insert(bytes, 0, "x");
  const size_t at = pick_place(bytes, random);
  switch (random.below(12)) {
    case 0:
    case 1:
      bytes[at] ^= static_cast<uint8_t>(1U << random.below(8));
      return;
    case 2:
      bytes[at] = static_cast<uint8_t>(odd_number(random));
      return;
    case 3:
      return set_number(bytes, at, 2, odd_number(random));
    case 4:
      return set_number(bytes, at, 4, odd_number(random), random.one_in(8));
    case 5:
      return set_number(bytes, at, 8, odd_number(random), random.one_in(8));
    case 6:
      return bytes.resize(at);
    case 7: {
      Bytes noise(short_length(random));
      for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random.next());
      bytes.insert(bytes.begin() + static_cast<long>(at), noise.begin(), noise.end());
      return;
    }
    case 8:
      return erase(bytes, at, short_length(random));
    case 9: {  // twice the same
      const size_t count = std::min(short_length(random), bytes.size() - at);
      const Bytes copy(bytes.begin() + static_cast<long>(at), bytes.begin() + static_cast<long>(at + count));
      bytes.insert(bytes.begin() + static_cast<long>(pick_place(bytes, random)), copy.begin(), copy.end());
      return;
    }
    case 10: {  // two blocks change places
      const size_t other = pick_place(bytes, random);
      const size_t room = bytes.size() - std::max(at, other);
      const size_t count = std::min({short_length(random), room, at > other ? at - other : other - at});
      std::swap_ranges(bytes.begin() + static_cast<long>(at), bytes.begin() + static_cast<long>(at + count),
                       bytes.begin() + static_cast<long>(other));
      return;
    }
    default: {
      const size_t count = std::min(short_length(random), bytes.size() - at);
      std::fill_n(bytes.begin() + static_cast<long>(at), count, static_cast<uint8_t>(odd_number(random)));
      return;
    }
  }
}

std::string pickled_integer(uint64_t number, Random& random) {
  std::string text;
  const auto add = [&](char opcode, size_t width) {
    text += opcode;
    if (opcode == '\x8a') text += static_cast<char>(width);
    for (size_t i = 0; i < width; ++i) text += static_cast<char>(number >> 8 * i);
  };
  if (number <= 0xff && random.one_in(2)) {
    add('K', 1);
  } else if (number <= 0xffff && random.one_in(2)) {
    add('M', 2);
  } else if (number <= 0xffffffff && random.one_in(2)) {
    add('J', 4);
  } else {
    add('\x8a', 8);
  }
  return text;
}

// The place of the next integer opcode from `at`, with its length; the length is 0 when there is none.
std::pair<size_t, size_t> find_integer(const Bytes& bytes, size_t at) {
  for (; at < bytes.size(); ++at) {
    switch (bytes[at]) {
      case 'K':
        return {at, 2};
      case 'M':
        return {at, 3};
      case 'J':
        return {at, 5};
      case 0x8a:
        if (at + 1 < bytes.size() && bytes[at + 1] <= 10) return {at, size_t{2} + bytes[at + 1]};
        break;
      default:
        break;
    }
  }
  return {at, 0};
}

void mutate_pickle_once(Bytes& bytes, Random& random) {
  const size_t start = random.below(bytes.size());
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2: {
      const auto [at, length] = find_integer(bytes, start);
      if (length != 0) replace(bytes, at, length, pickled_integer(odd_number(random), random));
      return;
    }
    case 3: {
      const std::string_view text = as_text(bytes);
      size_t at = text.find("ctorch", start);
      if (at == std::string_view::npos) at = text.find("ctorch");
      if (at == std::string_view::npos) return put_word(bytes, random, random.pick(kGlobals));
      const size_t middle = text.find('\n', at);
      const size_t end = middle == std::string_view::npos ? middle : text.find('\n', middle + 1);
      if (end != std::string_view::npos) replace(bytes, at, end + 1 - at, random.pick(kGlobals));
      return;
    }
    case 4:
      return put_word(bytes, random, random.pick(kGlobals));
    case 5:
      return put_word(bytes, random, pickled_integer(odd_number(random), random));
    case 6:
      return put_word(bytes, random, random.pick(kPickleWords));
    default:
      return mutate_bytes_once(bytes, random);
  }
}

bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

void mutate_text_once(Bytes& bytes, Random& random) {
  if (random.one_in(4)) return put_word(bytes, random, random.pick(kTextWords));
  if (random.one_in(4)) return mutate_bytes_once(bytes, random);
  const auto from = bytes.begin() + static_cast<long>(random.below(bytes.size()));
  const auto first = std::find_if(from, bytes.end(), is_digit);
  if (first == bytes.end()) return mutate_bytes_once(bytes, random);
  const auto last = std::find_if_not(first, bytes.end(), is_digit);
  const auto at = static_cast<size_t>(first - bytes.begin());
  replace(bytes, at, static_cast<size_t>(last - first), std::to_string(odd_number(random)));
}

template <typename Once>
void several_times(Bytes& bytes, Random& random, Once once) {
  do {
    once(bytes, random);
  } while (random.one_in(2));
}

// Mutates the text of `size` bytes at `at`, and gives its new size.
size_t mutate_header(Bytes& bytes, Random& random, size_t at, size_t size) {
  at = std::min(at, bytes.size());
  size = std::min(size, bytes.size() - at);
  Bytes text(bytes.begin() + static_cast<long>(at), bytes.begin() + static_cast<long>(at + size));
  several_times(text, random, mutate_text_once);
  replace(bytes, at, size, as_text(text));
  return text.size();
}

}  // namespace

void mutate_blindly(Bytes& bytes, Random& random) { several_times(bytes, random, mutate_bytes_once); }
void mutate_pickle(Bytes& bytes, Random& random) { several_times(bytes, random, mutate_pickle_once); }
void mutate_text(Bytes& bytes, Random& random) { several_times(bytes, random, mutate_text_once); }

void mutate_zip_headers(Bytes& bytes, Random& random) {
  constexpr std::string_view kSignatures[] = {"PK\x01\x02", "PK\x03\x04", "PK\x05\x06",
                                              "PK\x06\x06", "PK\x06\x07", "PK\x07\x08"};
  several_times(bytes, random, [&](Bytes& to, Random&) {
    const std::string_view text = as_text(to);
    const std::string_view signature = random.pick(kSignatures);
    size_t at = text.find(signature, random.below(to.size()));
    if (at == std::string_view::npos) at = text.find(signature);
    if (at == std::string_view::npos) return;
    constexpr size_t kWidths[] = {1, 2, 4, 8};
    set_number(to, at + 4 + random.below(52), random.pick(kWidths), odd_number(random));
  });
}

void mutate_safetensors(Bytes& bytes, Random& random) {
  const size_t size = mutate_header(bytes, random, 8, load_le<uint64_t>(bytes.data()));
  set_number(bytes, 0, 8, size);
}

void mutate_npy(Bytes& bytes, Random& random) {
  if (bytes.size() < 12) return mutate_blindly(bytes, random);
  const size_t width = bytes[6] == 1 ? 2 : 4;
  const size_t size = width == 2 ? load_le<uint16_t>(bytes.data() + 8) : load_le<uint32_t>(bytes.data() + 8);
  set_number(bytes, 8, width, mutate_header(bytes, random, 8 + width, size));
}

void mutate_tar(Bytes& bytes, Random& random) {
  if (random.one_in(2)) {
    mutate_pickle(bytes, random);
  } else {
    mutate_blindly(bytes, random);
  }
  // A header's checksum is the sum of its bytes, with spaces in place of the checksum.
  constexpr size_t kBlock = 512;
  for (size_t at = 0; at + kBlock <= bytes.size();) {
    uint8_t* header = bytes.data() + at;
    if (header[0] == 0) return;
    std::fill_n(header + 148, 8, ' ');
    unsigned sum = 0;
    for (size_t i = 0; i < kBlock; ++i) sum += header[i];
    for (size_t digit = 6; digit-- > 0; sum /= 8) header[148 + digit] = static_cast<uint8_t>('0' + sum % 8);
    header[154] = 0;
    uint64_t size = 0;
    for (size_t i = 124; i < 136 && is_digit(header[i]); ++i) size = size * 8 + (header[i] - '0');
    at += kBlock + (std::min<uint64_t>(size, bytes.size()) + kBlock - 1) / kBlock * kBlock;
  }
}

}  // namespace flambeau::hostile
