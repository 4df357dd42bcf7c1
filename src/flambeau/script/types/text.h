// The text of types as archives and pickles have it: "Dict[str, List[Any]]", "Optional[Tensor]", and the
// dotted names of classes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/value/type.h"

namespace flambeau::script {

class Unit;

// How a class is called where the text is for: archives give other names to those that clash.
using ClassNames = std::function<std::string(std::string_view qualified_name)>;

// As PyTorch annotates: "Tuple[int, Tensor]", "Tuple[()]", "number". Data types, layouts and sizes that may
// be symbols are "int".
std::string annotation_text(const Type& type, const ClassNames& class_names = {});

// The type that one name means without any class: "int", "LongTensor" (a Tensor), "NoneType", "list".
std::optional<Type> find_annotation_name(std::string_view name);
// What "name[arguments]" means: "List", "Dict", "Optional", "Future" ... Nothing for another name; throws
// Error(kInvalidArgument) for a wrong number of arguments. Unions are made by the unit's rules; without one,
// classes are only names.
std::optional<Type> make_generic_type(std::string_view name, std::vector<Type> arguments,
                                      const Unit* unit = nullptr);

// Reads such a text; any dotted name is that of a class. Throws Error(kCorrupt) located at the byte, and
// Error(kLimit) for text or nesting beyond all reason.
Type parse_annotation(std::string_view text, const Unit* unit = nullptr);

}  // namespace flambeau::script
