// Exporting models written in C++ (flambeau/nn.h): trace one into a program that PyTorch opens, and save it.
//
//   nn::Session session;
//   Net net;
//   save_program(export_program(net, {nn::to_tree(x)}), "net.pt2");
#pragma once

#include <span>
#include <string>

#include "flambeau/graph/program.h"
#include "flambeau/nn/module.h"
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
graph::ExportedProgram export_program(nn::Module& module, std::span<const nn::Tree> arguments,
                                      nn::Keywords keywords = {}, const ExportOptions& options = {});

// Writes a .pt2 with this one program, atomically, as torch.export.save does.
void save_program(graph::ExportedProgram program, const std::string& path);

}  // namespace flambeau
