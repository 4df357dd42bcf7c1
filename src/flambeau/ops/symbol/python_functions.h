#pragma once
#include <span>
#include <string_view>
#include "flambeau/value/value.h"
namespace flambeau::ops {
struct PythonFunction { std::string_view name; Value (*apply)(std::span<const Value>); };
inline const PythonFunction* find_python_function(std::string_view) { return nullptr; }
}
