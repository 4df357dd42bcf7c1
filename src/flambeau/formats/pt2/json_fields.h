// Takes JSON objects of a known shape apart: members by name, those nobody asked for kept.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "flambeau/archive/json/json.h"
#include "flambeau/graph/meta.h"

namespace flambeau::pt2 {

// The members of one object. Asking in the file's order costs nothing; any order works.
class Fields {
 public:
  // `what` names the object in messages: "a node". Throws Error(kCorrupt) when it is no object.
  Fields(json::Value& value, std::string_view what);

  // Throws Error(kCorrupt) when there is no such member.
  json::Value& required(std::string_view key);
  json::Value* optional(std::string_view key);  // null when there is none
  // What was not asked for, moved out.
  graph::Extras rest();

 private:
  static constexpr size_t kMostKeys = 16;
  json::Object& members_;
  std::string_view what_;
  size_t next_ = 0;   // where the next one asked for is expected
  size_t found_ = 0;  // how many of those asked for were there
  std::array<std::string_view, kMostKeys> asked_;
  size_t asked_count_ = 0;
};

// The one member of a union. Older files wrote every other member too, as null. Throws Error(kCorrupt) unless
// exactly one is left.
json::Member& union_member(json::Value& value, std::string_view what);

// The text itself, moved out.
inline std::string take_string(json::Value& value) { return std::move(value.as_string()); }

// A number, or one of the words that stand for what JSON has no number for, in quotes or bare.
double read_double(const json::Value& value);

}  // namespace flambeau::pt2
