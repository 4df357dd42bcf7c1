// Any bytes are a program in the text form or an Error; a program that is one prints, and its text parses to
// a program that prints the same. The other printers take it too.
#include <cstdlib>

#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/program_json.h"
#include "flambeau/graph/report/dot.h"
#include "flambeau/graph/text/parse.h"
#include "flambeau/graph/text/print.h"

namespace {

using flambeau::graph::ExportedProgram;

// What a file cannot hold is an Error, and stays one.
std::string json_of(const ExportedProgram& program) {
  try {
    return flambeau::pt2::write_program(program);
  } catch (const flambeau::Error& error) {
    return error.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ExportedProgram program;
  try {
    program = flambeau::graph::parse_text(text);
  } catch (const flambeau::Error&) {
    return 0;
  }
  to_text(program);
  to_dot(program, {.modules = true});
  const std::string printed = to_text(program, {.lossless = true});
  const ExportedProgram again = flambeau::graph::parse_text(printed);
  if (to_text(again, {.lossless = true}) != printed) std::abort();
  if (json_of(again) != json_of(program)) std::abort();
  return 0;
}
