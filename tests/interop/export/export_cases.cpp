// What the tests of exported programs run: one step of a program's life, from file to file.
//   export_cases decompose IN.pt2 OUT.pt2 ...    several pairs at once
//   export_cases levels                          when each operator is taken apart
#include <fmt/format.h>

#include <exception>
#include <string_view>

#include "flambeau/export.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/program.h"
#include "flambeau/trace/decompose.h"

namespace {

using namespace flambeau;

void decompose(const char* in, const char* out) {
  pt2::Package package = pt2::load_package(in);
  for (pt2::Model& model : package.models) model.program = trace::run_decompositions(model.program);
  save_program(std::move(package.models.at(0).program), out);
}

void print_levels() {
  const ops::Library library;
  for (const std::string& name : library.names()) {
    const ops::Level level = library.get(name).level;
    fmt::print("{} {}\n", name,
               level == ops::Level::kNever       ? "never"
               : level == ops::Level::kComposite ? "composite"
                                                 : "core");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "levels") {
    print_levels();
    return 0;
  }
  if (argc < 4 || std::string_view(argv[1]) != "decompose" || argc % 2 != 0) {
    fmt::print(stderr, "usage: export_cases decompose IN.pt2 OUT.pt2 ... | levels\n");
    return 2;
  }
  int failures = 0;
  for (int i = 2; i + 1 < argc; i += 2) {
    try {
      decompose(argv[i], argv[i + 1]);
    } catch (const std::exception& error) {
      fmt::print("{}: {}\n", argv[i], error.what());
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}
