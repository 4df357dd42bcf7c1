// TorchScript: load what torch.jit.save wrote, look at it, run its methods, change it, save it. Nothing of
// PyTorch is needed.
//
//   script::ScriptModule module = script::load_script("model.pt");
//   for (const auto& method : module.methods()) std::puts(method.signature.c_str());
//   module.eval();
//   const script::IValue result = module.run_method("forward", {x});
//   script::save_script(module, "copy.pt");
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flambeau/base/progress.h"
#include "flambeau/formats/named_tensors.h"
#include "flambeau/script/backend.h"
#include "flambeau/script/values/ivalue.h"
#include "flambeau/tensor/dtype.h"

namespace flambeau {
class ByteSink;
class Error;
class Mapping;
class RecordArchive;
struct ScriptMigration;
struct SharedZipStorages;
namespace ops {
class Library;
}
}  // namespace flambeau

namespace flambeau::script {

class Class;
struct PackagedModule;
struct PackagedScript;
struct ScriptResource;
class Unit;

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
  // Of a package (flambeau/script_package.h): which of its modules; the only one needs no name.
  std::string module = {};
  // What runs parts that were lowered. Modules with others can be looked at and saved, not run.
  Backends backends = {};
};

// What is 0 or null has no bound.
struct ScriptRunOptions {
  uint64_t most_steps = 0;  // turns of loops, calls, operators
  uint64_t most_bytes = 0;  // of tensors, held at any moment
  double most_seconds = 0;
  size_t most_depth = 10000;                  // calls inside of each other
  uint64_t most_output = uint64_t{64} << 20;  // bytes that are printed
  const std::atomic<bool>* cancel = nullptr;  // set by another thread: the run ends with Error(kCancelled)
  bool may_use_files = false;                 // torch.from_file, torch.save
  bool may_set_seed = false;                  // torch.manual_seed
  // Called while the script runs: they must not call the module.
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
  std::string excerpt =
      {};  // the lines around it with the place underlined; empty where the message says it all
};

struct MobileSaveOptions;

// One call on the way to an error.
struct ScriptFrame {
  std::string function;     // "__torch__.m.M.forward"
  std::string module_path;  // "layer1.0"; empty for the module that was called, and for what is no module's
  std::string place;        // "code/__torch__/m.py:12"
  std::string original;     // "model.py:34"
};

// A module, or one inside of it: copies are the same module. Any number of threads may use one at once. They
// run its methods at the same time, unless these change attributes: then they take turns.
class ScriptModule {
 public:
  std::string class_name() const;  // "__torch__.m.M"
  // From the module that was loaded: "layer1.0"; empty for itself.
  const std::string& path() const { return path_; }

  // Slots in their order. The others throw Error(kNotFound) for a name that there is not.
  std::vector<ModuleAttribute> attributes() const;
  bool has_attribute(std::string_view name) const;
  IValue attribute(std::string_view name) const;
  // Numbers and lists become what the attribute holds. Throws Error(kInvalidArgument) for a value of another
  // type.
  void set_attribute(std::string_view name, const IValue& value);

  std::vector<ScriptModule> submodules() const;
  // Itself and all below, each under the first path that leads to it.
  std::vector<ScriptModule> modules() const;
  // "layer1.0".
  ScriptModule submodule(std::string_view path) const;

  // Of itself and all below, by their dotted names, each tensor once.
  NamedTensors parameters() const;
  NamedTensors buffers() const;
  // Both, in PyTorch's order, also those that have several names.
  NamedTensors state_dict() const;

  bool is_training() const;
  // Of itself and all below.
  void train(bool on = true);
  void eval() { train(false); }
  // Floating-point parameters and buffers, as module.to(dtype) in PyTorch.
  void to(DType dtype);

  // The same structure and tensors in modules of their own; deepcopy() copies the tensors, too. What was
  // shared stays shared. They have the code in common.
  ScriptModule copy() const;
  ScriptModule deepcopy() const;

  std::vector<ModuleMethod> methods() const;
  bool has_method(std::string_view name) const;
  using Keywords = std::vector<std::pair<std::string, IValue>>;
  // Compiles what it needs. Throws Error(kNotFound, kInvalidArgument) for wrong calls, and errors of the
  // script with all frames that led to them (frames_of, traceback_text).
  IValue run_method(std::string_view name, std::vector<IValue> arguments = {}, const Keywords& keywords = {},
                    const ScriptRunOptions& options = {}) const;
  // What its random numbers begin with.
  void manual_seed(uint64_t seed) const;

