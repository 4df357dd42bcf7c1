#include "flambeau/graph/text/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/base/utf8.h"
#include "flambeau/graph/text/python.h"

namespace flambeau::graph {
namespace {

constexpr std::string_view kUnknown = "No stacktrace found for following nodes";

std::string_view strip(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// `File "x.py", line 3, in forward` becomes `File: x.py:3 in forward`; nothing for other lines.
std::string frame_of(std::string_view line) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  constexpr std::string_view kIn = ", in ";
  if (!line.starts_with(kFile)) return "";
  // The last place where the rest fits: a file's name may hold anything.
  for (size_t at = line.rfind(kLine); at != std::string_view::npos && at > kFile.size();
       at = line.rfind(kLine, at - 1)) {
    const std::string_view rest = line.substr(at + kLine.size());
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const std::string_view name = rest.substr(digits);
    if (digits == 0 || !name.starts_with(kIn) || name.size() == kIn.size()) continue;
    return fmt::format("File: {}:{} in {}", line.substr(kFile.size(), at - kFile.size()),
                       rest.substr(0, digits), name.substr(kIn.size()));
  }
  return "";
}

// The innermost frame, which stands last.
std::string frame_of_trace(std::string_view trace) {
  trace = strip(trace);
  std::string_view code;
  bool has_code = false;
  while (true) {
    const size_t end = trace.rfind('\n');
    const std::string_view line = strip(end == std::string_view::npos ? trace : trace.substr(end + 1));
    if (has_code) {
      const std::string frame = frame_of(line);
      if (!frame.empty()) return fmt::format("{}, code: {}", frame, code);
    }
    if (end == std::string_view::npos) return "";
    code = line;
    has_code = true;
    trace = trace.substr(0, end);
  }
}

// At most 40 characters of a text.
std::string shortened(const std::string& text) {
  size_t at = 0;
  for (size_t count = 0; at < text.size(); ++count) {
    if (count == 40) return text.substr(0, at) + "...";
    at += std::max<size_t>(utf8_sequence_length(std::string_view(text).substr(at)), 1);
  }
  return "";
}

// One line of UTF-8, whatever the metadata holds.
std::string one_line(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_sequence_length(text);
    if (length == 0) {
      out += '?';
    } else {
      out += text[0] == '\n' || text[0] == '\r' ? std::string_view(" ") : text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

std::string annotation_of(const Node& node) {
  const std::string* const custom = node.find_metadata("custom");
  if (custom == nullptr || custom->empty()) return "";
  json::Value tree;
  try {
    tree = json::parse(*custom);
  } catch (const Error&) {
    return "";  // a comment is not worth refusing a program
  }
  if (!tree.is_object() || tree.as_object().empty()) return "";
  for (auto& [key, value] : tree.as_object()) {
    std::string cut = shortened(python_str(value));
    if (!cut.empty()) value = json::Value(std::move(cut));
  }
  return " Annotation: " + python_repr(tree);
}

}  // namespace

std::string source_summary(const Node& node) {
  const std::string* const trace = node.find_metadata("stack_trace");
  std::string frame = trace != nullptr ? frame_of_trace(*trace) : "";
  std::string out = fmt::format("#{} {}", annotation_of(node), frame.empty() ? kUnknown : frame);
  return one_line(out);
}

}  // namespace flambeau::graph
