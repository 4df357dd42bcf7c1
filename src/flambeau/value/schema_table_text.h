// The lines of the built-in table of schemas, as scripts/generate_schemas.py wrote them.
#pragma once

#include <string_view>

namespace flambeau {

// Lines of "schema", or "schema TAB flags", sorted by operator name and overload; the first is a comment.
std::string_view schema_table_text();

}  // namespace flambeau
