#include "flambeau/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/base/files/atomic_file.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/base/nearest.h"
#include "flambeau/interpreter/arguments.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script_module.h"

namespace flambeau::script {
namespace {

// Modules in modules: as deep as archives may have them.
constexpr size_t kMostModuleDepth = 400;
// Names of tensors: modules that share modules may have many.
constexpr size_t kMostNames = size_t{1} << 20;

const Class& class_of(const IValue& object) { return *object.as_object().type; }

SlotKind kind_of(const Attribute& attribute, const IValue& value) {
  if (attribute.is_parameter) return SlotKind::kParameter;
  if (attribute.is_buffer) return SlotKind::kBuffer;
  return is_module(value) ? SlotKind::kModule : SlotKind::kAttribute;
}

[[noreturn]] void fail_name(const IValue& object, std::string_view what, std::string_view name,
                            const std::vector<std::string>& known) {
  throw Error(
      ErrorCode::kNotFound,
      fmt::format("{} has no {} '{}'", printable(class_of(object).qualified_name()), what, printable(name)),
      did_you_mean(name, known));
}

}  // namespace

bool is_module(const IValue& value) { return value.is(IValue::Tag::kObject) && class_of(value).is_module(); }

std::string joined_path(const std::string& path, const std::string& name) {
  return path.empty() ? name : fmt::format("{}.{}", path, name);
}

size_t slot_named(const IValue& object, std::string_view name) {
  const std::optional<size_t> slot = class_of(object).find_attribute(name);
  if (slot && *slot < object.as_object().slots.size()) return *slot;
  std::vector<std::string> known;
  for (const Attribute& attribute : class_of(object).attributes) known.push_back(attribute.name);
  fail_name(object, "attribute", name, known);
}

const std::shared_ptr<Function>& method_named(const IValue& object, std::string_view name) {
  if (const std::shared_ptr<Function>* found = class_of(object).find_method(name)) return *found;
  std::vector<std::string> known;
  for (const std::shared_ptr<Function>& method : class_of(object).methods) known.emplace_back(method->name());
  fail_name(object, "method", name, known);
}

std::string ScriptModule::class_name() const { return class_of(object_).qualified_name(); }

std::vector<ModuleAttribute> ScriptModule::attributes() const {
  const std::shared_lock lock(loaded_->mutex);
  const ObjectBox& object = object_.as_object();
  std::vector<ModuleAttribute> found;
  for (size_t i = 0; i < object.slots.size(); ++i) {
    const Attribute& attribute = object.type->attributes.at(i);
    found.push_back({attribute.name, annotation_text(attribute.type), kind_of(attribute, object.slots[i])});
  }
  return found;
}

bool ScriptModule::has_attribute(std::string_view name) const {
  const std::shared_lock lock(loaded_->mutex);
  const std::optional<size_t> slot = class_of(object_).find_attribute(name);
  return slot && *slot < object_.as_object().slots.size();
}

IValue ScriptModule::attribute(std::string_view name) const {
  const std::shared_lock lock(loaded_->mutex);
  return object_.as_object().slots[slot_named(object_, name)];
}

void ScriptModule::set_attribute(std::string_view name, const IValue& value) {
  const std::unique_lock lock(loaded_->mutex);
  const size_t slot = slot_named(object_, name);
  const Type& wanted = class_of(object_).attributes.at(slot).type;
  std::optional<IValue> fitted = interpreter::fit(value, wanted, loaded_->unit());
  if (!fitted) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the attribute '{}' of {} is of type {}, not {}", printable(name),
                            printable(class_name()), printable(annotation_text(wanted)),
                            printable(value.kind_name())));
  }
  object_.as_object().slots[slot] = std::move(*fitted);
  loaded_->note_training();
}

ScriptModule ScriptModule::child(size_t slot) const {
  const ObjectBox& object = object_.as_object();
  return {loaded_, object.slots.at(slot), joined_path(path_, object.type->attributes.at(slot).name)};
}

std::vector<ScriptModule> ScriptModule::submodules_here() const {
  std::vector<ScriptModule> found;
  const ObjectBox& object = object_.as_object();
  for (size_t i = 0; i < object.slots.size(); ++i) {
    if (is_module(object.slots[i])) found.push_back(child(i));
  }
  return found;
}

std::vector<ScriptModule> ScriptModule::submodules() const {
  const std::shared_lock lock(loaded_->mutex);
  return submodules_here();
}

