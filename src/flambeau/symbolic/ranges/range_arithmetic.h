// Arithmetic on ranges of numbers; every result holds all results of its members.
#pragma once

#include "flambeau/symbolic/ranges/value_range.h"

namespace flambeau::symbolic {

ValueRange add_ranges(const ValueRange& a, const ValueRange& b);
ValueRange multiply_ranges(const ValueRange& a, const ValueRange& b);
// a**exponent for an exponent >= 0; integers stay integers.
ValueRange power_range(const ValueRange& a, int64_t exponent);
ValueRange floor_divide_ranges(const ValueRange& a, const ValueRange& b);
// Python's modulo.
ValueRange modulo_ranges(const ValueRange& a, const ValueRange& b);
ValueRange divide_ranges(const ValueRange& a, const ValueRange& b);
ValueRange absolute_range(const ValueRange& a);
ValueRange extreme_range(Kind kind, const ValueRange& a, const ValueRange& b);
// -1 a < b always, 0 undecided, 1 a >= b always; for a <= b ask the other way round.
int compare_ranges_strict(const ValueRange& a, const ValueRange& b);

// Ends as floats.
ValueRange as_floats(const ValueRange& a);

}  // namespace flambeau::symbolic
