// Reads TorchScript modules, compiles and prints their code, and writes them again: what torch.jit.save gives
// for torch.jit.load of a file, byte for byte. Prints a line "path<TAB>error: ..." for what fails.
//   script_resave [--inert] FOLDER PATH...
// --inert: nothing of the files runs; objects with a state of their own are written as they were read.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "flambeau/error.h"
#include "flambeau/script.h"

int main(int count, char** arguments) {
  using namespace flambeau;
  std::vector<std::string> words(arguments + 1, arguments + count);
  script::ScriptLoadOptions options;
  options.threads = 1;
  if (!words.empty() && words[0] == "--inert") {
    options.run_set_state = false;
    words.erase(words.begin());
  }
  if (words.empty()) return 2;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& path = words[i];
    try {
      const script::ScriptModule module = script::load_script(path, options);
      script::save_script(module, words[0] + "/" + path.substr(path.rfind('/') + 1));
    } catch (const Error& error) {
      std::string text = error.what();
      std::replace(text.begin(), text.end(), '\n', ' ');
      std::cout << path << "\terror: " << text << '\n';
    }
  }
  return 0;
}
