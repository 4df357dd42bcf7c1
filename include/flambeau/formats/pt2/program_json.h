// A program as JSON: what models/*.json holds in an archive, and serialized_exported_program.json in the
// older layout.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flambeau/graph/program.h"

namespace flambeau::json {
struct Limits;
}

namespace flambeau::pt2 {

// What reading did to a program besides reading it: "converted from schema 2.0: ...".
using Notes = std::vector<std::string>;

// A program without its weights, of any schema version; older ones are converted forward. Not verified: that
// is graph::verify()'s. Throws Error(kCorrupt, kUnsupported, kLimit), located at the node or value.
graph::ExportedProgram read_program(std::string_view text, Notes& notes);
graph::ExportedProgram read_program(std::string_view text, const json::Limits& limits, Notes& notes);

// The bytes PyTorch writes for the same program; after read_program() of a file of PyTorch's the bytes of
// that file.
std::string write_program(const graph::ExportedProgram& program);

// Makes write_program() write another minor of schema 8, as the PyTorch of that time did. What that version
// leaves out without changing the meaning is dropped with a note. Throws Error(kUnsupported) for another
// major, and, naming it, for what the version cannot say.
void set_schema(graph::ExportedProgram& program, graph::SchemaVersion version, Notes& notes);

}  // namespace flambeau::pt2
