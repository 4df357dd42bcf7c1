#include "flambeau/trace/decompositions/table.h"
namespace flambeau::trace {
void add_losses(DecompositionTable& table) { (void)table; }
}  // namespace flambeau::trace
