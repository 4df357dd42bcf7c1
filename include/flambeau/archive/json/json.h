// JSON values in order of appearance; numbers keep their kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "flambeau/base/bytes.h"

namespace flambeau::json {

class Value;
using Array = std::vector<Value>;
using Member = std::pair<std::string, Value>;
using Object = std::vector<Member>;  // in order; parse() refuses duplicate keys

class Value {
 public:
  Value() = default;  // null
  Value(std::nullptr_t) {}
  Value(bool value) : data_(value) {}
  Value(int64_t value) : data_(value) {}
  Value(uint64_t value) : data_(value) {}
  Value(int value) : data_(static_cast<int64_t>(value)) {}
  Value(double value) : data_(value) {}
  Value(std::string value) : data_(std::move(value)) {}
  Value(std::string_view value) : data_(std::string(value)) {}
  Value(const char* value) : data_(std::string(value)) {}
  Value(Array value) : data_(std::move(value)) {}
  Value(Object value) : data_(std::move(value)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  // A number written without a fraction or exponent.
  bool is_integer() const {
    return std::holds_alternative<int64_t>(data_) || std::holds_alternative<uint64_t>(data_);
  }
  bool is_double() const { return std::holds_alternative<double>(data_); }
  bool is_object() const { return std::holds_alternative<Object>(data_); }
  bool is_array() const { return std::holds_alternative<Array>(data_); }
  bool is_string() const { return std::holds_alternative<std::string>(data_); }
  // Each throws Error(kCorrupt, "expected X, found Y"). Integers convert to double, nothing else converts.
  bool as_bool() const;
  int64_t as_int() const;
  uint64_t as_uint() const;
  double as_double() const;
  const std::string& as_string() const;
  const Array& as_array() const;
  const Object& as_object() const;
  // The same, for readers that take a tree apart.
  std::string& as_string() { return const_cast<std::string&>(std::as_const(*this).as_string()); }
  Array& as_array() { return const_cast<Array&>(std::as_const(*this).as_array()); }
  Object& as_object() { return const_cast<Object&>(std::as_const(*this).as_object()); }
  // The member of an object; null when there is none. Looks at one member after the other: whoever wants
  // most members of a large object goes through as_object().
  const Value* find(std::string_view key) const;
  // Adds a member to an object (a null value becomes one).
  Value& set(std::string key, Value value);
  // Adds to an array (a null value becomes one).
  Value& push(Value value);

 private:
  friend class Printer;
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object> data_;
};

// What reading a text may take: three characters become a value of 40 bytes, and a parser's tables come on
// top of that.
struct Limits {
  uint64_t bytes = 0;                    // of all values together
  uint64_t longest_string = UINT64_MAX;  // for texts in which strings are texts again

  // 8 MB and 16 times the text, which is enough for whatever JSON is used for.
  static Limits for_text(uint64_t size);
};

// Strict JSON, plus the bare NaN, Infinity and -Infinity that Python writes. Integers are int64_t, or
// uint64_t above that. Throws Error(kCorrupt) located at the byte: bad syntax, duplicate keys (located at
// nothing), invalid UTF-8, numbers out of range; and Error(kLimit) for nesting deeper than 512, and for
// values beyond the limits, which are those of for_text() where none are given.
Value parse(std::string_view text);
Value parse(std::string_view text, const Limits& limits);

// indent < 0: as Python's json.dumps(value) with its default separators; otherwise as json.dumps(value,
// indent=n). Non-ASCII text is escaped as Python escapes it; encoded surrogates come out as \udXXX. Throws
// Error(kInvalidArgument) for text that is not UTF-8.
std::string dump(const Value& value, int indent = -1);

}  // namespace flambeau::json
