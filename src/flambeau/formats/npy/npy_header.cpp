#include "flambeau/formats/npy/npy_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

// The little of Python's literals that NumPy writes: {'descr': '<f4', 'fortran_order': False, 'shape': (3,),
// }
class LiteralParser {
 public:
  // `reader` knows how to say where an error is; the text starts at its offset `start`.
  LiteralParser(std::string_view text, const ByteReader& reader, size_t start)
      : text_(text), reader_(reader), start_(start) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    need('{');
    while (!take('}')) {
      const size_t start = at_;
      const std::string key = string("a key");
      need(':');
      if (key == "descr" && !has_descr) {
        has_descr = true;
        // What a structured type looks like inside does not matter: it is refused as a whole, and the keys
        // behind it are never reached.
        skip_space();
        if (at_ < text_.size() && text_[at_] == '[') {
          header.is_structured = true;
          return header;
        }
        header.descr = string("the type");
      } else if (key == "fortran_order" && !has_order) {
        has_order = true;
        header.is_fortran = boolean();
      } else if (key == "shape" && !has_shape) {
        has_shape = true;
        header.shape = tuple();
      } else {
        fail_at(start, fmt::format("the header has an unexpected or repeated key '{}'", printable(key)));
      }
      if (!take(',')) {
        need('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail_at(at_, "the header goes on after its closing '}'");
    if (!has_descr) fail_at(0, "the header has no 'descr'");
    if (!has_order) fail_at(0, "the header has no 'fortran_order'");
    if (!has_shape) fail_at(0, "the header has no 'shape'");
    return header;
  }

 private:
  [[noreturn]] void fail_at(size_t offset, std::string message) const {
    reader_.fail_at(start_ + offset, std::move(message));
  }
  std::string here() const {
    return at_ < text_.size() ? fmt::format("'{}'", printable(text_.substr(at_, 1)))
                              : "the end of the header";
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!take(c)) fail_at(at_, fmt::format("expected '{}' in the header, found {}", c, here()));
  }
  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::string string(std::string_view what) {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') {
      fail_at(at_, fmt::format("expected {} in quotes, found {}", what, here()));
    }
    const size_t end = text_.find_first_of("'\"\\\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] != quote) {
      fail_at(at_, fmt::format("{} is not a plain string in quotes", what));
    }
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }

  bool boolean() {
    skip_space();
    if (take_word("True")) return true;
    if (take_word("False")) return false;
    fail_at(at_, fmt::format("expected True or False for 'fortran_order', found {}", here()));
  }

  Dims tuple() {
    std::vector<int64_t> sizes;
    need('(');
    bool has_comma = true;
    while (!take(')')) {
      if (!has_comma) fail_at(at_, fmt::format("expected ',' or ')' in 'shape', found {}", here()));
      sizes.push_back(integer());
      has_comma = take(',');
    }
    // (3) is a number to Python, not a tuple.
    if (sizes.size() == 1 && !has_comma) fail_at(at_, "'shape' is a number, a tuple was expected");
    return Dims(sizes);
  }

  int64_t integer() {
    skip_space();
    int64_t value = 0;
    const char* first = text_.data() + at_;
    const auto [last, error] = std::from_chars(first, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail_at(at_, "a size in 'shape' does not fit in 64 bits");
    if (error != std::errc()) fail_at(at_, fmt::format("expected a size in 'shape', found {}", here()));
    if (value < 0) fail_at(at_, fmt::format("'shape' has the negative size {}", value));
    at_ += static_cast<size_t>(last - first);
    take_word("L");  // Python 2 wrote long integers so
    return value;
  }

  std::string_view text_;
  const ByteReader& reader_;
  size_t start_;
  size_t at_ = 0;
};

}  // namespace

NpyHeader read_npy_header(ByteReader& reader) {
  const size_t start = reader.offset();
  if (reader.text(kNpyMagic.size(), "NumPy's magic") != kNpyMagic) {
    reader.fail_at(start, "the array does not start with NumPy's magic \"\\x93NUMPY\"");
  }
  const uint8_t major = reader.u8("the version");
  const uint8_t minor = reader.u8("the version");
  if (major < 1 || major > 3 || minor != 0) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the array is in version {}.{} of NumPy's format, known are 1.0, 2.0 and 3.0",
                            major, minor));
  }
  const uint32_t size = major == 1 ? reader.le<uint16_t>("the length of the header")
                                   : reader.le<uint32_t>("the length of the header");
  const size_t text_start = reader.offset();
  const std::string_view text = reader.text(size, "the header");
  return LiteralParser(text, reader, text_start).parse();
}

std::string npy_header_bytes(const NpyHeader& header) {
  const Dims& shape = header.shape;
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}", header.descr,
                  header.is_fortran ? "True" : "False", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // NumPy leaves room for the growing axis to reach 21 digits, then always pads: by 64 where 0 would do.
  if (!shape.empty()) {
    const int64_t growing = header.is_fortran ? shape[shape.size() - 1] : shape[0];
    text.append(21 - fmt::formatted_size("{}", growing), ' ');
  }
  const size_t prefix = kNpyMagic.size() + 4;
  text.append(64 - (prefix + text.size() + 1) % 64, ' ');
  text += '\n';

  ByteWriter writer;
  writer.text(kNpyMagic);
  writer.u8(1);
  writer.u8(0);
  writer.le(static_cast<uint16_t>(text.size()));
  writer.text(text);
  return writer.take();
}

}  // namespace flambeau
