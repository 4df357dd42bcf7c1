// Text that is no archive's: a user's functions and classes, and functions of TorchScript's own library.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/script/ir/graph.h"
#include "flambeau/script/source.h"
#include "flambeau/script/unit.h"

namespace flambeau::script::compiler {

// Adds the classes and functions of a text to the unit, as "prefix.name"; without a prefix, by their names
// alone. They may speak of each other and of what the unit has under the prefix. Gives the functions, none
// compiled yet.
std::vector<std::shared_ptr<Function>> define_text(Unit& unit, const std::shared_ptr<const Source>& source,
                                                   const std::string& prefix = {});
// The same, and compiles all of it: the functions, and the methods of the classes. Throws CompileError with
// all errors that were found; then nothing of the text is to be used.
std::vector<std::shared_ptr<Function>> compile_text(Unit& unit, const std::shared_ptr<const Source>& source,
                                                    const std::string& prefix = {});
std::vector<std::shared_ptr<Function>> compile_methods(Unit& unit,
                                                       const std::shared_ptr<const Source>& source,
                                                       const std::shared_ptr<Class>& self,
                                                       const std::string& prefix = {});
// Methods of a text for a class that is there.
std::vector<std::shared_ptr<Function>> define_methods(Unit& unit, const std::shared_ptr<const Source>& source,
                                                      const std::shared_ptr<Class>& self);

// "Optional[Tensor]", "List[MyClass]" for a class "prefix.MyClass".
Type read_type_text(Unit& unit, std::string_view text, const std::string& prefix = {});

// One of torch.nn.functional's that is written in TorchScript here; the unit has them from the first one on.
std::shared_ptr<Function> functional_function(Unit& unit, const std::string& name);

// The one function of a text of TorchScript's own library: it calls operators alone, and is no part of the
// unit.
std::shared_ptr<Function> compile_library_function(Unit& unit, std::string_view text);

}  // namespace flambeau::script::compiler
