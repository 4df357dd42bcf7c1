// Looking for strings in strings, and cutting them there.
#include <algorithm>
#include <string_view>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/builtins/numbers.h"
#include "flambeau/interpreter/builtins/sequences.h"

namespace flambeau::interpreter {
namespace {

// Where lines end, byte by byte: also the bytes of U+2028 and U+2029, as PyTorch looks for them.
constexpr std::string_view kLineEnds = "\n\r\v\f\x1c\x1d\x1e\x85\xe2\x80\xa8\xa9";
constexpr std::string_view kBlanks = " \t\n\r\v\f\x1c\x1d\x1e\x85\xe2\x80\xa8\xa9";

struct Part {
  std::string_view text;
  int64_t start = 0;
};
// The part of a text that `start` and `end` speak of. Throws Error(kInvalidArgument) for a start behind it.
Part part_of(const std::string& text, int64_t start, int64_t end) {
  const auto size = static_cast<int64_t>(text.size());
  if (start < 0) start = std::max<int64_t>(0, size + start);
  if (end < 0) end = std::max<int64_t>(0, size + end + 1);
  if (end <= start) return {{}, start};
  if (start > size) {
    throw Error(ErrorCode::kInvalidArgument, "the start of the search is behind the end of the string");
  }
  return {std::string_view(text).substr(static_cast<size_t>(start), static_cast<size_t>(end - start)), start};
}

int64_t found_at(const std::string& text, const std::string& wanted, int64_t start, int64_t end, bool last) {
  const Part part = part_of(text, start, end);
  const size_t place = last ? part.text.rfind(wanted) : part.text.find(wanted);
  return place == std::string_view::npos ? -1 : part.start + static_cast<int64_t>(place);
}

int64_t required_at(const std::string& text, const std::string& wanted, int64_t start, int64_t end,
                    bool last) {
  const int64_t place = found_at(text, wanted, start, end, last);
  if (place < 0) throw Error(ErrorCode::kInvalidArgument, "ValueError: substring not found");
  return place;
}

// The whole text counts for a negative or past end here: no part is cut out for a start beyond it.
std::string_view ends_part(const std::string& text, int64_t start, int64_t end) {
  const auto size = static_cast<int64_t>(text.size());
  if (start < 0) start = std::max<int64_t>(0, size + start);
  if (end < 0) end = std::max<int64_t>(0, size + end + 1);
  if (start > size) {
    throw Error(ErrorCode::kInvalidArgument, "the start of the search is behind the end of the string");
  }
  // A negative length is a huge one.
  const size_t length = end < start ? std::string_view::npos : static_cast<size_t>(end - start);
  return std::string_view(text).substr(static_cast<size_t>(start), length);
}

int64_t count_of(const std::string& text, const std::string& wanted, int64_t start, int64_t end) {
  const auto size = static_cast<int64_t>(text.size());
  if (start > size) return 0;
  if (start < 0) start = std::max<int64_t>(0, size + start);
  if (end < 0) end = std::max<int64_t>(0, size + end + 1);
  // PyTorch would count an empty one for ever: as Python then, once at each place.
  if (wanted.empty()) return std::max<int64_t>(0, std::min(end, size) - start + 1);
  int64_t count = 0;
  auto place = static_cast<size_t>(start);
  while ((place = text.find(wanted, place)) != std::string::npos && static_cast<int64_t>(place) < end) {
    ++count;
    place += wanted.size();
  }
  return count;
}

std::string replaced(const std::string& text, const std::string& old, const std::string& by, int64_t most) {
  if (old.empty()) {
    if (most < 0)
      throw Error(ErrorCode::kInvalidArgument, "an empty string cannot be replaced without an end");
    // Each one is put behind the last, before the text.
    require_room(static_cast<uint64_t>(most), std::max<size_t>(by.size(), 1));
    std::string result;
    if (!by.empty()) {
      for (int64_t i = 0; i < most; ++i) result += by;
    }
    return result + text;
  }
  std::string result;
  size_t from = 0;
  int64_t count = 0;
  while (most < 0 || count < most) {
    const size_t place = text.find(old, from);
    if (place == std::string::npos) break;
    require_room(result.size() + (place - from) + by.size());
    result.append(text, from, place - from);
    result += by;
    from = place + old.size();
    ++count;
  }
  result.append(text, from);
  return result;
}

std::tuple<std::string, std::string, std::string> parted(const std::string& text, const std::string& at,
                                                         bool last) {
  const size_t place = last ? text.rfind(at) : text.find(at);
  if (place != std::string::npos) return {text.substr(0, place), at, text.substr(place + at.size())};
  if (last) return {"", "", text};
  return {text, "", ""};
}

IValue list_of_texts(std::vector<IValue> items) { return IValue::list(TypeKind::kString, std::move(items)); }

void check_separator(const std::string& separator) {
  if (separator.empty()) throw Error(ErrorCode::kInvalidArgument, "ValueError: empty separator");
}

IValue split(const std::string& text, const IValue& separator, int64_t most) {
  std::vector<IValue> pieces;
  if (separator.is_none()) {
    size_t from = 0;
    while (from <= text.size()) {
      const size_t end = std::min(text.find_first_of(kBlanks, from), text.size());
      if (end > from) pieces.emplace_back(text.substr(from, end - from));
      from = end + 1;
    }
    return list_of_texts(std::move(pieces));
  }
  const std::string& at = separator.as_string();
  check_separator(at);
  size_t from = 0;
  for (int64_t count = 0; most < 0 || count < most; ++count) {
    const size_t place = text.find(at, from);
    if (place == std::string::npos) break;
    pieces.emplace_back(text.substr(from, place - from));
    from = place + at.size();
  }
  pieces.emplace_back(text.substr(from));
  return list_of_texts(std::move(pieces));
}

IValue split_from_right(const std::string& text, const std::string& at, int64_t most) {
  check_separator(at);
  std::vector<IValue> pieces;
  size_t end = text.size();
  for (int64_t count = 0; most < 0 || count < most; ++count) {
    if (end < at.size()) break;
    const size_t place = text.rfind(at, end - at.size());
    if (place == std::string::npos) break;
    pieces.emplace_back(text.substr(place + at.size(), end - place - at.size()));
    end = place;
  }
  pieces.emplace_back(text.substr(0, end));
  std::reverse(pieces.begin(), pieces.end());
  return list_of_texts(std::move(pieces));
}

// The ends that are kept are pieces of their own: a quirk of PyTorch's.
IValue lines_of(const std::string& text, bool keep_ends) {
  std::vector<IValue> lines;
  size_t from = 0;
  while (true) {
    const size_t end = text.find_first_of(kLineEnds, from);
    if (end == std::string::npos) break;
    lines.emplace_back(text.substr(from, end - from));
    if (keep_ends) lines.emplace_back(text.substr(end, 1));
    from = end + 1;
  }
  if (from != text.size()) lines.emplace_back(text.substr(from));
  return list_of_texts(std::move(lines));
}

}  // namespace

void define_string_searches(Builtins& builtins) {
  const Definer define(builtins);
  using Text = const std::string&;
  define("aten::find", [](Text text, Text wanted, int64_t start, int64_t end) {
    return found_at(text, wanted, start, end, false);
  });
  define("aten::rfind", [](Text text, Text wanted, int64_t start, int64_t end) {
    return found_at(text, wanted, start, end, true);
  });
  define("aten::index.str", [](Text text, Text wanted, int64_t start, int64_t end) {
    return required_at(text, wanted, start, end, false);
  });
  define("aten::rindex", [](Text text, Text wanted, int64_t start, int64_t end) {
    return required_at(text, wanted, start, end, true);
  });
  define("aten::startswith", [](Text text, Text wanted, int64_t start, int64_t end) {
    return ends_part(text, start, end).starts_with(wanted);
  });
  define("aten::endswith", [](Text text, Text wanted, int64_t start, int64_t end) {
    return ends_part(text, start, end).ends_with(wanted);
  });
  define("aten::count", count_of);
  define("aten::replace", replaced);
  define("aten::partition", [](Text text, Text at) { return parted(text, at, false); });
  define("aten::rpartition", [](Text text, Text at) { return parted(text, at, true); });
  define("aten::split.str", split);
  define("aten::rsplit", split_from_right);
  define("aten::splitlines", lines_of);
}

}  // namespace flambeau::interpreter
