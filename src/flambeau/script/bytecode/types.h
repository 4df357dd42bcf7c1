// The text of types in bytecode: as archives have it, and for named tuples with their fields,
// "__torch__.P[NamedTuple, [[x, Tensor],[y, int]]]", since there is no code that would define them.
#pragma once

#include <string>
#include <string_view>

#include "flambeau/script/unit.h"
#include "flambeau/value/type.h"

namespace flambeau::script::bytecode {

// Named tuples that the unit does not know are added to it. Throws Error(kCorrupt, kLimit).
Type parse_type_text(std::string_view text, Unit& unit);

// As PyTorch writes it: no blank in a dict's type, fields of named tuples. Throws Error(kUnsupported) for a
// class of the script, of which bytecode makes no objects.
std::string type_text(const Type& type, const Unit& unit);

}  // namespace flambeau::script::bytecode
