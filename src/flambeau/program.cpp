#include "flambeau/program.h"

namespace flambeau {

void save_program(ExportedProgram program, const std::string& path) {
  Package package;
  package.models.push_back({.name = "model", .program = std::move(program)});
  save_package(package, path, PackageLayout::kArchive);
}

}  // namespace flambeau
