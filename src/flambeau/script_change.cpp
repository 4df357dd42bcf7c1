// Changes of modules: methods from text, slots, modules of other units, copies.
#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/formats/torchscript/printed_code.h"
#include "flambeau/interpreter/arguments.h"
#include "flambeau/script/compiler/archive_code.h"
#include "flambeau/script/compiler/text.h"
#include "flambeau/script/copy_values.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/script_build.h"
#include "flambeau/script_module.h"

namespace flambeau::script {
namespace {

constexpr char kUsersPrefix[] = "__torch__";

// Where pieces of a printed text come from.
class PrintedOrigins : public SourceOrigins {
 public:
  explicit PrintedOrigins(std::vector<TextOrigin> origins) : origins_(std::move(origins)) {}
  std::optional<SourceRange> find(size_t offset) const override {
    const auto behind =
        std::upper_bound(origins_.begin(), origins_.end(), offset,
                         [](size_t wanted, const TextOrigin& origin) { return wanted < origin.offset; });
    if (behind == origins_.begin() || !std::prev(behind)->range) return std::nullopt;
    return std::prev(behind)->range;
  }

 private:
  std::vector<TextOrigin> origins_;
};

// The classes of the objects below a value, each once; and how many objects each has.
struct ClassesBelow {
  std::vector<ValuePickler::Met> met;
  std::unordered_map<const Class*, size_t> counts;
};

ClassesBelow classes_below(const IValue& root) {
  ClassesBelow found;
  std::unordered_set<const void*> seen;
  std::vector<IValue> left{root};
  while (!left.empty()) {
    const IValue value = std::move(left.back());
    left.pop_back();
    if (value.identity() == nullptr || !seen.insert(value.identity()).second) continue;
    if (value.is(IValue::Tag::kTuple) || value.is(IValue::Tag::kList)) {
      left.insert(left.end(), value.items().rbegin(), value.items().rend());
      if (value.is(IValue::Tag::kTuple) && value.as_tuple().named &&
          found.counts[value.as_tuple().named.get()]++ == 0) {
        found.met.push_back({value.as_tuple().named->qualified_name(), value.as_tuple().named});
      }
    } else if (value.is(IValue::Tag::kDict)) {
      for (const DictItems::Entry& entry : value.as_dict().items.entries()) left.push_back(entry.value);
    } else if (value.is(IValue::Tag::kEnum)) {
      if (found.counts[value.as_enum().type.get()]++ == 0)
        found.met.push_back({value.as_enum().type->qualified_name(), value.as_enum().type});
    } else if (value.is(IValue::Tag::kObject)) {
      const ObjectBox& object = value.as_object();
      if (found.counts[object.type.get()]++ == 0)
        found.met.push_back({object.type->qualified_name(), object.type});
      left.insert(left.end(), object.slots.rbegin(), object.slots.rend());
    }
  }
  return found;
}

// The value as that type.
IValue fitted(const Unit& unit, const std::string& name, const Type& type, const IValue& value) {
  if (std::optional<IValue> made = interpreter::fit(value, type, unit)) return std::move(*made);
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is said to be of type {}, and is given {}", printable(name),
                          printable(annotation_text(type)), value.kind_name()));
}

}  // namespace

// Whether no other module of what was loaded is of this one's class.
bool ScriptModule::is_only_one() const {
  if (loaded_->file.module.is_none() || loaded_->code.use_count() > 1) return false;
  bool is_below = false;
  for (const ScriptModule& module : ScriptModule(loaded_, loaded_->file.module, {}).modules_here()) {
    if (module.object_.as_object().type != object_.as_object().type) continue;
    if (module.object_.identity() != object_.identity()) return false;
    is_below = true;
  }
  return is_below;
}

// The class of the module, to which something called `name` will be added.
Class& ScriptModule::own_class(const std::string& name) const {
  require_own_code();
  const Class& type = *object_.as_object().type;
  if (!loaded_->own_classes.contains(&type) && !is_only_one()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("other modules may be of the class {}, so that nothing can be added to it",
                            printable(type.qualified_name())),
                "clone the module first");
  }
  if (name.empty() || name.find('.') != std::string::npos)
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is no name of an attribute", printable(name)));
  if (type.find_attribute(name) || type.find_constant(name) != nullptr || type.find_method(name) != nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the module has something called '{}' already", printable(name)));
  }
  return const_cast<Class&>(type);
}

