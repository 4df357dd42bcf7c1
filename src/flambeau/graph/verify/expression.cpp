#include "flambeau/graph/verify/expression.h"

#include <fmt/format.h>

#include <algorithm>

#include "flambeau/base/ascii.h"
#include "flambeau/base/error.h"
#include "flambeau/base/utf8.h"

namespace flambeau::graph::verifying {
namespace {

// What sympy and PyTorch call when they read a size: all are functions of numbers alone.
constexpr std::string_view kFunctions[] = {
    "Symbol", "Integer", "Rational", "Float", "Add", "Mul", "Pow", "Max", "Min", "Mod", "Abs", "sign",
    "floor", "ceiling", "frac", "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "Heaviside", "Piecewise", "ExprCondPair", "Tuple", "Equality",
    "Unequality", "LessThan", "GreaterThan", "StrictLessThan", "StrictGreaterThan", "Eq", "Ne", "Lt", "Le",
    "Gt", "Ge", "And", "Or", "Not", "Xor", "Implies", "ITE",
    // torch.utils._sympy.functions
    "FloorDiv", "ModularIndexing", "Where", "PythonMod", "CleanDiv", "CeilToInt", "FloorToInt", "CeilDiv",
    "LShift", "RShift", "PowByNatural", "FloatPow", "FloatTrueDiv", "IntTrueDiv",
    "IsNonOverlappingAndDenseIndicator", "TruncToFloat", "TruncToInt", "RoundToInt", "RoundDecimal",
    "ToFloat", "Identity", "OpaqueUnaryFn_sqrt", "OpaqueUnaryFn_cos", "OpaqueUnaryFn_cosh",
    "OpaqueUnaryFn_sin", "OpaqueUnaryFn_sinh", "OpaqueUnaryFn_tan", "OpaqueUnaryFn_tanh",
    "OpaqueUnaryFn_asin", "OpaqueUnaryFn_acos", "OpaqueUnaryFn_atan", "OpaqueUnaryFn_exp",
    "OpaqueUnaryFn_log", "OpaqueUnaryFn_asinh", "OpaqueUnaryFn_log2", "BitwiseFn_bitwise_and",
    "BitwiseFn_bitwise_or", "BitwiseFn_bitwise_xor"};

// What PyTorch writes into guards, which Python computes.
constexpr std::string_view kGuardFunctions[] = {"max",           "min",           "abs",
                                                "float",         "int",           "bool",
                                                "round",         "len",           "math.ceil",
                                                "math.floor",    "math.trunc",    "math.sqrt",
                                                "math.pow",      "math.exp",      "math.log",
                                                "math.log2",     "math.sin",      "math.cos",
                                                "math.tan",      "math.sinh",     "math.cosh",
                                                "math.tanh",     "math.asin",     "math.acos",
                                                "math.atan",     "math.asinh",    "torch.sym_max",
                                                "torch.sym_min", "torch.sym_not", "torch.sym_float",
                                                "torch.sym_int", "torch.sym_ite", "torch._sym_sqrt"};

constexpr std::string_view kDividers[] = {"Mod",     "PythonMod",       "FloorDiv",     "CleanDiv",
                                          "CeilDiv", "ModularIndexing", "FloatTrueDiv", "IntTrueDiv"};
constexpr std::string_view kDividesByZero = "it divides by zero";

constexpr std::string_view kConstants[] = {"True", "False", "true", "false", "oo", "int_oo"};

constexpr std::string_view kKeywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

template <size_t kCount>
bool contains(const std::string_view (&list)[kCount], std::string_view word) {
  return std::ranges::find(list, word) != std::end(list);
}

// Operands and operators take turns; brackets are counted, not followed, so that depth costs no stack.
class Scanner {
 public:
  Scanner(std::string_view text, bool is_guard) : text_(text), is_guard_(is_guard) {}

