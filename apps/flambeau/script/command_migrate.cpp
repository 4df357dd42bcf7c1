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
  std::vector<std::string> methods;
  std::vector<std::string> inputs;
  std::vector<std::string> dynamic;
  std::vector<std::string> specialize;
  uint64_t seed = 0;
  std::string report;
  bool forget = false;
  bool like_pytorch = false;
  bool state_as_arguments = false;
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

// What was said of each part of an argument: "x", "hidden.0", "batch.ids".
using SaidDims = std::map<std::string, std::map<int64_t, Dim>>;

// Takes what was said of the argument out of `said`. `is_auto`: every other size that can stay free does.
ShapeSpec shape_of(const script::IValue& value, const std::string& path, bool is_auto, SaidDims& said) {
  using Tag = script::IValue::Tag;
  const auto part = [&](const script::IValue& item, const std::string& name) {
    return shape_of(item, fmt::format("{}.{}", path, name), is_auto, said);
  };
  if (value.is(Tag::kTuple) || value.is(Tag::kList)) {
    std::vector<ShapeSpec> items;
    for (size_t i = 0; i < value.items().size(); ++i)
      items.push_back(part(value.items()[i], std::to_string(i)));
    return value.is(Tag::kTuple) ? ShapeSpec::tuple(std::move(items)) : ShapeSpec::list(std::move(items));
  }
  if (value.is(Tag::kDict)) {
    std::vector<std::pair<std::string, ShapeSpec>> items;
    for (const auto& [key, item] : script::dict_items(value)) {
      const std::string name = key.is(Tag::kString) ? key.as_string() : script::to_text(key);
      items.emplace_back(name, part(item, name));
    }
    return ShapeSpec::dict(std::move(items));
  }
  const auto found = said.find(path);
  if (found == said.end()) {
    if (!is_auto || !value.is(Tag::kTensor)) return {};
    return ShapeSpec(std::vector<Dim>(value.as_tensor().dim(), Dim(Dim::AUTO)));
  }
  std::map<int64_t, Dim> dims = std::move(found->second);
  said.erase(found);
  if (is_auto && value.is(Tag::kTensor)) {
    for (size_t d = 0; d < value.as_tensor().dim(); ++d)
      dims.try_emplace(static_cast<int64_t>(d), Dim(Dim::AUTO));
  }
  return ShapeSpec(std::move(dims));
}

DynamicShapes read_dynamic(const std::vector<std::string>& given, const ScriptArguments& arguments,
                           const std::vector<std::string>& names) {
  SaidDims dims;
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
    specs.emplace_back(name, shape_of(value, name, is_auto, dims));
  };
  for (size_t i = 0; i < arguments.positional.size(); ++i)
    add(i < names.size() ? names[i] : fmt::format("args_{}", i), arguments.positional[i]);
  for (const auto& [name, value] : arguments.keywords) add(name, value);
  if (!dims.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("--dynamic names '{}', which is no input that is given, nor a tensor in one",
                            printable(dims.begin()->first)));
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

// Arguments that have one value in the program, in the places of those of the example.
void add_fixed(const std::vector<std::string>& given, const std::vector<std::string>& names,
               ScriptArguments& arguments) {
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("--specialize '{}' is not of the form NAME=VALUE", printable(text)));
    }
    const std::string name = text.substr(0, equals);
    script::IValue value = read_fixed(text, text.substr(equals + 1));
    const auto place = static_cast<size_t>(std::ranges::find(names, name) - names.begin());
    if (place < arguments.positional.size()) {
      arguments.positional[place] = std::move(value);
      continue;
    }
    const auto known =
        std::ranges::find(arguments.keywords, name, &script::ScriptModule::Keywords::value_type::first);
    if (known != arguments.keywords.end()) {
      known->second = std::move(value);
    } else {
      arguments.keywords.emplace_back(name, std::move(value));
    }
  }
}

// What was said for one method alone begins with its name and a colon.
std::vector<std::string> for_method(const std::vector<std::string>& given, const std::string& method,
                                    const std::vector<std::string>& methods) {
  std::vector<std::string> own;
  for (const std::string& text : given) {
    const auto is_for = [&](const std::string& name) { return text.starts_with(name + ":"); };
    if (is_for(method)) {
      own.push_back(text.substr(method.size() + 1));
    } else if (std::ranges::none_of(methods, is_for)) {
      own.push_back(text);
    }
  }
  return own;
}

struct Example {
  ScriptArguments arguments;
  std::string origin;  // where they are from; empty where the user gave them
};

