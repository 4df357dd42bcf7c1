// A valid program stays one whichever pass changes it, and a second time no pass changes what the first time
// left. The target of program texts simplifies too, among much else; here nothing else takes time.
#include <cstdlib>

#include "flambeau/base/error.h"
#include "flambeau/base/work.h"
#include "flambeau/formats/pt2/program_json.h"
#include "flambeau/graph/verify/verify.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/passes/passes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace flambeau;
  static const ops::Library library;
  try {
    pt2::Notes notes;
    const graph::ExportedProgram program = pt2::read_program(as_text({data, size}), notes);
    if (!graph::verify(program).empty()) return 0;
    const WorkScope scope({.seconds = 2, .bytes = 32U << 20});
    for (const passes::NamedPass& pass : passes::all_passes()) {
      graph::ExportedProgram changed = program.clone();
      pass.run(changed, library);
      if (!graph::verify(changed).empty()) std::abort();
    }
    graph::ExportedProgram simple = program.clone();
    passes::simplify(simple, library);
    if (!graph::verify(simple).empty() || passes::simplify(simple, library)) std::abort();
  } catch (const Error&) {
    // Refusing is fine. Anything else that leaves a pass is a bug.
  }
  return 0;
}