  // The class as archives hold it; a method of it alone; and what its original source was, where debug
  // information says so.
  std::string code() const;
  std::string code(std::string_view method) const;
  std::string original_code(std::string_view method) const;
  // The module and all that it calls as Python that runs in plain PyTorch: classes with their layers and
  // attributes, the first line of whose text says how to load the weights. The tensors of state_dict() are
  // not in it; other tensors are. Throws Error(kUnsupported) for what Python cannot say.
  std::string python_code() const;
  // The graph that a method was compiled to, as text.
  std::string graph(std::string_view method) const;

  // ---- changes
  // Methods, as text: "def forward(self, x):\n  return self.weight * x\n". Throws CompileError with all that
  // is wrong, and leaves the module as it was.
  void define(std::string_view text, const std::string& file_name = "<text>");
  // Leaves these methods of its class and those that they call; the others are gone. Throws Error(kNotFound).
  void keep_methods(const std::vector<std::string>& names);
  // New slots. Modules of one class have the same slots: each throws Error(kInvalidArgument) where others may
  // be of this module's class (clone() gives it a class of its own), for a name that is taken, and for a
  // value of another type than said. `type` as texts write it: "Optional[Tensor]".
  void add_attribute(const std::string& name, std::string_view type, IValue value);
  void add_parameter(const std::string& name, const Tensor& value);
  void add_buffer(const std::string& name, const Tensor& value);
  // name : Final[T] = value
  void add_constant(const std::string& name, std::string_view type, IValue value);
  // A module of the same unit is shared; one of another unit, of a file for instance, is copied, and its
  // classes get other names where theirs are taken. `interface`: the interface that the slot asks for.
  void add_module(const std::string& name, const ScriptModule& module, std::string_view interface = {});
  // A module of the same unit without anything in it, for add_module().
  ScriptModule new_module(const std::string& class_name);
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
  // Of itself and all below, what a backend runs.
  std::vector<LoweredModule> lowered_modules() const;
  // Methods that run when the file is loaded.
  std::vector<std::string> run_at_load() const;

 private:
  struct Loaded;
  friend class CompilationUnit;
  static ScriptModule make_empty(const std::shared_ptr<Loaded>& loaded, const std::string& class_name);
  ScriptModule copy_into(const std::shared_ptr<Loaded>& loaded) const;
  Class& own_class(const std::string& name) const;
  friend ScriptMigration;
  bool is_only_one() const;
  void require_own_code() const;
  friend ScriptModule load_script(std::shared_ptr<Mapping> bytes, const ScriptLoadOptions& options);
  friend ScriptModule make_script(const std::string& class_name, const ScriptLoadOptions& options);
  friend void write_script_module(const ScriptModule& module, ByteSink& sink, const std::string& top_folder,
                                  const std::vector<std::pair<std::string, std::string>>& extra_files,
                                  Progress& progress);
  friend void save_mobile(const ScriptModule& module, const std::string& path,
                          const MobileSaveOptions& options, Progress& progress);
  friend std::vector<std::string> export_opnames(const ScriptModule& module);
  friend ScriptModule load_packaged(const std::shared_ptr<const RecordArchive>& records,
                                    const PackagedModule& module,
                                    const std::shared_ptr<SharedZipStorages>& shared,
                                    const ScriptLoadOptions& options);
  friend std::vector<std::pair<PackagedScript, ScriptModule>> load_script_package(
      const std::string& path, const ScriptLoadOptions& options);
  friend void save_script_package(const std::string& path, const std::vector<ScriptResource>& resources,
                                  Progress& progress);
  friend ScriptModule freeze(const ScriptModule& module, const std::vector<std::string>& preserved);
  friend ScriptModule optimize(const ScriptModule& module, const std::vector<std::string>& preserved);
  friend void inline_calls(const ScriptModule& module);
  ScriptModule(std::shared_ptr<Loaded> loaded, IValue object, std::string path)
      : loaded_(std::move(loaded)), object_(std::move(object)), path_(std::move(path)) {}
  ScriptModule child(size_t slot) const;
  std::vector<ScriptModule> submodules_here() const;
  std::vector<ScriptModule> modules_here() const;
  NamedTensors tensors(SlotKind kind) const;
  ScriptModule copied(bool with_tensors) const;
  // A module that the unit makes of it, whose methods can have plans.
  ScriptModule changed(const std::function<IValue(Unit& unit)>& change) const;

