#include "flambeau/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/base/files/atomic_file.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/mobile/mobile_file.h"
#include "flambeau/script/bytecode/export.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script_module.h"

namespace flambeau::script {
namespace {

// Modules in modules: as deep as archives may have them.
constexpr size_t kMostModuleDepth = 400;

const Class& class_of(const IValue& object) { return *object.as_object().type; }

size_t slot_of(const IValue& object, std::string_view name) {
  const std::optional<size_t> slot = class_of(object).find_attribute(name);
  if (slot) return *slot;
  throw Error(
      ErrorCode::kNotFound,
      fmt::format("{} has no attribute '{}'", printable(class_of(object).qualified_name()), printable(name)));
}

bool is_module(const IValue& value) { return value.is(IValue::Tag::kObject) && class_of(value).is_module(); }

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : fmt::format("{}.{}", path, name);
}

SlotKind kind_of(const Attribute& attribute, const IValue& value) {
  if (attribute.is_parameter) return SlotKind::kParameter;
  if (attribute.is_buffer) return SlotKind::kBuffer;
  return is_module(value) ? SlotKind::kModule : SlotKind::kAttribute;
}

}  // namespace

std::string ScriptModule::class_name() const { return class_of(object_).qualified_name(); }

std::vector<ModuleAttribute> ScriptModule::attributes() const {
  const ObjectBox& object = object_.as_object();
  std::vector<ModuleAttribute> found;
  for (size_t i = 0; i < object.slots.size(); ++i) {
    const Attribute& attribute = object.type->attributes.at(i);
    found.push_back({attribute.name, annotation_text(attribute.type), kind_of(attribute, object.slots[i])});
  }
  return found;
}

IValue ScriptModule::attribute(std::string_view name) const {
  return object_.as_object().slots.at(slot_of(object_, name));
}

void ScriptModule::set_attribute(std::string_view name, IValue value) {
  const size_t slot = slot_of(object_, name);
  const Type& wanted = class_of(object_).attributes.at(slot).type;
  if (!is_instance(loaded_->file.unit.get(), value, wanted)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the attribute '{}' of {} is of type {}, not {}", printable(name),
                            printable(class_name()), annotation_text(wanted), value.kind_name()));
  }
  object_.as_object().slots[slot] = std::move(value);
}

ScriptModule ScriptModule::child(size_t slot) const {
  const ObjectBox& object = object_.as_object();
  return {loaded_, object.slots.at(slot), joined(path_, object.type->attributes.at(slot).name)};
}

std::vector<ScriptModule> ScriptModule::submodules() const {
  std::vector<ScriptModule> found;
  const ObjectBox& object = object_.as_object();
  for (size_t i = 0; i < object.slots.size(); ++i) {
    if (is_module(object.slots[i])) found.push_back(child(i));
  }
  return found;
}

std::vector<ScriptModule> ScriptModule::modules() const {
  std::vector<ScriptModule> found;
  std::unordered_set<const void*> seen;
  struct Step {
    ScriptModule module;
    size_t depth;
  };
  std::vector<Step> left{{*this, 0}};
  while (!left.empty()) {
    const Step step = std::move(left.back());
    left.pop_back();
    if (!seen.insert(step.module.object_.identity()).second) continue;
    if (step.depth > kMostModuleDepth) throw Error(ErrorCode::kLimit, "modules are nested too deep");
    found.push_back(step.module);
    std::vector<ScriptModule> below = step.module.submodules();
    for (auto next = below.rbegin(); next != below.rend(); ++next) left.push_back({*next, step.depth + 1});
  }
  return found;
}

ScriptModule ScriptModule::submodule(std::string_view path) const {
  ScriptModule module = *this;
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    const size_t slot = slot_of(module.object_, path.substr(0, dot));
    module = module.child(slot);
    if (!is_module(module.object_)) {
      throw Error(ErrorCode::kNotFound, fmt::format("'{}' is no module", printable(module.path_)));
    }
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return module;
}

NamedTensors ScriptModule::tensors(SlotKind kind) const {
  NamedTensors found;
  for (const ScriptModule& module : modules()) {
    const ObjectBox& object = module.object_.as_object();
    for (size_t i = 0; i < object.slots.size(); ++i) {
      const Attribute& attribute = object.type->attributes.at(i);
      const bool is_wanted = kind == SlotKind::kParameter ? attribute.is_parameter : attribute.is_buffer;
      if (!is_wanted || !object.slots[i].is(IValue::Tag::kTensor)) continue;
      found.push_back({joined(module.path_, attribute.name), object.slots[i].as_tensor()});
    }
  }
  return found;
}

