// The layouts of exported programs, each read into a package: load_package() for files of one kind. Internal.
#pragma once

#include "flambeau/formats/pt2/package.h"

namespace flambeau::pt2 {

using PackageReader = void(const RecognizedFile& file, const std::shared_ptr<Mapping>& mapping,
                           Package& package);

PackageReader read_archive_layout;
PackageReader read_zip_layout;
// Programs alone, without weights.
PackageReader read_program_json;
PackageReader read_program_text;

}  // namespace flambeau::pt2
