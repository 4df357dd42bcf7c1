// Which names a record may have. Names are never used as paths here, but others may.
#pragma once

#include <string>
#include <string_view>

namespace flambeau::zip {

// What is wrong with a record's name, as the rest of a sentence ("contains a backslash"); empty when it
// is a plain relative path. Names that differ only in case are different names.
std::string name_problem(std::string_view name);

}  // namespace flambeau::zip
