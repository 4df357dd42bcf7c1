// TorchScript: load what torch.jit.save wrote, look at it, run its methods, save it. Nothing of PyTorch is
// needed.
//
//   script::ScriptModule module = script::load_script("model.pt");
//   for (const auto& method : module.methods()) std::puts(method.signature.c_str());
//   const script::IValue result = module.run_method("forward", {x});
//   module.eval();
//   script::save_script(module, "copy.pt");
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/base/progress.h"
#include "flambeau/formats/named_tensors.h"
#include "flambeau/script/values/ivalue.h"

namespace flambeau {
class Mapping;
struct ScriptMigration;
namespace ops {
class Library;
}
}  // namespace flambeau

namespace flambeau::script {

class Class;

struct ScriptLoadOptions {
  // Objects that have one are given their state by their own __setstate__, which is code of the file. False:
  // nothing of the file runs; such objects can be looked at and saved, not used.
  bool run_set_state = true;
  uint64_t most_steps = 100'000'000;                 // of all that runs while loading; 0 for no bound
  int threads = 0;                                   // 0: as many as there are cores
  std::shared_ptr<const ops::Library> library = {};  // with operators of the user's; null for PyTorch's alone
  // Of a mobile module: run its bytecode, as PyTorch's lite interpreter does, and leave its code alone.
  // Bytecode is taken anyway where there is no code.
  bool from_bytecode = false;
};

struct ScriptRunOptions {
  uint64_t most_steps = 0;                            // turns of loops, calls, operators; 0 for no bound
  bool may_use_files = false;                         // torch.from_file, torch.save
  bool may_set_seed = false;                          // torch.manual_seed
  std::function<void(std::string_view)> print = {};   // lines that the script prints; empty drops them
  std::function<void(const std::string&)> warn = {};  // warnings
};

enum class SlotKind : uint8_t { kAttribute, kParameter, kBuffer, kModule };
struct ModuleAttribute {
  std::string name;
  std::string type;  // "Optional[Tensor]"
  SlotKind kind = SlotKind::kAttribute;
};
struct ModuleMethod {
  std::string name;
  std::string signature;  // "forward(Tensor x, float scale=1.) -> Tensor"
};

// A place in the code, and what there is to say of it.
struct CodeFinding {
  std::string function;  // "__torch__.m.M.forward"
  std::string place;     // "code/__torch__/m.py:12"; empty when there is none
  std::string original;  // "model.py:34"; empty when it is not known
  std::string message;
};

struct MobileSaveOptions;

class ScriptModule {
 public:
  std::string class_name() const;  // "__torch__.m.M"
  // From the module that was loaded: "layer1.0"; empty for itself.
  const std::string& path() const { return path_; }

  // Slots in their order. The others throw Error(kNotFound) for a name that there is not.
  std::vector<ModuleAttribute> attributes() const;
  IValue attribute(std::string_view name) const;
  // Throws Error(kInvalidArgument) for a value of another type.
  void set_attribute(std::string_view name, IValue value);

  std::vector<ScriptModule> submodules() const;
  // Itself and all below, each under the first path that leads to it.
  std::vector<ScriptModule> modules() const;
  // "layer1.0".
  ScriptModule submodule(std::string_view path) const;

  // Of itself and all below, by their dotted names.
  NamedTensors parameters() const;
  NamedTensors buffers() const;

  bool is_training() const;
  // Of itself and all below.
  void train(bool on = true);
  void eval() { train(false); }

  std::vector<ModuleMethod> methods() const;
  using Keywords = std::vector<std::pair<std::string, IValue>>;
  // Compiles what it needs. Throws Error(kNotFound, kInvalidArgument) for wrong calls, and errors of the
  // script with all frames that led to them. One call at a time.
  IValue run_method(std::string_view name, std::vector<IValue> arguments = {}, const Keywords& keywords = {},
                    const ScriptRunOptions& options = {}) const;

  // The class as archives hold it; a method of it alone; and what its original source was, where debug
  // information says so.
  std::string code() const;
  std::string code(std::string_view method) const;
  std::string original_code(std::string_view method) const;
  // The graph that a method was compiled to, as text.
  std::string graph(std::string_view method) const;