  Expression run() {
    while (expression_.problem.empty()) {
      while (at_ < text_.size() && text_[at_] == ' ') ++at_;
      if (at_ == text_.size()) break;
      wants_operand_ ? operand() : after_operand();
    }
    if (expression_.problem.empty()) {
      if (!open_.empty()) {
        expression_.problem = "'(' is never closed";
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
  // What a bracket belongs to.
  enum class Opened : char { kGroup, kCall, kSymbol, kFloat };
  struct Bracket {
    Opened what;
    bool divides;     // by its second argument
    size_t argument;  // where the one at hand begins
    size_t number = 0;
  };

  void fail(std::string_view expected) {
    const std::string_view found = text_.substr(at_, 1);
    expression_.problem = fmt::format("expected {} at byte {}, found '{}'", expected, at_, printable(found));
  }

  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  bool take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  void operand() {
    const char c = text_[at_];
    if (is_guard_ && c == 'L' && peek(1) == '[') {
      input();
    } else if (is_word_start(c)) {
      if (word()) return;
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if ((c == '\'' || c == '"') && was_opened_ && !open_.empty()) {
      string();
    } else if (c == '(') {
      open(Opened::kGroup);
      return;
    } else if (c == ')' && (was_opened_ || was_comma_)) {
      close();
    } else if (c == '+' || c == '-' || c == '~') {
      ++at_;
    } else {
      fail("an operand");
      return;
    }
    was_opened_ = was_comma_ = divides_ = false;
  }

  void digits() {
    while (is_digit(peek())) ++at_;
  }

  void number() {
    const size_t start = at_;
    digits();
    if (peek() == '.') ++at_;
    digits();
    if (peek() == 'e' || peek() == 'E') {
      const bool is_signed = peek(1) == '+' || peek(1) == '-';
      if (is_digit(peek(is_signed ? 2 : 1))) {
        at_ += is_signed ? 2 : 1;
        digits();
      }
    }
    wants_operand_ = false;
    if (is_word(peek()) || peek() == '.') return fail("an operator");
    const std::string_view digits_read = text_.substr(start, at_ - start);
    if (divides_ && digits_read.find_first_not_of("0.") == std::string_view::npos)
      expression_.problem = kDividesByZero;
  }

  // Whether it opened a call.
  bool word() {
    const size_t start = at_;
    while (is_word(peek()) || (peek() == '.' && is_word_start(peek(1)))) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (name == "not") return false;
    wants_operand_ = false;
    if (peek() == '(') {
      if (!contains(kFunctions, name) && !(is_guard_ && contains(kGuardFunctions, name))) {
        expression_.problem = fmt::format("'{}' is no function of sizes", printable(name, 100));
        return false;
      }
      if (root_.empty()) root_ = name;
      open(name == "Symbol"  ? Opened::kSymbol
           : name == "Float" ? Opened::kFloat
                             : Opened::kCall,
           contains(kDividers, name));
      return true;
    }
    if (contains(kConstants, name) || (is_guard_ && name == "math.inf")) return false;
    if (peek() == '=' && peek(1) != '=' && !open_.empty() && open_.back().what != Opened::kGroup) {
      if (!is_assumption(name)) fail("an assumption");
      return false;
    }
    if (!is_symbol(name)) {
      expression_.problem = fmt::format("'{}' is no symbol", printable(name, 100));
      return false;
    }
    is_plain_ = true;
    expression_.symbols.push_back(name);
    return false;
  }

  static bool is_assumption(std::string_view name) {
    return std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; }) &&
           name.find("__") == std::string_view::npos;
  }

  // nan and zoo are numbers to sympy, and sizes to nobody.
  static bool is_symbol(std::string_view name) {
    return std::ranges::all_of(name, is_word) && name.find("__") == std::string_view::npos && name != "nan" &&
           name != "zoo" && !contains(kKeywords, name);
  }

  // The name of a symbol, or the digits of a float.
  void string() {
    const Opened where = open_.back().what;
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) {
      expression_.problem = fmt::format("the text that begins at byte {} never ends", at_);
      return;
    }
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    const bool is_number = std::ranges::all_of(
        inside, [](char c) { return is_digit(c) || c == '.' || c == 'e' || c == '+' || c == '-'; });
    if (where == Opened::kSymbol ? inside.empty() || !is_word_start(inside[0]) || !is_symbol(inside)
                                 : where != Opened::kFloat || inside.empty() || !is_number) {
      expression_.problem = fmt::format("the text '{}' is no {}", printable(inside, 100),
                                        where == Opened::kFloat ? "number" : "symbol");
      return;
    }
    if (where == Opened::kSymbol) expression_.symbols.push_back(inside);
    at_ = end + 1;
    wants_operand_ = false;
  }

  // L['x'][0]['key'], then a size, stride or offset of it, or nothing.
  void input() {
    ++at_;
    while (take("[")) {
      if (is_digit(peek())) {
        digits();
      } else if (peek() == '\'' || peek() == '"') {
        const char quote = text_[at_++];
        while (at_ < text_.size() && text_[at_] != quote) {
          if (text_[at_] == '\\' || static_cast<unsigned char>(text_[at_]) < ' ') return fail("a plain key");
          ++at_;
        }
        if (!take(std::string_view(&quote, 1))) return fail("the end of the key");
      } else {
        return fail("a key or a number");
      }
      if (!take("]")) return fail("']'");
    }
    if (take(".size()[") || take(".stride()[")) {
      if (!is_digit(peek())) return fail("a number");
      digits();
      if (!take("]")) return fail("']'");
    } else {
      take(".storage_offset()") || take(".item()");
    }
    wants_operand_ = false;
  }

  void open(Opened what, bool divides = false) {
    ++at_;
    open_.push_back({what, divides, at_});
    wants_operand_ = was_opened_ = true;
    was_comma_ = false;
  }

  void close() {
    if (open_.empty()) return fail("an operator");
    end_argument();
    open_.pop_back();
    ++at_;
    wants_operand_ = false;
  }

  void end_argument() {
    const Bracket& bracket = open_.back();
    if (!bracket.divides || bracket.number == 0) return;
    std::string_view argument = text_.substr(bracket.argument, at_ - bracket.argument);
    argument.remove_prefix(std::min(argument.find_first_not_of(' '), argument.size()));
    if (argument == "0" || argument == "Integer(0)" || argument == "0.0")
      expression_.problem = kDividesByZero;
  }

  void after_operand() {
    const char c = text_[at_];
    if (c == ')') return close();
    if (c == ',' && !open_.empty()) {
      if (open_.size() == 1) ++root_commas_;
      end_argument();
      ++at_;
      ++open_.back().number;
      open_.back().argument = at_;
      wants_operand_ = was_comma_ = true;
      return;
    }
    static constexpr std::string_view kOperators[] = {
        "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+", "-",
        "*",  "/",  "%",  "<",  ">",  "&",  "|",  "^",  "="};
    for (const std::string_view sign : kOperators) {
      if (text_.substr(at_, sign.size()) != sign) continue;
      if (sign == "=" && (open_.empty() || open_.back().what == Opened::kGroup)) break;
      at_ += sign.size();
      wants_operand_ = true;
      divides_ = sign == "/" || sign == "//" || sign == "%";
      return;
    }
    for (const std::string_view sign : {"and ", "or ", "if ", "else "}) {
      if (!take(sign)) continue;
      wants_operand_ = true;
      return;
    }
    if (c == ']' && !open_.empty()) return fail("')'");
    fail("an operator");
  }

  bool tells_symbol() const {
    if (expression_.symbols.empty()) return false;
    if (is_plain_) return true;
    return root_ == "Symbol" ||
           ((root_ == "Mul" || root_ == "Equality" || root_ == "Eq") && root_commas_ == 1);
  }

  std::string_view text_;
  bool is_guard_;
  size_t at_ = 0;
  std::vector<Bracket> open_;
  std::string_view root_;
  size_t root_commas_ = 0;
  bool wants_operand_ = true;
  bool was_opened_ = false;
  bool was_comma_ = false;
  bool divides_ = false;   // by the operand that comes next
  bool is_plain_ = false;  // written as "s0 + 1" rather than "Add(Symbol('s0'), Integer(1))"
  Expression expression_;
};

}  // namespace

Expression read_expression(std::string_view text) { return Scanner(text, false).run(); }

Expression read_guard(std::string_view text) { return Scanner(text, true).run(); }

bool is_unbacked_symbol(std::string_view name) {
  const std::string_view digits = name.starts_with("zuf") ? name.substr(3)
                                  : name.starts_with('u') ? name.substr(1)
                                                          : std::string_view();
  return !digits.empty() && std::ranges::all_of(digits, is_digit);
}

bool is_python_name(std::string_view text) {
  const auto is_letter = [](char c) { return is_word(c) || static_cast<unsigned char>(c) >= 0x80; };
  return !text.empty() && !is_digit(text[0]) && std::ranges::all_of(text, is_letter) && is_valid_utf8(text) &&
         !is_python_keyword(text);
}

bool is_python_keyword(std::string_view text) { return contains(kKeywords, text); }

}  // namespace flambeau::graph::verifying
