// Which names of variables a graph keeps.
#pragma once

#include <string_view>

namespace flambeau::script {

// Not those that a printer made up ("_12"), nor those of the compiler itself ("$loop"): so that what is
// printed and read again gets the same names.
bool is_meaningful_name(std::string_view name);

}  // namespace flambeau::script