NamedTensors ScriptModule::parameters() const { return tensors(SlotKind::kParameter); }
NamedTensors ScriptModule::buffers() const { return tensors(SlotKind::kBuffer); }

bool ScriptModule::is_training() const {
  const std::optional<size_t> slot = class_of(object_).find_attribute("training");
  if (!slot) return true;  // as PyTorch says of a module without it
  const IValue& value = object_.as_object().slots.at(*slot);
  return value.is(IValue::Tag::kBool) && value.as_bool();
}

void ScriptModule::train(bool on) {
  for (const ScriptModule& module : modules()) {
    const std::optional<size_t> slot = class_of(module.object_).find_attribute("training");
    if (slot) module.object_.as_object().slots.at(*slot) = IValue(on);
  }
}

std::vector<ModuleMethod> ScriptModule::methods() const {
  std::vector<ModuleMethod> found;
  for (const std::shared_ptr<Function>& method : class_of(object_).methods) {
    Signature shown = method->signature();
    if (!shown.arguments.empty()) shown.arguments.erase(shown.arguments.begin());  // self
    shown.name = method->name();
    found.push_back({std::string(method->name()), to_string(shown)});
  }
  return found;
}

void ScriptModule::Loaded::set_run_options(const ScriptRunOptions& options) {
  interpreter::MachineOptions& made = this->machine->options();
  using interpreter::Capability;
  made.most_steps = options.most_steps;
  made.granted = (options.may_use_files ? static_cast<uint32_t>(Capability::kFiles) : 0) |
                 (options.may_set_seed ? static_cast<uint32_t>(Capability::kSeed) : 0) |
                 static_cast<uint32_t>(Capability::kProfiler);
  made.print = options.print;
  made.warn = options.warn;
}

IValue ScriptModule::run_method(std::string_view name, std::vector<IValue> arguments,
                                const Keywords& keywords, const ScriptRunOptions& options) const {
  const std::lock_guard lock(loaded_->mutex);
  loaded_->set_run_options(options);
  return loaded_->machine->call_method(object_, name, std::move(arguments), keywords);
}

ScriptModule load_script(const std::string& path, const ScriptLoadOptions& options) {
  return with_location("file", path, [&] { return load_script(Mapping::open(path), options); });
}

ScriptModule load_script(std::shared_ptr<Mapping> bytes, const ScriptLoadOptions& options) {
  auto records = std::make_shared<const RecordArchive>(RecordArchive::open(std::move(bytes)));
  auto loaded = std::make_shared<ScriptModule::Loaded>(options);
  if (has_bytecode(*records) && (options.from_bytecode || !has_code(*records))) {
    loaded->file = read_mobile(std::move(records), loaded->operators, loaded->load_hooks(options)).script;
  } else {
    loaded->file = read_script(std::move(records), loaded->operators, loaded->load_hooks(options));
  }
  IValue root = loaded->file.module;
  return {std::move(loaded), std::move(root), {}};
}

void save_script(const ScriptModule& module, const std::string& path,
                 const std::vector<std::pair<std::string, std::string>>& extra_files, Progress& progress) {
  ScriptModule::Loaded& loaded = *module.loaded_;
  const std::lock_guard lock(loaded.mutex);
  ExtraFiles extras;
  for (const auto& [name, contents] : extra_files) extras[name] = contents;
  AtomicFile out(path);
  write_script(out, loaded.file, module.object_, extras, {top_folder_of(path)}, loaded.save_hooks(),
               progress);
  out.commit();
}

void save_mobile(const ScriptModule& module, const std::string& path, const MobileSaveOptions& options,
                 Progress& progress) {
  ScriptModule::Loaded& loaded = *module.loaded_;
  const std::lock_guard lock(loaded.mutex);
  ExtraFiles extras;
  for (const auto& [name, contents] : options.extra_files) extras[name] = contents;
  AtomicFile out(path);
  write_script(out, loaded.file, module.object_, extras, {top_folder_of(path)}, loaded.save_hooks(), progress,
               options.version);
  out.commit();
}

std::vector<std::string> export_opnames(const ScriptModule& module) {
  ScriptModule::Loaded& loaded = *module.loaded_;
  const std::lock_guard lock(loaded.mutex);
  return bytecode::operator_names(bytecode::export_program(*loaded.file.unit, module.object_, 8));
}

}  // namespace flambeau::script
