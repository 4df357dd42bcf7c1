// TorchScript back to Python: an nn.Module with its layers, methods and attributes, that runs in plain
// PyTorch and takes the module's state dict.
#pragma once

#include <functional>
#include <string>

#include "flambeau/script/values/ivalue.h"

namespace flambeau {
struct Object;
}

namespace flambeau::script {

class Unit;

// What files keep of an object of PyTorch's own classes.
using NativeState = std::function<IValue(const Object& object)>;

// Compiles what is not compiled yet: throws what that throws. Throws Error(kUnsupported) for what Python
// cannot say.
std::string decompile(const Unit& unit, const IValue& module, const NativeState& native_state);

}  // namespace flambeau::script
