// Compiled models in a package, as torch._inductor.aoti_compile_and_package writes them: what they are, what
// they take and give, and what their libraries would run. Nothing of a package is run or unpacked.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace flambeau {

class RecordArchive;

// A weight of a compiled model, as the source that the package carries says it.
struct CompiledConstant {
  std::string name;      // as the library calls it: "layer1_weight"
  std::string original;  // as the model did: "layer1.weight"
  std::string dtype;
  std::string kind;  // "parameter", "buffer", "tensor constant", "folded"
  std::vector<int64_t> sizes;
  uint64_t bytes = 0;
};

// A shared library, by its own tables.
struct CompiledLibrary {
  std::string record;
  uint64_t bytes = 0;
  std::string problem;  // why it could not be read; the rest is empty then
  std::string machine;
  std::vector<std::string> needed;
  std::vector<std::string> search_paths;
  std::vector<std::string> versions;          // the newest of each family that it asks for: "GLIBC_2.34"
  std::vector<std::string> host_functions;    // that it takes from PyTorch: "aoti_torch_empty_strided"
  std::vector<std::string> system_functions;  // that reach outside of the process: "system", "dlopen"
  uint64_t other_imports = 0;
  uint64_t exports = 0;
  uint64_t run_by_loading = 0;  // functions that run before anybody calls one
  bool is_shared = false;
  bool has_text_relocations = false;
  bool has_executable_stack = false;
};

struct CompiledModel {
  std::string name;                                           // the folder: "model"
  std::string device;                                         // "cpu"; empty where nothing says it
  std::vector<std::pair<std::string, std::string>> metadata;  // all that is said of it
  std::vector<CompiledLibrary> libraries;
  std::vector<std::string> inputs;  // what the library calls them
  std::vector<std::string> outputs;
  std::vector<CompiledConstant> constants;
  std::string in_spec;  // how arguments are put together, as JSON
  std::string out_spec;
  // No library, but sources and flags: loading it runs a compiler, with words of the package.
  bool is_source_only = false;
  std::vector<std::string> notes;  // what could not be read, and why
};

// By name; empty for an archive without any. What is broken is said in the models, not thrown.
std::vector<CompiledModel> read_compiled_models(const RecordArchive& archive);

}  // namespace flambeau
