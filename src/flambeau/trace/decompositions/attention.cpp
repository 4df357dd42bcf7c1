#include "flambeau/trace/decompositions/table.h"
namespace flambeau::trace {
void add_attention(DecompositionTable& table) { (void)table; }
}  // namespace flambeau::trace
