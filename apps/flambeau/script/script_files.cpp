#include "script/script_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/inspect.h"
#include "flambeau/operators.h"
#include "flambeau/script_package.h"
#include "flambeau/to_script.h"
#include "progress_bar.h"
#include "reports.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

void print_script_heading(std::string_view text) { fmt::print("\n{}\n", styled(text, Style::kBold)); }

// What of a dotted name is the module's, and what the method's.
std::pair<std::string, std::string> split_method(const std::string& text) {
  const size_t dot = text.rfind('.');
  if (dot == std::string::npos) return {"", text};
  return {text.substr(0, dot), text.substr(dot + 1)};
}

json::Value finding_json(const script::CodeFinding& finding) {
  json::Value value;
  value.set("function", finding.function);
  if (!finding.place.empty()) value.set("place", finding.place);
  if (!finding.original.empty()) value.set("original", finding.original);
  value.set("message", finding.message);
  return value;
}

std::string finding_text(const script::CodeFinding& finding) {
  std::string place = finding.place.empty() ? finding.function : finding.place;
  if (!finding.original.empty()) place += fmt::format(", originally {}", finding.original);
  return fmt::format("{}: {}", styled(printable(place, 300), Style::kCyan), printable(finding.message, 600));
}

// The lines below the one that names the place, which was said already.
void print_excerpt(std::string_view text) {
  if (text.starts_with("  File ")) text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    fmt::print("      {}\n", styled(printable(text.substr(0, end), 200), Style::kDim));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

template <typename Items>
json::Array json_of(const Items& items) {
  json::Array array;
  for (const auto& item : items) array.emplace_back(item);
  return array;
}

}  // namespace

bool is_script_kind(FileKind kind) {
  return kind == FileKind::kTorchScript || kind == FileKind::kTorchScriptMobile ||
         kind == FileKind::kMobileFlatBuffer;
}

bool is_script_file(const std::shared_ptr<Mapping>& mapping) {
  const FileKind kind = recognize(mapping);
  return is_script_kind(kind) ||
         (kind == FileKind::kTorchPackage && !script::list_script_package(mapping).empty());
}

PackagedName packaged_name(const std::string& path) {
  std::error_code ignored;
  for (size_t at = path.find(':'); at != std::string::npos; at = path.find(':', at + 1)) {
    if (std::filesystem::exists(path, ignored)) break;
    if (std::filesystem::is_regular_file(path.substr(0, at), ignored))
      return {path.substr(0, at), path.substr(at + 1)};
  }
  return {path, {}};
}

bool is_script_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(packaged_name(path).file, ignored) && open_source(path).is_script;
}

ModelSource open_source(const std::string& path) {
  ModelSource source{path, nullptr, false};
  try {
    const std::string file = packaged_name(path).file;
    const bool is_pipe = !std::filesystem::is_regular_file(file) && !std::filesystem::is_directory(file);
    const std::shared_ptr<Mapping> bytes = open_model_file(file);
    if (is_pipe) source.bytes = bytes;
    source.is_script = is_script_file(bytes);
  } catch (const Error&) {
    // Whoever reads it as something else says what is wrong.
  } catch (const std::filesystem::filesystem_error&) {
  }
  return source;
}

script::ScriptModule open_script(const ModelSource& source, const CommonOptions& common, bool run,
                                 const std::vector<std::string>& operators) {
  script::ScriptLoadOptions options;
  options.run_set_state = run;
  options.threads = common.threads;
  if (!operators.empty()) {
    auto library = std::make_shared<ops::Library>();
    for (const std::string& path : operators) load_operators(path, *library);
    options.library = std::move(library);
  }
  const PackagedName name = packaged_name(source.path);
  options.module = name.module;
  if (source.bytes == nullptr && source.path != "-") return script::load_script(name.file, options);
  return with_location("file", source.path, [&] {
    return script::load_script(source.bytes != nullptr ? source.bytes : open_model_file(source.path),
                               options);
  });
}

void print_script_package(const std::shared_ptr<Mapping>& bytes) {
  const std::vector<script::PackagedScript> modules = script::list_script_package(bytes);
  if (modules.empty()) return;
  print_script_heading(counted(modules.size(), "script module"));
  for (const script::PackagedScript& module : modules) {
    fmt::print(
        "  {}: {}\n",
        styled(printable(module.names.empty() ? module.id : fmt::format("{}", fmt::join(module.names, ", ")),
                         400),
               Style::kCyan),
        printable(module.class_name));
  }
}

