#include "flambeau/archive/json_fallback.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "flambeau/archive/json_cursor.h"
#include "flambeau/base/error.h"

namespace flambeau::json {
namespace {

Value read_value(Cursor& cursor) {
  if (cursor.at_object()) {
    Object members;
    cursor.object([&](std::string key) { members.emplace_back(std::move(key), read_value(cursor)); });
    refuse_duplicate_keys(members);
    return members;
  }
  if (cursor.at_array()) {
    Array items;
    cursor.array([&] { items.push_back(read_value(cursor)); });
    return items;
  }
  return cursor.scalar();
}

[[noreturn]] void fail_duplicate(std::string_view key) {
  throw Error(ErrorCode::kCorrupt,
              fmt::format("a JSON object has the key \"{}\" more than once", printable(key)));
}

}  // namespace

Value parse_slowly(std::string_view text) {
  Cursor cursor(text);
  Value value = read_value(cursor);
  cursor.finish();
  return value;
}

void refuse_duplicate_keys(std::span<const Member> members) {
  // Sorting, not hashing: nobody can choose keys that make it slow.
  constexpr size_t kFew = 8;
  if (members.size() <= kFew) {
    for (size_t i = 0; i < members.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (members[i].first == members[j].first) fail_duplicate(members[i].first);
      }
    }
    return;
  }
  std::vector<std::string_view> keys;
  keys.reserve(members.size());
  for (const Member& member : members) keys.push_back(member.first);
  refuse_duplicate_keys(std::move(keys));
}

void refuse_duplicate_keys(std::vector<std::string_view> keys) {
  std::ranges::sort(keys);
  const auto same = std::ranges::adjacent_find(keys);
  if (same != keys.end()) fail_duplicate(*same);
}

}  // namespace flambeau::json
