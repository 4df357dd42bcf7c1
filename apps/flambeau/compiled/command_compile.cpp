// flambeau compile: an exported program becomes a compiled model that PyTorch loads.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "commands.h"
#include "flambeau/aot.h"
#include "flambeau/error.h"
#include "flambeau/json.h"
#include "flambeau/program.h"
#include "profile_table.h"
#include "progress_bar.h"
#include "reports.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct ModelCompileOptions {
  std::string file;
  std::string output;
  std::string model;
  bool library_only = false;
  bool is_stored = false;
  bool kernels = false;
  std::string compiler;
};

int run_compile_model(const ModelCompileOptions& options, const CommonOptions& common) {
  const auto start = Clock::now();
  Package package = load_package(options.file);
  ProgressBar progress(common.quiet || common.json);
  CompileOptions how;
  how.model = options.model;
  how.is_stored = options.is_stored;
  how.kernels = options.kernels || !options.compiler.empty();
  how.compiler = options.compiler;
  if (options.library_only) how.form = CompiledForm::kLibraryPackage;
  const CompileReport report = with_location("file", options.file, [&] {
    return aot::compile_to_file(std::move(package), options.output, how, progress);
  });
  const auto taken = Clock::now() - start;
  const uint64_t bytes = std::filesystem::file_size(options.output);
  if (common.json) {
    json::Value value;
    value.set("input", options.file);
    value.set("output", options.output);
    value.set("bytes", bytes);
    value.set("ms", milliseconds(taken));
    if (how.kernels) value.set("kernels", report.kernels);
    print_json(value);
  } else if (!common.quiet) {
    fmt::print("{}: a compiled model{}, {}, in {}\n", styled(printable(options.output, 400), Style::kBold),
               how.kernels ? " with " + counted(report.kernels, "kernel") : "", human_bytes(bytes),
               duration_text(taken));
  }
  return kExitOk;
}

}  // namespace

Command compile_command() {
  auto options = std::make_shared<ModelCompileOptions>();
  return {
      "compile",
      "Make an exported program a compiled model that PyTorch loads",
      {
          Option("FILE", "The program: .pt2; - is standard input", &options->file)
              .required()
              .takes(Takes::kInput),
          Option("-o,--output", "A .pt2 for aoti_load_package, or a .so for torch._export.aot_load",
                 &options->output)
              .required()
              .takes(Takes::kOutput),
          Option("--model", "Of an archive with several programs: the one to take", &options->model),
          Option("--library-only",
                 "Leave the exported program out: a .pt2 that loads faster, and from C++ wherever it lies",
                 &options->library_only),
          Option("--stored",
                 "Do not compress the library in its package: twice the size, and loads up to 0.1 s "
                 "faster",
                 &options->is_stored),
          Option("--kernels",
                 "Compile the model's elementwise groups to machine code, with the system's C compiler",
                 &options->kernels),
          Option("--compiler", "For that: another compiler than PATH's cc, gcc or clang", &options->compiler),
      },
      {{"compile model.pt2 -o compiled.pt2", "torch._inductor.aoti_load_package('compiled.pt2') runs it"},
       {"compile model.pt2 -o model.so", "torch._export.aot_load('model.so', 'cpu') does"},
       {"compile model.pt2 --kernels -o fast.pt2", "takes seconds, and runs faster in PyTorch"}},
      [options](const CommonOptions& common) { return run_compile_model(*options, common); },
      "No compiler is needed: the code is the same for every program, and the program lies beside it. With "
      "--kernels a\n"
      "compiler makes code for this one as well, which is run where PyTorch loads the library, and nowhere "
      "else."};
}

}  // namespace flambeau::cli
