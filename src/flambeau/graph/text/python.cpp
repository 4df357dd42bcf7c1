#include "flambeau/graph/text/python.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "flambeau/archive/json/text.h"
#include "flambeau/base/error.h"
#include "flambeau/base/utf8.h"

namespace flambeau::graph {
namespace {

struct Range {
  uint32_t first, last;
};
// Control, format, private, surrogate and separator characters above ASCII, in order.
constexpr Range kNotPrintable[] = {
    {0x7f, 0xa0},       {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},
    {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x1680, 0x1680},   {0x180e, 0x180e},
    {0x2000, 0x200f},   {0x2028, 0x202f},   {0x205f, 0x206f},   {0x3000, 0x3000},   {0xd800, 0xf8ff},
    {0xfeff, 0xfeff},   {0xfff0, 0xfffb},   {0xfffe, 0xffff},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
    {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe00ff}, {0xe01f0, 0x10ffff},
};

bool is_printable(uint32_t code) {
  if (code < 0x7f) return code >= 0x20;
  for (const Range& range : kNotPrintable) {
    if (code >= range.first && code <= range.last) return false;
  }
  return true;
}

uint32_t decode(std::string_view sequence) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(sequence[i]); };
  switch (sequence.size()) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1fU) << 6 | (byte(1) & 0x3fU);
    case 3:
      return (byte(0) & 0xfU) << 12 | (byte(1) & 0x3fU) << 6 | (byte(2) & 0x3fU);
    default:
      return (byte(0) & 7U) << 18 | (byte(1) & 0x3fU) << 12 | (byte(2) & 0x3fU) << 6 | (byte(3) & 0x3fU);
  }
}

// Length of the character at the start, encoded surrogates too; 0 when there is none.
size_t sequence_length(std::string_view text) {
  const size_t length = utf8_sequence_length(text);
  if (length != 0 || text.size() < 3 || static_cast<uint8_t>(text[0]) != 0xed) return length;
  return is_valid_utf8_with_surrogates(text.substr(0, 3)) ? 3 : 0;
}

// As repr, without the ".0" of whole numbers.
std::string part_of_complex(double value) {
  std::string text = python_repr(value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

struct ShortName {
  DType dtype;
  std::string_view name;
};
constexpr ShortName kShortNames[] = {
    {DType::kUInt8, "u8"},
    {DType::kInt8, "i8"},
    {DType::kInt16, "i16"},
    {DType::kInt32, "i32"},
    {DType::kInt64, "i64"},
    {DType::kFloat16, "f16"},
    {DType::kFloat32, "f32"},
    {DType::kFloat64, "f64"},
    {DType::kComplex32, "c32"},
    {DType::kComplex64, "c64"},
    {DType::kComplex128, "c128"},
    {DType::kBool, "b8"},
    {DType::kBFloat16, "bf16"},
    {DType::kBits1x8, "b1x8"},
    {DType::kBits2x4, "b2x4"},
    {DType::kBits4x2, "b4x2"},
    {DType::kBits8, "b8x1"},
    {DType::kBits16, "b16x1"},
    {DType::kFloat8E5M2, "f8e5m2"},
    {DType::kFloat8E4M3FN, "f8e4m3fn"},
    {DType::kFloat8E5M2FNUZ, "f8e5m2fnuz"},
    {DType::kFloat8E4M3FNUZ, "f8e4m3fnuz"},
    {DType::kUInt16, "u16"},
    {DType::kUInt32, "u32"},
    {DType::kUInt64, "u64"},
    {DType::kFloat8E8M0FNU, "f8e8m0fnu"},
    {DType::kFloat4E2M1FNx2, "f4e2m1fnx2"},
};

}  // namespace

std::string python_repr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    if (length == 0) {
      // Not text at all; such a program cannot be written either.
      out += "\xef\xbf\xbd";
      text.remove_prefix(1);
      continue;
    }
    const uint32_t code = decode(text.substr(0, length));
    if (code == '\\' || code == static_cast<uint32_t>(quote)) {
      out += '\\';
      out += static_cast<char>(code);
    } else if (code == '\n') {
      out += "\\n";
    } else if (code == '\t') {
      out += "\\t";
    } else if (code == '\r') {
      out += "\\r";
    } else if (is_printable(code)) {
      out += text.substr(0, length);
    } else if (code < 0x100) {
      out += fmt::format("\\x{:02x}", code);
    } else if (code < 0x10000) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += fmt::format("\\U{:08x}", code);
    }
    text.remove_prefix(length);
  }
  out += quote;
  return out;
}

std::string python_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text;
  json::append_double(text, value);
  return text;
}

std::string python_repr(std::complex<double> value) {
  std::string imaginary = part_of_complex(value.imag()) + "j";
  if (value.real() == 0 && !std::signbit(value.real())) return imaginary;
  const bool has_sign = imaginary.front() == '-';
  return fmt::format("({}{}{})", part_of_complex(value.real()), has_sign ? "" : "+", imaginary);
}

std::string python_repr(const json::Value& value) {
  if (value.is_null()) return "None";
  if (value.is_bool()) return value.as_bool() ? "True" : "False";
  if (value.is_string()) return python_repr(std::string_view(value.as_string()));
  if (value.is_double()) return python_repr(value.as_double());
  std::string out;
  if (value.is_array()) {
    for (const json::Value& item : value.as_array()) out += (out.empty() ? "" : ", ") + python_repr(item);
    return "[" + out + "]";
  }
  if (value.is_object()) {
    for (const auto& [key, item] : value.as_object()) {
      out += (out.empty() ? "" : ", ") + python_repr(std::string_view(key)) + ": " + python_repr(item);
    }
    return "{" + out + "}";
  }
  return json::dump(value);
}

std::string python_str(const json::Value& value) {
  return value.is_string() ? value.as_string() : python_repr(value);
}

std::string_view short_dtype_name(DType dtype) {
  for (const ShortName& entry : kShortNames) {
    if (entry.dtype == dtype) return entry.name;
  }
  return dtype_name(dtype);
}

std::optional<DType> dtype_from_short_name(std::string_view name) {
  for (const ShortName& entry : kShortNames) {
    if (entry.name == name) return entry.dtype;
  }
  return dtype_from_name(name);
}

}  // namespace flambeau::graph
