#include "flambeau/base/error.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/utf8.h"

namespace flambeau {
namespace {

unsigned three_byte_code_point(std::string_view sequence) {
  const auto at = [&](size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(sequence[i])); };
  return (at(0) & 0x0F) << 12 | (at(1) & 0x3F) << 6 | (at(2) & 0x3F);
}

// Characters that break a line or turn its direction, so that a name could pose as another one.
bool changes_the_line(std::string_view sequence) {
  const unsigned point = three_byte_code_point(sequence);
  return (point >= 0x200B && point <= 0x200F) || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069) || point == 0xFEFF;
}

bool is_tail(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The first `most` bytes, with "..." for the rest, and no character cut in two.
std::string cut_end(std::string text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most - 3;
  while (end > 0 && is_tail(text[end])) --end;
  return text.substr(0, end) + "...";
}

std::string cut_start(std::string text, size_t most) {
  if (text.size() <= most) return text;
  size_t start = text.size() - (most - 3);
  while (start < text.size() && is_tail(text[start])) ++start;
  return "..." + text.substr(start);
}

// "model.pt: record 'data.pkl': byte 17: ".
std::string place_text(const std::vector<Location>& locations) {
  std::string text;
  for (const Location& location : locations) {
    if (location.kind == "file") {
      text += printable(location.value, 400) + ": ";
    } else if (location.kind == "byte" || location.kind == "line") {
      text += fmt::format("{} {}: ", location.kind, location.value);
    } else {
      text += fmt::format("{} '{}': ", location.kind, printable(location.value));
    }
  }
  return text;
}

}  // namespace

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kUnsafe:
      return "unsafe";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kLimit:
      return "limit";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "unknown";
}

Error::Error(ErrorCode code, std::string message, std::string remedy)
    : code_(code), message_(std::move(message)), remedy_(std::move(remedy)) {
  rebuild_text();
}

Error& Error::add_location(std::string kind, std::string value) {
  // Readers inside of readers may both know the file.
  if (!locations_.empty() && locations_.front().kind == kind && locations_.front().value == value)
    return *this;
  locations_.insert(locations_.begin(), Location{std::move(kind), std::move(value)});
  rebuild_text();
  return *this;
}

Error& Error::set_remedy(std::string remedy) {
  remedy_ = std::move(remedy);
  rebuild_text();
  return *this;
}

// A line that fits a terminal, a log and a person. The end of a path and the start of the others tell most.
void Error::rebuild_text() {
  constexpr size_t kMostLine = 480, kMostPlace = 160, kLeastMessage = 100;
  std::string place = place_text(locations_);
  if (place.size() + message_.size() + remedy_.size() + 3 <= kMostLine) {
    text_ = place + message_;
    if (!remedy_.empty()) text_ += fmt::format(" ({})", remedy_);
    return;
  }
  place = cut_start(std::move(place), kMostPlace);
  const size_t least = std::min(message_.size(), kLeastMessage);
  const std::string remedy = cut_end(remedy_, kMostLine - place.size() - least - 3);
  const size_t room = kMostLine - place.size() - remedy.size() - 3;
  text_ = place + cut_end(message_, room);
  if (!remedy.empty()) text_ += fmt::format(" ({})", remedy);
}

void corrupt(std::string message, std::string remedy) {
  throw Error(ErrorCode::kCorrupt, std::move(message), std::move(remedy));
}

std::string printable(std::string_view text, size_t most) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    if (out.size() >= most) {
      out += "...";
      break;
    }
    const size_t length = utf8_sequence_length(text.substr(at));
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 0) {
      out += fmt::format("\\x{:02x}", byte);
      at += 1;
    } else if (length == 1 && (byte < 0x20 || byte == 0x7f)) {
      out += fmt::format("\\x{:02x}", byte);
      at += 1;
    } else if (length == 2 && byte == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[at + 1]));  // C1 controls
      at += 2;
    } else if (length == 3 && changes_the_line(text.substr(at, 3))) {
      out += fmt::format("\\u{:04x}", three_byte_code_point(text.substr(at, 3)));
      at += 3;
    } else {
      out += text.substr(at, length);
      at += length;
    }
  }
  return out;
}

}  // namespace flambeau
