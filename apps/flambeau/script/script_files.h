// What the commands do with TorchScript modules: the part of each that is not about weights or programs.
#pragma once

#include <string>
#include <vector>

#include "command.h"
#include "flambeau/json.h"
#include "flambeau/script.h"
#include "output_check.h"

namespace flambeau {
class Mapping;
}

namespace flambeau::cli {

// Whether the file is a TorchScript module with code; false for what cannot be opened, for others to say why.
bool is_script_file(const std::string& path);
bool is_script_file(const std::shared_ptr<Mapping>& mapping);

// Nothing of the file runs unless `run` is set.
script::ScriptModule open_script(const std::string& path, const CommonOptions& common, bool run = false);

// inspect: modules, methods, operators.
void print_script(const script::ScriptModule& module, size_t limit);
json::Value script_json(const script::ScriptModule& module);

// verify: prints what is wrong, or adds it to `result`. True when nothing is.
bool verify_script(const std::string& path, const CommonOptions& common, json::Array& results);

// check: what the code would do to the world outside.
void print_script_safety(const std::string& path);
json::Value script_safety_json(const std::string& path);

// graph: of a method, "forward" or "layer1.0.forward".
std::string script_graph(const std::string& path, const std::string& method);

// run: calls a method with what was given on the command line, "NAME=WHAT" or "WHAT".
struct ScriptRun {
  std::string file;
  std::string method;
  std::vector<std::string> inputs;
  std::string output;         // where the results go; empty for nowhere
  std::string check_against;  // what to compare them with; empty for nothing
  Tolerances tolerances{-1, -1};
  uint64_t seed = 0;
};
int run_script(const ScriptRun& options, const CommonOptions& common);

// What `-i` gives, "NAME=WHAT" or "WHAT", as arguments of a method.
struct ScriptArguments {
  std::vector<script::IValue> positional;
  script::ScriptModule::Keywords keywords;
};
ScriptArguments read_script_arguments(const std::vector<std::string>& inputs, uint64_t seed);

// convert: writes the module anew, its code compiled and printed.
void resave_script(const std::string& from, const std::string& to, const CommonOptions& common);
// The same with bytecode for mobile interpreters. `version`: of the bytecode; empty for the newest.
void save_mobile_script(const std::string& from, const std::string& to, const std::string& version,
                        const CommonOptions& common);

}  // namespace flambeau::cli
