// What the commands do with TorchScript modules: the part of each that is not about weights or programs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "flambeau/inspect.h"
#include "flambeau/json.h"
#include "flambeau/script.h"
#include "flambeau/tensor.h"
#include "output_check.h"

namespace flambeau {
class Mapping;
}

namespace flambeau::cli {

// A file that is opened once, since a pipe cannot be read twice.
struct ModelSource {
  std::string path;
  std::shared_ptr<Mapping> bytes;  // null for a file that can be opened by its path
  bool is_script = false;          // a TorchScript module with code
};
// Modules of TorchScript, with code or bytecode.
bool is_script_kind(FileKind kind);
// What cannot be opened is no script: others say why.
ModelSource open_source(const std::string& path);
// Of files alone: a pipe is left to who reads it.
bool is_script_file(const std::string& path);
bool is_script_file(const std::shared_ptr<Mapping>& mapping);

// "package.pt:models/all.pkl": a file, and the name of a module in it, which may be empty.
struct PackagedName {
  std::string file;
  std::string module;
};
PackagedName packaged_name(const std::string& path);
// inspect: the modules of a package, if there are any.
void print_script_package(const std::shared_ptr<Mapping>& bytes);

// Nothing of the file runs unless `run` is set. `operators`: shared libraries with operators of the user's.
script::ScriptModule open_script(const ModelSource& source, const CommonOptions& common, bool run = false,
                                 const std::vector<std::string>& operators = {});

// inspect: methods and attributes; with `is_whole`, modules, operators and what runs at loading.
void print_script(const script::ScriptModule& module, size_t limit, bool is_whole);
json::Value script_json(const script::ScriptModule& module);

// verify: prints what is wrong, or adds it to `result`. True when nothing is.
bool verify_script(const std::string& path, const CommonOptions& common, json::Array& results);

// check: what the code would do to the world outside.
void print_script_safety(const std::string& path);
json::Value script_safety_json(const std::string& path);

// graph: of a method, "forward" or "layer1.0.forward".
std::string script_graph(const ModelSource& source, const std::string& method);

// run: calls a method with what was given on the command line, "NAME=WHAT" or "WHAT".
struct ScriptRun {
  ModelSource source;
  std::string method;
  std::vector<std::string> inputs;
  std::vector<std::string> operators;  // shared libraries
  std::string output;                  // where the results go; empty for nowhere
  std::string check_against;           // what to compare them with; empty for nothing
  Tolerances tolerances{-1, -1};
  uint64_t seed = 0;
};
int run_script(const ScriptRun& options, const CommonOptions& common);

struct ScriptArguments {
  std::vector<script::IValue> positional;
  script::ScriptModule::Keywords keywords;
  size_t shapes = 0;  // arguments of which only the shape was said: "1x3x224x224"
};
// `integers`: a bit for each argument that is a shape alone, from the lowest on; set, it is made of integers,
// 0 and 1, else of real numbers.
ScriptArguments script_arguments(const std::vector<std::string>& inputs, uint64_t seed,
                                 uint64_t integers = 0);
// What the script prints goes to standard error: standard output has results.
script::ScriptRunOptions script_run_options();

// convert: writes the module anew, its code compiled and printed; a program becomes one.
struct ScriptConversion {
  std::string from;
  std::string to;
  std::optional<DType> dtype;
  std::vector<std::string> methods;  // that stay; all of them where none is named
  bool freeze = false;
  std::string model;  // of an archive with several programs, the one that becomes a module
};
void convert_script(const ScriptConversion& options, const CommonOptions& common);
// The same with bytecode for mobile interpreters. `version`: of the bytecode; empty for what the output's
// ending asks for. `has_code`: false for a flatbuffer with bytecode alone.
void save_mobile_script(const std::string& from, const std::string& to, const std::string& version,
                        bool has_code, const CommonOptions& common);

// diff: classes, attributes and methods of two modules. Rows as those of programs.
struct ScriptDifference {
  std::string part;  // "module", "attribute", "method"
  std::string name;  // "layer1.0.forward"
  std::string status;
  std::string detail;
};
std::vector<ScriptDifference> diff_scripts(const script::ScriptModule& a, const script::ScriptModule& b);

}  // namespace flambeau::cli
