// The code of an archive as a unit's resolver: texts are read when a name in them is first asked for, and
// functions compiled when they are.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/script/source.h"
#include "flambeau/script/unit.h"

namespace flambeau::script::compiler {

struct ArchiveCode {
  // The text of a qualifier, "__torch__.torch.nn.modules.linear"; null when the archive has none.
  std::function<std::shared_ptr<const Source>(std::string_view qualifier)> find_text;
  // What CONSTANTS.c0, CONSTANTS.c1 ... are.
  std::vector<IValue> constants;
  // Of the archive: operators are those of that time.
  int64_t version = 0;
};

// From now on the unit finds in the code what it does not know. Texts and trees are kept for functions that
// are not compiled yet.
void use_archive_code(Unit& unit, ArchiveCode code);

}  // namespace flambeau::script::compiler