void print_script(const script::ScriptModule& module, size_t limit, bool is_whole) {
  const auto more = [&](size_t count, size_t shown) {
    if (limit == 0 || shown < limit) return false;
    fmt::print("  ... and {} more (--limit 0 shows all)\n", count - shown);
    return true;
  };
  if (is_whole) {
    const std::vector<script::ScriptModule> modules = module.modules();
    print_script_heading(counted(modules.size(), "module"));
    for (size_t i = 0; i < modules.size() && !more(modules.size(), i); ++i) {
      const std::string& path = modules[i].path();
      fmt::print("  {}: {}\n", styled(path.empty() ? "(the module)" : printable(path), Style::kCyan),
                 printable(modules[i].class_name()));
    }
  }
  const std::vector<script::ModuleMethod> methods = module.methods();
  print_script_heading(
      fmt::format("{} of {}", counted(methods.size(), "method"), printable(module.class_name())));
  for (size_t i = 0; i < methods.size() && !more(methods.size(), i); ++i)
    fmt::print("  {}\n", printable(methods[i].signature, 2000));
  const std::vector<script::LoweredModule> lowered = module.lowered_modules();
  if (!lowered.empty()) print_script_heading(counted(lowered.size(), "lowered module"));
  for (size_t i = 0; i < lowered.size() && !more(lowered.size(), i); ++i) {
    fmt::print("  {}: backend '{}', processed: {}\n",
               styled(lowered[i].path.empty() ? "(the module)" : printable(lowered[i].path), Style::kCyan),
               printable(lowered[i].backend), printable(script::to_text(lowered[i].processed), 100));
  }
  std::vector<std::string> attributes;
  for (const script::ModuleAttribute& each : module.attributes()) {
    if (each.kind != script::SlotKind::kAttribute || each.name == "_is_full_backward_hook") continue;
    attributes.push_back(fmt::format("{}: {} = {}", styled(printable(each.name), Style::kCyan),
                                     printable(each.type),
                                     printable(script::to_text(module.attribute(each.name)), 100)));
  }
  if (!attributes.empty()) {
    print_script_heading(counted(attributes.size(), "attribute"));
    for (size_t i = 0; i < attributes.size() && !more(attributes.size(), i); ++i)
      fmt::print("  {}\n", attributes[i]);
  }
  if (!is_whole) return;
  const std::vector<std::string> operators = module.operators();
  print_script_heading(counted(operators.size(), "operator"));
  for (const std::string& name : operators) fmt::print("  {}\n", printable(name));
  const std::vector<std::string> files = module.extra_files();
  if (!files.empty()) {
    print_script_heading(counted(files.size(), "extra file"));
    for (const std::string& name : files)
      fmt::print("  {}: {}\n", printable(name), human_bytes(module.extra_file(name).size()));
  }
  const std::vector<std::string> at_load = module.run_at_load();
  if (at_load.empty()) return;
  print_script_heading("runs when it is loaded");
  for (const std::string& name : at_load) fmt::print("  {}\n", printable(name));
}

json::Value script_json(const script::ScriptModule& module) {
  json::Value value;
  value.set("class", module.class_name());
  value.set("version", module.archive_version());
  json::Array modules, methods, attributes;
  for (const script::ScriptModule& part : module.modules()) {
    json::Value entry;
    entry.set("path", part.path());
    entry.set("class", part.class_name());
    modules.push_back(std::move(entry));
  }
  for (const script::ModuleMethod& method : module.methods()) {
    json::Value entry;
    entry.set("name", method.name);
    entry.set("signature", method.signature);
    methods.push_back(std::move(entry));
  }
  for (const script::ModuleAttribute& attribute : module.attributes()) {
    json::Value entry;
    entry.set("name", attribute.name);
    entry.set("type", attribute.type);
    attributes.push_back(std::move(entry));
  }
  value.set("modules", std::move(modules));
  value.set("methods", std::move(methods));
  value.set("attributes", std::move(attributes));
  value.set("operators", json_of(module.operators()));
  value.set("extra_files", json_of(module.extra_files()));
  value.set("run_at_load", json_of(module.run_at_load()));
  return value;
}

bool verify_script(const std::string& path, const CommonOptions& common, json::Array& results) {
  const script::ScriptModule module = open_script({path, nullptr, true}, common);
  const std::vector<script::CodeFinding> problems =
      with_location("file", path, [&] { return module.problems(); });
  if (common.json) {
    json::Value value;
    value.set("file", path);
    json::Array found;
    for (const script::CodeFinding& problem : problems) found.push_back(finding_json(problem));
    value.set("findings", std::move(found));
    results.push_back(std::move(value));
  } else if (problems.empty()) {
    if (!common.quiet) {
      fmt::print("{}: valid, {}\n", styled(printable(path, 400), Style::kBold),
                 counted(module.modules().size(), "module"));
    }
  } else {
    fmt::print("{}:\n", styled(printable(path, 400), Style::kBold));
    for (const script::CodeFinding& problem : problems) {
      fmt::print("  {}\n", finding_text(problem));
      if (!problem.excerpt.empty()) print_excerpt(problem.excerpt);
    }
  }
  return problems.empty();
}

