// Which records of an archive belong to a compiled model, and what is wrong with them.
#pragma once

#include <optional>
#include <string_view>

namespace flambeau {

namespace safety {
class Checker;
}

struct CompiledRecord {
  std::string_view model;  // the folder; empty for a file that lies in none
  std::string_view file;
};
// Of a name inside the top folder; nothing for other records.
std::optional<CompiledRecord> compiled_record(std::string_view name);
// Whether check_compiled_models() speaks for it.
bool is_part_of_compiled_model(std::string_view name);

// Says of each compiled model what loading it would run, and what its loader could be made to do.
void check_compiled_models(safety::Checker& checker);

}  // namespace flambeau
