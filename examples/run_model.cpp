// Loads an exported program and runs it on the inputs it was saved with:
//   run_model model.pt2
#include <cstdio>

#include "flambeau/error.h"
#include "flambeau/runtime.h"

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fputs("usage: run_model MODEL.pt2\n", stderr);
    return 2;
  }
  flambeau::Program program = flambeau::load_program(arguments[1]);
  for (const flambeau::Value& output : program.run(flambeau::example_inputs(program)))
    std::puts(output.summary().c_str());
} catch (const flambeau::Error& error) {
  std::fprintf(stderr, "run_model: %s\n", error.what());
  return 1;
}
