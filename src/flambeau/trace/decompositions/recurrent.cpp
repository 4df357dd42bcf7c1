#include "flambeau/trace/decompositions/table.h"
namespace flambeau::trace {
void add_recurrent(DecompositionTable& table) { (void)table; }
}  // namespace flambeau::trace
