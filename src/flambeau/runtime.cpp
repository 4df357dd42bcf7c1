#include "flambeau/runtime.h"

#include "flambeau/aot/open.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/file_kind.h"
#include "flambeau/formats/pt2/example_inputs.h"
#include "flambeau/formats/pt2/package.h"
#include "flambeau/graph/verify/verify.h"
#include "flambeau/ops/mechanism/library.h"

namespace flambeau {
namespace {

Program make(pt2::Package package, LoadOptions options) {
  graph::ExportedProgram& program = package.model(options.model).program;
  graph::VerifyOptions verify;
  if (options.program.library) verify.schemas = &options.program.library->schemas();
  graph::require_valid(program, verify);
  return Program(std::move(program), std::move(options.program));
}

}  // namespace

Program load_program(const std::string& path, LoadOptions options) {
  return make(aot::open_programs(open_model_file(path)), std::move(options));
}

Program load_program(std::shared_ptr<Mapping> bytes, LoadOptions options) {
  return make(aot::open_programs(bytes), std::move(options));
}

std::vector<Value> example_inputs(const Program& program) {
  return pt2::read_example_inputs(program.exported());
}

bool has_example_inputs(const Program& program) { return pt2::has_example_inputs(program.exported()); }

}  // namespace flambeau
