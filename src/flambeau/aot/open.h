// Opens compiled models of ours as the programs that they are: nothing of their code is loaded.
#pragma once

#include <memory>

#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/pt2/package.h"

namespace flambeau::aot {

// Of a package, what load_package() gives, or where it has only a library the program behind that; of a
// library the program behind it. Throws Error(kUnsafe) for a library that another compiler made, whose code
// would have to be run; and what load_package() throws.
pt2::Package open_programs(const std::shared_ptr<Mapping>& file);

}  // namespace flambeau::aot
