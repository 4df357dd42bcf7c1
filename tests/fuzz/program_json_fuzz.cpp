// Any text is a program's JSON or an Error; a program that is one writes text that reads as the same program,
// and everything that takes a program takes it.
#include "hostile/exercise_program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  flambeau::hostile::exercise_program_json({reinterpret_cast<const char*>(data), size});
  return 0;
}
