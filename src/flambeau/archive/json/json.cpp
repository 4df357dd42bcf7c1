#include "flambeau/archive/json/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>

#include "flambeau/archive/json/fallback.h"
#include "flambeau/base/error.h"

namespace flambeau::json {
namespace {

std::string describe(const Value& value) {
  if (value.is_null()) return "null";
  if (value.is_bool()) return "a boolean";
  if (value.is_integer()) return fmt::format("the integer {}", dump(value));
  if (value.is_double()) return fmt::format("the number {}", dump(value));
  if (value.is_string()) return "a string";
  return value.is_array() ? "an array" : "an object";
}

}  // namespace

void fail_kind(std::string_view expected, const Value& found) {
  throw Error(ErrorCode::kCorrupt, fmt::format("expected {}, found {}", expected, describe(found)));
}

Limits Limits::for_text(uint64_t size) {
  constexpr uint64_t kMost = uint64_t{1} << 48;
  return {.bytes = (uint64_t{8} << 20) + 16 * std::min(size, kMost)};
}

bool Value::as_bool() const {
  if (const bool* value = std::get_if<bool>(&data_)) return *value;
  fail_kind("a boolean", *this);
}

int64_t Value::as_int() const {
  if (const int64_t* value = std::get_if<int64_t>(&data_)) return *value;
  const uint64_t* value = std::get_if<uint64_t>(&data_);
  if (value != nullptr && std::in_range<int64_t>(*value)) return static_cast<int64_t>(*value);
  fail_kind("a 64-bit integer", *this);
}

uint64_t Value::as_uint() const {
  if (const uint64_t* value = std::get_if<uint64_t>(&data_)) return *value;
  const int64_t* value = std::get_if<int64_t>(&data_);
  if (value != nullptr && *value >= 0) return static_cast<uint64_t>(*value);
  fail_kind("an integer that is not negative", *this);
}

double Value::as_double() const {
  if (const double* value = std::get_if<double>(&data_)) return *value;
  if (const int64_t* value = std::get_if<int64_t>(&data_)) return static_cast<double>(*value);
  if (const uint64_t* value = std::get_if<uint64_t>(&data_)) return static_cast<double>(*value);
  fail_kind("a number", *this);
}

const std::string& Value::as_string() const {
  if (const std::string* value = std::get_if<std::string>(&data_)) return *value;
  fail_kind("a string", *this);
}

const Array& Value::as_array() const {
  if (const Array* value = std::get_if<Array>(&data_)) return *value;
  fail_kind("an array", *this);
}

const Object& Value::as_object() const {
  if (const Object* value = std::get_if<Object>(&data_)) return *value;
  fail_kind("an object", *this);
}

const Value* Value::find(std::string_view key) const {
  const Object* object = std::get_if<Object>(&data_);
  if (object == nullptr) return nullptr;
  const auto found = std::ranges::find(*object, key, &Member::first);
  return found == object->end() ? nullptr : &found->second;
}

Value& Value::set(std::string key, Value value) {
  if (is_null()) data_ = Object();
  if (!is_object()) fail_kind("an object", *this);
  return std::get<Object>(data_).emplace_back(std::move(key), std::move(value)).second;
}

Value& Value::push(Value value) {
  if (is_null()) data_ = Array();
  if (!is_array()) fail_kind("an array", *this);
  return std::get<Array>(data_).emplace_back(std::move(value));
}

}  // namespace flambeau::json
