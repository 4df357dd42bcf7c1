// Strings, which are bytes: letters are ASCII's, places count bytes.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "flambeau/base/ascii.h"
#include "flambeau/base/error.h"
#include "flambeau/base/work.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/builtins/sequences.h"

namespace flambeau::interpreter {

Slice slice_of(size_t size, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  if (step == 0) throw Error(ErrorCode::kInvalidArgument, "List slice should have non-zero step");
  if (step == INT64_MIN) throw Error(ErrorCode::kInvalidArgument, "List slice step is out of bounds");
  const auto length = static_cast<int64_t>(size);
  // PyTorch keeps the largest int for "not given".
  const int64_t first = start.value_or(INT64_MAX), last = end.value_or(INT64_MAX);
  const auto within = [&](int64_t place) {
    if (place < 0) {
      place += length;
      return place < 0 ? (step < 0 ? -1 : 0) : place;
    }
    return place >= length ? (step < 0 ? length - 1 : length) : place;
  };
  const int64_t from = first != INT64_MAX ? within(first) : step < 0 ? length - 1 : 0;
  const int64_t to = last != INT64_MAX ? within(last) : step < 0 ? -1 : length;
  int64_t count = 0;
  if (step < 0 && to < from) count = (from - to - 1) / -step + 1;
  if (step > 0 && from < to) count = (to - from - 1) / step + 1;
  return {from, step, count};
}

void require_room(uint64_t count, uint64_t size) {
  constexpr uint64_t kSmall = uint64_t{1} << 16;
  if (count <= kSmall / 16 && size <= 16) return;
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = std::numeric_limits<uint64_t>::max();
  require_memory(bytes);
}

namespace {

using script::ListBox;

constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_alpha(char c) { return is_upper(c) || is_lower(c); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_alnum(char c) { return is_alpha(c) || is_digit(c); }
constexpr bool is_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_printable(char c) { return c >= ' ' && c <= '~'; }
constexpr char upper(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }
constexpr char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr char swapped(char c) { return is_upper(c) ? lower(c) : upper(c); }

template <bool (*kTest)(char)>
bool all_are(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), kTest);
}

template <char (*kMap)(char)>
std::string mapped(const std::string& text) {
  std::string result = text;
  for (char& c : result) c = kMap(c);
  return result;
}

// Of the letters there are, and there is one.
template <bool (*kTest)(char)>
bool letters_are(const std::string& text) {
  bool has_letter = false;
  for (const char c : text) {
    if (!is_alpha(c)) continue;
    if (!kTest(c)) return false;
    has_letter = true;
  }
  return has_letter;
}

std::string title(const std::string& text) {
  std::string result = text;
  bool is_inside = false;
  for (char& c : result) {
    c = is_inside ? lower(c) : upper(c);
    is_inside = is_alpha(c);
  }
  return result;
}

bool is_title(const std::string& text) {
  bool has_letter = false;
  bool is_inside = false;
  for (const char c : text) {
    if (is_inside ? is_upper(c) : is_lower(c)) return false;
    is_inside = is_alpha(c);
    has_letter = has_letter || is_inside;
  }
  return has_letter;
}

std::string capitalized(const std::string& text) {
  std::string result = mapped<lower>(text);
  if (!result.empty()) result[0] = upper(result[0]);
  return result;
}

// ---- filling up
size_t missing(const std::string& text, int64_t width) {
  const auto size = static_cast<int64_t>(text.size());
  if (width <= size) return 0;
  require_room(static_cast<uint64_t>(width));
  return static_cast<size_t>(width - size);
}
char filler(const std::string& text) {
  if (text.size() != 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "TypeError: The fill character must be exactly one character long");
  }
  return text[0];
}
std::string centered(const std::string& text, int64_t width, const std::string& fill) {
  const char c = filler(fill);
  // A negative width is a huge one to PyTorch's comparison, and a huge text then: it is refused here.
  const size_t all = missing(text, width);
  // The odd one goes to the left where the width is odd.
  const size_t less = all / 2, more = all - less;
  const bool is_odd = width % 2 != 0;
  return std::string(is_odd ? more : less, c) + text + std::string(is_odd ? less : more, c);
}

std::string with_spaces(const std::string& text, int64_t tab_size) {
  std::string result;
  for (const char c : text) {
    if (c != '\t') {
      result += c;
    } else if (tab_size > 0) {
      const auto size = static_cast<uint64_t>(tab_size);
      const uint64_t spaces = size - result.size() % size;
      require_room(result.size() + spaces);
      result.append(spaces, ' ');
    }
  }
  return result;
}

