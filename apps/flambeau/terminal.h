// What the command prints with: color on terminals, aligned columns, byte counts that people can read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flambeau::cli {

enum class Style : uint8_t { kPlain, kBold, kDim, kRed, kYellow, kGreen, kCyan };

// Whether standard output (or error) is a terminal that wants color (NO_COLOR and TERM=dumb say no).
bool use_color(int fd);

// The text, in color when standard output wants it.
std::string styled(std::string_view text, Style style);

// "1.2 MB".
std::string human_bytes(uint64_t bytes);

// "1 tensor", "2 tensors".
std::string counted(uint64_t count, std::string_view what);

// Columns padded to their widest cell; the last one is not padded. Numbers go to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void add(std::vector<std::string> row);
  void align_right(size_t column) { right_[column] = true; }
  void print(int indent = 0) const;
  bool empty() const { return rows_.empty(); }

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> right_;
};

}  // namespace flambeau::cli
