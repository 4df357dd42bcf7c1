#include "flambeau/script/ir/text_cursor.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "flambeau/base/ascii.h"
#include "flambeau/script/ir/text.h"

namespace flambeau::script::ir {

namespace {

constexpr int kMostConstantDepth = 100;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

TextCursor::TextCursor(std::string_view text) : text_(text) {
  if (text.size() > kMostGraphTextBytes) {
    throw Error(ErrorCode::kLimit, fmt::format("a graph's text has {} bytes; the most that is read is {}",
                                               text.size(), kMostGraphTextBytes));
  }
}

void TextCursor::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

size_t TextCursor::offset() {
  skip_space();
  return at_;
}

bool TextCursor::at_prefix(std::string_view start) {
  skip_space();
  return text_.substr(at_).starts_with(start);
}

bool TextCursor::at(std::string_view sign) {
  if (!at_prefix(sign)) return false;
  const size_t end = at_ + sign.size();
  return !is_word(sign.back()) || end == text_.size() || !is_word(text_[end]);
}

bool TextCursor::at_end() {
  skip_space();
  return at_ == text_.size();
}

bool TextCursor::take(std::string_view sign) {
  if (!at(sign)) return false;
  at_ += sign.size();
  return true;
}

void TextCursor::expect(std::string_view sign) {
  if (!take(sign)) fail(fmt::format("expected '{}'", sign));
}

void TextCursor::fail_at(size_t at, std::string message, ErrorCode code) {
  Error error(code, std::move(message));
  error.add_location("byte", std::to_string(at));
  throw error;
}

void TextCursor::fail(const std::string& message) {
  skip_space();
  const std::string_view rest = text_.substr(at_, 20);
  fail_at(at_, message + (rest.empty() ? ", found the end" : fmt::format(", found '{}'", printable(rest))));
}

std::string_view TextCursor::word() {
  skip_space();
  const size_t start = at_;
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  if (at_ == start) fail("expected a word");
  return text_.substr(start, at_ - start);
}

std::string_view TextCursor::value_name() {
  expect("%");
  const size_t start = at_;
  while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.')) ++at_;
  if (at_ == start) fail("expected the name of a value");
  return text_.substr(start, at_ - start);
}

std::string_view TextCursor::kind() {
  skip_space();
  const size_t start = at_;
  while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == ':' || text_[at_] == '.')) ++at_;
  if (text_.substr(start, at_ - start).find("::") == std::string_view::npos) {
    at_ = start;
    fail("expected an operator, such as aten::add.Tensor");
  }
  return text_.substr(start, at_ - start);
}

int64_t TextCursor::integer() {
  skip_space();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error != std::errc()) fail("expected a number of 64 bits");
  at_ = static_cast<size_t>(end - text_.data());
  return value;
}

std::string TextCursor::string() {
  expect("\"");
  const size_t start = at_;
  std::string value;
  while (true) {
    if (at_ >= text_.size()) fail_at(start, "a string does not end");
    const char c = text_[at_++];
    if (c == '"') return value;
    if (c != '\\') {
      value += c;
      continue;
    }
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\\')) {
      value += text_[at_++];
      continue;
    }
    unsigned code = 256;
    if (at_ + 3 <= text_.size()) {
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 3, code, 8);
      if (error != std::errc() || end != text_.data() + at_ + 3) code = 256;
    }
    if (code > 255) fail_at(at_ - 1, "a string has an unknown escape");
    value += static_cast<char>(code);
    at_ += 3;
  }
}

Type TextCursor::type() {
  skip_space();
  const size_t start = at_;
  int open = 0;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '(' || c == '[') ++open;
    if (open == 0 && (c == ',' || c == '=' || c == ')' || c == ']' || c == '\n')) break;
    if (c == ')' || c == ']') --open;
  }
  size_t end = at_;
  while (end > start && is_space(text_[end - 1])) --end;
  try {
    return parse_type(text_.substr(start, end - start));
  } catch (const Error& error) {
    fail_at(start, fmt::format("not a type: {}", error.message()), error.code());
  }
}

double TextCursor::real() {
  const bool is_negative = take("-");
  const double sign = is_negative ? -1 : 1;
  if (take("inf")) return sign * std::numeric_limits<double>::infinity();
  if (take("nan")) return std::numeric_limits<double>::quiet_NaN();
  skip_space();
  double value = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error != std::errc()) fail("expected a number");
  at_ = static_cast<size_t>(end - text_.data());
  return sign * value;
}

IValue TextCursor::number() {
  skip_space();
  const size_t start = at_;
  const double value = real();
  if (text_.substr(start, at_ - start).find_first_of(".einf") != std::string_view::npos) return value;
  at_ = start;
  return integer();
}

IValue TextCursor::list(const Type* type, int depth) {
  const bool is_typed = type != nullptr && type->without_optional().is(TypeKind::kList);
  const Type element = is_typed ? type->without_optional().element() : Type(TypeKind::kTensor);
  std::vector<IValue> items;
  while (!take("]")) {
    items.push_back(constant(is_typed ? &element : nullptr, depth + 1));
    if (!at("]")) expect(",");
  }
  return IValue::list(element, std::move(items));
}

IValue TextCursor::tuple(const Type* type, int depth) {
  const bool is_typed = type != nullptr && type->is(TypeKind::kTuple);
  std::vector<IValue> items;
  while (!take(")")) {
    const bool is_known = is_typed && items.size() < type->elements().size();
    items.push_back(constant(is_known ? &type->elements()[items.size()] : nullptr, depth + 1));
    if (!at(")")) expect(",");
  }
  return IValue::tuple(std::move(items));
}

IValue TextCursor::constant(const Type* type, int depth) {
  if (depth > kMostConstantDepth) throw Error(ErrorCode::kLimit, "a constant is nested too deep");
  if (take("None")) return {};
  if (take("True")) return true;
  if (take("False")) return false;
  if (at("\"")) return string();
  if (take("[")) return list(type, depth);
  if (take("(")) return tuple(type, depth);
  if (take("device")) {
    expect("(");
    const size_t start = offset();
    const std::optional<Device> device = parse_device(string());
    if (!device) fail_at(start, "not a device");
    expect(")");
    return *device;
  }
  if (take("complex")) {
    expect("(");
    const double re = real();
    expect(",");
    const double im = real();
    expect(")");
    return std::complex<double>(re, im);
  }
  if (at("<")) fail("constants of that kind cannot be read");
  return number();
}

}  // namespace flambeau::script::ir
