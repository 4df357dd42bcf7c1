// flambeau code: the code of a TorchScript module, as its archive has it or as it was written.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "commands.h"
#include "flambeau/error.h"
#include "script/script_files.h"

namespace flambeau::cli {
namespace {

struct CodeCommandOptions {
  std::string file;
  std::string what;
  bool original = false;
};

// Text of a file, line by line: what a terminal would take for commands is escaped.
void print_lines(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    fmt::print("{}\n", printable(text.substr(0, end), SIZE_MAX));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string original_of(const script::ScriptModule& module, const std::string& method) {
  std::string text = module.original_code(method);
  if (!text.empty()) return text;
  throw Error(ErrorCode::kNotFound, "the file does not say what the original source was",
              "leave out --original for the code that is in it");
}

int run_code(const CodeCommandOptions& options, const CommonOptions& common) {
  const script::ScriptModule root = open_script(options.file, common);
  return with_location("file", options.file, [&] {
    // A module's path, or one with a method behind it.
    const size_t dot = options.what.rfind('.');
    const std::string last = dot == std::string::npos ? options.what : options.what.substr(dot + 1);
    const std::string before = dot == std::string::npos ? "" : options.what.substr(0, dot);
    const script::ScriptModule parent = root.submodule(before);
    bool is_method = false;
    for (const script::ModuleMethod& method : parent.methods()) is_method = is_method || method.name == last;
    if (is_method) {
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
      },
      {{"code model.pt", "the class of the module"},
       {"code model.pt layer1.0.forward", "one method of a module inside"},
       {"code --original model.pt forward", "as it was written"}},
      [options](const CommonOptions& common) { return run_code(*options, common); }};
}

}  // namespace flambeau::cli
