#include "flambeau/script_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/interpreter/evaluator.h"
#include "flambeau/script/ir/text.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/printer/printer.h"
#include "flambeau/script/reachable.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

std::shared_ptr<const OperatorTable> table_of(const std::shared_ptr<const ops::Library>& library) {
  return std::make_shared<const OperatorTable>(
      std::shared_ptr<const SchemaTable>(library, &library->schemas()));
}

IValue state_value(std::string_view class_name, Value state) {
  const std::shared_ptr<Class> type = make_native_class(class_name);
  if (const std::shared_ptr<Function>* const method = type->find_method("__getstate__"))
    return interpreter::to_ivalue(std::move(state), (*method)->signature().returns.at(0));
  return interpreter::to_ivalue(std::move(state));
}

const std::shared_ptr<Function>& method_of(const IValue& object, std::string_view name) {
  const Class& type = *object.as_object().type;
  if (const std::shared_ptr<Function>* found = type.find_method(name)) return *found;
  throw Error(ErrorCode::kNotFound,
              fmt::format("{} has no method '{}'", printable(type.qualified_name()), printable(name)));
}

std::string place_text(const SourceRange& range) {
  if (!range) return {};
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

}  // namespace

ScriptModule::Loaded::Loaded(const ScriptLoadOptions& options)
    : library(options.library ? options.library : std::make_shared<const ops::Library>()),
      operators(table_of(library)),
      pool(options.threads) {}

LoadHooks ScriptModule::Loaded::load_hooks(const ScriptLoadOptions& options) {
  LoadHooks hooks;
  hooks.begin = [this, &options](const std::shared_ptr<Unit>& unit) {
    interpreter::MachineOptions made;
    made.most_steps = options.most_steps;
    made.generator = &generator;
    machine = std::make_unique<interpreter::Machine>(
        std::make_shared<const interpreter::Program>(unit, library), pool, made);
    // Constants are folded as PyTorch folds them: bytecode depends on it.
    unit->set_evaluator(interpreter::make_evaluator(operators, library, pool));
  };
  hooks.make_native = [this](std::string_view name, const IValue& state) -> IValue {
    const ops::ObjectClass* const type = library->find_class(name);
    return type == nullptr ? IValue() : IValue::native(type->from_state(interpreter::to_value(state)));
  };
  if (options.run_set_state) {
    hooks.set_state = [this](const Function& /*method*/, const IValue& object, const IValue& state) {
      machine->call_method(object, "__setstate__", {state});
    };
  }
  return hooks;
}

SaveHooks ScriptModule::Loaded::save_hooks() {
  SaveHooks hooks;
  hooks.get_state = [this](const Function& /*method*/, const IValue& object) {
    return machine->call_method(object, "__getstate__");
  };
  hooks.native_state = [this](const Object& object) {
    const ops::ObjectClass* const type = library->find_class(object.class_name);
    if (type == nullptr) {
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("nothing says what the state of {} is", printable(object.class_name)));
    }
    return state_value(object.class_name, type->state(object));
  };
  return hooks;
}

std::vector<std::shared_ptr<const Class>> ScriptModule::Loaded::classes() const {
  std::vector<std::shared_ptr<const Class>> found;
  std::unordered_set<const void*> seen;
  std::unordered_set<const Class*> known;
  std::vector<IValue> left{file.module};
  while (!left.empty()) {
    const IValue value = std::move(left.back());
    left.pop_back();
    if (value.identity() == nullptr || !seen.insert(value.identity()).second) continue;
    if (value.is(IValue::Tag::kTuple) || value.is(IValue::Tag::kList)) {
      left.insert(left.end(), value.items().rbegin(), value.items().rend());
    } else if (value.is(IValue::Tag::kDict)) {
      for (const DictItems::Entry& entry : value.as_dict().items.entries()) left.push_back(entry.value);
    } else if (value.is(IValue::Tag::kObject)) {
      const ObjectBox& object = value.as_object();
      const bool is_native = object.type->qualified_name().starts_with(kNativeClassPrefix);
      if (!is_native && known.insert(object.type.get()).second) found.push_back(object.type);
      left.insert(left.end(), object.slots.rbegin(), object.slots.rend());
    }
  }
  return found;
}

