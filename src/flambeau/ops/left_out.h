// The operators that a build was made without (CMakeLists.txt has its options), by name: who asks for one is
// told which option brings it.
#pragma once

#include <string_view>

namespace flambeau::ops {

// The option without which an operator ("aten::linalg_svd", of any overload) or a class of scripts was left
// out: empty where it is there, or nobody has it.
std::string_view option_left_out(std::string_view name);
// Throws Error(kUnsupported) that names the option, where there is one.
void check_is_built(std::string_view name);

}  // namespace flambeau::ops
