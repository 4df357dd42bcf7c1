// Migrates the modules whose calls PyTorch's own tests made, with their arguments as examples:
//   migrate_calls [--sample N] [--only NAME] [--dynamic] [--verbose] FOLDER OUTPUT
// FOLDER is as script_calls takes it. OUTPUT/<n>.pt2 is what came out of a call, OUTPUT/report.jsonl says of
// each what was refused and why; migrated.py judges the rest. --dynamic: every size that can stay free does.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "call_file.h"
#include "flambeau/base/error.h"
#include "flambeau/json.h"
#include "flambeau/migrate.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/schema_table.h"

namespace {

using namespace flambeau;
using script::IValue;
using torchscript_calls::read_call;
using torchscript_calls::typed;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

bool has_tensor(const IValue& value) {
  if (value.is(IValue::Tag::kTensor)) return true;
  if (!value.is(IValue::Tag::kTuple) && !value.is(IValue::Tag::kList)) return false;
  return std::ranges::any_of(value.items(), has_tensor);
}

ShapeSpec free_shape(const IValue& value) {
  if (value.is(IValue::Tag::kTensor))
    return ShapeSpec(std::vector<Dim>(value.as_tensor().dim(), Dim(Dim::AUTO)));
  if (value.is(IValue::Tag::kTuple) || value.is(IValue::Tag::kList)) {
    std::vector<ShapeSpec> items;
    for (const IValue& item : value.items()) items.push_back(free_shape(item));
    return value.is(IValue::Tag::kTuple) ? ShapeSpec::tuple(std::move(items))
                                         : ShapeSpec::list(std::move(items));
  }
  return {};
}

struct Outcome {
  std::string status;  // "migrated", "refused", "skipped"
  std::string error;
  std::string detail;
};

Outcome migrate_call(const std::string& folder, const std::string& path, const std::string& to, bool dynamic,
                     const std::shared_ptr<const script::OperatorTable>& operators) {
  std::map<std::string, IValue> call;
  try {
    call = read_call(path, operators);
  } catch (const Error& error) {
    return {"skipped", "call file: " + first_line(error.message()), {}};
  }
  const bool is_wanted = call["method"].as_string() == "forward" && !call.contains("error") &&
                         (!call.contains("rng") || call["rng"].is_none()) &&
                         has_tensor(IValue::tuple(call["args"].items()));
  if (!is_wanted) return {"skipped", "no call of forward with tensors and a result", {}};
  try {
    const script::ScriptModule module = script::load_script(
        fmt::format("{}/archives/{}.pt", folder, call["archive"].as_string()), {.threads = 1});
    std::vector<IValue> arguments;
    std::vector<ShapeSpec> shapes;
    for (const IValue& argument : call["args"].items()) {
      arguments.push_back(typed(argument));
      shapes.push_back(free_shape(arguments.back()));
    }
    script::ScriptModule::Keywords keywords;
    for (const script::DictItems::Entry& entry : call["kwargs"].as_dict().items.entries())
      keywords.emplace_back(entry.key.as_string(), typed(entry.value));
    MigrateOptions options;
    options.forgets_changes = true;
    if (dynamic && keywords.empty()) options.dynamic = DynamicShapes::by_position(std::move(shapes));
    Migration made = migrate(module, arguments, keywords, options);
    save_program(std::move(made.program), to);
    return {"migrated", {}, {}};
  } catch (const Error& error) {
    return {"refused", first_line(error.message()), error.what()};
  } catch (const std::exception& error) {
    return {"refused", std::string("exception: ") + error.what(), {}};
  }
}

}  // namespace

int main(int count, char** arguments) {
  size_t sample = 1;
  std::string only;
  bool dynamic = false;
  bool is_verbose = false;
  std::vector<std::string> folders;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--sample" && i + 1 < count) {
      sample = std::max(1UL, std::stoul(arguments[++i]));
    } else if (argument == "--only" && i + 1 < count) {
      only = arguments[++i];
    } else if (argument == "--dynamic") {
      dynamic = true;
    } else if (argument == "--verbose") {
      is_verbose = true;
    } else {
      folders.push_back(argument);
    }
  }
  if (folders.size() != 2) {
    std::cerr << "migrate_calls [--sample N] [--only NAME] [--dynamic] [--verbose] FOLDER OUTPUT\n";
    return 2;
  }
  std::filesystem::create_directories(folders[1]);
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folders[0] + "/calls"))
    if (entry.path().string().find(only) != std::string::npos) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  const auto operators = std::make_shared<const script::OperatorTable>(std::make_shared<const SchemaTable>());
  std::ofstream report(folders[1] + "/report.jsonl");
  size_t tried = 0;
  size_t migrated = 0;
  std::map<std::string, std::pair<size_t, std::string>> kinds;
  for (size_t i = 0; i < paths.size(); i += sample) {
    if (is_verbose) std::cerr << paths[i] << "\n";
    const std::string name = std::filesystem::path(paths[i]).stem().string();
    const Outcome outcome =
        migrate_call(folders[0], paths[i], fmt::format("{}/{}.pt2", folders[1], name), dynamic, operators);
    json::Value line;
    line.set("call", name);
    line.set("status", outcome.status);
    line.set("error", outcome.error);
    report << json::dump(line) << "\n";
    if (outcome.status == "skipped") continue;
    ++tried;
    migrated += outcome.status == "migrated" ? 1 : 0;
    if (outcome.status == "migrated") continue;
    auto& [times, example] = kinds[outcome.error];
    if (times++ == 0) example = name;
    if (!only.empty()) std::cout << outcome.detail << "\n";
  }
  std::vector<std::pair<size_t, std::string>> sorted;
  for (const auto& [kind, found] : kinds)
    sorted.emplace_back(found.first, fmt::format("{}  ({})", kind, found.second));
  std::sort(sorted.rbegin(), sorted.rend());
  for (const auto& [times, text] : sorted) std::cout << fmt::format("{:5} {}\n", times, text);
  std::cout << fmt::format("{} of {} migrated\n", migrated, tried);
  return 0;
}
