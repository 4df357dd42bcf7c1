#include "flambeau/script_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "flambeau/base/error.h"
#include "flambeau/base/nearest.h"
#include "flambeau/script/compiler/archive_code.h"
#include "flambeau/script/compiler/text.h"
#include "flambeau/script/operators/functional_texts.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script/printer/printer.h"
#include "flambeau/script/types/runtime_type.h"
#include "flambeau/script/types/text.h"
#include "flambeau/script/values/boxes.h"
#include "flambeau/script_module.h"

namespace flambeau::script {
namespace {

// Of all that users write: what PyTorch's archives call their code.
constexpr char kTextPrefix[] = "__torch__";

std::string full_name_of(std::string_view name) {
  return name.starts_with("__torch__.") ? std::string(name) : fmt::format("{}.{}", kTextPrefix, name);
}

std::string short_name_of(const std::string& name) {
  return name.starts_with("__torch__.") ? name.substr(sizeof(kTextPrefix)) : name;
}

const std::shared_ptr<Function>& need_function(const Unit& unit, std::string_view name) {
  const std::string full = full_name_of(name);
  for (const std::shared_ptr<Function>& function : unit.functions()) {
    if (function->qualified_name() == full) return function;
  }
  std::vector<std::string> known;
  for (const std::shared_ptr<Function>& function : unit.functions())
    known.push_back(short_name_of(function->qualified_name()));
  throw Error(ErrorCode::kNotFound, fmt::format("there is no function '{}'", printable(name)),
              did_you_mean(name, known));
}

std::shared_ptr<Class> need_class(const Unit& unit, std::string_view name) {
  if (std::shared_ptr<Class> found = unit.find_class(full_name_of(name))) return found;
  std::vector<std::string> known;
  for (const std::shared_ptr<Class>& type : unit.classes())
    known.push_back(short_name_of(type->qualified_name()));
  throw Error(ErrorCode::kNotFound, fmt::format("there is no class '{}'", printable(name)),
              did_you_mean(name, known));
}

// Gives the slots of a module, and of all below, their first values.
class Instantiation {
 public:
  Instantiation(const Unit& unit, const NamedTensors& weights) : unit_(unit) {
    for (const NamedTensor& weight : weights) weights_.emplace(weight.name, Weight{weight.tensor, false});
  }

  IValue make(const std::shared_ptr<Class>& type) {
    IValue root = make(type, {}, 0);
    std::vector<std::string> unused;
    for (const auto& [name, weight] : weights_) {
      if (!weight.is_used) unused.push_back(name);
    }
    if (missing_.empty() && unused.empty()) return root;
    std::string message;
    if (!missing_.empty()) message = "these attributes have no value: " + listed(missing_);
    if (!unused.empty()) {
      if (!message.empty()) message += "; ";
      message += "these weights have no attribute: " + listed(unused);
    }
    throw Error(ErrorCode::kInvalidArgument, std::move(message),
                missing_.empty() ? "" : "give weights by these names, or values in the text");
  }

 private:
  static constexpr int kMostModuleLevels = 400;
  static constexpr size_t kMostListed = 10;
  struct Weight {
    Tensor tensor;
    bool is_used;
  };

  static std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), kMostListed); ++i)
      text += fmt::format("{}'{}'", i == 0 ? "" : ", ", printable(names[i]));
    if (names.size() > kMostListed) text += fmt::format(" and {} more", names.size() - kMostListed);
    return text;
  }

  IValue make(const std::shared_ptr<Class>& type, const std::string& path, int level) {
    // A class may have itself as an attribute.
    if (level > kMostModuleLevels) throw Error(ErrorCode::kLimit, "modules are nested too deep");
    IValue made = IValue::object(type);
    for (size_t i = 0; i < type->attributes.size(); ++i) {
      const Attribute& attribute = type->attributes[i];
      const std::string name = path.empty() ? attribute.name : fmt::format("{}.{}", path, attribute.name);
      made.as_object().slots.at(i) = value_of(attribute, name, level);
    }
    return made;
  }

  IValue value_of(const Attribute& attribute, const std::string& name, int level) {
    const Type& wanted = attribute.type.without_optional();
    if (wanted.is(TypeKind::kTensor)) {
      if (const auto found = weights_.find(name); found != weights_.end()) {
        found->second.is_used = true;
        return found->second.tensor;
      }
    }
    if (attribute.default_value) return *attribute.default_value;
    if (attribute.type.is(TypeKind::kOptional) || attribute.type.is(TypeKind::kNone)) return {};
    if (wanted.is(TypeKind::kClass)) {
      const std::shared_ptr<Class> type = unit_.find_class(wanted.name());
      if (type != nullptr && type->is_module()) return make(type, name, level + 1);
    }
    missing_.push_back(name);
    return {};
  }

  const Unit& unit_;
  std::map<std::string, Weight> weights_;
  std::vector<std::string> missing_;
};

}  // namespace

