// What the command prints with: color on terminals, aligned columns, byte counts that people can read.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flambeau::cli {

enum class Style : uint8_t { kPlain, kBold, kDim, kRed, kYellow, kGreen, kCyan };

// Whether standard output (or error) is a terminal that wants color (NO_COLOR and TERM=dumb say no).
bool use_color(int fd);

// The text, in color when standard output wants it.
std::string styled(std::string_view text, Style style);

// The title of a part, with an empty line before it.
void print_heading(std::string_view text);

// Says it on standard error, if that takes it: there is nowhere else to say that it does not.
void write_to_stderr(std::string_view text);
template <typename... Arguments>
void print_to_stderr(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_to_stderr(fmt::format(format, std::forward<Arguments>(arguments)...));
}

// Standard streams that whoever started the command has closed are opened on nothing, so that no file of ours
// takes their place: reading or writing one fails, except for errors that nobody wants to see.
void open_closed_streams();

// Whether nobody reads standard output any more, as behind "| head": no error worth a word.
bool is_reader_gone();

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
