// The one error type: what went wrong, where (a chain of locations), and what to do about it.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flambeau {

enum class ErrorCode : uint8_t {
  kInvalidArgument,  // the caller asked for something that makes no sense
  kCorrupt,          // the bytes contradict their own format
  kUnsupported,      // well-formed, but beyond what Flambeau does
  kUnsafe,           // well-formed, but refused for safety
  kNotFound,         // no such file, record, tensor
  kIo,               // the operating system said no
  kLimit,            // a cap on memory, depth, count or time was reached
  kCancelled,        // the caller asked to stop
  kInternal,         // a bug of ours
};

// The stable name used in JSON output, e.g. "corrupt".
std::string_view error_code_name(ErrorCode code);

// One step of the way to the place of an error: {"file", "model.pt"}, {"record", "data.pkl"},
// {"byte", "17"}.
struct Location {
  std::string kind;
  std::string value;
};

class Error : public std::exception {
 public:
  // message: what was found and what was expected, without a final period.
  // remedy: what a person can do now; may be empty.
  Error(ErrorCode code, std::string message, std::string remedy = {});

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& remedy() const { return remedy_; }
  // Outermost first: file, then record, then byte.
  const std::vector<Location>& locations() const { return locations_; }

  // Adds an outer location, unless it is the outermost one already; readers call it while the error passes
  // through them.
  Error& add_location(std::string kind, std::string value);
  Error& set_remedy(std::string remedy);

  // One line: "model.pt: record 'data.pkl': byte 17: message (remedy)".
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  void rebuild_text();

  ErrorCode code_;
  std::string message_;
  std::string remedy_;
  std::vector<Location> locations_;
  std::string text_;
};

// What readers throw most: Error(kCorrupt).
[[noreturn]] void corrupt(std::string message, std::string remedy = {});

// Runs `body`; an Error that leaves it gains the location.
template <typename Body>
decltype(auto) with_location(std::string_view kind, std::string_view value, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (Error& error) {
    error.add_location(std::string(kind), std::string(value));
    throw;
  }
}

// Text from a file, made safe to print on one line: control characters, invisible and direction-changing
// ones, and invalid UTF-8 become escapes, and text over `most` bytes is cut with "...".
std::string printable(std::string_view text, size_t most = 120);

}  // namespace flambeau