CompilationUnit::CompilationUnit(const ScriptLoadOptions& options)
    : loaded_(std::make_shared<ScriptModule::Loaded>(std::make_shared<ScriptCode>(options))) {
  loaded_->file.unit = std::make_shared<Unit>(loaded_->code->operators);
  loaded_->code->use(loaded_->file.unit);
  loaded_->file.unit->set_resolver([](Unit& unit, std::string_view name) {
    if (!is_native_class(name)) return false;
    unit.add(make_native_class(unit, name));
    return true;
  });
}

CompilationUnit::CompilationUnit(std::string_view text, const std::string& file_name,
                                 const ScriptLoadOptions& options)
    : CompilationUnit(options) {
  define(text, file_name);
}

void CompilationUnit::define(std::string_view text, const std::string& file_name) {
  compiler::compile_text(*loaded_->file.unit, std::make_shared<Source>(std::string(text), file_name),
                         kTextPrefix);
}

std::vector<std::string> CompilationUnit::functions() const {
  std::vector<std::string> names;
  for (const std::shared_ptr<Function>& function : loaded_->file.unit->functions()) {
    if (!function->qualified_name().starts_with(kFunctionalPrefix))
      names.push_back(short_name_of(function->qualified_name()));
  }
  return names;
}

std::vector<std::string> CompilationUnit::classes() const {
  std::vector<std::string> names;
  for (const std::shared_ptr<Class>& type : loaded_->file.unit->classes())
    names.push_back(short_name_of(type->qualified_name()));
  return names;
}

std::string CompilationUnit::signature(std::string_view function) const {
  Signature found = need_function(*loaded_->file.unit, function)->signature();
  found.name = function;
  return to_string(found);
}

std::string CompilationUnit::code(std::string_view function) const {
  ConstantTable constants;
  Dependencies mentioned;
  CodePrinter printer(*loaded_->file.unit, constants, mentioned, {});
  printer.print(*need_function(*loaded_->file.unit, function));
  return printer.text();
}

IValue CompilationUnit::run(std::string_view function, std::vector<IValue> arguments,
                            const ScriptModule::Keywords& keywords, const ScriptRunOptions& options) const {
  return loaded_->run(need_function(*loaded_->file.unit, function), std::move(arguments), keywords, options);
}

ScriptModule CompilationUnit::make_module(const std::string& class_name) {
  return ScriptModule::make_empty(loaded_, class_name);
}

ScriptModule ScriptModule::make_empty(const std::shared_ptr<Loaded>& loaded, const std::string& class_name) {
  Unit& unit = *loaded->file.unit;
  const auto made =
      std::make_shared<Class>(ClassKind::kModule, compiler::free_name(unit, full_name_of(class_name)));
  made->attributes.push_back({"training", TypeKind::kBool});
  unit.add(made);
  loaded->own_classes.insert(made.get());
  IValue object = IValue::object(made);
  object.as_object().slots[0] = true;
  return {loaded, std::move(object), {}};
}

ScriptModule make_script(const std::string& class_name, const ScriptLoadOptions& options) {
  CompilationUnit unit(options);
  ScriptModule made = unit.make_module(class_name);
  made.loaded_->file.module = made.object_;
  made.loaded_->note_training();
  return made;
}

ScriptModule CompilationUnit::make_module_of(std::string_view class_name, const NamedTensors& weights) {
  const std::shared_ptr<Class> type = need_class(*loaded_->file.unit, class_name);
  if (!type->is_module())
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is no module's class", printable(class_name)));
  return {loaded_, Instantiation(*loaded_->file.unit, weights).make(type), {}};
}

IValue CompilationUnit::make_object(std::string_view class_name, std::vector<IValue> arguments) {
  const std::shared_ptr<Class> type = need_class(*loaded_->file.unit, class_name);
  if (type->kind() != ClassKind::kPlain)
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is no plain class", printable(class_name)));
  IValue object = IValue::object(type);
  arguments.insert(arguments.begin(), object);
  loaded_->run(method_named(object, "__init__"), std::move(arguments), {}, {});
  return object;
}

}  // namespace flambeau::script
