#include "script/script_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <filesystem>
#include <map>

#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/inspect.h"
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

template <typename Items>
json::Array json_of(const Items& items) {
  json::Array array;
  for (const auto& item : items) array.emplace_back(item);
  return array;
}

}  // namespace

bool is_script_file(const std::shared_ptr<Mapping>& mapping) {
  const FileKind kind = recognize(mapping);
  return kind == FileKind::kTorchScript || kind == FileKind::kTorchScriptMobile;
}

bool is_script_file(const std::string& path) {
  try {
    // A pipe can be read once: it is left to who reads programs.
    return std::filesystem::is_regular_file(path) && is_script_file(open_model_file(path));
  } catch (const Error&) {
    return false;
  }
}

script::ScriptModule open_script(const std::string& path, const CommonOptions& common, bool run) {
  script::ScriptLoadOptions options;
  options.run_set_state = run;
  options.threads = common.threads;
  return script::load_script(path, options);
}

void print_script(const script::ScriptModule& module, size_t limit) {
  const std::vector<script::ScriptModule> modules = module.modules();
  print_script_heading(counted(modules.size(), "module"));
  size_t shown = 0;
  for (const script::ScriptModule& part : modules) {
    if (limit != 0 && shown++ == limit) {
      fmt::print("  ... and {} more (--limit 0 shows all)\n", modules.size() - limit);
      break;
    }
    fmt::print("  {}: {}\n",
               styled(part.path().empty() ? "(the module)" : printable(part.path()), Style::kCyan),
               printable(part.class_name()));
  }
  print_script_heading("methods");
  for (const script::ModuleMethod& method : module.methods())
    fmt::print("  {}\n", printable(method.signature, 2000));
  const std::vector<std::string> operators = module.operators();
  print_script_heading(counted(operators.size(), "operator"));
  for (const std::string& name : operators) fmt::print("  {}\n", printable(name));
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
  value.set("run_at_load", json_of(module.run_at_load()));
  return value;
}

bool verify_script(const std::string& path, const CommonOptions& common, json::Array& results) {
  const script::ScriptModule module = open_script(path, common);
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
    for (const script::CodeFinding& problem : problems) fmt::print("  {}\n", finding_text(problem));
  }
  return problems.empty();
}

void print_script_safety(const std::string& path) {
  const script::ScriptModule module = open_script(path, {});
  for (const std::string& name : module.run_at_load()) {
    fmt::print("  {} {} runs when the module is loaded\n", styled("caution", Style::kYellow),
               printable(name));
  }
  for (const script::CodeFinding& call : module.outside_calls()) {
    fmt::print("  {} {}\n", styled("danger", Style::kRed), finding_text(call));
  }
}

json::Value script_safety_json(const std::string& path) {
  const script::ScriptModule module = open_script(path, {});
  json::Value value;
  value.set("run_at_load", json_of(module.run_at_load()));
  json::Array calls;
  for (const script::CodeFinding& call : module.outside_calls()) calls.push_back(finding_json(call));
  value.set("outside_calls", std::move(calls));
  return value;
}

std::string script_graph(const std::string& path, const std::string& method) {
  const auto [part, name] = split_method(method);
  const script::ScriptModule module = open_script(path, {});
  return with_location("file", path,
                       [&, &of = part, &called = name] { return module.submodule(of).graph(called); });
}

namespace {

void report_saved(const script::ScriptModule& module, const std::string& from, const std::string& to,
                  std::string_view what, const CommonOptions& common) {
  if (common.json) {
    json::Value value;
    value.set("input", from);
    value.set("output", to);
    value.set("modules", static_cast<uint64_t>(module.modules().size()));
    print_json(value);
  } else if (!common.quiet) {
    fmt::print("{}: {}, {}\n", styled(printable(to, 400), Style::kBold), what,
               counted(module.modules().size(), "module"));
  }
}

std::vector<std::pair<std::string, std::string>> extra_files_of(const script::ScriptModule& module) {
  std::vector<std::pair<std::string, std::string>> extras;
  for (const std::string& name : module.extra_files()) extras.emplace_back(name, module.extra_file(name));
  return extras;
}

}  // namespace

void resave_script(const std::string& from, const std::string& to, const CommonOptions& common) {
  ProgressBar progress(common.quiet || common.json);
  const script::ScriptModule module = open_script(from, common, true);
  with_location("file", from, [&] { script::save_script(module, to, extra_files_of(module), progress); });
  report_saved(module, from, to, "a TorchScript module", common);
}

void save_mobile_script(const std::string& from, const std::string& to, const std::string& version,
                        const CommonOptions& common) {
  ProgressBar progress(common.quiet || common.json);
  const script::ScriptModule module = open_script(from, common, true);
  script::MobileSaveOptions options;
  if (!version.empty()) options.version = std::stoll(version);
  options.extra_files = extra_files_of(module);
  with_location("file", from, [&] { script::save_mobile(module, to, options, progress); });
  report_saved(module, from, to, "a mobile module", common);
}

}  // namespace flambeau::cli