// Shapes alone do not say what the elements are: real numbers, unless the script takes but integers.
ScriptArguments fitting_arguments(const script::ScriptModule& module, const std::string& method,
                                  const std::vector<std::string>& inputs, uint64_t seed,
                                  uint64_t most_steps) {
  ScriptArguments arguments = script_arguments(inputs, seed);
  constexpr size_t kMostTried = 4;
  if (arguments.shapes == 0 || arguments.shapes > kMostTried) return arguments;
  for (uint64_t integers = 0; integers < (uint64_t{1} << arguments.shapes); ++integers) {
    ScriptArguments tried = script_arguments(inputs, seed, integers);
    try {
      script::ScriptRunOptions how = script_run_options();
      how.most_steps = most_steps;
      module.deepcopy().run_method(method, tried.positional, tried.keywords, how);
      return script_arguments(inputs, seed, integers);  // as they were before the run
    } catch (const Error&) {
      continue;
    }
  }
  return arguments;  // the migration says what is wrong
}

// Arguments by name in the places that they have: whoever runs the program need not name them then.
ScriptArguments in_order(ScriptArguments arguments, const std::vector<std::string>& names) {
  while (arguments.positional.size() < names.size()) {
    const std::string& next = names[arguments.positional.size()];
    const auto found =
        std::ranges::find(arguments.keywords, next, [](const auto& entry) { return entry.first; });
    if (found == arguments.keywords.end()) break;
    arguments.positional.push_back(std::move(found->second));
    arguments.keywords.erase(found);
  }
  return arguments;
}

Example example_for(const script::ScriptModule& module, const std::string& method,
                    const std::vector<std::string>& inputs, const MigrateCommandOptions& options,
                    uint64_t most_steps) {
  if (!inputs.empty() || argument_names(module, method).empty())
    return {fitting_arguments(module, method, inputs, options.seed, most_steps), {}};
  if (std::optional<FileExample> found = file_example(module, method, options.seed))
    return {{.positional = std::move(found->arguments), .keywords = {}}, std::move(found->origin)};
  return {};
}

struct Migrated {
  std::string method;
  Migration made;
  std::vector<MigrationCheck> checks;
  std::string origin;
  size_t nodes = 0;
};

Migrated migrate_method(const script::ScriptModule& module, const std::string& method,
                        const MigrateCommandOptions& options) {
  MigrateOptions how;
  how.method = method;
  how.forgets_changes = options.forget;
  how.is_like_pytorch = options.like_pytorch;
  how.changes_as_arguments = options.state_as_arguments;
  const Example example = example_for(module, method, for_method(options.inputs, method, options.methods),
                                      options, how.most_steps);
  const std::vector<std::string> names = argument_names(module, method);
  ScriptArguments given = example.arguments;
  add_fixed(for_method(options.specialize, method, options.methods), names, given);
  const ScriptArguments arguments = in_order(std::move(given), names);
  how.dynamic = read_dynamic(for_method(options.dynamic, method, options.methods), arguments, names);
  Migrated result{.method = method, .made = {}, .checks = {}, .origin = example.origin, .nodes = 0};
  result.made = with_location("file", options.file,
                              [&] { return migrate(module, arguments.positional, arguments.keywords, how); });
  result.nodes = result.made.program.graph().node_count();
  if (!options.skip_check)
    result.checks = check_migration(module, result.made, arguments.positional, arguments.keywords, how);
  return result;
}

json::Value migrated_json(const MigrateCommandOptions& options, const Migrated& migrated) {
  const auto texts = [](const std::vector<std::string>& given) {
    json::Array array;
    for (const std::string& text : given) array.emplace_back(text);
    return array;
  };
  json::Value value;
  value.set("file", options.file);
  value.set("method", migrated.method);
  value.set("output", options.output);
  value.set("nodes", static_cast<uint64_t>(migrated.nodes));
  json::Array runs;
  for (const MigrationCheck& check : migrated.checks) {
    json::Value run;
    run.set("inputs", check.inputs);
    run.set("difference", check.difference);
    if (!check.refused.empty()) run.set("refused", check.refused);
    runs.push_back(std::move(run));
  }
  value.set("checks", std::move(runs));
  value.set("notes", texts(migrated.made.notes));
  value.set("specialized", texts(migrated.made.specialized));
  value.set("unrolled", texts(migrated.made.unrolled));
  return value;
}

// Those below the first one stand further in.
void print_note(std::string_view text) {
  constexpr size_t kMost = 2000;
  for (bool is_first = true; !text.empty(); is_first = false) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) fmt::print("  {}{}\n", is_first ? "" : "  ", printable(text.substr(0, end), kMost));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void print_migrated(const MigrateCommandOptions& options, const Migrated& migrated,
                    std::chrono::steady_clock::duration time) {
  const std::string method =
      options.methods.size() > 1 ? fmt::format(" ({})", printable(migrated.method)) : "";
  fmt::print("{}{} -> {}: {} in {}\n", printable(options.file, 400), method, printable(options.output, 400),
             counted(migrated.nodes, "node"), duration_text(time));
  if (!migrated.origin.empty()) fmt::print("  with arguments {}\n", migrated.origin);
  for (const MigrationCheck& check : migrated.checks) {
    fmt::print("  {}: {}\n", printable(check.inputs, 400), printable(check.outcome(), 400));
  }
  for (const std::string& note : migrated.made.notes) print_note(note);
}

