// What this room's tests share: tensors from lists, golden files, errors as text.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/tensor/tensor.h"

namespace flambeau::testing {

template <typename T>
std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T>
std::vector<T> values_of(ByteSpan bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}
template <typename T>
std::vector<T> values_of(const Tensor& tensor) {
  const Tensor packed = tensor.to_contiguous();
  return values_of<T>(packed.contiguous_bytes());
}

template <typename T>
Tensor make_tensor(DType dtype, const Dims& sizes, const std::vector<T>& values) {
  return Tensor::contiguous(dtype, sizes, Storage::own(bytes_of(values)));
}

// The message and remedy of the Error that `body` throws; "no error" when it does not.
template <typename Body>
std::string error_text(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}
template <typename Body>
ErrorCode error_code(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::kInternal;
}

inline std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, by);) {
    if (by != ' ' || !part.empty()) parts.push_back(part);
  }
  return parts;
}

// The lines of tests/golden/tensor/NAME without comments.
inline std::vector<std::string> golden_lines(const std::string& name) {
  std::ifstream file(std::string(FLAMBEAU_GOLDEN_DIR) + "/tensor/" + name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  }
  EXPECT_FALSE(lines.empty()) << "cannot read golden file " << name;
  return lines;
}

inline std::vector<uint8_t> from_hex(const std::string& text) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

inline std::string to_hex(ByteSpan bytes) {
  std::string text;
  for (const uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

inline uint64_t fnv64(ByteSpan bytes) {
  uint64_t value = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes) value = (value ^ byte) * 0x100000001b3;
  return value;
}

inline Dims to_dims(const std::string& text) {
  std::vector<int64_t> values;
  for (const std::string& part : split(text, ' ')) values.push_back(std::stoll(part));
  return Dims(std::span<const int64_t>(values));
}

}  // namespace flambeau::testing
