// Constants as Python's repr spells them, and PyTorch's short names of element types.
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <string_view>

#include "flambeau/archive/json/json.h"
#include "flambeau/tensor/dtype.h"

namespace flambeau::graph {

// 'text', in double quotes when it holds single ones only; everything that is not printable is escaped.
std::string python_repr(std::string_view text);
inline std::string python_repr(const std::string& text) { return python_repr(std::string_view(text)); }
std::string python_repr(double value);
std::string python_repr(std::complex<double> value);
// JSON as the dictionaries, lists and constants that json.loads makes of it.
std::string python_repr(const json::Value& value);
// str(): a string stays as it is.
std::string python_str(const json::Value& value);

// "f32".
std::string_view short_dtype_name(DType dtype);
std::optional<DType> dtype_from_short_name(std::string_view name);

}  // namespace flambeau::graph
