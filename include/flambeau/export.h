// Exporting models written in C++ (flambeau/nn.h): trace one into a program that PyTorch opens, and save it.
//
//   nn::Session session;
//   Net net;
//   save_program(export_program(net, {x}, {.dynamic = {{"x", {{0, Dim("batch")}}}}}), "net.pt2");
#pragma once

#include <initializer_list>
#include <span>

#include "flambeau/nn/module.h"
#include "flambeau/program.h"
#include "flambeau/trace/decompose.h"
#include "flambeau/trace/export.h"
#include "flambeau/trace/program_module.h"

namespace flambeau {

using trace::Dim;
using trace::DynamicShapes;
using trace::ExportOptions;
using trace::make_module;
using trace::run_decompositions;
using trace::ShapeSpec;

// As torch.export.export: calls the module once with tensors that have the sizes of these arguments and no
// data. The arguments become the program's example inputs. The thread must have a session. Throws Error
// located at the module and the line.
ExportedProgram export_program(nn::Module& module, std::span<const nn::Tree> arguments,
                               const nn::Keywords& keywords, const ExportOptions& options = {});
inline ExportedProgram export_program(nn::Module& module, std::initializer_list<nn::Tree> arguments,
                                      const nn::Keywords& keywords, const ExportOptions& options = {}) {
  return export_program(module, std::span(arguments.begin(), arguments.size()), keywords, options);
}
// Without keywords.
inline ExportedProgram export_program(nn::Module& module, std::span<const nn::Tree> arguments,
                                      const ExportOptions& options = {}) {
  return export_program(module, arguments, nn::Keywords(), options);
}
inline ExportedProgram export_program(nn::Module& module, std::initializer_list<nn::Tree> arguments,
                                      const ExportOptions& options = {}) {
  return export_program(module, arguments, nn::Keywords(), options);
}

}  // namespace flambeau
