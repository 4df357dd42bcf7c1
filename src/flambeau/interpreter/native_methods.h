// Classes of an operator library, as scripts see them: their methods' types for the compiler, and calls of
// them.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "flambeau/script/backend.h"
#include "flambeau/script/unit.h"

namespace flambeau::ops {
class Library;
}

namespace flambeau::interpreter {

using script::IValue;

// For Unit::set_native_methods().
script::NativeMethods native_methods(std::shared_ptr<const ops::Library> library);

// `arguments` begin with the object. __init__ makes it. Throws Error(kUnsupported) for a method that there is
// not, or a backend that is not among `backends`, Error(kInvalidArgument) for arguments that are too few or
// too many, and what the method throws.
IValue call_native_method(const ops::Library& library, const script::Unit& unit, const std::string& name,
                          std::span<const IValue> arguments, const script::Backends* backends = nullptr);

// An object of a class from the state that a file kept, and its state; None for a class that the library has
// not.
IValue native_from_state(const ops::Library& library, std::string_view class_name, const IValue& state);
// Throws Error(kUnsupported) for an object that no file can keep.
IValue native_state(const ops::Library& library, const Object& object);

}  // namespace flambeau::interpreter
