#include "flambeau/script/printer/name_maker.h"

#include <algorithm>
#include <array>

#include "flambeau/base/ascii.h"
#include "flambeau/base/error.h"

namespace flambeau::script {

namespace {

// Sorted as bytes.
constexpr std::array<std::string_view, 49> kReservedWords = {
    "CONSTANTS",     "False",     "None",   "True",   "_",
    "__torch__",     "and",       "as",     "assert", "async",
    "aten",          "attribute", "await",  "break",  "class",
    "continue",      "def",       "del",    "elif",   "else",
    "except",        "finally",   "for",    "fork",   "from",
    "getattr",       "global",    "if",     "import", "in",
    "inf",           "infj",      "is",     "lambda", "nan",
    "nanj",          "nonlocal",  "not",    "ops",    "or",
    "pass",          "raise",     "return", "try",    "unchecked_cast",
    "uninitialized", "while",     "with",   "yield",
};

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && is_word_start(text.front()) && std::ranges::all_of(text, is_word);
}

std::string make_identifier(std::string_view text) {
  std::string name;
  if (text.empty() || is_digit(text.front())) name = "_";
  for (const char c : text) name += is_word(c) ? c : '_';
  return name;
}

std::string NameMaker::make(const std::string& wanted) {
  // Few steps are needed for names that people give.
  constexpr uint64_t kMostSteps = 20'000'000;
  std::string name = wanted;
  while (used_.contains(name) || std::ranges::binary_search(kReservedWords, std::string_view(name))) {
    if (++steps_ > kMostSteps) {
      throw Error(ErrorCode::kLimit, "the names of values clash too often to be told apart",
                  "rename the variables that end in numbers");
    }
    // The number belongs to the name that is taken, not to the one that was wanted: PyTorch's way.
    const uint64_t number = next_numbers_[name]++;
    name.resize(wanted.size());
    name += std::to_string(number);
  }
  used_.insert(name);
  return name;
}

}  // namespace flambeau::script
