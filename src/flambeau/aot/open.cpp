#include "flambeau/aot/open.h"

#include "flambeau/aot/payload.h"
#include "flambeau/archive/elf/reader.h"
#include "flambeau/base/error.h"

namespace flambeau::aot {
namespace {

// The package behind a library's code.
pt2::Package open_library(const std::shared_ptr<Mapping>& file) {
  const std::optional<Payload> payload = find_payload(file);
  if (!payload) {
    throw Error(
        ErrorCode::kUnsafe,
        "there is no program behind the library's code: another compiler made it, and opening it would "
        "run that code",
        "only if you trust whoever made it: flambeau run --run-native-code, or load_native_package()");
  }
  if (payload->kind == PayloadKind::kReference) {
    throw Error(ErrorCode::kNotFound, "the library was taken out of its package, which has the program",
                "open the package");
  }
  return read_programs(payload->bytes);
}

}  // namespace

pt2::Package open_programs(const std::shared_ptr<Mapping>& file) {
  if (elf::looks_like_elf(file->bytes())) return file->reading([&] { return open_library(file); });
  pt2::Package package = pt2::load_package(file);
  if (!package.models.empty()) return package;
  for (const pt2::Record& record : package.others) {
    if (!record.name.starts_with("data/aotinductor/") || !record.name.ends_with(".so")) continue;
    return file->reading([&] {
      return with_location("record", record.name,
                           [&] { return open_library(Storage::as_mapping(record.bytes)); });
    });
  }
  return package;
}

}  // namespace flambeau::aot
