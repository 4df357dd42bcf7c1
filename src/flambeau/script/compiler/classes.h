// Classes of a text: modules, plain classes, named tuples, enums, interfaces. A class is declared first, so
// that its methods, which are compiled when they are asked for, may speak of it.
#pragma once

#include <memory>
#include <string>

#include "flambeau/script/compiler/names.h"
#include "flambeau/script/syntax/tree.h"
#include "flambeau/script/unit.h"

namespace flambeau::script::compiler {

// Adds the class to the unit. `names` and `tree` are kept for its methods.
void define_class(Unit& unit, const std::shared_ptr<const OuterNames>& names,
                  const std::shared_ptr<const syntax::Tree>& tree, const syntax::Node& definition,
                  const std::string& qualified_name);
// A function, or a method of `self`, that is compiled when it is asked for. It is not added to the unit.
std::shared_ptr<Function> make_function(Unit& unit, const std::shared_ptr<const OuterNames>& names,
                                        const std::shared_ptr<const syntax::Tree>& tree,
                                        const syntax::Node& definition, const std::string& qualified_name,
                                        const std::shared_ptr<Class>& self);

}  // namespace flambeau::script::compiler
