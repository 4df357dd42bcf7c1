// Higher-order operators that call one operator: those that make a mutating operator a function of its
// arguments, and those that keep operators with effects in order.
#pragma once

#include <vector>

#include "flambeau/runtime/higher_order.h"

namespace flambeau::runtime {

std::vector<Value> run_auto_functionalized(Interpreter& interpreter, const HigherOrderCall& call);
std::vector<Value> run_auto_functionalized_v2(Interpreter& interpreter, const HigherOrderCall& call);
std::vector<Value> run_with_effects(Interpreter& interpreter, const HigherOrderCall& call);

}  // namespace flambeau::runtime
