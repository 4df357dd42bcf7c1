// Loading, running and saving: machines for whoever calls, and who waits for whom.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "flambeau/base/error.h"
#include "flambeau/base/files/atomic_file.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/base/work.h"
#include "flambeau/formats/flatbuffer/flat_module.h"
#include "flambeau/formats/flatbuffer/flatbuffer_file.h"
#include "flambeau/formats/flatbuffer/flatbuffer_writer.h"
#include "flambeau/formats/mobile/mobile_file.h"
#include "flambeau/formats/package/script_package.h"
#include "flambeau/interpreter/arguments.h"
#include "flambeau/interpreter/evaluator.h"
#include "flambeau/interpreter/native_methods.h"
#include "flambeau/script/bytecode/export.h"
#include "flambeau/script/operators/native_classes.h"
#include "flambeau/script_module.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {
namespace {

std::shared_ptr<const OperatorTable> table_of(const std::shared_ptr<const ops::Library>& library) {
  return std::make_shared<const OperatorTable>(
      std::shared_ptr<const SchemaTable>(library, &library->schemas()));
}

}  // namespace

// What nobody adds operators to is one for all modules: it is as constant as code, and takes longer to make
// than most files take to load.
ScriptCode::ScriptCode(const ScriptLoadOptions& options)
    : backends(std::make_shared<const Backends>(options.backends)), pool(options.threads) {
  static const auto known_library = std::make_shared<const ops::Library>();
  static const auto known_operators = table_of(known_library);
  library = options.library ? options.library : known_library;
  operators = options.library ? table_of(library) : known_operators;
}

void ScriptCode::use(const std::shared_ptr<Unit>& unit) {
  unit->set_native_methods(interpreter::native_methods(library));
  unit->set_evaluator(interpreter::make_evaluator(operators, library, pool));
  const auto made = std::make_shared<interpreter::Program>(unit, library);
  made->set_backends(backends);
  program = made;
}

ScriptModule::Loaded::Lease::Lease(Loaded& loaded)
    : loaded_(loaded), turn_(loaded.generator_mutex, std::defer_lock) {
  {
    const std::lock_guard lock(loaded.own_mutex_);
    if (!loaded.idle_.empty()) {
      machine_ = std::move(loaded.idle_.back());
      loaded.idle_.pop_back();
    }
  }
  interpreter::MachineOptions options;
  options.generator = &loaded.generator;
  if (machine_ == nullptr) {
    machine_ = std::make_unique<interpreter::Machine>(loaded.code->program, loaded.code->pool, options);
  } else {
    machine_->options() = std::move(options);
  }
  machine_->context().generator_turn = &turn_;
}

ScriptModule::Loaded::Lease::~Lease() {
  machine_->context().generator_turn = nullptr;
  machine_->options().print = nullptr;
  machine_->options().warn = nullptr;
  const std::lock_guard lock(loaded_.own_mutex_);
  loaded_.idle_.push_back(std::move(machine_));
}

LoadHooks ScriptModule::Loaded::load_hooks(const ScriptLoadOptions& options) {
  LoadHooks hooks;
  hooks.begin = [this](const std::shared_ptr<Unit>& unit) { code->use(unit); };
  hooks.make_native = [this](std::string_view name, const IValue& state) {
    return interpreter::native_from_state(*code->library, name, state);
  };
  if (options.run_set_state) {
    hooks.may_set_state = [this](const Class& type) {
      const std::string backend = backend_of(type);
      if (backend.empty() || code->backends->contains(backend)) return true;
      const std::string name = std::string(kBackendClassPrefix) + backend;
      if (code->library->find_class(name) != nullptr) return true;
      missing_backend = backend;
      return false;
    };
    hooks.set_state = [this, most_steps = options.most_steps](const Function& /*method*/,
                                                              const IValue& object, const IValue& state) {
      const Lease machine(*this);
      machine->options().most_steps = most_steps;
      machine->call_method(object, "__setstate__", {state});
    };
  }
  return hooks;
}

