// The elementary functions and what is made of them (elementary.def, composed.def) as text in C.
#pragma once

#include <string_view>

namespace flambeau::kernels {

std::string_view elementary_code();

}  // namespace flambeau::kernels
