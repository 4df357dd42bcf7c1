// flambeau diff: programs by what they compute, weights tensor by tensor.
#include <fmt/format.h>

#include <limits>
#include <memory>

#include "commands.h"
#include "flambeau/checkpoint.h"
#include "flambeau/error.h"
#include "flambeau/json.h"
#include "flambeau/report.h"
#include "progress_bar.h"
#include "reports.h"
#include "script/script_files.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

struct DiffCommandOptions {
  std::string a;
  std::string b;
  DiffOptions how;
};

void print_program_differences(const ProgramDifferences& found) {
  Table table({"part", "name", "difference", ""});
  for (const ProgramDifferences::Row& row : found.rows)
    table.add({row.part, printable(row.name), row.status, row.detail});
  if (!table.empty()) table.print();
  fmt::print("{} equal, {} different", counted(found.equal_nodes, "node"), found.rows.size());
  if (found.follows != 0) fmt::print(", and {} after them", counted(found.follows, "node"));
  fmt::print("\n");
}

void print_differences(const FileDifferences& found) {
  if (found.program) print_program_differences(*found.program);
  Table table({"tensor", "difference", ""});
  for (const TensorDifference& row : found.tensors) table.add({printable(row.name), row.status, row.detail});
  if (!table.empty()) table.print();
  fmt::print("{} equal, {} different\n", counted(found.equal_tensors, "tensor"), found.tensors.size());
}

void print_script_differences(const std::vector<ScriptDifference>& found) {
  Table table({"part", "name", "difference", ""});
  for (const ScriptDifference& row : found)
    table.add({row.part, printable(row.name), row.status, printable(row.detail, 300)});
  if (!table.empty()) table.print();
  fmt::print("code: {}\n", found.empty() ? "equal" : counted(found.size(), "difference"));
}

json::Array script_differences_json(const std::vector<ScriptDifference>& found) {
  json::Array rows;
  for (const ScriptDifference& row : found) {
    json::Value value;
    value.set("part", row.part);
    value.set("name", row.name);
    value.set("difference", row.status);
    value.set("detail", row.detail);
    rows.push_back(std::move(value));
  }
  return rows;
}

int run_diff(const DiffCommandOptions& options, const CommonOptions& common) {
  ProgressBar progress(common.quiet || common.json);
  // Of two modules the code counts, too, unless only some tensors are asked for.
  std::vector<ScriptDifference> code;
  const bool are_scripts = options.a != "-" && options.how.patterns.empty() && is_script_file(options.a) &&
                           is_script_file(options.b);
  if (are_scripts)
    code = diff_scripts(open_script({options.a, nullptr, true}, common),
                        open_script({options.b, nullptr, true}, common));
  const FileDifferences found = diff_files(options.a, options.b, options.how, progress);
  const bool is_equal = found.is_equal() && code.empty();
  if (common.json) {
    json::Value value = report::of_differences(found);
    if (are_scripts) {
      value.set("equal", is_equal);
      value.set("code", script_differences_json(code));
    }
    print_json(value);
  } else if (!common.quiet) {
    if (are_scripts) print_script_differences(code);
    print_differences(found);
  }
  return is_equal ? kExitOk : kExitFound;
}

}  // namespace

Command diff_command() {
  auto options = std::make_shared<DiffCommandOptions>();
  return {"diff",
          "Compare two files: exported programs and TorchScript by what they compute, then weights, of any "
          "formats",
          {
              Option("A", "The first file; - is standard input", &options->a).required().takes(Takes::kInput),
              Option("B", "The second file", &options->b).required().takes(Takes::kInput),
              Option("-f,--filter", "Compare only tensors whose name matches; may be repeated",
                     &options->how.patterns),
              Option("-t,--tolerance", "Count values as equal up to this absolute difference",
                     &options->how.tolerance)
                  .between(0, std::numeric_limits<double>::max()),
              Option("--ignore-dtype", "Compare by value where the types differ", &options->how.ignore_dtype),
          },
          {{"diff a.pt b.safetensors", "tensor by tensor"},
           {"diff a.pt b.pt --tolerance 1e-6 --filter 'encoder.*'", "some tensors, nearly equal"},
           {"diff a.pt half.pt --ignore-dtype --tolerance 0.01", "by value"},
           {"diff old.pt2 new.pt2", "do they compute the same"},
           {"diff a.pt b.pt", "of TorchScript, methods and attributes, too"}},
          [options](const CommonOptions& common) { return run_diff(*options, common); }};
}

}  // namespace flambeau::cli
