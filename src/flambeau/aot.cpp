#include "flambeau/aot.h"

#include <fmt/format.h>

#include "flambeau/aot/open.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/pt2/package.h"

namespace flambeau {

std::string aot_compile(const std::string& program, const std::string& path, CompileOptions options) {
  pt2::Package package = pt2::load_package(program);
  with_location("file", program, [&] { aot::compile_to_file(std::move(package), path, std::move(options)); });
  return path;
}

std::string aot_compile(graph::ExportedProgram program, const std::string& path, CompileOptions options) {
  pt2::Package package;
  package.models.push_back({.name = "model", .program = std::move(program)});
  aot::compile_to_file(std::move(package), path, std::move(options));
  return path;
}

Program aot_load(const std::string& path, const std::string& device, LoadOptions options) {
  if (device != "cpu") {
    throw Error(ErrorCode::kUnsupported, fmt::format("Unsupported device {}", printable(device)),
                "compiled models run on the device 'cpu'");
  }
  return load_program(path, std::move(options));
}

}  // namespace flambeau
