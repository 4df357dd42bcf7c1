// flambeau opnames: the operators that a mobile build needs to run a TorchScript module.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "flambeau/error.h"
#include "reports.h"
#include "script/script_files.h"

namespace flambeau::cli {
namespace {

int run_opnames(const std::string& file, const CommonOptions& common) {
  const script::ScriptModule module = open_script({file, nullptr, true}, common);
  const std::vector<std::string> names =
      with_location("file", file, [&] { return script::export_opnames(module); });
  if (common.json) {
    json::Array array;
    for (const std::string& name : names) array.emplace_back(name);
    print_json(json::Value(std::move(array)));
    return kExitOk;
  }
  for (const std::string& name : names) fmt::print("{}\n", printable(name));
  return kExitOk;
}

}  // namespace

Command opnames_command() {
  auto file = std::make_shared<std::string>();
  return {"opnames",
          "List the operators that a mobile build needs for a TorchScript module",
          {Option("FILE", "What torch.jit.save or _save_for_lite_interpreter wrote", file.get())
               .required()
               .takes(Takes::kInput)},
          {{"opnames model.pt", "as torch.jit.export_opnames lists them"}},
          [file](const CommonOptions& common) { return run_opnames(*file, common); }};
}

}  // namespace flambeau::cli
