// Script modules in packages (torch.package): each has a number, pickles say under which names, all share
// code and storages. Nothing of the package is run to find them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/archive/record_archive.h"
#include "flambeau/formats/torchscript/script_archive.h"

namespace flambeau::script {

struct PackagedModule {
  std::string id;                       // "0"
  std::vector<std::string> names = {};  // "model/model.pkl", "models/all.pkl:encoder.0"
  std::string class_name = {};
};

bool is_script_package(const RecordArchive& records);
// In the order of their numbers. Throws Error(kCorrupt, kLimit) for pickles that are none.
std::vector<PackagedModule> packaged_modules(const RecordArchive& records);
// The one of that name, or number; of a package with one module, also for an empty name. Throws
// Error(kNotFound) that lists what there is.
const PackagedModule& find_packaged_module(const std::vector<PackagedModule>& modules, std::string_view name);
// `shared`: the storages of the package's other modules.
ScriptPlaces places_in_package(const std::string& id, std::shared_ptr<SharedZipStorages> shared);

}  // namespace flambeau::script
