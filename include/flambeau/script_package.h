// Script modules in packages, the archives of torch.package: found, loaded and written. The Python code of a
// package is data here, and never run.
//
//   for (const auto& packaged : script::list_script_package("models.pt")) use(packaged.names);
//   script::ScriptModule encoder = script::load_script("models.pt", {.module = "models/all.pkl:encoder"});
//   script::save_script(encoder, "encoder.pt");
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "flambeau/base/progress.h"
#include "flambeau/script.h"

namespace flambeau::script {

struct PackagedScript {
  std::string id;  // its number: "0"
  // The pickles that it is loaded from, "model/model.pkl", and where in them: "models/all.pkl:encoder.0".
  std::vector<std::string> names;
  std::string class_name;  // "__torch__.m.M"
};
// In the order of their numbers; none for a file that is no package. Throws Error: kNotFound, kIo, kCorrupt.
std::vector<PackagedScript> list_script_package(const std::string& path);
std::vector<PackagedScript> list_script_package(const std::shared_ptr<Mapping>& bytes);
// All of them. Tensors that they share have the same bytes in memory.
std::vector<std::pair<PackagedScript, ScriptModule>> load_script_package(
    const std::string& path, const ScriptLoadOptions& options = {});

// What PackageImporter.load_pickle(package, resource) gives: a module, whose name is empty here, or a dict of
// modules by their names.
struct ScriptResource {
  std::string package;   // "models"
  std::string resource;  // "all.pkl"
  std::vector<std::pair<std::string, ScriptModule>> modules;
};
// As PackageExporter of PyTorch 2.13 writes them: tensors and code that modules share are there once. Throws
// Error(kInvalidArgument) for names that two resources have, or that are no names of packages, and what
// save_script throws.
void save_script_package(const std::string& path, const std::vector<ScriptResource>& resources,
                         Progress& progress = Progress::silent());

}  // namespace flambeau::script
