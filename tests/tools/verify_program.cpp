// Verifies programs in JSON, one file for each argument: prints a line "path<TAB>finding" for everything that
// is wrong, and "path<TAB>error: ..." for what cannot be read at all.
//   verify_program [--dialect training|aten|core-aten|edge] [--schemas FILE] PATH...
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/program_json.h"
#include "flambeau/graph/verify.h"
#include "flambeau/value/schema_table.h"

int main(int count, char** arguments) {
  using flambeau::graph::Dialect;
  flambeau::SchemaTable schemas;
  flambeau::graph::VerifyOptions options;
  options.schemas = &schemas;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--dialect" && i + 1 < count) {
      const std::string name = arguments[++i];
      options.dialect = name == "training"    ? Dialect::kTraining
                        : name == "core-aten" ? Dialect::kCoreAten
                        : name == "edge"      ? Dialect::kEdge
                                              : Dialect::kAten;
      continue;
    }
    std::ifstream file(argument == "--schemas" && i + 1 < count ? arguments[++i] : arguments[i],
                       std::ios::binary);
    if (argument == "--schemas") {
      for (std::string line; std::getline(file, line);) schemas.add(line);
      continue;
    }
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    try {
      flambeau::pt2::Notes notes;
      const auto program = flambeau::pt2::read_program(text, notes);
      for (const auto& finding : flambeau::graph::verify(program, options))
        std::cout << argument << '\t' << finding.to_string() << '\n';
    } catch (const flambeau::Error& error) {
      std::cout << argument << "\terror: " << error.what() << '\n';
    }
  }
  return 0;
}