SaveHooks ScriptModule::Loaded::save_hooks() {
  SaveHooks hooks;
  hooks.get_state = [this](const Function& /*method*/, const IValue& object) {
    const Lease machine(*this);
    return machine->call_method(object, "__getstate__");
  };
  hooks.native_state = [this](const Object& object) {
    return interpreter::native_state(*code->library, object);
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

bool ScriptModule::Loaded::needs_turn(const std::shared_ptr<Function>& function) {
  Changes changes;
  {
    const std::lock_guard lock(own_mutex_);
    const auto known = changes_.find(function.get());
    if (known != changes_.end())
      return may_train_ ? known->second.is_changing : known->second.is_changing_in_eval;
  }
  changes = changes_of(unit(), function);
  // What sets `training` by itself is not looked through.
  if (changes.sets_training) changes.is_changing_in_eval = changes.is_changing;
  const std::lock_guard lock(own_mutex_);
  changes_.emplace(function.get(), changes);
  if (changes.sets_training) is_switched_by_code_ = true;
  return may_train_ || is_switched_by_code_ ? changes.is_changing : changes.is_changing_in_eval;
}

IValue ScriptModule::Loaded::run(const std::shared_ptr<Function>& function, std::vector<IValue> arguments,
                                 const Keywords& keywords, const ScriptRunOptions& options) {
  if (!missing_backend.empty()) fail_missing_backend(missing_backend);
  std::optional<WorkScope> scope;
  if (options.cancel != nullptr || options.most_seconds > 0 || options.most_bytes != 0) {
    scope.emplace(WorkLimits{
        .cancel = options.cancel, .seconds = options.most_seconds, .bytes = options.most_bytes, .look = {}});
  }
  std::shared_lock together(mutex);
  std::unique_lock alone(mutex, std::defer_lock);
  if (needs_turn(function)) {
    together.unlock();
    alone.lock();
  }
  const Lease machine(*this);
  interpreter::MachineOptions& how = machine->options();
  using interpreter::Capability;
  how.most_steps = options.most_steps;
  how.most_depth = options.most_depth;
  how.most_output = options.most_output;
  how.granted = (options.may_use_files ? static_cast<uint32_t>(Capability::kFiles) : 0) |
                (options.may_set_seed ? static_cast<uint32_t>(Capability::kSeed) : 0) |
                static_cast<uint32_t>(Capability::kProfiler);
  how.print = options.print;
  how.warn = options.warn;
  // A plan counts no steps of the script.
  if (options.most_steps != 0 || !code->plans.has(*function))
    return machine->call(function, std::move(arguments), keywords);
  arguments = interpreter::bind_arguments(unit(), function->signature(), std::move(arguments), keywords);
  if (std::optional<IValue> result = code->plans.run(*machine, *function, arguments))
    return *std::move(result);
  return machine->call(function, std::move(arguments));
}

IValue ScriptModule::run_method(std::string_view name, std::vector<IValue> arguments,
                                const Keywords& keywords, const ScriptRunOptions& options) const {
  std::shared_ptr<Function> function;
  {
    const std::shared_lock lock(loaded_->mutex);
    function = method_named(object_, name);
  }
  arguments.insert(arguments.begin(), object_);
  return loaded_->run(function, std::move(arguments), keywords, options);
}

void ScriptModule::manual_seed(uint64_t seed) const {
  const std::lock_guard lock(loaded_->generator_mutex);
  loaded_->generator.manual_seed(seed);
}

ScriptModule load_script(const std::string& path, const ScriptLoadOptions& options) {
  return with_location("file", path, [&] { return load_script(Mapping::open(path), options); });
}

ScriptModule load_script(std::shared_ptr<Mapping> bytes, const ScriptLoadOptions& options) {
  const bool is_flat = is_flatbuffer_module(bytes->bytes());
  std::shared_ptr<const RecordArchive> records;
  if (!is_flat) records = std::make_shared<const RecordArchive>(RecordArchive::open(bytes));
  if (!is_flat && is_script_package(*records)) {
    const std::vector<PackagedModule> modules = packaged_modules(*records);
    return load_packaged(records, find_packaged_module(modules, options.module),
                         std::make_shared<SharedZipStorages>(), options);
  }
  if (!options.module.empty()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("there is no module '{}' in a file that is no package", printable(options.module)));
  }
  auto loaded = std::make_shared<ScriptModule::Loaded>(std::make_shared<ScriptCode>(options));
  const LoadHooks hooks = loaded->load_hooks(options);
  if (is_flat) {
    loaded->file =
        read_flatbuffer(std::move(bytes), loaded->code->operators, hooks, options.from_bytecode).script;
  } else if (has_bytecode(*records) && (options.from_bytecode || !has_code(*records))) {
    loaded->file = read_mobile(std::move(records), loaded->code->operators, hooks).script;
  } else {
    loaded->file = read_script(std::move(records), loaded->code->operators, hooks);
  }
  loaded->note_training();
  IValue root = loaded->file.module;
  return {std::move(loaded), std::move(root), {}};
}

std::string top_folder_of(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  name.resize(std::min(name.size(), name.rfind('.')));
  const bool is_plain = std::all_of(path.begin(), path.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return is_plain && !name.empty() && name != "." && name != ".." ? name : "archive";
}

void write_script_module(const ScriptModule& module, ByteSink& sink, const std::string& top_folder,
                         const std::vector<std::pair<std::string, std::string>>& extra_files,
                         Progress& progress) {
  ScriptModule::Loaded& loaded = *module.loaded_;
  const std::unique_lock lock(loaded.mutex);
  ExtraFiles extras;
  for (const auto& [name, contents] : extra_files) extras[name] = contents;
  write_script(sink, loaded.file, module.object_, extras, {top_folder}, loaded.save_hooks(), progress);
}

void save_script(const ScriptModule& module, const std::string& path,
                 const std::vector<std::pair<std::string, std::string>>& extra_files, Progress& progress) {
  AtomicFile out(path);
  write_script_module(module, out, top_folder_of(path), extra_files, progress);
  out.commit();
}

void save_mobile(const ScriptModule& module, const std::string& path, const MobileSaveOptions& options,
                 Progress& progress) {
  ScriptModule::Loaded& loaded = *module.loaded_;
  const std::unique_lock lock(loaded.mutex);
  ExtraFiles extras;
  for (const auto& [name, contents] : options.extra_files) extras[name] = contents;
  AtomicFile out(path);
  if (options.version == bytecode::kNewestVersion) {
    write_flatbuffer(out, loaded.file, module.object_, extras, options.has_code, loaded.save_hooks(),
                     progress);
  } else {
    if (!options.has_code) {
      throw Error(ErrorCode::kInvalidArgument, "only flatbuffers are written without code",
                  "ask for version 9, or a file that ends in .ff");
    }
    write_script(out, loaded.file, module.object_, extras, {top_folder_of(path)}, loaded.save_hooks(),
                 progress, options.version);
  }
  out.commit();
}

std::vector<std::string> export_opnames(const ScriptModule& module) {
  ScriptModule::Loaded& loaded = *module.loaded_;
  const std::unique_lock lock(loaded.mutex);
  return bytecode::operator_names(*loaded.file.unit, module.object_);
}

}  // namespace flambeau::script
