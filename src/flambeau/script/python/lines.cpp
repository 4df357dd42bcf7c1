#include "flambeau/script/python/lines.h"

#include <vector>

namespace flambeau::script {

namespace {

constexpr size_t kMostColumns = 120;
// Deeper lines stay as long as they are.
constexpr size_t kMostWrapping = 12;

// Behind the string literal that begins there.
size_t end_of_string(std::string_view text, size_t at) {
  const char quote = text[at++];
  while (at < text.size() && text[at] != quote) at += text[at] == '\\' ? 2 : 1;
  return at + 1;
}

// The longest bracket that is in no other: where it opens and closes; equal when there is none.
std::pair<size_t, size_t> widest_bracket(std::string_view text) {
  std::pair<size_t, size_t> found{0, 0};
  size_t opened = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      i = end_of_string(text, i) - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      if (depth++ == 0) opened = i;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth == 0 && i - opened > found.second - found.first) found = {opened, i};
    }
  }
  return found;
}

// At the commas that stand in no bracket.
std::vector<std::string_view> split_items(std::string_view text) {
  std::vector<std::string_view> items;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      i = end_of_string(text, i) - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      items.push_back(text.substr(start, i + 1 - start));
      start = i + 1;
      while (start < text.size() && text[start] == ' ') ++start;
    }
  }
  if (start < text.size()) items.push_back(text.substr(start));
  return items;
}

void add_wrapped(std::string& to, std::string_view text, size_t level, size_t depth) {
  const std::string indent(level * 4, ' ');
  const auto [open, close] = widest_bracket(text);
  if (indent.size() + text.size() <= kMostColumns || open == close || depth == kMostWrapping ||
      close - open < 12) {
    to += indent;
    to += text;
    to += '\n';
    return;
  }
  to += indent;
  to += text.substr(0, open + 1);
  to += '\n';
  const std::string_view inside = text.substr(open + 1, close - open - 1);
  if (inside.size() + indent.size() + 4 <= kMostColumns) {
    to += indent + "    ";
    to += inside;
    to += '\n';
  } else {
    std::string line;  // items share a line while they fit
    const auto flush = [&] {
      if (!line.empty()) add_wrapped(to, line, level + 1, depth + 1);
      line.clear();
    };
    for (const std::string_view item : split_items(inside)) {
      if (!line.empty() && line.size() + item.size() + 1 + indent.size() + 4 > kMostColumns) flush();
      if (!line.empty()) line += ' ';
      line += item;
    }
    flush();
  }
  to += indent;
  to += text.substr(close);
  to += '\n';
}

}  // namespace

std::string python_line(std::string_view statement, size_t level) {
  std::string text;
  add_wrapped(text, statement, level, 0);
  return text;
}

}  // namespace flambeau::script
