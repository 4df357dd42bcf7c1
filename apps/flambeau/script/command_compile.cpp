// flambeau compile-script: source text becomes a TorchScript module that PyTorch opens.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "commands.h"
#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/script_build.h"

namespace flambeau::cli {
namespace {

struct CompileOptions {
  std::string source;
  std::string output;
  std::string weights;
  std::string class_name;
  bool checks_only = false;
};

int run_compile(const CompileOptions& options, const CommonOptions& common) {
  const auto bytes = with_location("file", options.source, [&] { return Mapping::open(options.source); });
  if (options.output.empty() && !options.checks_only)
    throw Error(ErrorCode::kInvalidArgument, "where the module goes is not said", "add -o module.pt");
  NamedTensors weights;
  if (!options.weights.empty()) weights = load_checkpoint(options.weights).named();
  if (options.checks_only) {
    script::check_source(as_text(bytes->bytes()), options.source);
    return kExitOk;
  }
  const script::ScriptModule module =
      script::compile_module(as_text(bytes->bytes()), options.source, weights, options.class_name);
  script::save_script(module, options.output);
  if (!common.quiet) {
    for (const script::ModuleMethod& method : module.methods())
      fmt::print("{}: {}\n", options.output, printable(method.signature, SIZE_MAX));
  }
  return kExitOk;
}

}  // namespace

Command compile_script_command() {
  auto options = std::make_shared<CompileOptions>();
  return {"compile-script",
          "Compile source text to a TorchScript module",
          {
              Option("SOURCE", "Functions and classes, in TorchScript's part of Python", &options->source)
                  .required()
                  .takes(Takes::kInput),
              Option("-o,--output", "The module, as torch.jit.load opens it", &options->output)
                  .takes(Takes::kOutput),
              Option("--weights", "What its parameters and buffers are, by name: any file of tensors",
                     &options->weights)
                  .takes(Takes::kInput),
              Option("--class", "The class of the module; the last one of the text when it is left out",
                     &options->class_name),
              Option("--check", "Only say what is wrong with the text", &options->checks_only),
          },
          {{"compile-script model.py -o model.pt", "functions, or a class Model(Module) with its values"},
           {"compile-script model.py --weights model.safetensors -o model.pt", "with parameters of a file"},
           {"compile-script --check model.py", "all errors of the text, with their lines"}},
          [options](const CommonOptions& common) { return run_compile(*options, common); },
          "A text of functions alone becomes a module that has them as methods. docs/torchscript-language.md "
          "is the "
          "language.\n"};
}

}  // namespace flambeau::cli
