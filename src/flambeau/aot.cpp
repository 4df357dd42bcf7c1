#include "flambeau/aot.h"

#include <fmt/format.h>

#include "flambeau/aot/payload.h"
#include "flambeau/archive/elf/reader.h"
#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/graph/verify/verify.h"

namespace flambeau {
namespace {

[[noreturn]] void fail_foreign(std::string what) {
  throw Error(ErrorCode::kUnsafe,
              fmt::format("{}: it is code that another compiler made, which opening it would run", what),
              "only if you trust whoever made it: load it in PyTorch");
}

// The package behind a library's code, or the library's in a package.
pt2::Package open_library(const std::shared_ptr<Mapping>& file) {
  const std::optional<aot::Payload> payload = aot::find_payload(file);
  if (!payload) fail_foreign("there is no program behind the library's code");
  if (payload->kind == aot::PayloadKind::kReference) {
    throw Error(ErrorCode::kNotFound, "the library was taken out of its package, which has the program",
                "open the package");
  }
  return aot::read_programs(payload->bytes);
}

pt2::Package open_compiled(const std::string& path) {
  const std::shared_ptr<Mapping> file = Mapping::open(path);
  if (elf::looks_like_elf(file->bytes())) return open_library(file);
  pt2::Package package = pt2::load_package(file);
  if (!package.models.empty()) return package;
  for (const pt2::Record& record : package.others) {
    if (!record.name.starts_with("data/aotinductor/") || !record.name.ends_with(".so")) continue;
    return with_location("record", record.name,
                         [&] { return open_library(Storage::as_mapping(record.bytes)); });
  }
  throw Error(ErrorCode::kNotFound, "there is no compiled model in the package");
}

}  // namespace

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

Program aot_load(const std::string& path, const std::string& device, AotLoadOptions options) {
  if (device != "cpu") {
    throw Error(ErrorCode::kUnsupported, fmt::format("Unsupported device {}", printable(device)),
                "compiled models run on the device 'cpu'");
  }
  return with_location("file", path, [&] {
    pt2::Package package = open_compiled(path);
    graph::ExportedProgram& program = package.model(options.model).program;
    graph::require_valid(program);
    return Program(std::move(program), std::move(options.program));
  });
}

}  // namespace flambeau
