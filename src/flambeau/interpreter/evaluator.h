// Operators on constants while a function is compiled, by the builtins that also run them later.
#pragma once

#include <memory>

#include "flambeau/script/passes/evaluator.h"

namespace flambeau {
class ThreadPool;
namespace ops {
class Library;
}
namespace script {
class OperatorTable;
}
}  // namespace flambeau

namespace flambeau::interpreter {

// For Unit::set_evaluator(). Runs nothing that touches the world, and nothing that a number in a text could
// make large. Any number of threads may use it; the pool outlives it.
script::Evaluator make_evaluator(const std::shared_ptr<const script::OperatorTable>& operators,
                                 std::shared_ptr<const ops::Library> library, ThreadPool& pool);

}  // namespace flambeau::interpreter
