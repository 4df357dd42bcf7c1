// A program becomes a compiled model that PyTorch loads and runs as if its own compiler had made it: a
// library that is the same for every program, with the program and its weights behind it. No compiler is
// needed; one can make machine code of the model's own groups of operators, which the library then runs.
#pragma once

#include <string>
#include <vector>

#include "flambeau/base/bytes.h"
#include "flambeau/base/progress.h"
#include "flambeau/formats/pt2/package.h"

namespace flambeau::aot {

enum class CompiledForm : uint8_t {
  // A .pt2 that is both: torch.export.load() opens the program, aoti_load_package() the compiled model.
  // Weights
  // of more than kMostCopied are in it once: the library finds them in the package that it came in.
  kPackage,
  // A .pt2 with the library alone, which has everything: for programs in C++, and for loading at once.
  kLibraryPackage,
  // The library alone, a .so, for torch._export.aot_load() and AOTIModelContainerRunnerCpu.
  kLibrary,
};
constexpr uint64_t kMostCopied = uint64_t{2} << 20;

struct CompileOptions {
  std::string model = {};  // which one of the package; empty when it has only one
  CompiledForm form = CompiledForm::kPackage;
  // Loaders unpack the library of a package to a file before they load it, so it is compressed, unless it has
  // large weights in it. This leaves it as it is: twice the size, and up to a tenth of a
  // second less to load.
  bool is_stored = false;
  // What the package says of the compiled model beside what loaders ask for.
  std::vector<std::pair<std::string, std::string>> metadata = {};
  // Compile the elementwise groups of a run with the example inputs with the system's C compiler, for each
  // level of this machine's kind of processor. Sizes may vary; groups that come up otherwise run as they
  // always do.
  bool kernels = false;
  std::string compiler = {};  // by name or path; empty for the first of cc, gcc and clang that PATH has
};

struct CompileReport {
  size_t kernels = 0;
};

// Of a package with one program that is called "model" then. Throws Error(kUnsupported) for a program that
// cannot be run, or called through PyTorch's interface of tensors alone; and in builds without the library;
// with kernels Error(kNotFound) where there is no compiler, Error(kUnsupported) where it fails, and
// Error(kInvalidArgument) for a program without example inputs.
CompileReport compile_package(pt2::Package& package, const CompileOptions& options);
// The library with the program behind it. Throws likewise.
std::vector<uint8_t> compile_library(pt2::Package package, const CompileOptions& options,
                                     CompileReport* report = nullptr);
// Either into a file, atomically: a .so where its name says so.
CompileReport compile_to_file(pt2::Package package, const std::string& path, CompileOptions options,
                              Progress& progress = Progress::silent());

// The library without a program; empty in builds without.
ByteSpan prebuilt_library();

}  // namespace flambeau::aot
