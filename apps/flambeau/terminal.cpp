#include "terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace flambeau::cli {
namespace {

std::string_view code_of(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kRed:
      return "\x1b[31m";
    case Style::kYellow:
      return "\x1b[33m";
    case Style::kGreen:
      return "\x1b[32m";
    case Style::kCyan:
      return "\x1b[36m";
  }
  return "";
}

// Columns on the screen: one per UTF-8 sequence.
size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

bool use_color(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  if (term == nullptr || std::string_view(term) == "dumb") return false;
  return isatty(fd) == 1;
}

std::string styled(std::string_view text, Style style) {
  if (style == Style::kPlain || !use_color(STDOUT_FILENO)) return std::string(text);
  return fmt::format("{}{}\x1b[0m", code_of(style), text);
}

void print_heading(std::string_view text) { fmt::print("\n{}\n", styled(text, Style::kBold)); }

void write_to_stderr(std::string_view text) {
  [[maybe_unused]] const size_t ignored = std::fwrite(text.data(), 1, text.size(), stderr);
}

void open_closed_streams() {
  constexpr std::pair<int, int> kStreams[] = {
      {STDIN_FILENO, O_WRONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}};
  for (const auto& [fd, mode] : kStreams) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    const int opened = open("/dev/null", mode);
    if (opened != -1 && opened != fd) {
      dup2(opened, fd);
      close(opened);
    }
  }
}

bool is_reader_gone() {
  struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

std::string human_bytes(uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  for (const std::string_view unit : {"kB", "MB", "GB", "TB", "PB"}) {
    value /= 1000;
    if (value < 999.5)
      return value < 9.95 ? fmt::format("{:.1f} {}", value, unit) : fmt::format("{:.0f} {}", value, unit);
  }
  return fmt::format("{:.0f} EB", value / 1000);
}

std::string counted(uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

Table::Table(std::vector<std::string> header) : header_(std::move(header)), right_(header_.size(), false) {}

void Table::add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

void Table::print(int indent) const {
  std::vector<size_t> widths;
  widths.reserve(header_.size());
  for (const std::string& cell : header_) widths.push_back(width_of(cell));
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  const auto line = [&](const std::vector<std::string>& row) {
    std::string text(static_cast<size_t>(indent), ' ');
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      const bool is_last = i + 1 == row.size();
      text += right_[i] ? padding + row[i] : is_last ? row[i] : row[i] + padding;
      if (!is_last) text += "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::puts(styled(line(header_), Style::kDim).c_str());
  for (const auto& row : rows_) std::puts(line(row).c_str());
}

}  // namespace flambeau::cli
