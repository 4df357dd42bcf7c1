#include "flambeau/operators.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "flambeau/base/error.h"

namespace flambeau {
namespace {

void open_module(const std::string& path, ops::Library& library) {
  std::error_code failure;
  // A bare name would be searched for in the system's folders.
  const std::filesystem::path file = std::filesystem::absolute(path, failure);
  if (failure || !std::filesystem::exists(file, failure))
    throw Error(ErrorCode::kNotFound, "there is no such file", "name a shared library of operators");
  void* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    const char* const reason = dlerror();
    throw Error(ErrorCode::kUnsupported,
                fmt::format("cannot be opened as a shared library: {}", printable(reason ? reason : "", 400)),
                "build it for this machine, as examples/operators shows");
  }
  const auto* const version =
      static_cast<const OperatorsVersion*>(dlsym(module, "flambeau_operators_version"));
  using Register = void (*)(ops::Library&);
  const auto add = reinterpret_cast<Register>(dlsym(module, "flambeau_register_operators"));
  if (version == nullptr || add == nullptr) {
    throw Error(ErrorCode::kUnsupported, "is a shared library, but no module of operators",
                "begin it with FLAMBEAU_OPERATORS_MODULE of flambeau/operators.h");
  }
  constexpr OperatorsVersion kOurs;
  if (!(*version == kOurs)) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("was compiled for version {} of the interface with other types, this is version {}",
                    version->interface, kOurs.interface),
        "compile it again with the headers of this Flambeau");
  }
  add(library);
}

}  // namespace

void load_operators(const std::string& path, ops::Library& library) {
  with_location("file", path, [&] { open_module(path, library); });
}

}  // namespace flambeau
