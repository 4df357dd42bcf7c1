// The order in which TorchScript tries the overloads of an operator, as scripts/generate_overload_order.py
// recorded it.
#pragma once

#include <string_view>

namespace flambeau::script {

// Lines of "aten::add Tensor Scalar ...", sorted by name, "-" for the overload without a name; the first line
// is a comment.
std::string_view overload_order_text();
// What the operator's line says behind its name; empty when it has none: the order is the sorted one.
std::string_view overload_order(std::string_view operator_name);

}  // namespace flambeau::script
