// flambeau optimize: a TorchScript module for inference alone.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "flambeau/error.h"
#include "script/script_files.h"

namespace flambeau::cli {
namespace {

struct OptimizeOptions {
  std::string input;
  std::string output;
  std::vector<std::string> preserved;
};

size_t parameter_count(const script::ScriptModule& module) {
  size_t count = 0;
  for (const script::ScriptModule& each : module.modules()) count += each.attributes().size();
  return count;
}

int run_optimize(const OptimizeOptions& options, const CommonOptions& common) {
  script::ScriptModule module = open_script({options.input, nullptr, true}, common);
  with_location("file", options.input, [&] {
    module.eval();
    const size_t before = parameter_count(module);
    const script::ScriptModule made = script::optimize(module, options.preserved);
    script::save_script(made, options.output);
    if (!common.quiet) {
      fmt::print("{}: {} attributes, of {} before\n", printable(options.output, SIZE_MAX),
                 parameter_count(made), before);
    }
  });
  return kExitOk;
}

}  // namespace

Command optimize_command() {
  auto options = std::make_shared<OptimizeOptions>();
  return {"optimize",
          "Make a TorchScript module smaller and faster, for inference alone",
          {
              Option("INPUT", "What torch.jit.save wrote", &options->input).required().takes(Takes::kInput),
              Option("OUTPUT", "The module, as torch.jit.load opens it", &options->output)
                  .required()
                  .takes(Takes::kOutput),
              Option("--preserve", "A method or attribute that stays: encode, layer1.scale; may be repeated",
                     &options->preserved),
          },
          {{"optimize model.pt fast.pt", "frozen, batch norms in the weights, nothing computed twice"},
           {"optimize --preserve encode model.pt fast.pt", "with another method beside forward"}},
          [options](const CommonOptions& common) { return run_optimize(*options, common); }};
}

}  // namespace flambeau::cli
