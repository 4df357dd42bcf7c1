// Verifies the programs in files, JSON or .pt2: prints a line "path<TAB>finding" for everything that is
// wrong, and "path<TAB>error: ..." for what cannot be read at all.
//   verify_program [--dialect training|aten|core-aten|edge] [--schemas FILE] PATH...
#include <fstream>
#include <iostream>
#include <string>

#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/graph/verify/verify.h"
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
    } else if (argument == "--schemas" && i + 1 < count) {
      std::ifstream file(arguments[++i]);
      for (std::string line; std::getline(file, line);) schemas.add(line);
    } else {
      try {
        const flambeau::pt2::Package package = flambeau::pt2::load_package(argument);
        for (const flambeau::pt2::Model& model : package.models) {
          for (const auto& finding : flambeau::graph::verify(model.program, options))
            std::cout << argument << '\t' << finding.to_string() << '\n';
        }
      } catch (const flambeau::Error& error) {
        std::cout << argument << "\terror: " << error.what() << '\n';
      }
    }
  }
  return 0;
}
