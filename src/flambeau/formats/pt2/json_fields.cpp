#include "flambeau/formats/pt2/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "flambeau/base/error.h"

namespace flambeau::pt2 {

Fields::Fields(json::Value& value, std::string_view what) : members_(value.as_object()), what_(what) {}

json::Value* Fields::optional(std::string_view key) {
  asked_.at(asked_count_++) = key;
  const size_t count = members_.size();
  for (size_t step = 0; step < count; ++step) {
    const size_t i = next_ + step < count ? next_ + step : next_ + step - count;
    if (members_[i].first != key) continue;
    next_ = i + 1;
    ++found_;
    return &members_[i].second;
  }
  return nullptr;
}

json::Value& Fields::required(std::string_view key) {
  json::Value* const value = optional(key);
  if (value == nullptr) throw Error(ErrorCode::kCorrupt, fmt::format("{} has no member '{}'", what_, key));
  return *value;
}

graph::Extras Fields::rest() {
  graph::Extras extras;
  if (found_ == members_.size()) return extras;
  const auto end = asked_.begin() + static_cast<std::ptrdiff_t>(asked_count_);
  for (json::Member& member : members_) {
    if (std::find(asked_.begin(), end, member.first) == end)
      extras.add(member.first, std::move(member.second));
  }
  return extras;
}

json::Member& union_member(json::Value& value, std::string_view what) {
  json::Object& members = value.as_object();
  if (members.size() == 1) return members.front();
  json::Member* set = nullptr;
  for (json::Member& member : members) {
    if (member.second.is_null()) continue;
    if (set != nullptr) {
      throw Error(ErrorCode::kCorrupt,
                  fmt::format("{} has two members that are set, '{}' and '{}', instead of one", what,
                              printable(set->first), printable(member.first)));
    }
    set = &member;
  }
  if (set == nullptr) throw Error(ErrorCode::kCorrupt, fmt::format("{} has no member that is set", what));
  return *set;
}

double read_double(const json::Value& value) {
  if (!value.is_string()) return value.as_double();
  const std::string& text = value.as_string();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  throw Error(ErrorCode::kCorrupt, fmt::format("expected a number, found the string '{}'", printable(text)));
}

}  // namespace flambeau::pt2
