// flambeau migrate: a TorchScript module becomes an exported program, and both are run side by side.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <memory>

#include "commands.h"
#include "flambeau/error.h"
#include "flambeau/migrate.h"
#include "profile_table.h"
#include "reports.h"
#include "script/script_files.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

struct MigrateCommandOptions {
  std::string file;
  std::string output;
  std::string method = "forward";
  std::vector<std::string> inputs;
  std::vector<std::string> dynamic;
  std::vector<std::string> specialize;
  uint64_t seed = 0;
  bool forget = false;
  bool skip_check = false;
};

constexpr std::string_view kDynamicForm = "x:0=batch, x:0=batch:2..64, x:1=AUTO or auto";

[[noreturn]] void fail_dynamic(const std::string& text) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("--dynamic '{}' is not of the form {}", printable(text), kDynamicForm));
}

int64_t whole_number(const std::string& option, std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) fail_dynamic(option);
  return value;
}

// "batch", "batch:2..64", "AUTO", "DYNAMIC".
Dim read_dim(const std::string& option, std::string name) {
  trace::Bounds bounds;
  if (const size_t colon = name.find(':'); colon != std::string::npos) {
    const std::string range = name.substr(colon + 1);
    const size_t dots = range.find("..");
    if (dots == std::string::npos) fail_dynamic(option);
    bounds.min = whole_number(option, range.substr(0, dots));
    bounds.max = whole_number(option, range.substr(dots + 2));
    name.resize(colon);
  }
  if (name == "AUTO") return Dim::AUTO(bounds);
  if (name == "DYNAMIC") return Dim::DYNAMIC(bounds);
  return Dim(name, bounds);
}

// Every size that can stay free.
ShapeSpec free_shape(const script::IValue& value) {
  if (!value.is(script::IValue::Tag::kTensor)) return {};
  return ShapeSpec(std::vector<Dim>(value.as_tensor().dim(), Dim(Dim::AUTO)));
}

DynamicShapes read_dynamic(const std::vector<std::string>& given, const ScriptArguments& arguments,
                           const std::vector<std::string>& names) {
  std::map<std::string, std::map<int64_t, Dim>> dims;
  bool is_auto = false;
  for (const std::string& text : given) {
    if (text == "auto") {
      is_auto = true;
      continue;
    }
    const size_t equals = text.find('=');
    const size_t colon = text.find(':');
    if (equals == std::string::npos || colon == std::string::npos || colon > equals) fail_dynamic(text);
    dims[text.substr(0, colon)].insert_or_assign(
        whole_number(text, text.substr(colon + 1, equals - colon - 1)),
        read_dim(text, text.substr(equals + 1)));
  }
  std::vector<std::pair<std::string, ShapeSpec>> specs;
  const auto add = [&](const std::string& name, const script::IValue& value) {
    const auto found = dims.find(name);
    if (found != dims.end()) {
      specs.emplace_back(name, ShapeSpec(found->second));
      dims.erase(found);
    } else {
      specs.emplace_back(name, is_auto ? free_shape(value) : ShapeSpec());
    }
  };
  for (size_t i = 0; i < arguments.positional.size(); ++i)
    add(i < names.size() ? names[i] : fmt::format("args_{}", i), arguments.positional[i]);
  for (const auto& [name, value] : arguments.keywords) add(name, value);
  if (!dims.empty()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("--dynamic names '{}', which is no input that is given", printable(dims.begin()->first)));
  }
  return given.empty() ? DynamicShapes() : DynamicShapes::by_name(std::move(specs));
}

// "True", "None", "3", "0.5", "'text'".
script::IValue read_fixed(const std::string& option, const std::string& text) {
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  if (text == "None") return {};
  if (text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0])
    return text.substr(1, text.size() - 2);
  const char* const end = text.data() + text.size();
  int64_t whole = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, whole); error == std::errc() && at == end)
    return whole;
  double real = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, real); error == std::errc() && at == end)
    return real;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("--specialize '{}' gives no value that can be fixed", printable(option)),
              "give an int, a float, True, False, None or a text in quotes: flag=True, mode='train'");
}