  // ---- changes
  // Methods, as text: "def forward(self, x):\n  return self.weight * x\n". Throws CompileError with all that
  // is wrong, and leaves the module as it was.
  void define(std::string_view text, const std::string& file_name = "<text>");
  // Slots of a module that CompilationUnit::make_module or clone() made. Each throws Error(kInvalidArgument)
  // for a name that is taken, a value of another type than said, and a module whose class others share.
  // `type` as texts write it: "Optional[Tensor]".
  void add_attribute(const std::string& name, std::string_view type, IValue value);
  void add_parameter(const std::string& name, const Tensor& value);
  void add_buffer(const std::string& name, const Tensor& value);
  // name : Final[T] = value
  void add_constant(const std::string& name, std::string_view type, IValue value);
  // A module of the same unit is shared; one of another unit, of a file for instance, is copied, and its
  // classes get other names where theirs are taken. `interface`: the interface that the slot asks for.
  void add_module(const std::string& name, const ScriptModule& module, std::string_view interface = {});
  // A module of its own, with classes of its own, that has the same tensors.
  ScriptModule clone() const;

  // ---- of the whole file
  int64_t archive_version() const;
  // Of files beside the model: names, and what they hold.
  std::vector<std::string> extra_files() const;
  std::string extra_file(std::string_view name) const;
  // Every operator that the code calls: "aten::add.Tensor", sorted.
  std::vector<std::string> operators() const;
  // What cannot be compiled, operators that nothing here runs, attributes of another type than declared.
  std::vector<CodeFinding> problems() const;
  // Calls that touch the outside: files, seeds, the network.
  std::vector<CodeFinding> outside_calls() const;
  // Methods that run when the file is loaded.
  std::vector<std::string> run_at_load() const;

 private:
  struct Loaded;
  friend class CompilationUnit;
  ScriptModule copy_into(const std::shared_ptr<Loaded>& loaded) const;
  Class& own_class(const std::string& name) const;
  friend ScriptMigration;
  friend ScriptModule load_script(std::shared_ptr<Mapping> bytes, const ScriptLoadOptions& options);
  friend void save_script(const ScriptModule& module, const std::string& path,
                          const std::vector<std::pair<std::string, std::string>>& extra_files,
                          Progress& progress);
  friend void save_mobile(const ScriptModule& module, const std::string& path,
                          const MobileSaveOptions& options, Progress& progress);
  friend std::vector<std::string> export_opnames(const ScriptModule& module);
  ScriptModule(std::shared_ptr<Loaded> loaded, IValue object, std::string path)
      : loaded_(std::move(loaded)), object_(std::move(object)), path_(std::move(path)) {}
  ScriptModule child(size_t slot) const;
  NamedTensors tensors(SlotKind kind) const;

  std::shared_ptr<Loaded> loaded_;
  IValue object_;
  std::string path_;
};

// Opens a file of torch.jit.save, of any version. The weights stay where they are, mapped; code is compiled
// when it is needed. Throws Error: kNotFound, kIo, kCorrupt, kUnsupported, kLimit, located at the file.
ScriptModule load_script(const std::string& path, const ScriptLoadOptions& options = {});
ScriptModule load_script(std::shared_ptr<Mapping> bytes, const ScriptLoadOptions& options = {});

// Compiles and prints all code anew: byte for byte what torch.jit.save of PyTorch 2.13 writes for the loaded
// module. `extra_files`: names and what they hold. The file is there whole, or not at all.
void save_script(const ScriptModule& module, const std::string& path,
                 const std::vector<std::pair<std::string, std::string>>& extra_files = {},
                 Progress& progress = Progress::silent());

// What _save_for_lite_interpreter of PyTorch 2.13 writes: the same with bytecode for mobile interpreters, of
// version 4 to 8, as PyTorch's backport makes the older ones. Throws Error(kUnsupported) for what mobile
// modules cannot hold, naming the method.
struct MobileSaveOptions {
  int64_t version = 8;
  std::vector<std::pair<std::string, std::string>> extra_files = {};
};
void save_mobile(const ScriptModule& module, const std::string& path, const MobileSaveOptions& options = {},
                 Progress& progress = Progress::silent());

// What torch.jit.export_opnames gives: the operators that a build for the module needs, sorted.
std::vector<std::string> export_opnames(const ScriptModule& module);

// For people: "[1, 2]", "{'a': 1.5}", "float32[2, 3]".
std::string to_text(const IValue& value);

}  // namespace flambeau::script
