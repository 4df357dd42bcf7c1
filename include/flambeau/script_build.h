// TorchScript from source text: functions and classes are compiled, modules built, run and saved as PyTorch
// opens them.
//
//   script::CompilationUnit unit("def twice(x):\n  return x * 2\n");
//   const script::IValue result = unit.run("twice", {x});
//
//   script::ScriptModule module = unit.make_module("Scale");
//   module.add_parameter("weight", weight);
//   module.define("def forward(self, x):\n  return twice(x) * self.weight\n");
//   script::save_script(module, "scale.pt");
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/formats/named_tensors.h"
#include "flambeau/script.h"
#include "flambeau/script/diagnostics.h"

namespace flambeau::script {

class CompilationUnit {
 public:
  explicit CompilationUnit(const ScriptLoadOptions& options = {});
  // Throws what define() throws.
  explicit CompilationUnit(std::string_view text, const std::string& file_name = "<text>",
                           const ScriptLoadOptions& options = {});

  // Functions, classes and constants. They may speak of each other and of what was defined before; all of it
  // is compiled. Throws CompileError with all errors, after which the unit is as it was.
  void define(std::string_view text, const std::string& file_name = "<text>");

  // By the names of the texts, in their order.
  std::vector<std::string> functions() const;
  std::vector<std::string> classes() const;
  // Each throws Error(kNotFound) for a function that there is not.
  std::string signature(std::string_view function) const;  // "twice(Tensor x) -> Tensor"
  std::string code(std::string_view function) const;       // as archives hold it
  IValue run(std::string_view function, std::vector<IValue> arguments = {},
             const ScriptModule::Keywords& keywords = {}, const ScriptRunOptions& options = {}) const;

  // A module with nothing but a flag that says whether it is in training; its class gets another name where
  // this one is taken.
  ScriptModule make_module(const std::string& class_name = "Module");
  // A module of a class of the texts. Attributes are given what the text assigns to them, tensors those of
  // `weights` by their dotted names, None where they may be None. Throws Error(kInvalidArgument) that names
  // all attributes without a value and all weights without an attribute.
  ScriptModule make_module_of(std::string_view class_name, const NamedTensors& weights = {});
  // A module whose methods call these functions; it has a `forward`, too, where they are one.
  ScriptModule make_module_of_functions(const std::vector<std::string>& functions);
  // An object of a plain class: its __init__ runs.
  IValue make_object(std::string_view class_name, std::vector<IValue> arguments = {});

 private:
  std::shared_ptr<ScriptModule::Loaded> loaded_;
};

// A module from one text and its weights:
// - of the class `class_name`, or of the last one in the text that inherits from Module, as make_module_of();
// - where there is none and the functions take `self`, one that has them as methods and the weights as
//   parameters;
// - else one that has methods called like the functions, and `forward` where there is one function alone.
// Throws CompileError, and what make_module_of() throws.
ScriptModule compile_module(std::string_view text, const std::string& file_name = "<text>",
                            const NamedTensors& weights = {}, const std::string& class_name = {},
                            const ScriptLoadOptions& options = {});

// Only looks for errors, all of which it throws as CompileError. Functions that take `self` where there is no
// class are methods of a module whose attributes are not known, and only their syntax is looked at.
void check_source(std::string_view text, const std::string& file_name = "<text>");

}  // namespace flambeau::script
