// Puts TorchScript modules into a package:
//   script_pack PACKAGE [RESOURCE NAME=FILE...]...
// FILE: "x.pt", or "package.pt:name". Each RESOURCE, "folder/name.pkl", holds a dict of modules by their
// names, or, with an empty name, one module.
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "flambeau/error.h"
#include "flambeau/script_package.h"

int main(int count, char** arguments) {
  using namespace flambeau;
  std::vector<script::ScriptResource> resources;
  std::map<std::string, std::vector<std::pair<script::PackagedScript, script::ScriptModule>>> packages;
  try {
    for (int i = 2; i < count; ++i) {
      const std::string word = arguments[i];
      const size_t equals = word.find('=');
      if (equals == std::string::npos) {  // a resource begins
        const size_t slash = word.rfind('/');
        resources.push_back({word.substr(0, slash), word.substr(slash + 1), {}});
        continue;
      }
      if (resources.empty()) return 2;
      const std::string name = word.substr(0, equals), file = word.substr(equals + 1);
      const size_t colon = file.find(':');
      if (colon == std::string::npos) {
        resources.back().modules.emplace_back(name, script::load_script(file));
        continue;
      }
      // Of a package: loaded with the others, so that they share what they shared.
      if (packages.find(file.substr(0, colon)) == packages.end())
        packages.emplace(file.substr(0, colon), script::load_script_package(file.substr(0, colon)));
      for (const auto& [known, module] : packages.at(file.substr(0, colon))) {
        for (const std::string& called : known.names) {
          if (called == file.substr(colon + 1)) resources.back().modules.emplace_back(name, module);
        }
      }
    }
    script::save_script_package(arguments[1], resources);
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
