// What there is to see of a module: code, graphs, operators, and what is wrong or touches the outside.
#include "flambeau/script_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "flambeau/base/error.h"
#include "flambeau/ops/left_out.h"
#include "flambeau/script/ir/text.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/printer/printer.h"
#include "flambeau/script/python/decompile.h"
#include "flambeau/script/reachable.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/types/text.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

std::string place_text(const SourceRange& range) {
  if (!range || range.source->file_name().empty()) return {};
  return fmt::format("{}:{}", printable(range.source->file_name()), range.source->line_of(range.start));
}

std::optional<SourceRange> origin_of(const SourceRange& range) {
  if (!range || range.source->origins() == nullptr) return std::nullopt;
  return range.source->origins()->find(range.start);
}

CodeFinding finding(const Function& function, const SourceRange& range, std::string message) {
  CodeFinding made;
  made.function = function.qualified_name();
  made.place = place_text(range);
  if (const std::optional<SourceRange> origin = origin_of(range)) made.original = place_text(*origin);
  made.message = std::move(message);
  return made;
}

// Where an error of the compiler was: its locations are a file of the archive and a line.
CodeFinding compile_finding(const ScriptContents* archive, const Function& function, const Error& error) {
  CodeFinding made;
  made.function = function.qualified_name();
  const size_t end = std::min(error.message().find(":\n  File "), error.message().size());
  made.message = error.message().substr(0, end);
  if (end != error.message().size()) made.excerpt = error.message().substr(end + 2);
  std::string file, line;
  for (const Location& location : error.locations()) {
    if (location.kind == "file") file = location.value;
    if (location.kind == "line") line = location.value;
  }
  if (file.empty()) return made;
  made.place = line.empty() ? file : fmt::format("{}:{}", file, line);
  size_t number = 0;
  std::from_chars(line.data(), line.data() + line.size(), number);
  constexpr std::string_view kFolder = "code/";
  if (archive == nullptr || number == 0 || !file.starts_with(kFolder) || !file.ends_with(".py")) return made;
  std::string qualifier = file.substr(kFolder.size(), file.size() - kFolder.size() - 3);
  std::ranges::replace(qualifier, '/', '.');
  const std::shared_ptr<const Source> source = archive->find_source(qualifier);
  if (source == nullptr) return made;
  const std::string& text = source->text();
  size_t at = 0;
  for (size_t i = source->first_line(); i < number && at < text.size(); ++i) at = text.find('\n', at) + 1;
  // The underline is where the error is.
  const size_t here = made.excerpt.find("~ <--- HERE");
  if (here != std::string::npos) {
    const size_t line_begin = made.excerpt.rfind('\n', here) + 1;
    at += made.excerpt.find('~', line_begin) - line_begin;
  }
  at = std::min(at, text.size());
  if (const std::optional<SourceRange> origin = origin_of({source, static_cast<uint32_t>(at), 0}))
    made.original = place_text(*origin);
  return made;
}

}  // namespace

// ---- what there is to see

std::string ScriptModule::code() const {
  const std::shared_lock lock(loaded_->mutex);
  ConstantTable constants;
  Dependencies mentioned;
  CodePrinter printer(*loaded_->file.unit, constants, mentioned, {});
  printer.print(*object_.as_object().type);
  return printer.text();
}

std::string ScriptModule::code(std::string_view method) const {
  const std::shared_lock lock(loaded_->mutex);
  ConstantTable constants;
  Dependencies mentioned;
  CodePrinter printer(*loaded_->file.unit, constants, mentioned, {});
  printer.print_method(*method_named(object_, method));
  return printer.text();
}

std::string ScriptModule::original_code(std::string_view method) const {
  const std::shared_lock lock(loaded_->mutex);
  std::string text;
  std::set<std::string> seen;
  visit_nodes(*method_named(object_, method)->graph(), [&](const ir::Node& node) {
    const std::optional<SourceRange> origin = origin_of(node.range);
    if (!origin || origin->source->text().empty() || !seen.insert(origin->source->text()).second) return;
    text += fmt::format("# {}:{}\n{}", printable(origin->source->file_name()), origin->source->first_line(),
                        origin->source->text());
    if (!text.ends_with('\n')) text += '\n';
  });
  return text;
}

std::string ScriptModule::python_code() const {
  const std::shared_lock lock(loaded_->mutex);
  return decompile(*loaded_->file.unit, object_, loaded_->save_hooks().native_state);
}

std::string ScriptModule::graph(std::string_view method) const {
  const std::shared_lock lock(loaded_->mutex);
  return ir::to_text(*method_named(object_, method)->graph());
}

int64_t ScriptModule::archive_version() const {
  return loaded_->file.archive == nullptr ? kNewestArchiveVersion : loaded_->file.archive->version();
}

std::vector<std::string> ScriptModule::extra_files() const {
  if (loaded_->file.archive == nullptr) return {};
  return loaded_->file.archive->extra_files();
}

std::string ScriptModule::extra_file(std::string_view name) const {
  if (loaded_->file.archive == nullptr)
    throw Error(ErrorCode::kNotFound, "a module that came from no file has no files beside it");
  return loaded_->file.archive->extra_file(name);
}

