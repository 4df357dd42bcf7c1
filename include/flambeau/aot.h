// Compiled models: programs that PyTorch loads as if its own compiler had made them.
//
//   aot_compile("model.pt2", "compiled.pt2");  // torch._inductor.aoti_load_package("compiled.pt2") runs it
//   Program model = aot_load("compiled.pt2", "cpu");
//   std::vector<Value> outputs = model.run({x});
//
// docs/aot.md says what is in such a file and who can open it.
#pragma once

#include <string>

#include "flambeau/aot/compile.h"
#include "flambeau/aot/native.h"
#include "flambeau/runtime.h"

namespace flambeau {

using aot::CompiledForm;
using aot::CompileOptions;
using aot::CompileReport;
using aot::load_native_package;
using aot::NativeModel;
using aot::NativeOptions;

// The program of a .pt2 as a compiled model: a .pt2, or a library where the name ends in ".so". Gives the
// path. Throws what load_package() throws, and aot::compile_package().
std::string aot_compile(const std::string& program, const std::string& path, CompileOptions options = {});
std::string aot_compile(graph::ExportedProgram program, const std::string& path, CompileOptions options = {});

// Opens a compiled model of ours, a .pt2 or a .so, as load_program() does, too: a program that runs. Its
// code, which is for PyTorch, is not loaded. Throws Error(kUnsupported) for a device other than "cpu"; and
// Error(kUnsafe) for a model that another compiler made, whose code would have to be run:
// load_native_package().
Program aot_load(const std::string& path, const std::string& device = "cpu", LoadOptions options = {});

}  // namespace flambeau
