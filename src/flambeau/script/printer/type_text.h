// Types as they stand in an archive's code: "Optional[List[int]]", "__torch__.M".
#pragma once

#include <functional>
#include <string>

#include "flambeau/value/type.h"

namespace flambeau::script {

// What the class or function of a qualified name is called in the printed text. An empty function leaves all
// names as they are.
using PrintedNames = std::function<std::string(const std::string& qualified_name)>;

std::string printed_name(const std::string& qualified_name, const PrintedNames& names);
std::string type_text(const Type& type, const PrintedNames& names = {});

}  // namespace flambeau::script
