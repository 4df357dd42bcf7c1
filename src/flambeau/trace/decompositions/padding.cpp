#include "flambeau/trace/decompositions/table.h"
namespace flambeau::trace {
void add_padding(DecompositionTable& table) { (void)table; }
}  // namespace flambeau::trace
