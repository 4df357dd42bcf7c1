// flambeau code: the code of a TorchScript module, as its archive has it or as it was written.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "commands.h"
#include "flambeau/error.h"
#include "flambeau/files.h"
#include "script/script_files.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

struct CodeCommandOptions {
  std::string file;
  std::string what;
  bool original = false;
  bool python = false;
  std::string output;
};

bool is_keyword(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "and",  "as",    "assert", "break", "class",  "continue", "def",  "del",   "elif",
      "else", "for",   "from",   "if",    "import", "in",       "is",   "not",   "or",
      "pass", "raise", "return", "while", "with",   "None",     "True", "False", "self"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

// A line of code in color: keywords, texts, numbers and comments.
std::string highlighted(std::string_view line) {
  std::string shown;
  for (size_t i = 0; i < line.size();) {
    const auto c = static_cast<unsigned char>(line[i]);
    size_t end = i + 1;
    Style style = Style::kPlain;
    if (c == '#') {
      end = line.size();
      style = Style::kDim;
    } else if (c == '"' || c == '\'') {
      while (end < line.size() && static_cast<unsigned char>(line[end]) != c)
        end += line[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, line.size());
      style = Style::kGreen;
    } else if (std::isalpha(c) != 0 || c == '_') {
      while (end < line.size() &&
             (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_'))
        ++end;
      if (is_keyword(line.substr(i, end - i))) style = Style::kCyan;
    } else if (std::isdigit(c) != 0) {
      while (end < line.size() &&
             (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '.'))
        ++end;
      style = Style::kYellow;
    }
    const std::string_view part = line.substr(i, end - i);
    shown += style == Style::kPlain ? std::string(part) : styled(part, style);
    i = end;
  }
  return shown;
}

// Text of a file, line by line: what a terminal would take for commands is escaped.
void print_lines(std::string_view text) {
  const bool has_color = use_color(STDOUT_FILENO);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string line = printable(text.substr(0, end), SIZE_MAX);
    fmt::print("{}\n", has_color ? highlighted(line) : line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// What WHAT could be, for who mistyped it.
std::vector<std::string> names_in(const script::ScriptModule& root) {
  std::vector<std::string> names;
  for (const script::ScriptModule& module : root.modules()) {
    if (!module.path().empty()) names.push_back(module.path());
    for (const script::ModuleMethod& method : module.methods())
      names.push_back(module.path().empty() ? method.name : module.path() + "." + method.name);
  }
  return names;
}

std::string original_of(const script::ScriptModule& module, const std::string& method) {
  std::string text = module.original_code(method);
  if (!text.empty()) return text;
  throw Error(ErrorCode::kNotFound, "the file does not say what the original source was",
              "leave out --original for the code that is in it");
}

// Python of the whole module, or of one inside.
int print_python(const CodeCommandOptions& options, const script::ScriptModule& root) {
  const std::string text = root.submodule(options.what).python_code();
  if (options.output.empty()) {
    print_lines(text);
  } else {
    AtomicFile file(options.output);
    file.write_text(text);
    file.commit();
  }
  return kExitOk;
}

int run_code(const CodeCommandOptions& options, const CommonOptions& common) {
  const script::ScriptModule root = open_script({options.file, nullptr, true}, common);
  return with_location("file", options.file, [&]() -> int {
    if (options.python) return print_python(options, root);
    // A module's path, or one with a method behind it.
    const size_t dot = options.what.rfind('.');
    const std::string last = dot == std::string::npos ? options.what : options.what.substr(dot + 1);
    const std::string before = dot == std::string::npos ? "" : options.what.substr(0, dot);
    const std::vector<std::string> known = options.what.empty() ? std::vector<std::string>() : names_in(root);
    if (!options.what.empty() && std::ranges::find(known, options.what) == known.end()) {
      throw Error(ErrorCode::kNotFound,
                  fmt::format("there is no module and no method '{}'", printable(options.what)),
                  did_you_mean(options.what, known, "flambeau inspect --code lists them"));
    }
    const script::ScriptModule parent = root.submodule(before);
    if (!last.empty() && parent.has_method(last)) {
      print_lines(options.original ? original_of(parent, last) : parent.code(last));
      return kExitOk;
    }
    const script::ScriptModule module = root.submodule(options.what);
    if (!options.original) {
      print_lines(module.code());
      return kExitOk;
    }
    for (const script::ModuleMethod& method : module.methods()) print_lines(original_of(module, method.name));
    return kExitOk;
  });
}

}  // namespace

Command code_command() {
  auto options = std::make_shared<CodeCommandOptions>();
  return {
      "code",
      "Print the code of a TorchScript module",
      {
          Option("FILE", "What torch.jit.save wrote", &options->file).required().takes(Takes::kInput),
          Option("WHAT", "A module, a method, or both: layer1.0, forward, layer1.0.forward", &options->what),
          Option("--original", "The source it was made of, where the file's debug information has it",
                 &options->original),
          Option("--python", "A Python module that runs in plain PyTorch, with its weights in a state dict",
                 &options->python)
              .excludes("--original"),
          Option("-o,--output", "Where the Python goes; printed when it is left out", &options->output)
              .takes(Takes::kOutput),
      },
      {{"code model.pt", "the class of the module"},
       {"code model.pt layer1.0.forward", "one method of a module inside"},
       {"code --original model.pt forward", "as it was written"},
       {"code --python model.pt -o model.py", "an nn.Module, without TorchScript"}},
      [options](const CommonOptions& common) { return run_code(*options, common); }};
}

}  // namespace flambeau::cli
