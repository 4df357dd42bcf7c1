// What scripts may call on packed weights: methods that take nothing but the object.
#pragma once

#include <string_view>

#include "flambeau/value/value.h"

namespace flambeau::ops {

class Library;

// Tuples come as lists. Null when the class has no such method; the types of the results are
// script/operators/native_classes.h's to know.
using ObjectMethod = Value (*)(const Library& library, const Object& object);
ObjectMethod find_object_method(std::string_view class_name, std::string_view method);

}  // namespace flambeau::ops
