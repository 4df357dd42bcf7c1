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
  bool is_object() const { return std::holds_alternative<Object>(data_); }
  bool is_array() const { return std::holds_alternative<Array>(data_); }
  bool is_string() const { return std::holds_alternative<std::string>(data_); }
  // Each throws Error(kCorrupt, "expected X, found Y").
  bool as_bool() const;
  int64_t as_int() const;
  uint64_t as_uint() const;
  double as_double() const;
  const std::string& as_string() const;
  const Array& as_array() const;
  const Object& as_object() const;
  // The member of an object; null when there is none.
  const Value* find(std::string_view key) const;
  // Adds a member to an object (a null value becomes one).
  Value& set(std::string key, Value value);
  // Adds to an array (a null value becomes one).
  Value& push(Value value);

 private:
  friend std::string dump(const Value& value, int indent);
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object> data_;
};

// Throws Error(kCorrupt) located at the byte where known: bad syntax, duplicate keys, invalid UTF-8,
// nesting deeper than 512.
Value parse(std::string_view text);

// indent < 0: as Python's json.dumps(value) with its default separators; otherwise as json.dumps(value,
// indent=n). Non-ASCII text is escaped as Python escapes it.
std::string dump(const Value& value, int indent = -1);

}  // namespace flambeau::json
