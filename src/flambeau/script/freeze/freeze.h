// A module whose attributes are constants of its code: what torch.jit.freeze makes of one. Its methods call
// nothing any more, branches that depend on attributes are decided, and what nobody reads is gone.
#pragma once

#include <span>
#include <string>

#include "flambeau/script/passes/evaluator.h"
#include "flambeau/script/values/ivalue.h"

namespace flambeau::script {

class Unit;

// Another module of a class of its own, which the unit knows from now on; tensors are shared with the first
// one. It has the method forward and those of `preserved`, which also names attributes that stay ("scale",
// "layer1.scale", "layer1"). Attributes that a method writes to stay, too. Throws Error(kInvalidArgument) for
// a module in training mode, Error(kNotFound) for a name that there is not, Error(kUnsupported) for what
// cannot be frozen, and what compiling and inlining throw.
IValue freeze_module(Unit& unit, const IValue& module, std::span<const std::string> preserved = {});

}  // namespace flambeau::script
