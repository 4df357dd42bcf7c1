// Packages of compiled models are libraries: whoever loads one runs it. What can be said is how much more
// than a model's own work it could do.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/formats/compiled.h"
#include "flambeau/formats/compiled/compiled_records.h"
#include "flambeau/formats/safety/safety_checker.h"

namespace flambeau {
namespace {

// What libraries of PyTorch's compiler need.
constexpr std::string_view kUsualLibraries[] = {
    "libtorch.so",    "libtorch_cpu.so",      "libtorch_cuda.so",
    "libc10.so",      "libc10_cuda.so",       "libgomp.so.1",
    "libstdc++.so.6", "libgcc_s.so.1",        "libc.so.6",
    "libm.so.6",      "libdl.so.2",           "libpthread.so.0",
    "libcuda.so.1",   "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"};

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kShown; ++i) {
    if (i > 0) text += ", ";
    text += printable(names[i]);
  }
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

std::vector<std::string> unusual_libraries(const CompiledLibrary& library) {
  std::vector<std::string> names;
  for (const std::string& name : library.needed) {
    if (std::ranges::find(kUsualLibraries, name) == std::end(kUsualLibraries)) names.push_back(name);
  }
  return names;
}

void check_library(safety::Checker& checker, const CompiledLibrary& library) {
  const auto danger = [&](std::string message) {
    checker.find(Severity::kDanger, "library", checker.archive().get(library.record).name, std::move(message),
                 bit(Opening::kModel));
  };
  if (!library.problem.empty()) {
    return danger(
        fmt::format("compiled code, which loading the model would run; it is no library as compilers "
                    "write them: {}",
                    library.problem));
  }
  danger(fmt::format("compiled code, which loading the model would run, {} of its functions by loading alone",
                     library.run_by_loading));
  if (!library.system_functions.empty())
    danger("reaches outside of the process: it calls " + listed(library.system_functions));
  if (const std::vector<std::string> names = unusual_libraries(library); !names.empty())
    danger("loads libraries that PyTorch's compiled models do not need: " + listed(names));
  if (!library.search_paths.empty())
    danger("has libraries looked for in folders of its own choice: " + listed(library.search_paths));
  if (library.has_text_relocations) danger("has its code rewritten while it is loaded");
  if (library.has_executable_stack) danger("makes the stack of the whole process executable");
}

}  // namespace

bool is_part_of_compiled_model(std::string_view name) {
  const std::optional<CompiledRecord> record = compiled_record(name);
  if (!record || record->model.empty()) return false;
  constexpr std::string_view kEndings[] = {".so", ".cpp", "_metadata.json", "_flags.json", "_weights.blob"};
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return record->file.ends_with(end); });
}

void check_compiled_models(safety::Checker& checker) {
  for (const CompiledModel& model : read_compiled_models(checker.archive())) {
    for (const CompiledLibrary& library : model.libraries) check_library(checker, library);
    if (model.is_source_only) {
      checker.find(Severity::kDanger, "library", "",
                   fmt::format("the compiled model '{}' is sources and flags: loading it hands words of this "
                               "file to a shell, which runs a compiler",
                               printable(model.name)),
                   bit(Opening::kModel));
    } else if (model.libraries.empty()) {
      checker.find(
          Severity::kDanger, "library", "",
          fmt::format("has files of a compiled model '{}', whose code loading would run, and no library",
                      printable(model.name)),
          bit(Opening::kModel));
    }
  }
}

}  // namespace flambeau
