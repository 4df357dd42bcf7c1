// Writes TorchScript modules as Python: decompile FOLDER file.pt... makes FOLDER/file.py of each.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "flambeau/error.h"
#include "flambeau/script.h"

int main(int count, char** words) {
  if (count < 3) return 2;
  const std::filesystem::path folder = words[1];
  int failed = 0;
  for (int i = 2; i < count; ++i) {
    const std::filesystem::path file = words[i];
    try {
      const std::string text = flambeau::script::load_script(file.string()).python_code();
      std::ofstream(folder / file.stem().replace_extension(".py"), std::ios::binary) << text;
    } catch (const flambeau::Error& error) {
      ++failed;
      fmt::print("{}: {}\n", file.filename().string(), error.message());
    }
  }
  fmt::print("{} of {} were not written\n", failed, count - 2);
  return 0;
}