  std::shared_ptr<Loaded> loaded_;
  IValue object_;
  std::string path_;
};

// Opens a file of torch.jit.save, of any version, or a mobile module, also in a flatbuffer. The weights stay
// where they are, mapped; code is compiled when it is needed. Throws Error: kNotFound, kIo, kCorrupt,
// kUnsupported, kLimit, located at the file.
ScriptModule load_script(const std::string& path, const ScriptLoadOptions& options = {});
ScriptModule load_script(std::shared_ptr<Mapping> bytes, const ScriptLoadOptions& options = {});

// A module of that class without attributes and methods, to be given some; of no file.
ScriptModule make_script(const std::string& class_name, const ScriptLoadOptions& options = {});

// Compiles and prints all code anew: byte for byte what torch.jit.save of PyTorch 2.13 writes for the loaded
// module. `extra_files`: names and what they hold. The file is there whole, or not at all.
void save_script(const ScriptModule& module, const std::string& path,
                 const std::vector<std::pair<std::string, std::string>>& extra_files = {},
                 Progress& progress = Progress::silent());
// The same to anywhere; torch.jit.save to a buffer calls the folder "archive".
void write_script_module(const ScriptModule& module, ByteSink& sink,
                         const std::string& top_folder = "archive",
                         const std::vector<std::pair<std::string, std::string>>& extra_files = {},
                         Progress& progress = Progress::silent());

// What _save_for_lite_interpreter of PyTorch 2.13 writes: the same with bytecode for mobile interpreters, of
// version 4 to 8, as PyTorch's backport makes the older ones; version 9 is a flatbuffer, as
// save_jit_module_to_flatbuffer writes it. Throws Error(kUnsupported) for what mobile modules cannot hold,
// naming the method.
struct MobileSaveOptions {
  int64_t version = 8;
  bool has_code =
      true;  // of a flatbuffer: false leaves out the code, so that it is for mobile interpreters alone
  std::vector<std::pair<std::string, std::string>> extra_files = {};
};
void save_mobile(const ScriptModule& module, const std::string& path, const MobileSaveOptions& options = {},
                 Progress& progress = Progress::silent());

// What torch.jit.export_opnames gives: the operators that a build for the module needs, sorted.
std::vector<std::string> export_opnames(const ScriptModule& module);

// ---- other forms of a module
// What torch.jit.freeze makes of a module: its methods (forward, and those of `preserved`) are without calls,
// attributes that nothing writes to are constants of the code, dropout is gone. `preserved` also names
// attributes that stay, as "scale" or "layer1.scale". Tensors are shared with the module. Methods that depend
// on nothing but their arguments then run as exported programs do: by plans, with packed weights. Throws
// Error(kInvalidArgument) in training mode, Error(kNotFound), Error(kUnsupported).
ScriptModule freeze(const ScriptModule& module, const std::vector<std::string>& preserved = {});
// The same for inference alone: what forks is done at once, what is computed twice once, batch norms and
// sums, differences, products and quotients with constants are parts of the weights before them, and nothing
// is written in place that nobody sees. Results may differ in their last bits. Throws what freeze() throws.
ScriptModule optimize(const ScriptModule& module, const std::vector<std::string>& preserved = {});
// What the module's methods call becomes part of them; calls through interfaces stay. Throws
// Error(kUnsupported) for methods that call themselves.
void inline_calls(const ScriptModule& module);

// ---- values
// For people: "[1, 2]", "{'a': 1.5}", "float32[2, 3]".
std::string to_text(const IValue& value);
// "List[int]", "Optional[Tensor]", "__torch__.m.Point".
std::string type_text(const IValue& value);
// As arguments and attributes take them: of the type that all items have.
IValue make_list(std::vector<IValue> items);
IValue make_dict(std::vector<std::pair<IValue, IValue>> items);
// In their order. Throws Error(kInvalidArgument) for what is no dict.
std::vector<std::pair<IValue, IValue>> dict_items(const IValue& value);

// ---- errors
// The calls that led to an error of a script, outermost first; none for other errors.
std::vector<ScriptFrame> frames_of(const Error& error);
// As PyTorch shows it: the frames in the archive's code with the lines around, in the author's, and the
// message.
std::string traceback_text(const Error& error);

}  // namespace flambeau::script
