#include "flambeau/runtime/guards.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/evaluate.h"
#include "flambeau/symbolic/parse.h"

namespace flambeau::runtime {
namespace {

bool take(std::string_view& text, std::string_view token) {
  if (!text.starts_with(token)) return false;
  text.remove_prefix(token.size());
  return true;
}

// Behind the first "[...]"; a name in quotes may have any brackets in it.
std::optional<size_t> key_end(std::string_view text) {
  size_t at = 1;
  if (at < text.size() && (text[at] == '\'' || text[at] == '"')) {
    const char quote = text[at++];
    while (at < text.size() && text[at] != quote) at += text[at] == '\\' ? 2 : 1;
  }
  at = text.find(']', std::min(at, text.size()));
  return at == std::string_view::npos ? std::nullopt : std::optional(at + 1);
}

// Reads "L['x'][0].size()[1]" from the start of the text. Nothing when it is something else.
std::optional<Guard::Term> take_term(std::string_view& text) {
  const std::string_view begin = text;
  text.remove_prefix(1);  // L
  while (text.starts_with('[')) {
    const std::optional<size_t> end = key_end(text);
    if (!end) return {};
    text.remove_prefix(*end);
  }
  using Kind = Guard::Term::Kind;
  Guard::Term term{.symbol = {}, .input = std::string(begin.substr(0, begin.size() - text.size()))};
  if (take(text, ".storage_offset()")) {
    term.kind = Kind::kOffset;
    return term;
  }
  if (take(text, ".size()[")) {
    term.kind = Kind::kSize;
  } else if (take(text, ".stride()[")) {
    term.kind = Kind::kStride;
  } else {
    return term;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), term.dim);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return take(text, "]") ? std::optional(std::move(term)) : std::nullopt;
}

int64_t number_of(const Guard::Term& term, const Value* value) {
  using Kind = Guard::Term::Kind;
  if (value == nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a guard speaks of {}, which is no input", term.input));
  }
  if (term.kind == Kind::kValue) return value->scalar().to_int();
  const Tensor& tensor = value->tensor();
  if (term.kind == Kind::kOffset) return tensor.offset();
  if (term.dim >= tensor.dim()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("a guard speaks of dimension {} of {}, which has {}",
                                                         term.dim, term.input, tensor.dim()));
  }
  return term.kind == Kind::kSize ? tensor.sizes()[term.dim] : tensor.strides()[term.dim];
}

}  // namespace

std::optional<Guard> Guard::parse(std::string_view text) {
  Guard guard;
  guard.text_ = text;
  std::string condition;
  while (!text.empty()) {
    if (!text.starts_with("L[")) {
      condition += text[0];
      text.remove_prefix(1);
      continue;
    }
    std::optional<Term> term = take_term(text);
    if (!term || text.starts_with('.')) return {};
    const auto known = std::ranges::find_if(guard.terms_, [&](const Term& other) {
      return other.input == term->input && other.kind == term->kind && other.dim == term->dim;
    });
    if (known == guard.terms_.end()) {
      // A name that stands for any integer.
      term->symbol = fmt::format("u{}", guard.terms_.size());
      condition += term->symbol;
      guard.terms_.push_back(std::move(*term));
    } else {
      condition += known->symbol;
    }
  }
  try {
    guard.condition_ = symbolic::parse(condition);
  } catch (const Error&) {
    return {};
  }
  return guard;
}

bool Guard::holds(const std::function<const Value*(const std::string&)>& input) const {
  symbolic::Bindings bindings;
  for (const Term& term : terms_) bindings.emplace(term.symbol, number_of(term, input(term.input)));
  return symbolic::evaluate(condition_, bindings).to_double() != 0;
}

}  // namespace flambeau::runtime
