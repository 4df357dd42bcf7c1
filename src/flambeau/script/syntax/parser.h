// Text to trees. Archives and users write the same language; operators bind as in Python.
#pragma once

#include <memory>

#include "flambeau/script/syntax/tree.h"

namespace flambeau::script::syntax {

class Diagnostics;

// All classes and functions of a text. Lines that old archives begin with (`op_version_set = 1`, imports) are
// skipped. Throws Error(kCorrupt) that shows the place, and Error(kLimit) for nesting beyond kMostDepth.
std::shared_ptr<Tree> parse_file(const std::shared_ptr<const Source>& source);
// The same of functions that are methods: type comments leave out the object.
std::shared_ptr<Tree> parse_methods(const std::shared_ptr<const Source>& source);
// A text of users. It may begin with imports, which the tree keeps, and may have constants, decorators and a
// text that says what it is for. Errors are added to `errors`, and the parser goes on behind the statement;
// where there are any, the tree is not to be used.
std::shared_ptr<Tree> parse_text(const std::shared_ptr<const Source>& source, bool is_methods,
                                 Diagnostics& errors);
// One expression, e.g. the text of a type; it is the tree's only definition. Throws as parse_file().
std::shared_ptr<Tree> parse_expression(const std::shared_ptr<const Source>& source);

}  // namespace flambeau::script::syntax