void print_script_safety(const std::string& path) {
  const script::ScriptModule module = open_script({path, nullptr, true}, {});
  for (const std::string& name : module.run_at_load()) {
    fmt::print("  {} {} runs when the module is loaded\n", styled("caution", Style::kYellow),
               printable(name));
  }
  for (const script::CodeFinding& call : module.outside_calls()) {
    fmt::print("  {} {}\n", styled("danger", Style::kRed), finding_text(call));
  }
}

json::Value script_safety_json(const std::string& path) {
  const script::ScriptModule module = open_script({path, nullptr, true}, {});
  json::Value value;
  value.set("run_at_load", json_of(module.run_at_load()));
  json::Array calls;
  for (const script::CodeFinding& call : module.outside_calls()) calls.push_back(finding_json(call));
  value.set("outside_calls", std::move(calls));
  return value;
}

std::string script_graph(const ModelSource& source, const std::string& method) {
  const auto [part, name] = split_method(method);
  const script::ScriptModule module = open_script(source, {});
  return with_location("file", source.path,
                       [&, &of = part, &called = name] { return module.submodule(of).graph(called); });
}

namespace {

void report_saved(const script::ScriptModule& module, const std::string& from, const std::string& to,
                  std::string_view what, const CommonOptions& common) {
  if (common.json) {
    json::Value value;
    value.set("input", from);
    value.set("output", to);
    value.set("kind", "torchscript");
    value.set("modules", static_cast<uint64_t>(module.modules().size()));
    print_json(value);
  } else if (!common.quiet) {
    fmt::print("{}: {}, {} (--weights-only would write its tensors alone)\n",
               styled(printable(to, 400), Style::kBold), what, counted(module.modules().size(), "module"));
  }
}

std::vector<std::pair<std::string, std::string>> extra_files_of(const script::ScriptModule& module) {
  std::vector<std::pair<std::string, std::string>> extras;
  for (const std::string& name : module.extra_files()) extras.emplace_back(name, module.extra_file(name));
  return extras;
}

bool is_program_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  try {
    return is_program_kind(recognize(open_model_file(path)));
  } catch (const Error&) {
    return false;  // whoever reads it as a script says what is wrong
  }
}

script::ScriptModule program_as_script(const ScriptConversion& options, const CommonOptions& common) {
  Package package = load_package(options.from);
  script::ScriptLoadOptions how;
  how.threads = common.threads;
  return with_location("file", options.from,
                       [&] { return to_script(package.model(options.model).program, how); });
}

}  // namespace

void convert_script(const ScriptConversion& options, const CommonOptions& common) {
  ProgressBar progress(common.quiet || common.json);
  script::ScriptModule module = is_program_file(options.from)
                                    ? program_as_script(options, common)
                                    : open_script({options.from, nullptr, true}, common, true);
  const std::vector<std::pair<std::string, std::string>> extras = extra_files_of(module);
  with_location("file", options.from, [&] {
    if (!options.methods.empty()) module.keep_methods(options.methods);
    if (options.dtype) module.to(*options.dtype);
    if (options.freeze) {
      module.eval();
      module = script::freeze(module, options.methods);
    }
    script::save_script(module, options.to, extras, progress);
  });
  report_saved(module, options.from, options.to, "a TorchScript module", common);
}

void save_mobile_script(const std::string& from, const std::string& to, const std::string& version,
                        bool has_code, const CommonOptions& common) {
  const bool is_flat = to.ends_with(".ff");
  if (is_flat && !version.empty() && version != "9") {
    throw Error(ErrorCode::kInvalidArgument, "a .ff file holds bytecode of version 9",
                "give an output ending in .ptl for an older version");
  }
  ProgressBar progress(common.quiet || common.json);
  const script::ScriptModule module = open_script({from, nullptr, true}, common, true);
  script::MobileSaveOptions options;
  if (is_flat) options.version = 9;
  if (!version.empty()) options.version = std::stoll(version);
  options.has_code = has_code;
  options.extra_files = extra_files_of(module);
  with_location("file", from, [&] { script::save_mobile(module, to, options, progress); });
  report_saved(module, from, to, "a mobile module", common);
}

}  // namespace flambeau::cli
