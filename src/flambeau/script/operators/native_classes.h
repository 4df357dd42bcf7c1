// Classes that are no script's, such as packed weights: what code of archives asks of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "flambeau/script/unit.h"

namespace flambeau::script {

// "__torch__.torch.classes.quantized.LinearPackedParamsBase".
bool is_native_class(std::string_view qualified_name);

// A class of that name with the methods that the unit knows of; they have no graphs. One that is not known
// has none. Throws Error(kCorrupt) for types that are none.
std::shared_ptr<Class> make_native_class(const Unit& unit, std::string_view qualified_name);

// Whether archives hold a text of it. PyTorch leaves out what has methods of its own; what has none it prints
// as if it were a script's, with the one attribute that all of them have.
bool is_printed_native_class(const Class& native);

// The backend that objects of the class were lowered to, by what their code makes and keeps; empty for none.
std::string backend_of(const Class& type);
[[noreturn]] void fail_missing_backend(const std::string& backend);

}  // namespace flambeau::script
