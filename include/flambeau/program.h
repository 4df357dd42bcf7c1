// Exported programs as data: open, look into, verify, canonicalize, compare, print and save .pt2 files.
//
//   Package package = load_package("model.pt2");
//   ExportedProgram& program = package.model().program;
//   for (const graph::Finding& finding : graph::verify(program)) std::puts(finding.to_string().c_str());
//   std::puts(graph::to_text(program).c_str());
//   save_package(package, "copy.pt2", package.layout);
//
// To run one: flambeau/runtime.h.
#pragma once

#include "flambeau/formats/pt2/example_inputs.h"
#include "flambeau/formats/pt2/objects.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/formats/pt2/program_json.h"
#include "flambeau/formats/pt2/schema_versions.h"
#include "flambeau/graph/program.h"
#include "flambeau/graph/report/canonical.h"
#include "flambeau/graph/report/compare.h"
#include "flambeau/graph/report/dot.h"
#include "flambeau/graph/report/summary.h"
#include "flambeau/graph/text/parse.h"
#include "flambeau/graph/text/print.h"
#include "flambeau/graph/verify/verify.h"

namespace flambeau {

using graph::ExportedProgram;
using pt2::load_package;
using pt2::Package;
using pt2::PackageLayout;
using pt2::save_package;
using pt2::write_package;

// Writes a .pt2 with this one program, atomically, as torch.export.save does.
void save_program(ExportedProgram program, const std::string& path);

}  // namespace flambeau
