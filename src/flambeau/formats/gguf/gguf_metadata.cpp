#include "flambeau/formats/gguf/gguf_metadata.h"

#include <fmt/format.h>

#include <array>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

enum Type : uint32_t {
  kUInt8,
  kInt8,
  kUInt16,
  kInt16,
  kUInt32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUInt64,
  kInt64,
  kFloat64,
};

struct Kind {
  std::string_view name;
  std::string_view array_name;
  size_t least_bytes;  // of one value
};
constexpr std::array<Kind, 13> kKinds = {{
    {"uint8", "array of uint8", 1},
    {"int8", "array of int8", 1},
    {"uint16", "array of uint16", 2},
    {"int16", "array of int16", 2},
    {"uint32", "array of uint32", 4},
    {"int32", "array of int32", 4},
    {"float32", "array of float32", 4},
    {"bool", "array of bool", 1},
    {"string", "array of string", 8},
    {"array", "array of array", 12},
    {"uint64", "array of uint64", 8},
    {"int64", "array of int64", 8},
    {"float64", "array of float64", 8},
}};

Type read_type(ByteReader& reader) {
  const size_t at = reader.offset();
  const auto number = reader.le<uint32_t>("the type of a value");
  if (number >= kKinds.size()) reader.fail_at(at, fmt::format("the value is of the unknown type {}", number));
  return static_cast<Type>(number);
}

template <typename Number>
std::string number_at(ByteReader& reader) {
  return fmt::format("{}", reader.le<Number>("a number"));
}

std::string read_scalar(ByteReader& reader, Type type) {
  switch (type) {
    case kUInt8:
      return number_at<uint8_t>(reader);
    case kInt8:
      return number_at<int8_t>(reader);
    case kUInt16:
      return number_at<uint16_t>(reader);
    case kInt16:
      return number_at<int16_t>(reader);
    case kUInt32:
      return number_at<uint32_t>(reader);
    case kInt32:
      return number_at<int32_t>(reader);
    case kFloat32:
      return number_at<float>(reader);
    case kBool:
      return reader.u8("a bool") != 0 ? "true" : "false";
    case kString:
      return std::string(read_gguf_string(reader, "a string"));
    case kUInt64:
      return number_at<uint64_t>(reader);
    case kInt64:
      return number_at<int64_t>(reader);
    case kFloat64:
      return number_at<double>(reader);
    case kArray:
      break;
  }
  return {};
}

// A type, a count, and so many values.
struct Elements {
  Type type;
  uint64_t count;
};
Elements read_elements(ByteReader& reader) {
  const Type type = read_type(reader);
  const size_t at = reader.offset();
  const auto count = reader.le<uint64_t>("the length of an array");
  if (count > reader.remaining() / kKinds[type].least_bytes) {
    reader.fail_at(at, fmt::format("the array is said to have {} values of type {}, {} bytes are left", count,
                                   kKinds[type].name, reader.remaining()));
  }
  return {type, count};
}

void skip_elements(ByteReader& reader, int depth) {
  constexpr int kMostDepth = 8;
  if (depth > kMostDepth)
    throw Error(ErrorCode::kLimit, fmt::format("arrays are nested more than {} deep", kMostDepth));
  const auto [type, count] = read_elements(reader);
  if (type != kArray && type != kString) return reader.skip(count * kKinds[type].least_bytes, "an array");
  for (uint64_t i = 0; i < count; ++i) {
    if (type == kArray) {
      skip_elements(reader, depth + 1);
    } else {
      read_gguf_string(reader, "a string");
    }
  }
}

std::string read_array(ByteReader& reader, Elements elements) {
  constexpr uint64_t kShown = 4;
  std::string text = "[";
  for (uint64_t i = 0; i < elements.count; ++i) {
    if (elements.type == kArray) {
      skip_elements(reader, 1);
      if (i < kShown) text += i == 0 ? "[...]" : ", [...]";
    } else if (i < kShown) {
      const std::string value = read_scalar(reader, elements.type);
      text += fmt::format("{}{}", i == 0 ? "" : ", ",
                          elements.type == kString ? fmt::format("'{}'", printable(value, 40)) : value);
    } else if (elements.type == kString) {
      read_gguf_string(reader, "a string");
    } else {
      reader.skip((elements.count - i) * kKinds[elements.type].least_bytes, "an array");
      break;
    }
  }
  return text + (elements.count > kShown ? fmt::format(", ...] ({} values)", elements.count) : "]");
}

}  // namespace

std::string_view read_gguf_string(ByteReader& reader, std::string_view what) {
  const auto length = reader.le<uint64_t>(fmt::format("the length of {}", what));
  return reader.text(length, what);
}

GgufMetadata read_gguf_value(ByteReader& reader) {
  const Type type = read_type(reader);
  GgufMetadata value;
  value.type = kKinds[type].name;
  value.is_array = type == kArray;
  if (!value.is_array) {
    value.text = read_scalar(reader, type);
    return value;
  }
  const Elements elements = read_elements(reader);
  value.type = kKinds[elements.type].array_name;
  value.text = read_array(reader, elements);
  return value;
}

}  // namespace flambeau
