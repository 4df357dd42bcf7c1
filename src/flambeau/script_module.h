// What a loaded TorchScript module is made of: the inside of flambeau/script.h.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "flambeau/base/parallel.h"
#include "flambeau/formats/torchscript/script_file.h"
#include "flambeau/interpreter/convert.h"
#include "flambeau/interpreter/machine.h"
#include "flambeau/kernels/random/generator.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/script.h"
#include "flambeau/script/operators/operator_table.h"

namespace flambeau::script {

struct ScriptModule::Loaded {
  explicit Loaded(const ScriptLoadOptions& options);

  LoadHooks load_hooks(const ScriptLoadOptions& options);
  SaveHooks save_hooks();
  // Of the machine, for the next call; by whoever holds the mutex.
  void set_run_options(const ScriptRunOptions& options);
  // Of all objects below the root, modules or not, each once.
  std::vector<std::shared_ptr<const Class>> classes() const;

  std::shared_ptr<const ops::Library> library;
  std::shared_ptr<const OperatorTable> operators;
  ThreadPool pool;
  kernels::Generator generator;
  std::unique_ptr<interpreter::Machine> machine;
  ScriptFile file;
  std::mutex mutex;                              // whoever runs or saves
  std::unordered_set<const Class*> own_classes;  // that have one object, so that slots may be added
};

// As torch.jit.save chooses it: the file's name without its last ending.
std::string top_folder_of(const std::string& path);

}  // namespace flambeau::script