std::vector<ScriptModule> ScriptModule::modules_here() const {
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
    std::vector<ScriptModule> below = step.module.submodules_here();
    for (auto next = below.rbegin(); next != below.rend(); ++next) left.push_back({*next, step.depth + 1});
  }
  return found;
}

std::vector<ScriptModule> ScriptModule::modules() const {
  const std::shared_lock lock(loaded_->mutex);
  return modules_here();
}

ScriptModule ScriptModule::submodule(std::string_view path) const {
  const std::shared_lock lock(loaded_->mutex);
  ScriptModule module = *this;
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    const size_t slot = slot_named(module.object_, path.substr(0, dot));
    module = module.child(slot);
    if (!is_module(module.object_)) {
      throw Error(ErrorCode::kNotFound, fmt::format("'{}' is no module", printable(module.path_)));
    }
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return module;
}

NamedTensors ScriptModule::tensors(SlotKind kind) const {
  const std::shared_lock lock(loaded_->mutex);
  NamedTensors found;
  std::unordered_set<const void*> seen;
  for (const ScriptModule& module : modules_here()) {
    const ObjectBox& object = module.object_.as_object();
    for (size_t i = 0; i < object.slots.size(); ++i) {
      const Attribute& attribute = object.type->attributes.at(i);
      const bool is_wanted = kind == SlotKind::kParameter ? attribute.is_parameter : attribute.is_buffer;
      if (!is_wanted || !object.slots[i].is(IValue::Tag::kTensor)) continue;
      if (!seen.insert(object.slots[i].identity()).second) continue;
      found.push_back({joined_path(module.path_, attribute.name), object.slots[i].as_tensor()});
    }
  }
  return found;
}

NamedTensors ScriptModule::parameters() const { return tensors(SlotKind::kParameter); }
NamedTensors ScriptModule::buffers() const { return tensors(SlotKind::kBuffer); }

NamedTensors ScriptModule::state_dict() const {
  const std::shared_lock lock(loaded_->mutex);
  NamedTensors found;
  struct Step {
    ScriptModule module;
    std::string path;  // from this one
    size_t depth;
  };
  std::vector<Step> left{{*this, {}, 0}};
  size_t names = 0;
  while (!left.empty()) {
    const Step step = std::move(left.back());
    left.pop_back();
    if (step.depth > kMostModuleDepth || ++names > kMostNames)
      throw Error(ErrorCode::kLimit, "modules are nested too deep, or share each other too often");
    const ObjectBox& object = step.module.object_.as_object();
    for (const bool is_buffer : {false, true}) {
      for (size_t i = 0; i < object.slots.size(); ++i) {
        const Attribute& attribute = object.type->attributes.at(i);
        const bool is_wanted =
            is_buffer ? attribute.is_buffer && !attribute.is_parameter : attribute.is_parameter;
        if (!is_wanted || !object.slots[i].is(IValue::Tag::kTensor)) continue;
        found.push_back({joined_path(step.path, attribute.name), object.slots[i].as_tensor()});
      }
    }
    for (size_t i = object.slots.size(); i-- > 0;) {
      if (!is_module(object.slots[i])) continue;
      left.push_back(
          {step.module.child(i), joined_path(step.path, object.type->attributes.at(i).name), step.depth + 1});
    }
  }
  return found;
}

bool ScriptModule::is_training() const {
  const std::shared_lock lock(loaded_->mutex);
  const std::optional<size_t> slot = class_of(object_).find_attribute("training");
  if (!slot || *slot >= object_.as_object().slots.size())
    return true;  // as PyTorch says of a module without it
  const IValue& value = object_.as_object().slots[*slot];
  return value.is(IValue::Tag::kBool) && value.as_bool();
}

std::vector<ModuleMethod> ScriptModule::methods() const {
  const std::shared_lock lock(loaded_->mutex);
  std::vector<ModuleMethod> found;
  for (const std::shared_ptr<Function>& method : class_of(object_).methods) {
    Signature shown = method->signature();
    if (!shown.arguments.empty()) shown.arguments.erase(shown.arguments.begin());  // self
    shown.name = method->name();
    found.push_back({std::string(method->name()), to_string(shown)});
  }
  return found;
}

bool ScriptModule::has_method(std::string_view name) const {
  const std::shared_lock lock(loaded_->mutex);
  return class_of(object_).find_method(name) != nullptr;
}

}  // namespace flambeau::script
