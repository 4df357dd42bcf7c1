// Text to trees. Archives and users write the same language; operators bind as in Python.
#pragma once

#include <memory>

#include "flambeau/script/syntax/tree.h"

namespace flambeau::script::syntax {

// All classes and functions of a text. Lines that old archives begin with (`op_version_set = 1`, imports) are
// skipped. Throws Error(kCorrupt) that shows the place, and Error(kLimit) for nesting beyond kMostDepth.
std::shared_ptr<Tree> parse_file(const std::shared_ptr<const Source>& source);
// The same of functions that are methods: type comments leave out the object.
std::shared_ptr<Tree> parse_methods(const std::shared_ptr<const Source>& source);
// One expression, e.g. the text of a type; it is the tree's only definition. Throws as parse_file().
std::shared_ptr<Tree> parse_expression(const std::shared_ptr<const Source>& source);

}  // namespace flambeau::script::syntax
