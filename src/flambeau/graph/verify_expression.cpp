#include "flambeau/graph/verify_expression.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/ascii.h"
#include "flambeau/base/error.h"

namespace flambeau::graph::verifying {
namespace {

// Operands and operators take turns; brackets are counted, not followed, so that depth costs no stack.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Expression run() {
    while (expression_.problem.empty()) {
      while (at_ < text_.size() && text_[at_] == ' ') ++at_;
      if (at_ == text_.size()) break;
      wants_operand_ ? operand() : after_operand();
    }
    if (expression_.problem.empty()) {
      if (!open_.empty()) {
        expression_.problem = fmt::format("'{}' is never closed", open_.back());
      } else if (wants_operand_) {
        expression_.problem = text_.empty() ? "it is empty" : "it ends where an operand is expected";
      }
    }
    if (!expression_.problem.empty()) {
      expression_.symbols.clear();
      return std::move(expression_);
    }
    expression_.tells_symbol = tells_symbol();
    return std::move(expression_);
  }

 private:
  void fail(std::string_view expected) {
    const std::string_view found = text_.substr(at_, 1);
    expression_.problem = fmt::format("expected {} at byte {}, found '{}'", expected, at_, printable(found));
  }

  void operand() {
    const char c = text_[at_];
    if (is_word_start(c)) {
      word();
    } else if (is_digit(c) || c == '.') {
      while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.' || is_exponent_sign())) ++at_;
      wants_operand_ = can_call_ = false;
    } else if (c == '\'' || c == '"') {
      string();
    } else if (c == '(' || c == '[') {
      open_ += c;
      ++at_;
      was_opened_ = true;
      return;
    } else if ((c == ')' || c == ']') && (was_opened_ || was_comma_)) {
      close(c);
    } else if (c == '+' || c == '-' || c == '~') {
      ++at_;
    } else {
      fail("an operand");
      return;
    }
    was_opened_ = was_comma_ = false;
  }

  bool is_exponent_sign() const {
    const char c = text_[at_];
    return (c == '-' || c == '+') && at_ > 0 && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
  }

  void word() {
    const size_t start = at_;
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.')) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (name == "not") return;
    wants_operand_ = false;
    can_call_ = true;
    const bool is_call = at_ < text_.size() && text_[at_] == '(';
    if (is_call) {
      if (root_.empty()) root_ = name;
      is_symbol_name_ = name == "Symbol";
      return;
    }
    const bool is_keyword = at_ < text_.size() && text_[at_] == '=' && text_.substr(at_, 2) != "==";
    if (is_keyword || name == "True" || name == "False" || name == "true" || name == "false" || name == "oo")
      return;
    is_plain_ = true;
    expression_.symbols.push_back(name);
  }

  void string() {
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) {
      expression_.problem = fmt::format("the text that begins at byte {} never ends", at_);
      return;
    }
    if (is_symbol_name_) expression_.symbols.push_back(text_.substr(at_ + 1, end - at_ - 1));
    is_symbol_name_ = false;
    at_ = end + 1;
    wants_operand_ = can_call_ = false;
  }

  void close(char c) {
    if (open_.empty() || open_.back() != (c == ')' ? '(' : '[')) {
      fail(open_.empty() ? "an operator" : open_.back() == '(' ? "')'" : "']'");
      return;
    }
    open_.pop_back();
    ++at_;
    wants_operand_ = false;
    can_call_ = true;
  }

  void after_operand() {
    const char c = text_[at_];
    if (c == ')' || c == ']') return close(c);
    if (c == '(' && can_call_) {
      open_ += c;
      ++at_;
      wants_operand_ = was_opened_ = true;
      return;
    }
    if (c == ',' && !open_.empty()) {
      if (open_.size() == 1) ++root_commas_;
      ++at_;
      wants_operand_ = was_comma_ = true;
      return;
    }
    static constexpr std::string_view kOperators[] = {"**", "//", "<=", ">=", "==", "!=", "+", "-", "*",
                                                      "/",  "%",  "<",  ">",  "&",  "|",  "^", "="};
    for (const std::string_view sign : kOperators) {
      if (text_.substr(at_, sign.size()) != sign) continue;
      if (sign == "=" && open_.empty()) break;
      at_ += sign.size();
      wants_operand_ = true;
      return;
    }
    for (const std::string_view sign : {"and ", "or ", "if ", "else "}) {
      if (text_.substr(at_, sign.size()) != sign) continue;
      at_ += sign.size();
      wants_operand_ = true;
      return;
    }
    fail("an operator");
  }

  bool tells_symbol() const {
    if (expression_.symbols.empty()) return false;
    if (is_plain_) return true;
    return root_ == "Symbol" ||
           ((root_ == "Mul" || root_ == "Equality" || root_ == "Eq") && root_commas_ == 1);
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string open_;
  std::string_view root_;
  size_t root_commas_ = 0;
  bool wants_operand_ = true;
  bool can_call_ = false;
  bool was_opened_ = false;
  bool was_comma_ = false;
  bool is_symbol_name_ = false;
  bool is_plain_ = false;  // written as "s0 + 1" rather than "Add(Symbol('s0'), Integer(1))"
  Expression expression_;
};

}  // namespace

Expression read_expression(std::string_view text) { return Scanner(text).run(); }

bool is_unbacked_symbol(std::string_view name) {
  const std::string_view digits = name.starts_with("zuf") ? name.substr(3)
                                  : name.starts_with('u') ? name.substr(1)
                                                          : std::string_view();
  return !digits.empty() && std::ranges::all_of(digits, is_digit);
}

}  // namespace flambeau::graph::verifying
