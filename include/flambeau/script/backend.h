// Backends that parts of a module were lowered to: what runs them is not in the file, only what a backend
// made of the code when the module was saved.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/script/values/ivalue.h"

namespace flambeau::script {

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  virtual bool is_available() { return true; }
  // `processed`: what the backend made of the module; `method_compile_spec`: a dict of what was asked for, by
  // method. Gives a dict of handles by method, when the module is loaded.
  virtual IValue compile(const IValue& processed, const IValue& method_compile_spec) = 0;
  // Runs the method of that handle; gives its results, one for a method that returns one.
  virtual std::vector<IValue> execute(const IValue& handle, const std::vector<IValue>& inputs) = 0;
};

// By the names that files have for them: "backend_with_compiler_demo". They must outlive what they run, and
// are called by whatever thread runs a module.
using Backends = std::map<std::string, std::shared_ptr<Backend>, std::less<>>;

// A part of a module that a backend runs.
struct LoweredModule {
  std::string path;  // "layer1.0"; empty for the module itself
  std::string backend;
  IValue processed;
  IValue method_compile_spec;
};

// What classes of backends are called.
constexpr std::string_view kBackendClassPrefix = "__torch__.torch.classes.__backends__.";

}  // namespace flambeau::script
