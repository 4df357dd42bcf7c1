// Numbers of a script that come from data: ints are symbols, floats and bools are tensors of one element, and
// what the script computes with them are operators of the program.
#pragma once

#include <string_view>

#include "flambeau/interpreter/builtins/builtin.h"
#include "flambeau/migrate/traced_calls.h"

namespace flambeau::migration {

// Whether one of the arguments is such a number.
bool has_data_number(const interpreter::Call& call);
// Computes it by operators; false where there are none for this builtin.
bool compute_with_data(TracedCalls& calls, std::string_view builtin, interpreter::Call& call);
// x[i] for a place that data decides, as a copy; false where it is another one, or where somebody writes to
// the part, which must be a view then.
bool select_with_data(TracedCalls& calls, interpreter::Call& call);
// The operator that takes a tensor where this one takes a number, and the arguments for it; null where there
// is none. `arguments`: one of them is a tensor in the place of a number.
const ops::Operator* with_tensor_number(const ops::Library& library, const ops::Operator& op,
                                        std::vector<Value>& arguments);

}  // namespace flambeau::migration
