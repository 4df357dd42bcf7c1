// Writes TorchScript archives, byte for byte as torch.jit.save of PyTorch 2.13 writes a module that was
// loaded.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "flambeau/archive/zip/writer.h"
#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/progress.h"
#include "flambeau/formats/torchscript/printed_code.h"
#include "flambeau/formats/torchscript/value_pickler.h"

namespace flambeau::script {

// In PyTorch's order, which is that of its hash table.
using ExtraFiles = std::unordered_map<std::string, std::string>;

// Given the classes of the module's objects, in the order in which they are met.
using PrintCode = std::function<PrintedCode(const std::vector<ValuePickler::Met>& classes)>;

// What an archive is made of beside code.
struct ScriptParts {
  IValue module;
  ExtraFiles extra_files = {};
  IValue traced_inputs = {};      // None for none
  IValue bytecode = {};           // of a mobile module, what bytecode.pkl holds; None for none
  bool has_own_storages = false;  // bytecode's tensors are beside it, as until version 4
  bool is_backported = false;     // bytecode and constants are of a file of newer bytecode, written anew
};

struct ScriptWriterOptions {
  // The folder inside the archive; torch.jit.save uses the file's name without its ending.
  std::string top_folder = "archive";
};

// Objects are pickled by `hooks`, or as `kept` has them. Throws what ValuePickler, zip::Writer, `print` and
// the sink throw.
class ScriptWriter {
 public:
  ScriptWriter(ByteSink& sink, const SaveHooks& hooks, const KeptStates& kept)
      : sink_(sink), hooks_(hooks), kept_(kept) {}

  void write(const ScriptParts& parts, const PrintCode& print, const ScriptWriterOptions& options,
             Progress& progress);

 private:
  ByteSink& sink_;
  const SaveHooks& hooks_;
  const KeptStates& kept_;
};

// The records of code below a folder, "" or "x/", each with its debug information.
void write_code(zip::Writer& writer, const std::vector<CodeFile>& files, const std::string& folder = {});

}  // namespace flambeau::script
