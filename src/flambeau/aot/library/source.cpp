#include "flambeau/aot/library/source.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>

#include "flambeau/aot/kernels/loaded.h"
#include "flambeau/aot/payload.h"
#include "flambeau/archive/record_archive.h"
#include "flambeau/archive/zip/reader.h"
#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/package.h"

namespace flambeau::aot {
namespace {

namespace fs = std::filesystem;

const char* const kPackageVariable = "FLAMBEAU_PACKAGE";

// The file this code was loaded from.
std::string own_path() {
  Dl_info info = {};
  const void* const inside = &kPackageVariable;
  return dladdr(inside, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

std::shared_ptr<Mapping> open_own(const std::string& folder) {
  const std::string path = own_path();
  std::error_code ignored;
  if (fs::exists(path, ignored)) return Mapping::open(path);
  // Somebody has changed the working directory since.
  const fs::path beside = fs::path(folder) / fs::path(path).filename();
  if (!folder.empty() && fs::exists(beside, ignored)) return Mapping::open(beside.string());
  throw Error(ErrorCode::kNotFound,
              fmt::format("the library '{}' is no longer where it was loaded from", path));
}

// Null where the file is another one, whatever it is.
std::shared_ptr<Mapping> open_if_meant(const std::string& path, const Reference& reference) {
  try {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return nullptr;
    std::shared_ptr<Mapping> mapping = Mapping::open(path);
    if (!zip::looks_like_zip(mapping->bytes())) return nullptr;
    return is_meant(reference, RecordArchive::open(mapping)) ? mapping : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

// Python's loader holds the package open while it loads the model; others say where it is.
std::shared_ptr<Mapping> find_package(const Reference& reference) {
  if (const char* const named = std::getenv(kPackageVariable)) {
    if (std::shared_ptr<Mapping> found = open_if_meant(named, reference)) return found;
  }
  std::error_code error;
  for (fs::directory_iterator at("/proc/self/fd", error), end; !error && at != end; at.increment(error)) {
    if (std::shared_ptr<Mapping> found = open_if_meant(at->path().string(), reference)) return found;
  }
  throw Error(
      ErrorCode::kNotFound,
      "the weights of this model are in the package that it was compiled into, which is not open here",
      fmt::format("load it with torch._inductor.aoti_load_package, name the package in the environment "
                  "variable {}, or compile with --library-only",
                  kPackageVariable));
}

graph::ExportedProgram find_program(const std::shared_ptr<Mapping>& own) {
  std::optional<Payload> payload = with_location("file", own->path(), [&] { return find_payload(own); });
  if (!payload) {
    throw Error(ErrorCode::kNotFound, "there is no program behind the library's code",
                "make one with flambeau compile")
        .add_location("file", own->path());
  }
  if (payload->kind == PayloadKind::kWhole) return std::move(read_programs(payload->bytes).model().program);
  const Reference reference =
      with_location("file", own->path(), [&] { return read_reference(as_text(payload->bytes->bytes())); });
  return std::move(read_programs(find_package(reference)).model(reference.model).program);
}

// Where the process may not load code from memory, the model runs without.
std::shared_ptr<const ops::BlockKernels> load_kernels(const std::shared_ptr<Mapping>& own) {
  const std::shared_ptr<Mapping> bytes = find_kernels(own);
  if (bytes == nullptr) return nullptr;
  try {
    return std::make_shared<const LoadedKernels>(bytes->bytes());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo && error.code() != ErrorCode::kUnsupported) throw;
    return nullptr;
  }
}

}  // namespace

Source find_source(const std::string& folder) {
  const std::shared_ptr<Mapping> own = open_own(folder);
  graph::ExportedProgram program = find_program(own);
  return {std::move(program), with_location("file", own->path(), [&] { return load_kernels(own); })};
}

}  // namespace flambeau::aot