void write_report(const MigrateCommandOptions& options, const std::vector<Migrated>& all) {
  std::vector<MigrationStory> stories;
  for (const Migrated& migrated : all) {
    stories.push_back({.method = migrated.method,
                       .migration = &migrated.made,
                       .checks = options.skip_check ? nullptr : &migrated.checks});
  }
  const bool is_page = options.report.ends_with(".html") || options.report.ends_with(".htm");
  AtomicFile file(options.report);
  file.write_text(migration_report(options.file, stories, is_page ? ReportForm::kHtml : ReportForm::kText));
  file.commit();
}

// Each method is a program under its name; PyTorch's torch.export.load takes the one called "model".
void save_programs(const MigrateCommandOptions& options, std::vector<Migrated>& all) {
  if (all.size() == 1) return save_program(std::move(all[0].made.program), options.output);
  Package package;
  for (Migrated& migrated : all) {
    const std::string name = migrated.method == "forward" ? "model" : migrated.method;
    package.models.push_back({name, std::move(migrated.made.program)});
  }
  save_package(package, options.output, PackageLayout::kArchive);
}

int run_migrate(MigrateCommandOptions options, const CommonOptions& common) {
  const script::ScriptModule module = open_script({options.file, nullptr, true}, common, true);
  if (options.methods.empty()) options.methods = {"forward"};
  std::vector<Migrated> all;
  std::vector<std::chrono::steady_clock::duration> times;
  for (const std::string& method : options.methods) {
    const auto start = std::chrono::steady_clock::now();
    all.push_back(migrate_method(module, method, options));
    times.push_back(std::chrono::steady_clock::now() - start);
  }
  size_t wrong = 0;
  for (const Migrated& migrated : all) {
    for (const MigrationCheck& check : migrated.checks) wrong += check.difference.empty() ? 0 : 1;
  }
  if (!options.report.empty()) write_report(options, all);
  save_programs(options, all);
  if (common.json) {
    json::Array values;
    for (const Migrated& migrated : all) values.push_back(migrated_json(options, migrated));
    if (values.size() == 1) {
      print_json(values[0]);
    } else {
      json::Value value;
      value.set("methods", std::move(values));
      print_json(value);
    }
  } else if (!common.quiet) {
    for (size_t i = 0; i < all.size(); ++i) print_migrated(options, all[i], times[i]);
  }
  return wrong == 0 ? kExitOk : kExitFound;
}

}  // namespace

Command migrate_command() {
  auto options = std::make_shared<MigrateCommandOptions>();
  return {
      "migrate",
      "Turn a TorchScript module into an exported program",
      {
          Option("FILE", "What torch.jit.save wrote", &options->file).required().takes(Takes::kInput),
          Option("-o,--output", "The program to write (.pt2)", &options->output)
              .required()
              .takes(Takes::kOutput),
          Option("-i,--input",
                 "An example argument: NAME=WHAT or WHAT; WHAT is a shape such as 1x3x224x224, a file "
                 "with one tensor, a number, 'text', ones:2x3, zeros:2x3 or random:2x3; repeatable; if none "
                 "is given, those that the file has",
                 &options->inputs),
          Option("--dynamic",
                 "A size that may vary: x:0=batch, x:0=batch:2..64, x.0:1=AUTO in a list; or auto for all "
                 "that can; "
                 "repeatable",
                 &options->dynamic),
          Option("--specialize",
                 "An argument that has one value in the program: NAME=VALUE with an int, a float, True, "
                 "False, None or a text in quotes; repeatable",
                 &options->specialize),
          Option("--method", "The method to migrate, forward if none is named; repeatable",
                 &options->methods),
          Option("--report", "Write what was specialized, unrolled and assumed: text, or .html",
                 &options->report)
              .takes(Takes::kOutput),
          Option("--seed", "Of random inputs", &options->seed),
          Option("--forget-changes",
                 "Attributes that are no tensors may change; the program forgets it after each run",
                 &options->forget),
          Option("--state-as-arguments",
                 "Attributes that are no tensors and change become arguments and results of the program",
                 &options->state_as_arguments),
          Option("--like-pytorch",
                 "Refuse or fix sizes that PyTorch's own export would refuse or fix; for comparison",
                 &options->like_pytorch),
          Option("--no-check", "Do not run both and compare", &options->skip_check),
      },
      {{"migrate model.pt -o model.pt2 -i 1x3x224x224", "with the sizes of the example"},
       {"migrate model.pt -o model.pt2 -i x=photo.npy --dynamic x:0=batch:1..64", "for any batch"}},
      [options](const CommonOptions& common) { return run_migrate(*options, common); }};
}

}  // namespace flambeau::cli
