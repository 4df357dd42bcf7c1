// A number as a tensor holds it, without loss: int64 and uint64 do not fit into a double.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace flambeau {

// The float16, bfloat16 and float8 types give a float.
using Number = std::variant<int64_t, uint64_t, float, double>;

double to_double(const Number& number);
// The shortest text that reads back as the same number of its type: "0.1", "18446744073709551615", "-inf".
std::string to_text(const Number& number);

}  // namespace flambeau
