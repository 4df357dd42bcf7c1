// Writes packages that hold script modules, as PackageExporter of PyTorch 2.13 does.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "flambeau/base/files/byte_sink.h"
#include "flambeau/base/progress.h"
#include "flambeau/formats/torchscript/value_pickler.h"
#include "flambeau/script/unit.h"

namespace flambeau::script {

// A pickle of the package: one module, whose name is empty, or a dict of modules by their names.
struct PackageResource {
  std::string record;  // "model/model.pkl"
  std::vector<std::pair<std::string, IValue>> modules = {};
};

// The modules are of one unit. What they share is there once. Throws what print_code, ValuePickler and the
// sink throw.
void write_package(ByteSink& sink, const Unit& unit, const std::vector<PackageResource>& resources,
                   const std::string& top_folder, const SaveHooks& hooks, const KeptStates& kept,
                   Progress& progress);

}  // namespace flambeau::script
