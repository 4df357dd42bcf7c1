// The JSON reader for what simdjson refuses: Python's bare NaN and Infinity, and broken text, for which it
// finds the byte and the words. Slower, but linear; gives the same values where both accept.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "flambeau/archive/json/json.h"

namespace flambeau::json {

// As parse().
Value parse_slowly(std::string_view text, const Limits& limits);
inline Value parse_slowly(std::string_view text) { return parse_slowly(text, Limits::for_text(text.size())); }

// Throws Error(kCorrupt) when two members have the same key.
void refuse_duplicate_keys(std::span<const Member> members);
void refuse_duplicate_keys(std::vector<std::string_view> keys);
// Throws Error(kCorrupt, "expected X, found Y").
[[noreturn]] void fail_kind(std::string_view expected, const Value& found);

}  // namespace flambeau::json
