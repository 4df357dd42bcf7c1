#include "flambeau/runtime/guards.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/evaluate.h"
#include "flambeau/symbolic/text/parse.h"

namespace flambeau::runtime {
namespace {

constexpr size_t kFirstTerm = 1'000'000'000;

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
  std::unordered_map<std::string_view, size_t> known;  // terms, by their text
  while (!text.empty()) {
    if (!text.starts_with("L[")) {
      condition += text[0];
      text.remove_prefix(1);
      continue;
    }
    const std::string_view begin = text;
    std::optional<Term> term = take_term(text);
    if (!term || text.starts_with('.')) return {};
    const auto [found, is_new] =
        known.emplace(begin.substr(0, begin.size() - text.size()), guard.terms_.size());
    if (is_new) {
      // A name that stands for any integer, and that no text has.
      term->symbol = fmt::format("u{}", kFirstTerm + guard.terms_.size());
      guard.terms_.push_back(std::move(*term));
    }
    condition += guard.terms_[found->second].symbol;
  }
  try {
    guard.condition_ = symbolic::parse(condition);
  } catch (const Error&) {
    return {};
  }
  std::unordered_set<std::string_view> symbols;
  for (const Term& term : guard.terms_) symbols.insert(term.symbol);
  const bool is_about_inputs =
      std::ranges::all_of(symbolic::free_symbols(guard.condition_),
                          [&](const symbolic::Expr& symbol) { return symbols.contains(symbol.name()); });
  if (!is_about_inputs || symbolic::has_unknown_functions(guard.condition_)) return {};
  return guard;
}

bool Guard::holds(const std::function<const Value*(const std::string&)>& input) const {
  symbolic::Bindings bindings;
  for (const Term& term : terms_) bindings.emplace(term.symbol, number_of(term, input(term.input)));
  return symbolic::evaluate(condition_, bindings).to_double() != 0;
}

}  // namespace flambeau::runtime