// Arguments that have one value in the program.
void add_fixed(const std::vector<std::string>& given, ScriptArguments& arguments) {
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("--specialize '{}' is not of the form NAME=VALUE", printable(text)));
    }
    const std::string name = text.substr(0, equals);
    script::IValue value = read_fixed(text, text.substr(equals + 1));
    const auto known =
        std::ranges::find(arguments.keywords, name, &script::ScriptModule::Keywords::value_type::first);
    if (known != arguments.keywords.end()) {
      known->second = std::move(value);
    } else {
      arguments.keywords.emplace_back(name, std::move(value));
    }
  }
}

int run_migrate(const MigrateCommandOptions& options, const CommonOptions& common) {
  const auto start = std::chrono::steady_clock::now();
  const script::ScriptModule module = open_script({options.file, nullptr, true}, common, true);
  ScriptArguments arguments = script_arguments(options.inputs, options.seed);
  add_fixed(options.specialize, arguments);
  MigrateOptions how;
  how.method = options.method;
  how.forgets_changes = options.forget;
  how.dynamic = read_dynamic(options.dynamic, arguments, argument_names(module, options.method));
  Migration made = with_location(
      "file", options.file, [&] { return migrate(module, arguments.positional, arguments.keywords, how); });
  std::vector<MigrationCheck> checks;
  if (!options.skip_check)
    checks = check_migration(module, made.program, arguments.positional, arguments.keywords, how);
  size_t wrong = 0;
  for (const MigrationCheck& check : checks) wrong += check.difference.empty() ? 0 : 1;
  const size_t nodes = made.program.graph().node_count();
  save_program(std::move(made.program), options.output);
  if (common.json) {
    json::Value value;
    value.set("file", options.file);
    value.set("method", options.method);
    value.set("output", options.output);
    value.set("nodes", static_cast<uint64_t>(nodes));
    json::Array runs;
    for (const MigrationCheck& check : checks) {
      json::Value run;
      run.set("inputs", check.inputs);
      run.set("difference", check.difference);
      runs.push_back(std::move(run));
    }
    value.set("checks", std::move(runs));
    json::Array notes;
    for (const std::string& note : made.notes) notes.emplace_back(note);
    value.set("notes", std::move(notes));
    print_json(value);
  } else if (!common.quiet) {
    fmt::print("{} -> {}: {} in {}\n", printable(options.file, 400), printable(options.output, 400),
               counted(nodes, "node"), duration_text(std::chrono::steady_clock::now() - start));
    for (const MigrationCheck& check : checks) {
      fmt::print("  {}: {}\n", printable(check.inputs, 400),
                 check.difference.empty() ? "equal" : printable(check.difference, 400));
    }
    for (const std::string& note : made.notes) fmt::print("  {}\n", printable(note, 2000));
  }
  return wrong == 0 ? kExitOk : kExitFound;
}

}  // namespace

Command migrate_command() {
  auto options = std::make_shared<MigrateCommandOptions>();
  return {"migrate",
          "Turn a TorchScript module into an exported program",
          {
              Option("FILE", "What torch.jit.save wrote", &options->file).required().takes(Takes::kInput),
              Option("-o,--output", "The program to write (.pt2)", &options->output)
                  .required()
                  .takes(Takes::kOutput),
              Option("-i,--input",
                     "An example argument: NAME=WHAT or WHAT; WHAT is a file with one tensor, a "
                     "number, 'text', ones:2x3, zeros:2x3 or random:2x3; repeatable",
                     &options->inputs),
              Option("--dynamic",
                     "A size that may vary: x:0=batch, x:0=batch:2..64, x:1=AUTO; or auto for all that can; "
                     "repeatable",
                     &options->dynamic),
              Option("--specialize",
                     "An argument that has one value in the program: NAME=VALUE with an int, a float, True, "
                     "False, None or a text in quotes; repeatable",
                     &options->specialize),
              Option("--method", "The method to migrate", &options->method),
              Option("--seed", "Of random inputs", &options->seed),
              Option("--forget-changes",
                     "Attributes that are no tensors may change; the program forgets it after each run",
                     &options->forget),
              Option("--no-check", "Do not run both and compare", &options->skip_check),
          },
          {{"migrate model.pt -o model.pt2 -i random:1x3x224x224", "with the sizes of the example"},
           {"migrate model.pt -o model.pt2 -i x=photo.npy --dynamic x:0=batch:1..64", "for any batch"}},
          [options](const CommonOptions& common) { return run_migrate(*options, common); }};
}

}  // namespace flambeau::cli
