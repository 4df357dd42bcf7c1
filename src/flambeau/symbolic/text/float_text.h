// Floats as sympy prints them: a fixed number of significant digits, rounded half up in decimal.
#pragma once

#include <string>

namespace flambeau::symbolic {

// `value` is finite. str() shows 15 digits and keeps trailing zeros at the top level only; srepr() shows 17.
std::string float_text(double value, int digits, bool strip_zeros);

}  // namespace flambeau::symbolic