std::vector<std::string> ScriptModule::operators() const {
  const std::shared_lock lock(loaded_->mutex);
  std::set<std::string> names;
  visit_reachable(*loaded_->file.unit, loaded_->classes(),
                  [&](const Function& /*function*/, const ir::Graph* graph, const Error* /*error*/) {
                    if (graph == nullptr) return;
                    visit_nodes(*graph, [&](const ir::Node& node) {
                      if (node.op != nullptr) names.insert(node.op->schema.name.to_string());
                    });
                  });
  return {names.begin(), names.end()};
}

std::vector<CodeFinding> ScriptModule::problems() const {
  const std::shared_lock lock(loaded_->mutex);
  std::vector<CodeFinding> found;
  const interpreter::Program& program = *loaded_->code->program;
  std::set<std::pair<std::string, std::string>> told;
  visit_reachable(
      *loaded_->file.unit, loaded_->classes(),
      [&](const Function& function, const ir::Graph* graph, const Error* error) {
        if (graph == nullptr)
          return found.push_back(compile_finding(loaded_->file.archive.get(), function, *error));
        visit_nodes(*graph, [&](const ir::Node& node) {
          if (node.op == nullptr) return;
          const std::string name = node.op->schema.name.to_string();
          if (program.builtins().find(name) != nullptr || loaded_->code->library->find(node.op->schema.name))
            return;
          if (!told.insert({function.qualified_name(), name}).second) return;
          const std::string_view option = ops::option_left_out(name);
          found.push_back(
              finding(function, node.range,
                      fmt::format("nothing here runs {}{}", name,
                                  option.empty() ? "" : fmt::format(": it was built without {}", option))));
        });
      });
  for (const ScriptModule& module : modules_here()) {
    const ObjectBox& object = module.object_.as_object();
    if (loaded_->file.kept.contains(module.object_.identity())) continue;  // its slots wait for __setstate__
    for (size_t i = 0; i < object.slots.size(); ++i) {
      const Attribute& attribute = object.type->attributes.at(i);
      if (is_instance(loaded_->file.unit.get(), object.slots[i], attribute.type)) continue;
      found.push_back(
          {object.type->qualified_name(),
           {},
           {},
           fmt::format("the attribute '{}' is declared as {}, and is {}", printable(attribute.name),
                       annotation_text(attribute.type), printable(object.slots[i].kind_name()))});
    }
  }
  return found;
}

std::vector<CodeFinding> ScriptModule::outside_calls() const {
  const std::shared_lock lock(loaded_->mutex);
  using interpreter::Capability;
  std::vector<CodeFinding> found;
  const interpreter::Program& program = *loaded_->code->program;
  visit_reachable(*loaded_->file.unit, loaded_->classes(),
                  [&](const Function& function, const ir::Graph* graph, const Error* /*error*/) {
                    if (graph == nullptr) return;
                    visit_nodes(*graph, [&](const ir::Node& node) {
                      if (node.op == nullptr) return;
                      const std::string name = node.op->schema.name.to_string();
                      const interpreter::Builtin* const builtin = program.builtins().find(name);
                      uint32_t needs = builtin == nullptr ? 0 : builtin->needs;
                      if (node.op->has(OperatorFlag::kFiles))
                        needs |= static_cast<uint32_t>(Capability::kFiles);
                      for (const auto& [capability, what] :
                           {std::pair{Capability::kFiles, "reads or writes files"},
                            std::pair{Capability::kNetwork, "calls other machines"},
                            std::pair{Capability::kSeed, "seeds the generator of random numbers"}}) {
                        if ((needs & static_cast<uint32_t>(capability)) == 0) continue;
                        found.push_back(finding(function, node.range, fmt::format("{} {}", name, what)));
                      }
                    });
                  });
  return found;
}

std::vector<LoweredModule> ScriptModule::lowered_modules() const {
  const std::shared_lock lock(loaded_->mutex);
  std::vector<LoweredModule> found;
  for (const ScriptModule& module : modules_here()) {
    const ObjectBox& object = module.object_.as_object();
    std::string backend;
    try {
      backend = backend_of(*object.type);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      continue;  // code that does not compile, as problems() says
    }
    if (backend.empty()) continue;
    LoweredModule& made = found.emplace_back();
    made.path = module.path_;
    made.backend = backend;
    // (what was asked for, what the backend made of the module, whether it is to be made anew)
    const auto kept = loaded_->file.kept.find(module.object_.identity());
    if (kept != loaded_->file.kept.end()) {
      const IValue& state = kept->second.state;
      if (!state.is(IValue::Tag::kTuple) || state.items().size() < 2) continue;
      made.method_compile_spec = state.items()[0];
      made.processed = state.items()[1];
      continue;
    }
    const std::optional<size_t> spec = object.type->find_attribute("__method_compile_spec");
    const std::optional<size_t> processed = object.type->find_attribute("__processed_module");
    if (spec && *spec < object.slots.size()) made.method_compile_spec = object.slots[*spec];
    if (processed && *processed < object.slots.size()) made.processed = object.slots[*processed];
  }
  return found;
}

std::vector<std::string> ScriptModule::run_at_load() const {
  const std::shared_lock lock(loaded_->mutex);
  std::vector<std::string> found;
  for (const std::shared_ptr<const Class>& type : loaded_->classes()) {
    if (has_state_methods(*type)) found.push_back(type->qualified_name() + ".__setstate__");
  }
  return found;
}

}  // namespace flambeau::script
