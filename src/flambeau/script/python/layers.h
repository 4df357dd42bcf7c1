// Modules that are layers of torch.nn: known by their names, and only where their forward does what the layer
// does. A file may call anything "Linear".
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "flambeau/script/python/file.h"
#include "flambeau/script/values/boxes.h"

namespace flambeau::script {

// "nn.Linear(3, 4, bias=False)"; nothing for a module that has to be written as a class.
std::optional<std::string> layer_text(PythonFile& file, const ObjectBox& module);

enum class PythonContainer : uint8_t { kNone, kSequential, kModuleList, kModuleDict };
// What holds modules and does nothing else, but for calling them one after the other.
PythonContainer container_of(const ObjectBox& module);
// Whether somebody could call another method than those that layers have.
bool has_methods_of_its_own(const Class& type);
// Whether files keep the attribute and nn.Module brings it along.
bool is_of_every_module(const Attribute& attribute);

}  // namespace flambeau::script
