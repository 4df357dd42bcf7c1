// Freezes modules as a user would: script_freeze IN OUT [PRESERVED...] loads, freezes and saves.
#include <iostream>

#include "flambeau/base/error.h"
#include "flambeau/script.h"

int main(int count, char** arguments) {
  if (count < 3) {
    std::cerr << "script_freeze IN OUT [PRESERVED...]\n";
    return 2;
  }
  try {
    flambeau::script::ScriptModule module = flambeau::script::load_script(arguments[1]);
    module.eval();
    flambeau::script::save_script(flambeau::script::freeze(module, {arguments + 3, arguments + count}),
                                  arguments[2]);
  } catch (const flambeau::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
