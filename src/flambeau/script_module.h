// What a loaded TorchScript module is made of: the inside of flambeau/script.h.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flambeau/base/parallel.h"
#include "flambeau/formats/torchscript/script_file.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/kernels/random/generator.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/planned/methods.h"
#include "flambeau/script.h"
#include "flambeau/script/changes.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {

// What copies of a module have in common.
struct ScriptCode {
  explicit ScriptCode(const ScriptLoadOptions& options);
  void use(const std::shared_ptr<Unit>& unit);

  std::shared_ptr<const ops::Library> library;
  std::shared_ptr<const Backends> backends;
  std::shared_ptr<const OperatorTable> operators;
  ThreadPool pool;
  std::shared_ptr<const interpreter::Program> program;
  planned::Methods plans;  // of frozen modules
};

struct ScriptModule::Loaded {
  explicit Loaded(std::shared_ptr<ScriptCode> shared) : code(std::move(shared)) {}

  LoadHooks load_hooks(const ScriptLoadOptions& options);
  SaveHooks save_hooks();
  // Of all objects below the root, modules or not, each once.
  std::vector<std::shared_ptr<const Class>> classes() const;
  const Unit& unit() const { return *file.unit; }

  // Machines are for one thread at a time: each run takes one that nobody uses.
  class Lease {
   public:
    explicit Lease(Loaded& loaded);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    interpreter::Machine* operator->() const { return machine_.get(); }
    interpreter::Machine& operator*() const { return *machine_; }

   private:
    Loaded& loaded_;
    std::unique_lock<std::mutex> turn_;  // to draw random numbers
    std::unique_ptr<interpreter::Machine> machine_;
  };

  // Calls a function as the options say, alone where it changes what objects hold.
  IValue run(const std::shared_ptr<Function>& function, std::vector<IValue> arguments,
             const Keywords& keywords, const ScriptRunOptions& options);
  // Whether whoever calls the method must be alone.
  bool needs_turn(const std::shared_ptr<Function>& function);
  // After modules were switched to training or back.
  void note_training();

  std::shared_ptr<ScriptCode> code;
  ScriptFile file;
  // Shared by those who look, and who run what changes nothing; held alone by the others.
  mutable std::shared_mutex mutex;
  std::mutex migration_mutex;  // whoever migrates it, which looks and runs in turns
  kernels::Generator generator;
  std::mutex generator_mutex;
  std::string missing_backend;                   // that some module was lowered to; empty for none
  std::unordered_set<const Class*> own_classes;  // that have one object, so that slots may be added

 private:
  std::mutex own_mutex_;  // of what follows
  std::vector<std::unique_ptr<interpreter::Machine>> idle_;
  std::unordered_map<const Function*, Changes> changes_;
  bool is_switched_by_code_ = false;  // some method sets `training`
  std::atomic<bool> may_train_ = true;
};

// As torch.jit.save chooses it: the file's name without its last ending.
std::string top_folder_of(const std::string& path);

// A module of a package.
ScriptModule load_packaged(const std::shared_ptr<const RecordArchive>& records, const PackagedModule& module,
                           const std::shared_ptr<SharedZipStorages>& shared,
                           const ScriptLoadOptions& options);

// Of an object, by its name. Throw Error(kNotFound) that lists what is like it.
size_t slot_named(const IValue& object, std::string_view name);
const std::shared_ptr<Function>& method_named(const IValue& object, std::string_view name);
bool is_module(const IValue& value);
std::string joined_path(const std::string& path, const std::string& name);

}  // namespace flambeau::script
