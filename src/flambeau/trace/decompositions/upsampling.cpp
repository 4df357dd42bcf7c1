#include "flambeau/trace/decompositions/table.h"
namespace flambeau::trace {
void add_upsampling(DecompositionTable& table) { (void)table; }
}  // namespace flambeau::trace
