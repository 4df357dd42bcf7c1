// Reads TorchScript modules, compiles and prints their code, and writes them again: what torch.jit.save gives
// for torch.jit.load of a file, byte for byte. Prints a line "path<TAB>error: ..." for what fails.
//   script_resave [--inert] [--bytecode] [--mobile VERSION]... FOLDER PATH...
// --inert: nothing of the files runs; objects with a state of their own are written as they were read.
// --bytecode: modules are those of the files' bytecode. --mobile: writes mobile modules with bytecode of that
// version instead, into FOLDER/VERSION.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "flambeau/error.h"
#include "flambeau/script.h"

namespace {

void complain(const std::string& path, const flambeau::Error& error) {
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::cout << path << "\terror: " << text << '\n';
}

}  // namespace

int main(int count, char** arguments) {
  using namespace flambeau;
  std::vector<std::string> words(arguments + 1, arguments + count);
  script::ScriptLoadOptions options;
  options.threads = 1;
  std::vector<std::string> versions;
  while (!words.empty() && words[0].starts_with("--")) {
    if (words[0] == "--inert") options.run_set_state = false;
    if (words[0] == "--bytecode") options.from_bytecode = true;
    if (words[0] == "--mobile" && words.size() > 1) {
      versions.push_back(words[1]);
      words.erase(words.begin());
    }
    words.erase(words.begin());
  }
  if (words.empty()) return 2;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& path = words[i];
    try {
      const script::ScriptModule module = script::load_script(path, options);
      const std::string name = path.substr(path.rfind('/') + 1);
      for (const std::string& version : versions) {
        try {
          script::save_mobile(module, words[0] + "/" + version + "/" + name, {.version = std::stol(version)});
        } catch (const Error& error) {
          complain(version + "/" + name, error);
        }
      }
      if (versions.empty()) script::save_script(module, words[0] + "/" + name);
    } catch (const Error& error) {
      complain(path, error);
    }
  }
  return 0;
}
