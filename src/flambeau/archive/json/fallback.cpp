#include "flambeau/archive/json/fallback.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "flambeau/archive/json/budget.h"
#include "flambeau/archive/json/cursor.h"
#include "flambeau/base/error.h"

namespace flambeau::json {
namespace {

Value read_value(Cursor& cursor, Budget& budget) {
  if (cursor.at_object()) {
    Object members;
    cursor.object([&](std::string key) {
      budget.make_room(members);
      budget.charge_string(key.size());
      members.emplace_back(std::move(key), read_value(cursor, budget));
    });
    refuse_duplicate_keys(members);
    return members;
  }
  if (cursor.at_array()) {
    Array items;
    cursor.array([&] {
      budget.make_room(items);
      items.push_back(read_value(cursor, budget));
    });
    return items;
  }
  Value value = cursor.scalar();
  if (value.is_string()) budget.charge_string(value.as_string().size());
  return value;
}

[[noreturn]] void fail_duplicate(std::string_view key) {
  throw Error(ErrorCode::kCorrupt,
              fmt::format("a JSON object has the key \"{}\" more than once", printable(key)));
}

}  // namespace

void Budget::fail() const {
  throw Error(
      ErrorCode::kLimit,
      fmt::format("the JSON text has more values than fit into {} bytes, the limit for it", limits_.bytes));
}

void Budget::fail_string(size_t size) const {
  throw Error(ErrorCode::kLimit, fmt::format("the JSON text has a string of {} bytes, the limit for it is {}",
                                             size, limits_.longest_string));
}

Value parse_slowly(std::string_view text, const Limits& limits) {
  Cursor cursor(text);
  Budget budget(limits);
  Value value = read_value(cursor, budget);
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