std::string stripped(const std::string& text, const std::string& characters, bool left, bool right) {
  size_t begin = 0, end = text.size();
  if (left) {
    begin = text.find_first_not_of(characters);
    if (begin == std::string::npos) return {};
  }
  if (right) {
    const size_t last = text.find_last_not_of(characters);
    if (last == std::string::npos) return {};
    end = last + 1;
  }
  return text.substr(begin, end - begin);
}

std::string character_at(const std::string& text, int64_t index) {
  const int64_t place = place_of(index, text.size());
  if (place < 0 || place >= static_cast<int64_t>(text.size())) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("string index {} is out of range: there are {} bytes", index, text.size()));
  }
  return {text[static_cast<size_t>(place)]};
}

std::string sliced_text(const std::string& text, std::optional<int64_t> start, std::optional<int64_t> end,
                        int64_t step) {
  const Slice slice = slice_of(text.size(), start, end, step);
  if (slice.step == 1) return text.substr(static_cast<size_t>(slice.start), static_cast<size_t>(slice.count));
  std::string result;
  result.reserve(static_cast<size_t>(slice.count));
  for (int64_t i = 0; i < slice.count; ++i) result += text[static_cast<size_t>(slice.start + i * slice.step)];
  return result;
}

std::string joined(const std::string& between, ListBox& list) {
  uint64_t size = 0;
  for (const IValue& item : list.items) size += item.as_string().size() + between.size();
  require_room(size);
  std::string result;
  result.reserve(size);
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (i > 0) result += between;
    result += list.items[i].as_string();
  }
  return result;
}

IValue characters_of(const std::string& text) {
  require_room(text.size(), 64);
  std::vector<IValue> items;
  items.reserve(text.size());
  for (const char c : text) items.emplace_back(std::string(1, c));
  return IValue::list(TypeKind::kString, std::move(items));
}

void define_tests(const Definer& define) {
  define({"aten::isdigit", "aten::isdecimal", "aten::isnumeric"}, all_are<is_digit>);
  define("aten::isspace", all_are<is_white>);
  define("aten::isalnum", all_are<is_alnum>);
  define("aten::isalpha", all_are<is_alpha>);
  define("aten::isupper", letters_are<is_upper>);
  define("aten::islower", letters_are<is_lower>);
  define("aten::istitle", is_title);
  define("aten::isprintable",
         [](const std::string& text) { return std::all_of(text.begin(), text.end(), is_printable); });
  define("aten::isidentifier",
         [](const std::string& text) { return all_are<is_alnum>(text) && !is_digit(text[0]); });
}

}  // namespace

void define_strings(Builtins& builtins) {
  const Definer define(builtins);
  define_tests(define);
  define("aten::upper", mapped<upper>);
  define("aten::lower", mapped<lower>);
  define("aten::swapcase", mapped<swapped>);
  define("aten::title", title);
  define("aten::capitalize", capitalized);
  define("aten::center", centered);
  define("aten::ljust", [](const std::string& text, int64_t width, const std::string& fill) {
    const char c = filler(fill);
    return text + std::string(missing(text, width), c);
  });
  define("aten::rjust", [](const std::string& text, int64_t width, const std::string& fill) {
    const char c = filler(fill);
    return std::string(missing(text, width), c) + text;
  });
  define("aten::zfill", [](const std::string& text, int64_t width) {
    return std::string(missing(text, width), '0') + text;
  });
  define("aten::expandtabs", with_spaces);
  define("aten::strip", [](const std::string& text, const std::string& characters) {
    return stripped(text, characters, true, true);
  });
  define("aten::lstrip", [](const std::string& text, const std::string& characters) {
    return stripped(text, characters, true, false);
  });
  define("aten::rstrip", [](const std::string& text, const std::string& characters) {
    return stripped(text, characters, false, true);
  });
  define("aten::add.str", [](const std::string& a, const std::string& b) {
    require_room(a.size() + b.size());
    return a + b;
  });
  define({"aten::__getitem__.str", "prim::StringIndex"}, character_at);
  define("aten::slice.str", sliced_text);
  define("aten::len.str", [](const std::string& text) { return static_cast<int64_t>(text.size()); });
  define("aten::join", joined);
  define("aten::list", characters_of);
  define("aten::ord", [](const std::string& text) {
    if (text.size() != 1) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("String for ord() must be 1 character, found {}", text.size()));
    }
    return int64_t{static_cast<unsigned char>(text[0])};
  });
  define("aten::chr", [](int64_t number) {
    if (number < 0 || number >= 1114111) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("chr() arg not in range(0x110000), found {}", number));
    }
    return std::string(1, static_cast<char>(number));
  });
}

}  // namespace flambeau::interpreter
