#include "flambeau/graph/text/names.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "flambeau/base/ascii.h"

namespace flambeau::graph {
namespace {

// Sorted, for binary search. The builtins are those of Python 3.11.
constexpr std::string_view kKeywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",
};
constexpr std::string_view kBuiltins[] = {
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "BaseExceptionGroup",
    "BlockingIOError",
    "BrokenPipeError",
    "BufferError",
    "BytesWarning",
    "ChildProcessError",
    "ConnectionAbortedError",
    "ConnectionError",
    "ConnectionRefusedError",
    "ConnectionResetError",
    "DeprecationWarning",
    "EOFError",
    "Ellipsis",
    "EncodingWarning",
    "EnvironmentError",
    "Exception",
    "ExceptionGroup",
    "False",
    "FileExistsError",
    "FileNotFoundError",
    "FloatingPointError",
    "FutureWarning",
    "GeneratorExit",
    "IOError",
    "ImportError",
    "ImportWarning",
    "IndentationError",
    "IndexError",
    "InterruptedError",
    "IsADirectoryError",
    "KeyError",
    "KeyboardInterrupt",
    "LookupError",
    "MemoryError",
    "ModuleNotFoundError",
    "NameError",
    "NoneType",
    "None",
    "NotADirectoryError",
    "NotImplemented",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "PendingDeprecationWarning",
    "PermissionError",
    "ProcessLookupError",
    "RecursionError",
    "ReferenceError",
    "ResourceWarning",
    "RuntimeError",
    "RuntimeWarning",
    "StopAsyncIteration",
    "StopIteration",
    "SyntaxError",
    "SyntaxWarning",
    "SystemError",
    "SystemExit",
    "TabError",
    "TimeoutError",
    "True",
    "TypeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeError",
    "UnicodeTranslateError",
    "UnicodeWarning",
    "UserWarning",
    "ValueError",
    "Warning",
    "ZeroDivisionError",
    "__build_class__",
    "__debug__",
    "__doc__",
    "__import__",
    "__loader__",
    "__name__",
    "__package__",
    "__spec__",
    "abs",
    "aiter",
    "all",
    "anext",
    "any",
    "ascii",
    "bin",
    "bool",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "copyright",
    "credits",
    "delattr",
    "device",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "exit",
    "filter",
    "float",
    "format",
    "frozenset",
    "fx_pytree",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "inf",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "license",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "nan",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "pytree",
    "quit",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "torch",
    "tuple",
    "type",
    "vars",
    "zip",
};

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && !is_digit(text.front()) && std::all_of(text.begin(), text.end(), is_word);
}

bool is_python_keyword(std::string_view name) {
  return std::find(std::begin(kKeywords), std::end(kKeywords), name) != std::end(kKeywords);
}

bool is_taken_by_python(std::string_view name) {
  static const std::unordered_set<std::string_view> kTaken = [] {
    std::unordered_set<std::string_view> taken(std::begin(kKeywords), std::end(kKeywords));
    taken.insert(std::begin(kBuiltins), std::end(kBuiltins));
    return taken;
  }();
  return kTaken.contains(name);
}

std::string TextNamespace::create(std::string_view wanted) {
  std::string candidate;
  if (is_identifier(wanted)) {
    candidate = wanted;
  } else {
    // A run of characters that are none becomes one underscore.
    for (const char c : wanted) {
      if (is_word(c)) {
        candidate += c;
      } else if (candidate.empty() || candidate.back() != '\0') {
        candidate += '\0';
      }
    }
    std::replace(candidate.begin(), candidate.end(), '\0', '_');
    if (candidate.empty()) candidate = "_unnamed";
    if (is_digit(candidate.front())) candidate.insert(0, 1, '_');
  }
  // "add_12" is base "add" and number 12; "_1" has no base before the underscore and is a base itself.
  const size_t stem = candidate.find_last_not_of("0123456789") + 1;
  std::string base = candidate;
  size_t number = 0;
  bool has_number = stem < candidate.size() && stem >= 2 && candidate[stem - 1] == '_';
  if (has_number) {
    base.resize(stem - 1);
    const auto [end, status] =
        std::from_chars(candidate.data() + stem, candidate.data() + candidate.size(), number);
    // Beyond all counting; PyTorch would go on with a larger integer.
    if (status != std::errc()) number = 0;
  }
  if (!has_number || used_.contains(candidate)) {
    number = last_number_[base];
    if (is_taken_by_python(candidate)) candidate = base + "_" + std::to_string(++number);
  }
  while (used_.contains(candidate)) candidate = base + "_" + std::to_string(++number);
  used_.insert(candidate);
  last_number_[base] = number;
  return candidate;
}

std::string name_for_target(const Target& target) {
  // "torch.ops.aten.add.Tensor" is called "add.Tensor", every other function by its last part.
  const std::string_view text = target.text();
  size_t from = text.rfind('.');
  if (target.is_in_torch_ops() && !target.is_higher_order()) from = text.rfind('.', from - 1);
  const std::string_view last = from == std::string_view::npos ? text : text.substr(from + 1);
  std::string name;
  for (size_t i = 0; i < last.size(); ++i) {
    const bool is_upper = last[i] >= 'A' && last[i] <= 'Z';
    if (is_upper && i > 0 && last[i - 1] >= 'a' && last[i - 1] <= 'z') name += '_';
    name += is_upper ? static_cast<char>(last[i] - 'A' + 'a') : last[i];
  }
  return name;
}

}  // namespace flambeau::graph
