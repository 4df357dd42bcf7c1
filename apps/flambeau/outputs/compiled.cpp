#include "outputs/compiled.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "flambeau/error.h"
#include "reports.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

std::string joined(const std::vector<std::string>& names, uint64_t limit) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (limit != 0 && i == limit) return text + fmt::format(" ... and {} more", names.size() - i);
    text += (i > 0 ? ", " : "") + printable(names[i]);
  }
  return text;
}

void print_line(const char* what, const std::string& text) {
  if (!text.empty()) fmt::print("    {:<18} {}\n", what, text);
}

void print_library(const CompiledLibrary& library, uint64_t limit) {
  fmt::print("  {} {}\n", printable(library.record), styled(human_bytes(library.bytes), Style::kDim));
  if (!library.problem.empty()) return print_line("broken", library.problem);
  print_line("machine", library.machine);
  print_line("needs", joined(library.needed, limit));
  print_line("at least", joined(library.versions, limit));
  print_line("searches", joined(library.search_paths, limit));
  print_line("from PyTorch", joined(library.host_functions, limit));
  print_line("reaches outside", joined(library.system_functions, limit));
  print_line("run by loading", counted(library.run_by_loading, "function"));
}

}  // namespace

void print_compiled(const CompiledModel& model, uint64_t limit) {
  print_heading(fmt::format("compiled model '{}'{}{}", printable(model.name),
                            model.device.empty() ? "" : " for ", printable(model.device)));
  for (const auto& [key, text] : model.metadata) {
    if (key != "AOTI_DEVICE_KEY" && !text.empty()) fmt::print("  {}: {}\n", printable(key), printable(text));
  }
  if (model.is_source_only) fmt::print("  sources and flags alone: loading it would run a compiler\n");
  if (!model.inputs.empty()) fmt::print("  inputs: {}\n", joined(model.inputs, limit));
  if (!model.outputs.empty()) fmt::print("  outputs: {}\n", joined(model.outputs, limit));
  for (const CompiledLibrary& library : model.libraries) print_library(library, limit);
  if (!model.constants.empty()) {
    fmt::print("  {}, as its source says\n", counted(model.constants.size(), "weight"));
    Table table({"name", "type", "shape", "bytes", ""});
    table.align_right(3);
    for (size_t i = 0; i < model.constants.size() && (limit == 0 || i < limit); ++i) {
      const CompiledConstant& constant = model.constants[i];
      table.add({printable(constant.original.empty() ? constant.name : constant.original),
                 printable(constant.dtype), fmt::format("[{}]", fmt::join(constant.sizes, ", ")),
                 human_bytes(constant.bytes), printable(constant.kind)});
    }
    table.print(4);
    if (limit != 0 && model.constants.size() > limit)
      fmt::print("    ... and {} more (--limit 0 shows all)\n", model.constants.size() - limit);
  }
  for (const std::string& note : model.notes) fmt::print("  {}\n", printable(note));
}

}  // namespace flambeau::cli