void ScriptModule::define(std::string_view text, const std::string& file_name) {
  const std::unique_lock lock(loaded_->mutex);
  require_own_code();
  Unit& unit = *loaded_->file.unit;
  const std::shared_ptr<Class> type = unit.find_class(class_name());
  if (type == nullptr)
    throw Error(ErrorCode::kInternal, fmt::format("the unit has no class {}", printable(class_name())));
  compiler::compile_methods(unit, std::make_shared<Source>(std::string(text), file_name), type, kUsersPrefix);
}

void ScriptModule::require_own_code() const {
  if (loaded_->code.use_count() == 1) return;
  throw Error(ErrorCode::kInvalidArgument, "the module has its code in common with a copy of it",
              "change it before it is copied, or load the file anew");
}

void ScriptModule::add_attribute(const std::string& name, std::string_view type, IValue value) {
  const std::unique_lock lock(loaded_->mutex);
  Class& own = own_class(name);
  Type wanted = compiler::read_type_text(*loaded_->file.unit, type, kUsersPrefix);
  value = fitted(*loaded_->file.unit, name, wanted, value);
  own.attributes.push_back({name, std::move(wanted)});
  object_.as_object().slots.push_back(std::move(value));
}

void ScriptModule::add_parameter(const std::string& name, const Tensor& value) {
  const std::unique_lock lock(loaded_->mutex);
  Class& own = own_class(name);
  own.attributes.push_back({name, TypeKind::kTensor, true});
  object_.as_object().slots.emplace_back(value);
}

void ScriptModule::add_buffer(const std::string& name, const Tensor& value) {
  const std::unique_lock lock(loaded_->mutex);
  Class& own = own_class(name);
  own.attributes.push_back({name, TypeKind::kTensor, false, true});
  object_.as_object().slots.emplace_back(value);
}

void ScriptModule::add_constant(const std::string& name, std::string_view type, IValue value) {
  const std::unique_lock lock(loaded_->mutex);
  Class& own = own_class(name);
  Type wanted = compiler::read_type_text(*loaded_->file.unit, type, kUsersPrefix);
  value = fitted(*loaded_->file.unit, name, wanted, value);
  own.constants.push_back({name, std::move(wanted), std::move(value)});
}

void ScriptModule::add_module(const std::string& name, const ScriptModule& module,
                              std::string_view interface) {
  const std::unique_lock lock(loaded_->mutex);
  std::shared_lock other(module.loaded_->mutex, std::defer_lock);
  if (module.loaded_ != loaded_) other.lock();
  Class& own = own_class(name);
  const ScriptModule added = module.loaded_ == loaded_ ? module : module.copy_into(loaded_);
  Type type = interface.empty() ? added.object_.as_object().type->type()
                                : compiler::read_type_text(*loaded_->file.unit, interface, kUsersPrefix);
  IValue object = fitted(*loaded_->file.unit, name, type, added.object_);
  own.attributes.push_back({name, std::move(type)});
  object_.as_object().slots.push_back(std::move(object));
  loaded_->note_training();
}

ScriptModule ScriptModule::new_module(const std::string& class_name) {
  const std::unique_lock lock(loaded_->mutex);
  return make_empty(loaded_, class_name);
}

ScriptModule ScriptModule::clone() const {
  const std::unique_lock lock(loaded_->mutex);
  return copy_into(loaded_);
}

// The code is printed, and compiled again under names that are free.
ScriptModule ScriptModule::copy_into(const std::shared_ptr<Loaded>& loaded) const {
  const ClassesBelow below = classes_below(object_);
  const PrintedCode printed = print_code(*loaded_->file.unit, below.met, class_name());
  std::vector<compiler::NamedText> texts;
  for (const CodeFile& file : printed.files) {
    std::string path = file.qualifier;
    std::replace(path.begin(), path.end(), '.', '/');
    texts.push_back(
        {file.qualifier, std::make_shared<Source>(file.text, fmt::format("code/{}.py", path), 1,
                                                  std::make_shared<PrintedOrigins>(file.origins))});
  }
  Unit& unit = *loaded->file.unit;
  const compiler::CodeToImport plan = compiler::plan_import(unit, texts);
  std::vector<IValue> constants;
  // Constants that are objects know their classes, which are there when they are used.
  for (const IValue& constant : printed.constants) constants.push_back(constant);
  compiler::import_code(unit, plan, std::move(constants), kNewestArchiveVersion);
  IValue copy = copy_value(object_, unit, plan.renamed);
  for (const auto& [type, count] : below.counts) {
    const auto renamed = plan.renamed.find(type->qualified_name());
    const auto made =
        unit.find_class(renamed == plan.renamed.end() ? type->qualified_name() : renamed->second);
    if (count == 1 && made != nullptr) loaded->own_classes.insert(made.get());
  }
  return {loaded, std::move(copy), {}};
}

}  // namespace flambeau::script