std::string top_folder_of(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  name.resize(std::min(name.size(), name.rfind('.')));
  const bool is_plain = std::all_of(path.begin(), path.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return is_plain && !name.empty() && name != "." && name != ".." ? name : "archive";
}

// ---- what there is to see

std::string ScriptModule::code() const {
  ConstantTable constants;
  Dependencies mentioned;
  CodePrinter printer(*loaded_->file.unit, constants, mentioned, {});
  printer.print(*object_.as_object().type);
  return printer.text();
}

std::string ScriptModule::code(std::string_view method) const {
  ConstantTable constants;
  Dependencies mentioned;
  CodePrinter printer(*loaded_->file.unit, constants, mentioned, {});
  printer.print_method(*method_of(object_, method));
  return printer.text();
}

std::string ScriptModule::original_code(std::string_view method) const {
  std::string text;
  std::set<std::string> seen;
  visit_nodes(*method_of(object_, method)->graph(), [&](const ir::Node& node) {
    const std::optional<SourceRange> origin = origin_of(node.range);
    if (!origin || origin->source->text().empty() || !seen.insert(origin->source->text()).second) return;
    text += fmt::format("# {}:{}\n{}", printable(origin->source->file_name()), origin->source->first_line(),
                        origin->source->text());
    if (!text.ends_with('\n')) text += '\n';
  });
  return text;
}

std::string ScriptModule::graph(std::string_view method) const {
  return ir::to_text(*method_of(object_, method)->graph());
}

int64_t ScriptModule::archive_version() const {
  return loaded_->file.archive ? loaded_->file.archive->version() : kNewestArchiveVersion;
}

std::vector<std::string> ScriptModule::extra_files() const {
  return loaded_->file.archive ? loaded_->file.archive->extra_files() : std::vector<std::string>();
}

std::string ScriptModule::extra_file(std::string_view name) const {
  if (!loaded_->file.archive)
    throw Error(ErrorCode::kNotFound, "a module that comes from no file has no extra files");
  return std::string(as_text(loaded_->file.archive->records().read(fmt::format("extra/{}", name))));
}

std::vector<std::string> ScriptModule::operators() const {
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
  std::vector<CodeFinding> found;
  const interpreter::Program& program = loaded_->machine->program();
  std::set<std::pair<std::string, std::string>> told;
  visit_reachable(
      *loaded_->file.unit, loaded_->classes(),
      [&](const Function& function, const ir::Graph* graph, const Error* error) {
        if (graph == nullptr) return found.push_back(finding(function, {}, error->what()));
        visit_nodes(*graph, [&](const ir::Node& node) {
          if (node.op == nullptr) return;
          const std::string name = node.op->schema.name.to_string();
          if (program.builtins().find(name) != nullptr || loaded_->library->find(node.op->schema.name))
            return;
          if (!told.insert({function.qualified_name(), name}).second) return;
          found.push_back(finding(function, node.range, fmt::format("nothing here runs {}", name)));
        });
      });
  for (const ScriptModule& module : modules()) {
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
  using interpreter::Capability;
  std::vector<CodeFinding> found;
  const interpreter::Program& program = loaded_->machine->program();
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

std::vector<std::string> ScriptModule::run_at_load() const {
  std::vector<std::string> found;
  for (const std::shared_ptr<const Class>& type : loaded_->classes()) {
    if (has_state_methods(*type)) found.push_back(type->qualified_name() + ".__setstate__");
  }
  return found;
}

std::string to_text(const IValue& value) {
  switch (value.tag()) {
    case IValue::Tag::kTensor:
      return value.as_tensor().summary();
    case IValue::Tag::kObject:
    case IValue::Tag::kNative:
    case IValue::Tag::kFuture:
      return fmt::format("<{}>", printable(value.kind_name()));
    case IValue::Tag::kDict: {
      std::string text;
      for (const DictItems::Entry& entry : value.as_dict().items.entries())
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", to_text(entry.key), to_text(entry.value));
      return "{" + text + "}";
    }
    default:
      return ir::to_text(value);
  }
}

}  // namespace flambeau::script
